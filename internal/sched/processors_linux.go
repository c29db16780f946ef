package sched

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processors are those that the goroutines of one call run on.
type processors struct {
	mu    sync.Mutex
	taken unix.CPUSet
}

// take gives the goroutine a processor that none of the others has taken, if
// there is one. Linux wakes a thread beside the one that wakes it if no processor
// seems idle, which to the guest of a virtual machine those do not that sleep:
// two workers then share one for milliseconds, until the load is balanced.
func (p *processors) take() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.mu.Lock()
	defer p.mu.Unlock()
	at := processor()
	if p.taken.IsSet(at) {
		var allowed unix.CPUSet
		if unix.SchedGetaffinity(0, &allowed) != nil {
			return
		}
		free := allowed
		for i, taken := range p.taken {
			free[i] &^= taken
		}
		if free.Count() == 0 || unix.SchedSetaffinity(0, &free) != nil {
			return
		}
		at = processor()
		_ = unix.SchedSetaffinity(0, &allowed) // it stays where it is, but need not
	}
	p.taken.Set(at)
}

// processor returns the number of the one that this runs on.
func processor() int {
	var at uint32
	_, _, _ = unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&at)), 0, 0)
	return int(at)
}
