package tall

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Disjoint is a space spanned by orthonormal vectors with disjoint supports, one for each component
// of a graph. Its projector is P₀.
type Disjoint struct {
	Unit []float64 // all vectors in one array: the element of the only vector with this row, or 0

	// Sums over the rows of a vector are added by chunk. A chunk has a slot for each vector with
	// rows in the chunk; slots are in the order of the chunks.
	Slot    []uint32 // slot of each row; NoSlot outside all vectors, OwnSlot for a vector of one row
	vector  []uint32 // vector of each slot
	slots   []int    // first slot of each chunk, and finally their number
	vectors int      // number of vectors with several rows
}

const (
	NoSlot  = math.MaxUint32
	OwnSlot = math.MaxUint32 - 1
)

// NewDisjoint returns the span of the restrictions of the vector weights to the components. Nil
// weights are ones, which give the null space of L; weights d^½ give the null space of L̃. A
// component of one row has the weight 1, because d is 0 there.
func NewDisjoint(c *sparse.Components, weights []float64) *Disjoint {
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
	return NewDisjointOf(c.Of, len(c.Sizes), unit)
}

// NewDisjointOf returns the span of the restrictions of the vector unit to the components; of is
// the component of each row. It normalises unit within each component in place. In addition to
// the result it needs 4 bytes a component and 28 bytes a vector of several rows: less than two
// columns of a block.
func NewDisjointOf(of []uint32, components int, unit []float64) *Disjoint {
	vector, vectors := numberVectors(of, components, unit)
	sums := make([]ExactSum, vectors)
	for i, u := range unit {
		if v := vector[of[i]]; v < OwnSlot {
			sums[v].Add(float64(u * u))
		}
	}
	inverse, last := make([]float64, vectors), make([]uint32, vectors) // inverse norms; latest slot of each vector
	for v, s := range sums {
		inverse[v], last[v] = 1/math.Sqrt(s.Value()), NoSlot
	}
	ns := &Disjoint{Unit: unit, Slot: make([]uint32, len(unit)), slots: []int{0}, vectors: vectors}
	for lo := 0; lo < len(unit); lo += ChunkRows {
		first := len(ns.vector)
		for i := lo; i < min(lo+ChunkRows, len(unit)); i++ {
			v := vector[of[i]]
			switch {
			case unit[i] == 0:
				ns.Slot[i] = NoSlot
				continue
			case v == OwnSlot:
				unit[i] = 1
				ns.Slot[i] = OwnSlot
				continue
			case last[v] == NoSlot || int(last[v]) < first:
				last[v] = uint32(len(ns.vector))
				ns.vector = append(ns.vector, v)
			}
			ns.Slot[i] = last[v]
			unit[i] *= inverse[v]
		}
		ns.slots = append(ns.slots, len(ns.vector))
	}
	return ns
}

// numberVectors numbers the components in which the vector has several nonzero rows, in order. The
// others have the number OwnSlot.
func numberVectors(of []uint32, components int, unit []float64) (vector []uint32, vectors int) {
	vector = make([]uint32, components)
	for i, u := range unit { // count rows, up to 2
		if u != 0 && vector[of[i]] < 2 {
			vector[of[i]]++
		}
	}
	for c, rows := range vector {
		if vector[c] = OwnSlot; rows == 2 {
			vector[c] = uint32(vectors)
			vectors++
		}
	}
	return vector, vectors
}

// RemoveTo stores X − P₀·X in dst, which may be x. Cost: two passes over x.
func (n *Disjoint) RemoveTo(ctx context.Context, dst, x *sparse.Block[float64], workers int) error {
	return new(Share).RemoveTo(ctx, n, dst, x, workers)
}

// RemoveTo stores X − P₀·X in dst as [Disjoint.RemoveTo] does, and reuses the memory of s.
func (s *Share) RemoveTo(ctx context.Context, n *Disjoint, dst, x *sparse.Block[float64], workers int) error {
	if len(n.Unit) != x.Rows || dst.Rows != x.Rows || dst.Cols != x.Cols {
		panic(badShape)
	}
	if err := s.Compute(ctx, n, x, workers, nil); err != nil {
		return err
	}
	return sched.Run(ctx, workers, Chunks(x.Rows), func(_, chunk int) error {
		for i := chunk * ChunkRows; i < min((chunk+1)*ChunkRows, x.Rows); i++ {
			to, from := dst.Row(i), x.Row(i)
			switch slot := n.Slot[i]; slot {
			case NoSlot:
				copy(to, from)
			case OwnSlot:
				clear(to)
			default:
				sum := s.Of(slot)
				for j, v := range from {
					to[j] = v - float64(n.Unit[i]*sum[j])
				}
			}
		}
		return nil
	})
}

