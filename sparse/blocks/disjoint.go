package blocks

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// Disjoint is a space spanned by orthonormal vectors with disjoint supports, one for each component of a graph, for
// example the null space of a Laplacian. The projector on the space is P₀.
type Disjoint struct {
	Unit []float64 // element i of the vector whose support has row i; 0 if there is no such vector

	// Products with a vector are added up by chunks of rows. A slot holds the partial products of one chunk with one
	// vector that has rows in the chunk. Slots are numbered in the order of chunks.
	Slot    []uint32 // slot of each row; NoSlot outside all vectors, OwnSlot for a vector of one row
	vector  []uint32 // number of the vector of each slot
	slots   []int    // number of the first slot of each chunk; then the number of slots
	vectors int      // number of vectors of several rows
	team    *sparse.Team
}

const (
	NoSlot  = math.MaxUint32
	OwnSlot = math.MaxUint32 - 1
)

// NewDisjoint returns the space spanned by one vector for each component: the vector weights, restricted to the
// component. Nil weights mean ones, which give the null space of L; weights d^½ give the null space of L̃. In a
// component of one row, the weight of the row counts as 1.
func NewDisjoint(team *sparse.Team, c *sparse.Components,
	weights []float64) *Disjoint {
	n := len(c.Of)
	if weights != nil && len(weights) != n {
		panic(badShape)
	}
	unit := make([]float64, n)
	for i, component := range c.Of {
		unit[i] = 1
		if weights != nil && c.Sizes[component] > 1 {
			unit[i] = weights[i]
		}
	}
	return NewDisjointOf(team, c.Of, len(c.Sizes), unit)
}

