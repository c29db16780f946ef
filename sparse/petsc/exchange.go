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

// exchange is a [sparse.Exchange] of PetscSF, which packs the rows for each process into one message.
type exchange struct {
	w               *World
	sf              *C.hw_exchange
	offered, wanted int
	from, to        []byte // of the transfer in progress
	pinned          runtime.Pinner
}

// NewExchange implements [sparse.Network]. It panics if a wanted row is not offered.
func (w *World) NewExchange(offered int, wanted []sparse.RemoteRow) sparse.Exchange {
	counts := make([]float64, w.size)
	w.AllGather(counts, []float64{float64(offered)})
	for _, r := range wanted {
		if r.Rank < 0 || int(r.Rank) >= w.size || r.Row < 0 || float64(r.Row) >= counts[r.Rank] {
			panic(fmt.Sprintf("petsc: row %d of process %d is not offered", r.Row, r.Rank))
		}
	}
	if err := checkIndex(int64(max(offered, len(wanted))), "rows of one process"); err != nil {
		w.fail(err)
	}
	e := &exchange{w: w, offered: offered, wanted: len(wanted)}
	w.must(func() C.int {
		rows := (*C.int32_t)(unsafe.Pointer(unsafe.SliceData(wanted)))
		return C.hw_exchange_new(C.int64_t(offered), C.int64_t(len(wanted)), rows, &e.sf)
	})
	return e
}

// checkIndex returns an error if n exceeds the indices of PETSc. things is a noun for the message.
func checkIndex(n int64, things string) error {
	if most := largestIndex(); n > most {
		return fmt.Errorf("%d %s exceed the %d of PETSc with 32-bit indices; build with -tags petsc,petsc64", n, things, most)
	}
	return nil
}

// largestIndex returns the largest number of rows or entries that PETSc can count.
func largestIndex() int64 { return int64(C.hw_largest_index()) }

// Begin implements [sparse.Exchange].
func (e *exchange) Begin(offered, wanted []byte, size int) {
	if e.from != nil {
		panic("petsc: Begin before End")
	}
	if size <= 0 || len(offered) != e.offered*size || len(wanted) != e.wanted*size {
		panic(badLength)
	}
	e.from, e.to = offered, wanted
	// C keeps the pointers until End.
	if len(offered) > 0 {
		e.pinned.Pin(&offered[0])
	}
	if len(wanted) > 0 {
		e.pinned.Pin(&wanted[0])
	}
	from, to := unsafe.Pointer(unsafe.SliceData(offered)), unsafe.Pointer(unsafe.SliceData(wanted))
	e.w.must(func() C.int { return C.hw_exchange_begin(e.sf, from, to, C.int64_t(size)) })
}

// End implements [sparse.Exchange].
func (e *exchange) End() {
	from, to := unsafe.Pointer(unsafe.SliceData(e.from)), unsafe.Pointer(unsafe.SliceData(e.to))
	e.w.must(func() C.int { return C.hw_exchange_end(e.sf, from, to) })
	e.pinned.Unpin()
	e.from, e.to = nil, nil
}

// Close implements [sparse.Exchange].
func (e *exchange) Close() {
	e.w.must(func() C.int { return C.hw_exchange_free(e.sf) })
	e.sf = nil
}
