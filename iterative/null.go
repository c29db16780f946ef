package iterative

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// chunkRows is the number of rows whose sums are added before the sums of
// chunks are added in order. Bits of results depend on it.
const chunkRows = 512

func chunkCount(rows int) int { return (rows + chunkRows - 1) / chunkRows }

// NullSpace is spanned by orthonormal vectors with disjoint rows: one for each
// component of a graph. Its projector is P₀.
type NullSpace struct {
	unit []float64 // the vectors, one number for each row; 0 outside of all

	// Sums over a vector's rows are added by chunk. A chunk has a slot for each
	// vector it meets; slots stand in the order of chunks.
	slot     []uint32 // of each row; noSlot outside, ownSlot for a vector of one row
	vector   []uint32 // of each slot
	slots    []int    // where the slots of each chunk begin, and the end
	vectors  int
	onlyRows int // vectors of one row
}

const (
	noSlot  = math.MaxUint32
	ownSlot = math.MaxUint32 - 1
)

// NewNullSpace returns the span of the restrictions of a vector to the
// components. Nil weights stand for ones: the null space of L. Weights d^½
// give that of L̃. The single row of a component of one row counts as 1
// whatever its weight.
func NewNullSpace(c *sparse.Components, weights []float64) *NullSpace {
	n := len(c.Of)
	if weights != nil && len(weights) != n {
		panic(badShape)
	}
	unit := make([]float64, n)
	for i, of := range c.Of {
		unit[i] = 1
		if weights != nil && c.Sizes[of] > 1 {
			unit[i] = weights[i]
		}
	}
	return newNullSpace(c.Of, len(c.Sizes), unit)
}

// newNullSpace takes the component of each row, the number of components and
// the vector, which it normalises within each component in place.
func newNullSpace(of []uint32, components int, unit []float64) *NullSpace {
	sums := make([]exactSum, components)
	rows := make([]int, components)
	for i, u := range unit {
		if u != 0 {
			sums[of[i]].add(float64(u * u))
			rows[of[i]]++
		}
	}
	ns := &NullSpace{unit: unit, slot: make([]uint32, len(unit)), slots: []int{0}}
	inverse := make([]float64, components) // of the norms
	for c, s := range sums {
		inverse[c] = 1 / math.Sqrt(s.sum+s.rest)
	}
	number := make([]uint32, components) // vectors of several rows, in order
	last := make([]uint32, components)   // latest slot of each component
	for c := range number {
		last[c] = noSlot
		switch {
		case rows[c] == 1:
			ns.onlyRows++
		case rows[c] > 1:
			number[c] = uint32(ns.vectors)
			ns.vectors++
		}
	}
	for lo := 0; lo < len(unit); lo += chunkRows {
		first := len(ns.vector)
		for i := lo; i < min(lo+chunkRows, len(unit)); i++ {
			c := of[i]
			switch {
			case unit[i] == 0:
				ns.slot[i] = noSlot
				continue
			case rows[c] == 1:
				unit[i] = 1
				ns.slot[i] = ownSlot
				continue
			case last[c] == noSlot || int(last[c]) < first:
				last[c] = uint32(len(ns.vector))
				ns.vector = append(ns.vector, number[c])
			}
			ns.slot[i] = last[c]
			unit[i] *= inverse[c]
		}
		ns.slots = append(ns.slots, len(ns.vector))
	}
	return ns
}

// Dim returns the number of vectors.
func (n *NullSpace) Dim() int { return n.vectors + n.onlyRows }

// ProjectTo stores P₀·X in dst, which may be x. Cost: two passes over x.
func (n *NullSpace) ProjectTo(ctx context.Context, dst, x *sparse.Block[float64], workers int) error {
	return n.apply(ctx, dst, x, workers, false)
}

// RemoveTo stores X − P₀·X in dst, which may be x. Cost: two passes over x.
func (n *NullSpace) RemoveTo(ctx context.Context, dst, x *sparse.Block[float64], workers int) error {
	return n.apply(ctx, dst, x, workers, true)
}

