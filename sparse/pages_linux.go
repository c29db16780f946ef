package sparse

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHugePages asks for huge pages under the whole ones inside data, which
// must not have been written since it was made. Random rows of a large block
// are then found without walking page tables; the garbage collector still owns
// the memory. A system that has none to give refuses, and nothing is lost.
func adviseHugePages[T Float](data []T) {
	const page = 2 << 20
	if len(data) == 0 {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*sizeOf[T]())
	skip := -uintptr(unsafe.Pointer(&bytes[0])) % page
	if uintptr(len(bytes)) < skip+page {
		return
	}
	whole := bytes[skip:]
	whole = whole[:len(whole)/page*page]
	err := unix.Madvise(whole, unix.MADV_HUGEPAGE)
	if err == nil && len(whole) >= collapseBytes {
		// What the heap used before lies on small pages already.
		_ = unix.Madvise(whole, unix.MADV_COLLAPSE)
	}
}

// collapseBytes is the size from which it pays to move memory from small pages
// to huge ones, about half a second for each gigabyte.
const collapseBytes = 256 << 20
