package sparse

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	hugePage = 2 << 20

	// alignBytes is the size from which blocks begin where a huge page does:
	// what lies before the first one is on small pages, and the room that this
	// takes is never written.
	alignBytes = 8 << 20

	// collapseBytes is the size from which it pays to move memory from small
	// pages to huge ones, about half a second for each gigabyte.
	collapseBytes = 256 << 20
)

// makeLarge returns n zeros, on huge pages if they are many. Random rows of a
// large block are then found without walking page tables; the garbage
// collector still owns the memory. A system that has no huge pages to give
// refuses, and nothing is lost.
func makeLarge[E any](n int) []E {
	var e E
	size := int(unsafe.Sizeof(e))
	if n*size < hugePage {
		return make([]E, n)
	}
	spare := 0
	if n*size >= alignBytes {
		spare = hugePage
	}
	data := make([]E, n+spare/size)
	skip := int(-uintptr(unsafe.Pointer(&data[0])) % hugePage)
	if spare > 0 {
		data, skip = data[skip/size:][:n:n], 0
	}
	if whole := (n*size - skip) / hugePage * hugePage; whole > 0 {
		pages := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&data[0]), skip)), whole)
		err := unix.Madvise(pages, unix.MADV_HUGEPAGE)
		if err == nil && whole >= collapseBytes {
			// What the heap used before lies on small pages already.
			_ = unix.Madvise(pages, unix.MADV_COLLAPSE)
		}
	}
	return data
}