func (n *NullSpace) apply(ctx context.Context, dst, x *sparse.Block[float64], workers int, remove bool) error {
	if len(n.unit) != x.Rows || dst.Rows != x.Rows || dst.Cols != x.Cols {
		panic(badShape)
	}
	share, err := n.ShareOf(ctx, x, workers, nil)
	if err != nil {
		return err
	}
	return sched.Run(ctx, workers, chunkCount(x.Rows), func(_, chunk int) error {
		for i := chunk * chunkRows; i < min((chunk+1)*chunkRows, x.Rows); i++ {
			to, from := dst.Row(i), x.Row(i)
			switch slot := n.slot[i]; {
			case slot == noSlot && remove, slot == ownSlot && !remove:
				copy(to, from)
			case slot >= ownSlot:
				clear(to)
			case remove:
				sum := share.sums.of(slot)
				for j, v := range from {
					to[j] = v - float64(n.unit[i]*sum[j])
				}
			default:
				sum := share.sums.of(slot)
				for j := range to {
					to[j] = n.unit[i] * sum[j]
				}
			}
		}
		return nil
	})
}

// Share is what the columns of a block have in a null space: P₀·X, told by the
// products with the vectors.
type Share struct{ sums nullSums }

// ShareOf returns X's share. Cost: a pass over x, whose rows fill, if it is not
// nil, stores before they are read: the rows lo ≤ i < hi of a chunk.
func (n *NullSpace) ShareOf(ctx context.Context, x *sparse.Block[float64], workers int, fill func(worker, lo, hi int)) (*Share, error) {
	s := new(Share)
	s.sums.begin(n, x.Cols)
	err := sched.Run(ctx, workers, chunkCount(x.Rows), func(worker, chunk int) error {
		s.sums.clear(chunk)
		lo, hi := chunk*chunkRows, min((chunk+1)*chunkRows, x.Rows)
		if fill != nil {
			fill(worker, lo, hi)
		}
		for i := lo; i < hi; i++ {
			if slot := n.slot[i]; slot < ownSlot {
				addScaled(s.sums.at(slot), n.unit[i], x.Row(i))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.sums.total()
	return s, nil
}

// Run is a run of rows whose share is told in one way.
type Run struct {
	Lo, Hi int       // the rows
	Unit   []float64 // of each row: row i of P₀X is Unit[i−Lo]·Total
	Total  []float64 // nil: row i is that of X with Own, and zero without
	Own    bool
}

// EachRun visits the rows lo ≤ i < hi, in runs and in order.
func (s *Share) EachRun(lo, hi int, visit func(Run)) {
	n := s.sums.NullSpace
	for from := lo; from < hi; {
		slot, to := n.slot[from], from+1
		for to < hi && n.slot[to] == slot {
			to++
		}
		r := Run{Lo: from, Hi: to, Unit: n.unit[from:to], Own: slot == ownSlot}
		if slot < ownSlot {
			r.Total = s.sums.of(slot)
		}
		visit(r)
		from = to
	}
}

// nullSums holds the products of a block's columns with the vectors of a null
// space.
type nullSums struct {
	*NullSpace
	cols    int
	partial []float64 // cols for each slot
	totals  []float64 // cols for each vector
}

func (s *nullSums) begin(n *NullSpace, cols int) {
	s.NullSpace, s.cols = n, cols
	s.partial = grow(s.partial, len(n.vector)*cols)
	s.totals = grow(s.totals, n.vectors*cols)
}

// clear empties the slots of a chunk.
func (s *nullSums) clear(chunk int) {
	clear(s.partial[s.slots[chunk]*s.cols : s.slots[chunk+1]*s.cols])
}

// at returns the sums of a slot.
func (s *nullSums) at(slot uint32) []float64 {
	return s.partial[int(slot)*s.cols:][:s.cols]
}

// total adds the slots of each vector in order.
func (s *nullSums) total() {
	clear(s.totals)
	for slot, v := range s.vector {
		addScaled(s.totals[int(v)*s.cols:][:s.cols], 1, s.at(uint32(slot)))
	}
}

// of returns the totals of a slot's vector.
func (s *nullSums) of(slot uint32) []float64 {
	return s.totals[int(s.vector[slot])*s.cols:][:s.cols]
}

// addScaled adds f·x to dst.
func addScaled(dst []float64, f float64, x []float64) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] += float64(f * v)
	}
}

// grow returns a slice of length n, s itself if it is large enough.
func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
