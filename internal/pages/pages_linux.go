package pages

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// collapseBytes is the size from which it pays to move memory from small
// pages to huge ones, about half a second for each gigabyte.
const collapseBytes = 256 << 20

// Make returns n zeros, on huge pages if they are many. Random rows of a large
// block are then found without walking page tables; the garbage collector still
// owns the memory. A system that has no huge pages to give refuses, and nothing
// is lost.
func Make[E any](n int) []E {
	var e E
	size := int(unsafe.Sizeof(e))
	if n*size < hugePage {
		return make([]E, n)
	}
	spare := spareBytes(n * size)
	making.Lock()
	defer making.Unlock()
	reclaim(n*size + spare)
	data := make([]E, n+spare/size)
	if spare > 0 {
		skip := int(-uintptr(unsafe.Pointer(&data[0])) % hugePage)
		data = data[skip/size:][:n:n]
	}
	if whole := inside(data); len(whole) > 0 && advise(whole) == nil && len(whole) >= collapseBytes {
		// What the heap used before lies on small pages already.
		_ = unix.Madvise(whole, unix.MADV_COLLAPSE)
	}
	return data
}

// Advise asks for huge pages under the whole ones inside data, which must not
// have been written since it was made: filling many buckets at once then needs
// fewer page tables, and a page fault is paid once for 2 MiB.
func Advise[E any](data []E) {
	if whole := inside(data); len(whole) > 0 {
		_ = advise(whole)
	}
}

func advise(whole []byte) error { return unix.Madvise(whole, unix.MADV_HUGEPAGE) }

// inside returns the whole huge pages inside data.
func inside[E any](data []E) []byte {
	if len(data) == 0 {
		return nil
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
	skip := int(-uintptr(unsafe.Pointer(&bytes[0])) % hugePage)
	if len(bytes) < skip+hugePage {
		return nil
	}
	return bytes[skip : skip+(len(bytes)-skip)/hugePage*hugePage]
}
