//go:build petsc && cgo

package petsc

// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/heatwalk/heatwalk/sparse"
)

// exchange is the [sparse.Exchange] of a PetscSF, which packs the rows for each process into one message.
type exchange struct {
	w                  *World
	sf                 *C.hw_exchange
	offered, requested int
	sent, received     []byte // memory of the transfer in progress
	pinned             runtime.Pinner
}

// NewExchange implements [sparse.Network]. It panics if a requested row is not offered.
func (w *World) NewExchange(offered int,
	requested []sparse.RemoteRow) sparse.Exchange {
	counts := make([]float64, w.size)
	w.AllGather(counts, []float64{float64(offered)})
	for _, r := range requested {
		if r.Rank < 0 || int(r.Rank) >= w.size || r.Row < 0 ||
			float64(r.Row) >= counts[r.Rank] {
			panic(fmt.Sprintf("petsc: row %d of process %d is not offered",
				r.Row, r.Rank))
		}
	}
	if err := checkIndex(int64(max(offered, len(requested))), "rows of one process"); err != nil {
		w.fail(err)
	}
	e := &exchange{w: w, offered: offered, requested: len(requested)}
	w.must(func() C.int {
		rows := (*C.int32_t)(unsafe.Pointer(unsafe.SliceData(requested)))
		return C.hw_exchange_new(C.int64_t(offered), C.int64_t(len(requested)),
			rows, &e.sf)
	})
	return e
}

func checkIndex(n int64, things string) error {
	if limit := largestIndex(); n > limit {
		return fmt.Errorf("%d %s exceed the %d of PETSc with 32-bit indices; build with -tags petsc,petsc64", n, things, limit)
	}
	return nil
}

func largestIndex() int64 { return int64(C.hw_largest_index()) }

func (e *exchange) Begin(offered, received []byte, size int) {
	if e.sent != nil {
		panic("petsc: Begin before End")
	}
	if size <= 0 || len(offered) != e.offered*size ||
		len(received) != e.requested*size {
		panic(badLength)
	}
	e.sent, e.received = offered, received
	// C keeps the pointers until End.
	if len(offered) > 0 {
		e.pinned.Pin(&offered[0])
	}
	if len(received) > 0 {
		e.pinned.Pin(&received[0])
	}
	source, target := unsafe.Pointer(unsafe.SliceData(offered)),
		unsafe.Pointer(unsafe.SliceData(received))
	e.w.must(func() C.int { return C.hw_exchange_begin(e.sf, source, target, C.int64_t(size)) })
}

func (e *exchange) End() {
	source, target := unsafe.Pointer(unsafe.SliceData(e.sent)),
		unsafe.Pointer(unsafe.SliceData(e.received))
	e.w.must(func() C.int { return C.hw_exchange_end(e.sf, source, target) })
	e.pinned.Unpin()
	e.sent, e.received = nil, nil
}

func (e *exchange) Close() {
	e.w.must(func() C.int { return C.hw_exchange_free(e.sf) })
	e.sf = nil
}
