package pages

import (
	"strings"
	"unsafe"
)

const (
	hugePage = 2 << 20

	// alignBytes is the size from which blocks begin where a huge page does:
	// what lies before the first one is on small pages, and the room that this
	// takes is never written.
	alignBytes = 8 << 20
)

// spareBytes is by how much memory of so many bytes is made larger, so that it can
// begin where a huge page does.
func spareBytes(bytes int) int { return int(Bytes(int64(bytes))) - bytes }

// Bytes returns what [Make] and [Room] take for so many bytes.
func Bytes(bytes int64) int64 {
	if bytes < alignBytes {
		return bytes
	}
	return bytes + hugePage
}

// Room returns n elements that hold anything, on huge pages if they are many: for
// what is all written before it is read. Go's make would clear memory that was
// used before, in one goroutine and on small pages.
func Room[E uint32 | uint64 | float64](n int) []E {
	var e E
	size := int(unsafe.Sizeof(e))
	if n*size < hugePage {
		return make([]E, n)
	}
	spare := spareBytes(n * size)
	making.Lock()
	defer making.Unlock()
	reclaim(n*size + spare)
	var memory strings.Builder // the standard library's way to memory that is not cleared
	memory.Grow(n*size + spare)
	memory.WriteByte(0)
	first := unsafe.Pointer(unsafe.StringData(memory.String()))
	if spare > 0 {
		first = unsafe.Add(first, -uintptr(first)%hugePage)
	}
	data := unsafe.Slice((*E)(first), n)
	Advise(data)
	return data
}
