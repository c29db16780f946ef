package system

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// collapseBytes is the smallest size of a block whose memory is moved from small to huge pages. Moving takes half a
// second for each gigabyte, which a smaller block does not repay.
const collapseBytes = 256 << 20

// alignBytes is the smallest size of a block that is aligned to huge pages, so that its first bytes are not on small
// pages. The gap before it is never written.
const alignBytes = 8 << 20

// Make returns a slice of n zeros. A large slice is on huge pages, if the system has huge pages, so that random access
// needs no walks of page tables.
func Make[E any](n int) []E {
	var e E
	size := int(unsafe.Sizeof(e))
	if n*size < hugePage {
		return make([]E, n)
	}
	spare := 0
	if n*size >= alignBytes {
		spare = hugePage // so that the block can begin at the boundary of a huge page
	}
	making.Lock()
	defer making.Unlock()
	reclaim(n*size + spare)
	data := make([]E, n+spare/size)
	if spare > 0 {
		skip := int(-uintptr(unsafe.Pointer(&data[0])) % hugePage)
		data = data[skip/size:][:n:n]
	}
	if huge := inside(data); len(huge) > 0 && advise(huge) == nil && len(huge) >= collapseBytes {
		// Memory that the heap used before is on small pages already.
		_ = unix.Madvise(huge, unix.MADV_COLLAPSE)
	}
	return data
}

// Advise requests huge pages for the part of data that covers complete huge pages. It must be called before data is
// written. Filling many buckets in turn then needs fewer page tables, and one page fault for each 2 MiB.
func Advise[E any](data []E) {
	if huge := inside(data); len(huge) > 0 {
		_ = advise(huge)
	}
}

func advise(block []byte) error {
	return unix.Madvise(block, unix.MADV_HUGEPAGE)
}

// inside returns the bytes of data that cover complete huge pages.
func inside[E any](data []E) []byte {
	if len(data) == 0 {
		return nil
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])),
		len(data)*int(unsafe.Sizeof(data[0])))
	skip := int(-uintptr(unsafe.Pointer(&bytes[0])) % hugePage)
	if len(bytes) < skip+hugePage {
		return nil
	}
	return bytes[skip : skip+(len(bytes)-skip)/hugePage*hugePage]
}
