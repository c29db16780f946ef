package ingest

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHugePages asks for huge pages under the whole ones inside data, which
// must not have been written since it was made: filling many buckets at once
// then needs fewer page tables, and a page fault is paid once for 2 MiB. A
// system that has none to give refuses, and nothing is lost.
func adviseHugePages[T uint32 | uint64 | float64](data []T) {
	const page = 2 << 20
	if len(data) == 0 {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
	skip := -uintptr(unsafe.Pointer(&bytes[0])) % page
	if uintptr(len(bytes)) < skip+page {
		return
	}
	whole := bytes[skip:]
	_ = unix.Madvise(whole[:len(whole)/page*page], unix.MADV_HUGEPAGE)
}
