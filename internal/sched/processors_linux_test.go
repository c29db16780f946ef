package sched

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTake leaves one processor, then none.
func TestTake(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var allowed, now unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Skip(err)
	}
	for cpu := range 1024 {
		if !allowed.IsSet(cpu) {
			continue
		}
		p := processors{taken: allowed}
		p.taken.Clear(cpu)
		for range 2 {
			p.take()
			if p.taken != allowed {
				t.Errorf("processor %d was free and is not taken", cpu)
			}
			if err := unix.SchedGetaffinity(0, &now); err != nil || now != allowed {
				t.Fatalf("the thread may run on %v, before on %v (%v)", now, allowed, err)
			}
		}
	}
}

// TestTakeKeepsThread: the thread of a goroutine that was locked to it before stays
// so, and ends with it.
func TestTakeKeepsThread(t *testing.T) {
	id := os.Getpid()
	for id == os.Getpid() { // the first thread never ends
		thread := make(chan int)
		go func() {
			runtime.LockOSThread()
			new(processors).take()
			thread <- unix.Gettid()
		}()
		id = <-thread
	}
	for range 5000 {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", id)); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("thread %d outlives the goroutine", id)
}
