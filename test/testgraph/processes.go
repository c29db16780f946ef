package testgraph

import (
	"errors"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/sparse"
)

// Processes calls run in size goroutines, which take the place of processes on several machines and share a
// [sparse.Network]. After an error in a goroutine, the other goroutines stop at their next call of the network.
// Processes returns the first error.
func Processes(size int, run func(n sparse.Network) error) error {
	h := &hub{size: size, posted: make([]any, size)}
	h.changed.L = &h.mu
	var wait sync.WaitGroup
	for rank := range size {
		wait.Go(func() {
			err := errors.New("testgraph: a process panicked")
			defer func() {
				if r := recover(); r != nil && r != errStopped {
					h.stop(err)
					panic(r)
				}
				h.stop(err)
			}()
			err = run(&process{hub: h, rank: rank})
		})
	}
	wait.Wait()
	return h.err
}

// Whole returns the rows of the matrix from the blocks of all processes. Every process must call it.
func Whole(team *sparse.Team, x *sparse.Block[float64]) *sparse.Block[float64] {
	gathered := sparse.BlockOf(team.TotalOf(x.Rows), x.Cols, make([]float64, team.TotalOf(x.Rows)*x.Cols))
	for lo, hi := range team.CountingRows(0, x.Rows) {
		for i := lo; i < hi; i++ {
			copy(gathered.Row(team.Row(i)), x.Row(i))
		}
	}
	team.Sum(gathered.Data)
	return gathered
}

// errStopped ends a goroutine after another goroutine has failed.
var errStopped = errors.New("testgraph: another process has failed")

type hub struct {
	size int

	mu      sync.Mutex
	changed sync.Cond
	posted  []any // what each process shows the others
	shown   []any // posted, when the last meeting ended
	count   int   // processes that have arrived at the present meeting
	meeting int   // number of meetings that have ended
	err     error
}

func (h *hub) stop(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = err
	}
	h.changed.Broadcast()
}

// meet passes a value to the other processes. It returns the values of all processes when all of them have called meet.
func (h *hub) meet(rank int, value any) []any {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.posted[rank] = value
	meeting := h.meeting
	if h.count++; h.count == h.size {
		h.count, h.shown = 0, slices.Clone(h.posted)
		h.meeting++
		h.changed.Broadcast()
	}
	for h.meeting == meeting && h.err == nil {
		h.changed.Wait()
	}
	if h.err != nil && h.meeting == meeting {
		panic(errStopped)
	}
	return h.shown // shown stays until the next meeting ends, for which this process must arrive
}

type process struct {
	*hub
	rank int
}

func (p *process) Rank() int { return p.rank }
func (p *process) Size() int { return p.size }

func (p *process) AllGather(dst, v []float64) {
	if len(dst) != p.size*len(v) {
		panic("testgraph: wrong length")
	}
	for i, vector := range p.meet(p.rank, v) {
		copy(dst[i*len(v):(i+1)*len(v)], vector.([]float64))
	}
	p.meet(p.rank, nil) // v may change now
}

func (p *process) Broadcast(root int, data []byte) {
	messages := p.meet(p.rank, data)
	if p.rank != root {
		copy(data, messages[root].([]byte))
	}
	p.meet(p.rank, nil)
}

func (p *process) NewExchange(offered int, requested []sparse.RemoteRow) sparse.Exchange {
	counts := p.meet(p.rank, offered)
	for _, w := range requested {
		if int(w.Row) >= counts[w.Rank].(int) {
			panic("testgraph: a row that is not offered")
		}
	}
	return &exchange{process: p, offered: offered, rows: requested}
}

type exchange struct {
	*process
	offered   int
	rows      []sparse.RemoteRow
	out, into []byte
	size      int
}

func (e *exchange) Begin(offered, received []byte, size int) {
	if len(offered) != e.offered*size || len(received) != len(e.rows)*size {
		panic("testgraph: wrong length")
	}
	e.out, e.into, e.size = offered, received, size
}

func (e *exchange) End() {
	messages := e.meet(e.rank, e.out)
	for i, w := range e.rows {
		copy(e.into[i*e.size:(i+1)*e.size], messages[w.Rank].([]byte)[int(w.Row)*e.size:])
	}
	e.meet(e.rank, nil)
}

func (e *exchange) Close() {}