// NewDisjointOf returns the space spanned by one vector for each component: the vector unit, restricted to the
// component and scaled to length 1. component has the component of each row. NewDisjointOf stores the scaled vectors in
// unit. In addition to the result it allocates 4 bytes for each component and 28 for each vector of several rows.
func NewDisjointOf(team *sparse.Team, component []uint32, components int,
	unit []float64) *Disjoint {
	vector, vectors := numberVectors(team, component, components, unit)
	sums := make([]ExactSum, vectors)
	for lo, hi := range team.CountingRows(0, len(unit)) {
		for i, u := range unit[lo:hi] {
			if v := vector[component[lo+i]]; v < OwnSlot {
				sums[v].Add(float64(u * u))
			}
		}
	}
	AddExact(team, sums)
	// inverse has the inverses of the norms, and last the latest slots.
	inverse := make([]float64, vectors)
	last := make([]uint32, vectors)
	for v, s := range sums {
		inverse[v] = 1 / math.Sqrt(s.Value())
		last[v] = NoSlot
	}
	ns := &Disjoint{Unit: unit, Slot: make([]uint32, len(unit)), slots: []int{0},
		vectors: vectors, team: team}
	for lo, hi := range Slabs(len(unit), ChunkRows) {
		first := len(ns.vector)
		for i := lo; i < hi; i++ {
			v := vector[component[i]]
			switch {
			case unit[i] == 0 || team.IsPadding(i):
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

// NewDisjointRows returns the space spanned by the unit vectors of some rows. unit must be 1 in these rows and 0 in
// other rows.
func NewDisjointRows(unit []float64) *Disjoint {
	n := &Disjoint{Unit: unit, Slot: make([]uint32, len(unit)),
		slots: make([]int, Chunks(len(unit))+1)}
	for i, u := range unit {
		n.Slot[i] = NoSlot
		if u != 0 {
			n.Slot[i] = OwnSlot
		}
	}
	return n
}

// AddExact replaces sums by their sums over all processes.
func AddExact(team *sparse.Team, sums []ExactSum) {
	if team == nil {
		return
	}
	parts := make([]float64, 2*len(sums))
	for i, s := range sums {
		parts[2*i] = s.Sum
		parts[2*i+1] = s.Rest
	}
	gathered := make([]float64, team.Size()*len(parts))
	team.AllGather(gathered, parts)
	clear(sums)
	for slot := 0; slot < len(gathered); slot += 2 {
		s := &sums[slot/2%len(sums)]
		s.Add(gathered[slot])
		s.Rest += gathered[slot+1]
	}
}

// numberVectors returns the number of the vector of each component in which unit has several nonzero rows, OwnSlot for
// other components, and the number of vectors.
func numberVectors(team *sparse.Team, component []uint32, components int,
	unit []float64) (vector []uint32, vectors int) {
	vector = make([]uint32, components)
	for lo, hi := range team.CountingRows(0, len(unit)) {
		for i, u := range unit[lo:hi] { // rows, up to 2
			if c := component[lo+i]; u != 0 && vector[c] < 2 {
				vector[c]++
			}
		}
	}
	if team != nil {
		rows := make([]float64, components)
		for c, r := range vector {
			rows[c] = float64(r)
		}
		team.Sum(rows)
		for c, r := range rows {
			vector[c] = uint32(min(r, 2))
		}
	}
	for c, rows := range vector {
		vector[c] = OwnSlot
		if rows == 2 {
			vector[c] = uint32(vectors)
			vectors++
		}
	}
	return vector, vectors
}

// RemoveTo stores X − P₀·X in dst, which may be x. Cost: two passes over x.
func (n *Disjoint) RemoveTo(dst, x *sparse.Block[float64], workers int) {
	new(Share).RemoveTo(n, dst, x, workers)
}

// RemoveTo stores X − P₀·X in dst, which may be x. It overwrites s, whose memory it reuses. Cost: two passes over x.
func (s *Share) RemoveTo(n *Disjoint, dst, x *sparse.Block[float64], workers int) {
	if len(n.Unit) != x.Rows || dst.Rows != x.Rows || dst.Cols != x.Cols {
		panic(badShape)
	}
	s.Compute(n, x, workers, nil)
	s.Negate()
	EachChunk(workers, x.Rows, func(_, _, lo, hi int) {
		s.Subtract(lo, hi, 0, n.Unit[lo:hi], dst, x)
	})
}

// Negate changes the signs of the totals. It must be called before [Share.Subtract].
func (s *Share) Negate() {
	for i, v := range s.Totals {
		s.Totals[i] = -v
	}
}

// Subtract stores in dst, for the rows lo ≤ i < hi, the row of x minus factors[i−lo] times the totals of the vector of
// the row, which [Share.Negate] must have negated. Column j of x belongs to column column+j of the totals. dst may be
// x. A row that is a vector of its own becomes 0; a row outside all vectors is copied.
func (s *Share) Subtract(lo, hi, column int, factors []float64, dst, x *sparse.Block[float64]) {
	s.EachRun(lo, hi, func(r Run) {
		if r.Total != nil {
			simd.AddRows(simd.RowsOf(dst.Data, dst.Stride, r.Lo), r.Hi-r.Lo, x.Cols, simd.RowsOf(x.Data, x.Stride, r.Lo),
				factors[r.Lo-lo:r.Hi-lo], simd.Rows[float64]{Data: r.Total[column:]})
			return
		}
		for i := r.Lo; i < r.Hi; i++ {
			target := dst.Row(i)
			if r.Own {
				clear(target)
			} else {
				copy(target, x.Row(i))
			}
		}
	})
}

// Share is the part P₀·X of a block in a [Disjoint] space, stored as the products of the columns of X with the vectors.
type Share struct {
	*Disjoint
	Totals  []float64 // cols products with each vector of several rows, vector by vector
	cols    int
	partial []float64 // cols partial products of each slot
}

// Compute stores the share of x in s. If fill is not nil, Compute first calls fill for each chunk, to store the rows lo
// ≤ i < hi of x; this saves a pass. Cost: a pass over x.
func (s *Share) Compute(n *Disjoint, x *sparse.Block[float64], workers int,
	fill func(worker, lo, hi int)) {
	s.Begin(n, x.Cols)
	EachChunk(workers, x.Rows, func(worker, chunk, lo, hi int) {
		s.Clear(chunk)
		if fill != nil {
			fill(worker, lo, hi)
		}
		s.Add(lo, hi, 0, n.Unit[lo:hi], x)
	})
	s.Total()
}

// Add adds factors[i−lo] times row i of x to the partial products of its slot, for the rows lo ≤ i < hi that count in
// this process, see [sparse.Team.Counts]. Column j of x belongs to column column+j of the products.
func (s *Share) Add(lo, hi, column int, factors []float64, x *sparse.Block[float64]) {
	for start, end := range s.team.CountingRows(lo, hi) {
		s.EachRun(start, end, func(r Run) {
			if r.Total != nil {
				sums := s.At(s.Slot[r.Lo])[column:][:x.Cols]
				simd.AddWeighted(sums, factors[r.Lo-lo:r.Hi-lo], simd.RowsOf(x.Data, x.Stride, r.Lo))
			}
		})
	}
}

// ShareMemory returns the largest memory of the [Share] of a block with n rows in a space spanned by the given number
// of vectors.
func ShareMemory(n, vectors, cols int) int64 {
	slots := min(int64(n), int64(vectors)*int64(Chunks(n)))
	return 8 * int64(cols) * (slots + int64(vectors))
}

// Run is a run of consecutive rows of P₀·X. All rows belong to one vector, or all to no vector, or each row is a vector
// of its own.
type Run struct {
	Lo, Hi int       // the rows lo ≤ i < hi
	Unit   []float64 // row i of P₀·X is Unit[i−Lo]·Total
	Total  []float64 // nil: row i of P₀·X is row i of X if Own, and 0 otherwise
	Own    bool
}

// EachRun calls visit with consecutive runs of P₀·X that cover the rows lo ≤ i < hi.
func (s *Share) EachRun(lo, hi int, visit func(Run)) {
	n := s.Disjoint
	for start := lo; start < hi; {
		slot := n.Slot[start]
		end := start + 1
		for end < hi && n.Slot[end] == slot {
			end++
		}
		r := Run{Lo: start, Hi: end, Unit: n.Unit[start:end], Own: slot == OwnSlot}
		if slot < OwnSlot {
			r.Total = s.Totals[int(s.vector[slot])*s.cols:][:s.cols]
		}
		visit(r)
		start = end
	}
}

// Begin prepares s for products of the space n with a block of cols columns. The products are undefined afterwards.
func (s *Share) Begin(n *Disjoint, cols int) {
	s.Disjoint = n
	s.cols = cols
	s.partial = Grow(s.partial, len(n.vector)*cols)
	s.Totals = Grow(s.Totals, n.vectors*cols)
}

// Clear sets the partial products of the slots of a chunk to 0.
func (s *Share) Clear(chunk int) {
	clear(s.partial[s.slots[chunk]*s.cols : s.slots[chunk+1]*s.cols])
}

// At returns the partial products of a slot, one for each column.
func (s *Share) At(slot uint32) []float64 {
	return s.partial[int(slot)*s.cols:][:s.cols]
}

// Total computes the totals: it adds the partial products of each vector in the order of its slots, and then over the
// processes. The partial products must be sums over the rows that count in this process, see [sparse.Team.Counts].
func (s *Share) Total() {
	clear(s.Totals)
	for slot, v := range s.vector {
		AddScaled(s.Totals[int(v)*s.cols:][:s.cols], 1, s.At(uint32(slot)))
	}
	s.team.Sum(s.Totals)
}

// Roots returns d^½ for each degree d, and 1 for the degree 0: the weights of the null space of a normalized Laplacian.
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
