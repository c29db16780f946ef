package shard

import (
	"context"
	"math/bits"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// coded is a matrix in memory whose ranges are coded as the frames of a store are.
type coded struct {
	rows, cols int
	entries    int64
	weighted   bool
	ranges     []sparse.Range
	payloads   [][]byte // of each range; slack bytes behind them are readable
	runs       runs
}

const (
	// arenaBytes of payloads lie in one piece of memory.
	arenaBytes = 1 << 20

	// codedRanges is how many ranges a worker takes at a time, fewer if that
	// leaves it less than codedTurns.
	codedRanges = 16
	codedTurns  = 8
)

// codedPays tells whether a packed copy with coded ids is swept faster than one with
// plain ids, for a block of so many rows of so many bytes: where the processor can
// decode them while it waits for the rows, in less time than it takes to read plain
// ids. The rows of small blocks are near.
func codedPays(rows, rowBytes int) bool {
	const least, leastBlock = 16, 8 << 20 // bytes
	return rowBytes >= least && rows*rowBytes >= leastBlock && simd.GathersAhead(simd.Near{Stride: least})
}

// code returns a with place[j] in the stead of column j, in memory, its ranges coded
// as the frames of a store are; place holds different numbers below cols. Where the
// rows of a block that most entries name then lie together, a sweep waits for the ids
// and not for these, and less memory is read than with plain ids. The entries of a
// row keep their order, in which places need not rise: an id takes up to twice the
// bits that it takes in order. Cost: one sweep; [codeBytes] bounds the memory.
func code(ctx context.Context, a sparse.Matrix, place []uint32, cols, workers int) (sparse.Matrix, error) {
	workers = sched.Workers(workers)
	rows, _ := a.Dims()
	m := &coded{rows: rows, cols: cols, entries: a.NNZ(), ranges: a.Ranges()}
	m.payloads = make([][]byte, len(m.ranges))
	coders := make([]coder, workers)
	err := a.Sweep(ctx, workers, func(worker int, p sparse.Panel) error {
		m.payloads[p.Index] = coders[worker].code(p, place)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range coders {
		m.weighted = m.weighted || coders[i].weighted
	}
	m.runs.weighted = m.weighted
	return m, nil
}

// codeBytes bounds the memory of what [code] makes of a matrix without values, and
// the buffers of so many workers.
func codeBytes(a sparse.Matrix, cols, workers int) int64 {
	rows, _ := a.Dims()
	const perRange = 24 + payloadHead + 8 // its slice, its head, what ends within a byte
	n, ranges, w := a.NNZ(), int64(len(a.Ranges())), int64(sched.Workers(workers))
	idBits := int64(2 + bits.Len(uint(max(cols, 1)-1)))
	lengths := int64(rows) + 4*n/escape
	arenas := w * (arenaBytes + maxPayloadOnes)
	return n*idBits/8 + lengths + ranges*perRange + arenas + w*(buffersBytes(false)+3*4*sparse.MaxRange)
}

// maxPayloadOnes bounds the payload of a range whose entries are all 1.
const maxPayloadOnes = payloadHead + 5*sparse.MaxRange + sparse.MaxRange/4 + 4*sparse.MaxRange

// coder is what a worker needs to code ranges.
type coder struct {
	ids, lengths, deltas []uint32
	payload, arena       []byte
	weighted             bool
}

// code returns the payload of a panel.
func (c *coder) code(p sparse.Panel, place []uint32) []byte {
	if c.deltas == nil {
		c.ids, c.deltas = make([]uint32, sparse.MaxRange), make([]uint32, sparse.MaxRange)
	}
	c.weighted = c.weighted || p.Val != nil
	ids := c.ids[:len(p.Col)]
	for e, j := range p.Col {
		ids[e] = place[j]
	}
	c.lengths = c.lengths[:0]
	for i := 0; p.Pieces == 1 && i < p.Hi-p.Lo; i++ {
		c.lengths = append(c.lengths, uint32(p.Ptr[i+1]-p.Ptr[i]))
	}
	c.payload = appendPayload(c.payload[:0], c.lengths, ids, p.Val, c.deltas)
	n := len(c.payload)
	if cap(c.arena)-len(c.arena) < n+slack {
		c.arena = make([]byte, 0, max(arenaBytes, n+slack))
	}
	at := len(c.arena)
	c.arena = append(c.arena, c.payload...)
	return c.arena[at:]
}

// Dims returns the number of rows and columns.
func (m *coded) Dims() (r, c int) { return m.rows, m.cols }

// NNZ returns the number of stored entries.
func (m *coded) NNZ() int64 { return m.entries }

// Ranges returns the cut of the rows.
func (m *coded) Ranges() []sparse.Range { return m.ranges }

// Sweep implements [sparse.Matrix], but for the order of columns.
func (m *coded) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	return m.SweepNear(ctx, workers, simd.Near{}, alone(visit))
}

// SweepNear is Sweep for a step of package sparse that reads the rows of near.
// Wherever the loops can, the next range is left to the visitor to decode.
func (m *coded) SweepNear(ctx context.Context, workers int, near simd.Near, visit func(worker int, p sparse.Panel, ahead *simd.Decoding) error) error {
	leave := len(near.Data) > 0 && !m.weighted && simd.GathersAhead(near)
	if leave {
		near = simd.Near{}
	}
	workers = sched.Workers(workers)
	each := max(1, min(codedRanges, len(m.ranges)/(codedTurns*workers)))
	r := m.runs.take(workers)
	defer m.runs.put(r)
	return sched.Run(ctx, workers, (len(m.ranges)+each-1)/each, func(worker, k int) error {
		s := frameSweep{
			lo: k * each, hi: min(len(m.ranges), (k+1)*each), leave: leave,
			begin: func(d *decoded, i int) error {
				d.first = false
				if wrong := d.begin(m.payloads[i], m.ranges[i], m.weighted, near); wrong != "" {
					panic("shard: " + wrong) // it was made here
				}
				return nil
			},
			finish: func(d *decoded, i int) (sparse.Panel, error) {
				d.finish()
				d.panel.Index = i
				return d.panel, nil
			},
		}
		defer sched.InRows(m.ranges[s.lo].Lo, m.ranges[s.hi-1].Hi)
		return s.run(ctx, r.buffers[worker], func(p sparse.Panel, ahead *simd.Decoding) error { return visit(worker, p, ahead) })
	})
}
