//go:build petsc && cgo

package petsc

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// Error is an error of PETSc or MPI.
type Error struct {
	Code int    // PetscErrorCode
	Text string // PETSc's message, and the functions through which PETSc returned it
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("PETSc error %d: %s", e.Code, e.Text)
}

// check returns the error of a result code, or nil. It must run on the thread of the call, before the next call.
func check(code C.int) error {
	if code == 0 {
		return nil
	}
	return &Error{int(code), C.GoString(C.hw_error_text(code))}
}

// World is the network of an MPI job; it implements [sparse.Network]. Its methods may be called from any goroutine, one
// at a time.
type World struct {
	rank, size int
	limit      time.Duration // longest time in one call; 0: no limit
	waiting    *time.Timer   // ends the process after the limit; nil without a limit
	calls      chan func()   // functions to run on the thread of MPI
}

// DefaultTimeout is the longest time in one call of the network, see [Start].
const DefaultTimeout = time.Hour

// timeoutVariable is the environment variable that changes [DefaultTimeout].
const timeoutVariable = "HEATWALK_MPI_TIMEOUT"

// timeout returns the longest time in one call of the network; 0: no limit.
func timeout() (time.Duration, error) {
	text := os.Getenv(timeoutVariable)
	if text == "" {
		return DefaultTimeout, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit < 0 {
		return 0, fmt.Errorf("%s: %q is not a time; set it to a time such as 90s or 2h, or to 0 for no limit", timeoutVariable, text)
	}
	return limit, nil
}

var started atomic.Bool

// Start initializes MPI and PETSc. It must be called once in a process. args are options of PETSc, such as -log_view;
// PETSc also reads the environment variable PETSC_OPTIONS. If mpirun did not start the program, the job has one
// process.
//
// If the start, the end or a call of the network lasts longer than [DefaultTimeout], the process prints an error and
// exits with code 1. Otherwise a process that hangs, or a broken link, would hold up the job without end. The
// environment variable HEATWALK_MPI_TIMEOUT changes the time; 0 means no limit. The time must exceed the longest time
// that one process computes while the other processes wait.
func Start(args []string) (*World, error) {
	if started.Swap(true) {
		panic("petsc: Start called twice")
	}
	limit, err := timeout()
	if err != nil {
		return nil, err
	}
	w := &World{limit: limit, calls: make(chan func())}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, because the thread of MPI must live as long as MPI
		failed <- w.initialize(args)
		for call := range w.calls {
			call()
		}
	}()
	late := fmt.Errorf("waited %v for the other processes; one of them hangs or cannot be reached, or %s is too short", limit, timeoutVariable)
	if limit > 0 {
		start := time.AfterFunc(limit, func() {
			fmt.Fprintf(os.Stderr, "%s: start: %v\n",
				filepath.Base(os.Args[0]), late)
			os.Exit(1)
		})
		defer start.Stop()
	}
	if err := <-failed; err != nil {
		return nil, err
	}
	if limit > 0 {
		w.waiting = time.AfterFunc(limit, func() { w.fail(late) })
		w.waiting.Stop()
	}
	return w, nil
}

// initialize starts MPI on the calling thread. It passes -no_signal_handler, because PETSc would otherwise replace
// handlers of Go.
func (w *World) initialize(args []string) error {
	args = append([]string{os.Args[0], "-no_signal_handler"}, args...)
	argv := (**C.char)(C.calloc(C.size_t(len(args)+1), C.size_t(unsafe.Sizeof(uintptr(0))))) // kept by PETSc
	for i, arg := range args {
		unsafe.Slice(argv, len(args))[i] = C.CString(arg)
	}
	if err := check(C.hw_start(C.int(len(args)), argv)); err != nil {
		return err
	}
	w.rank, w.size = int(C.hw_rank()), int(C.hw_size())
	return nil
}

// run calls call on the thread of MPI and returns its error.
func (w *World) run(call func() C.int) (err error) {
	if w.waiting != nil {
		w.waiting.Reset(w.limit)
		defer w.waiting.Stop()
	}
	done := make(chan struct{})
	w.calls <- func() {
		err = check(call())
		close(done)
	}
	<-done
	return err
}

// must calls call as run does. If call fails, must ends the process.
func (w *World) must(call func() C.int) {
	if err := w.run(call); err != nil {
		w.fail(err)
	}
}

// fail prints err and ends the process. It does not finalize MPI, so that mpirun ends the other processes.
func (w *World) fail(err error) {
	fmt.Fprintf(os.Stderr, "%s: process %d of %d: %v\n", filepath.Base(os.Args[0]),
		w.rank, w.size, err)
	os.Exit(1)
}

// Close ends MPI. It must be the last call. It waits until every process has called it; the time limit of a call
// applies. A process that fails must exit without calling Close, so that mpirun ends the other processes.
func (w *World) Close() {
	w.must(func() C.int { return C.hw_finalize() })
	close(w.calls)
}

// Rank returns the number of this process.
func (w *World) Rank() int { return w.rank }

// Size returns the number of processes.
func (w *World) Size() int { return w.size }

const badLength = "petsc: length of slice differs from the number of values"

// AllGather implements [sparse.Network].
func (w *World) AllGather(dst, v []float64) {
	if len(dst) != w.size*len(v) {
		panic(badLength)
	}
	if len(v) == 0 {
		return
	}
	w.must(func() C.int {
		return C.hw_allgather((*C.double)(&dst[0]), (*C.double)(&v[0]),
			C.int64_t(len(v)))
	})
}

// Broadcast implements [sparse.Network].
func (w *World) Broadcast(root int, data []byte) {
	if root < 0 || root >= w.size {
		panic("petsc: no such process")
	}
	if len(data) == 0 {
		return
	}
	w.must(func() C.int { return C.hw_broadcast(C.int(root), unsafe.Pointer(&data[0]), C.int64_t(len(data))) })
}