// Share is the projection P₀·X of a block to a null space, represented by the products of the
// columns with the vectors.
type Share struct {
	*Disjoint
	Totals  []float64 // cols products with each vector of several rows
	cols    int
	partial []float64 // cols partial sums for each slot
}

// Compute sets s to the projection of x. If fill is not nil, it stores the rows lo ≤ i < hi of x
// just before they are read, so that they are still in the cache. Cost: one pass over x.
func (s *Share) Compute(ctx context.Context, n *Disjoint, x *sparse.Block[float64], workers int, fill func(worker, lo, hi int)) error {
	s.Begin(n, x.Cols)
	err := sched.Run(ctx, workers, Chunks(x.Rows), func(worker, chunk int) error {
		s.Clear(chunk)
		lo, hi := chunk*ChunkRows, min((chunk+1)*ChunkRows, x.Rows)
		if fill != nil {
			fill(worker, lo, hi)
		}
		for i := lo; i < hi; i++ {
			if slot := n.Slot[i]; slot < OwnSlot {
				AddScaled(s.At(slot), n.Unit[i], x.Row(i))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Total()
	return nil
}

// ShareMemory returns an upper bound of the memory of a [Share] in bytes, for cols columns of n rows
// and the given number of vectors.
func ShareMemory(n, vectors, cols int) int64 {
	slots := min(int64(n), int64(vectors)*int64(Chunks(n)))
	return 8 * int64(cols) * (slots + int64(vectors))
}

// Run is a sequence of rows lo ≤ i < hi with the same slot. Row i of P₀X is Unit[i−Lo]·Total. If
// Total is nil, it is row i of X with Own, else zero.
type Run struct {
	Lo, Hi int
	Unit   []float64
	Total  []float64
	Own    bool
}

// EachRun calls visit for the runs of the rows lo ≤ i < hi, in order.
func (s *Share) EachRun(lo, hi int, visit func(Run)) {
	n := s.Disjoint
	for from := lo; from < hi; {
		slot, to := n.Slot[from], from+1
		for to < hi && n.Slot[to] == slot {
			to++
		}
		r := Run{Lo: from, Hi: to, Unit: n.Unit[from:to], Own: slot == OwnSlot}
		if slot < OwnSlot {
			r.Total = s.Of(slot)
		}
		visit(r)
		from = to
	}
}

// Begin allocates the products of cols columns with the vectors of n.
func (s *Share) Begin(n *Disjoint, cols int) {
	s.Disjoint, s.cols = n, cols
	s.partial = Grow(s.partial, len(n.vector)*cols)
	s.Totals = Grow(s.Totals, n.vectors*cols)
}

// Clear sets the sums of the slots of a chunk to zero.
func (s *Share) Clear(chunk int) {
	clear(s.partial[s.slots[chunk]*s.cols : s.slots[chunk+1]*s.cols])
}

// At returns the sums of a slot.
func (s *Share) At(slot uint32) []float64 {
	return s.partial[int(slot)*s.cols:][:s.cols]
}

// Total adds the sums of the slots of each vector, in order.
func (s *Share) Total() {
	clear(s.Totals)
	for slot, v := range s.vector {
		AddScaled(s.Totals[int(v)*s.cols:][:s.cols], 1, s.At(uint32(slot)))
	}
}

// Of returns the products with the vector of a slot.
func (s *Share) Of(slot uint32) []float64 {
	return s.Totals[int(s.vector[slot])*s.cols:][:s.cols]
}

// Roots returns d^½, and 1 for d = 0: the weights of the null space of L̃, see [NewDisjoint].
func Roots(degrees []float64) []float64 {
	root := make([]float64, len(degrees))
	for i, d := range degrees {
		root[i] = 1
		if d > 0 {
			root[i] = math.Sqrt(d)
		}
	}
	return root
}
