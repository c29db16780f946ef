package iterative

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Reduction is the graph on some rows L of another one, in which a function that is harmonic outside R ⊂ L has the same
// values in L,
//
//	S = L_LL − A_LU·L_UU⁻¹·A_UL
//
// where U are the other rows (Kron reduction: Dörfler and Bullo 2013). So the harmonic functions of any choice of values
// known and hidden among L follow from one elimination. S is a Laplacian too. Elimination without subtraction gives its weights with all digits.
type Reduction struct {
	// Mass holds for each row of L the sum of the masses m of all rows, each times the probability that a walk from there
	// meets this row of L first, so that Σ_i m_i·f_i = Σ_l Mass_l·f_l of a function that is harmonic in U.
	Mass []float64

	weight  *sparse.Block[float64] // between rows of L, with zeros on the diagonal
	columns *columns               // of the rows U
}

// reductionFill is the number of entries of the triangle for each stored entry of the matrix, and that of values
// for pairs of rows of L, beyond which a graph is not reduced: a road map has one for each entry, a lattice of a million nodes eight.
const (
	reductionFill  = 10
	reductionPairs = 1 << 21
)

// Reduce returns the reduction of the graph with weights A ≥ 0 on the rows kept, in their order.
// Loops do not count. The error wraps [ErrFill] where a row is kept twice and where that takes too many entries or products, as it does on most graphs with more than
// eight entries a row, or is that of the sweep.
//
// Cost: one sweep, a search for an order and a sequential elimination, at most some thousand products for an entry.
func Reduce(ctx context.Context, a sparse.Matrix, kept []int, mass []float64) (*Reduction, error) {
	n, _ := a.Dims()
	place := make(map[uint32]int, len(kept))
	for i, v := range kept {
		place[uint32(v)] = i
	}
	if !Reduces(n, a.NNZ(), len(kept)) || len(place) < len(kept) {
		return nil, errCompleteFill
	}
	f, err := beginFactor(ctx, a, 1, nil, kept, mass, func(n int, entries int64) fillLimits {
		limits := limitsOf(n, entries)
		limits.entries = reductionFill*entries + int64(pairs(len(kept)))
		return limits
	})
	if err != nil {
		return nil, err
	}
	f.kept, f.limit = len(kept), reductionStack(a.NNZ(), len(kept))
	if err := f.eliminateFronts(ctx); err != nil {
		return nil, err
	}
	r := &Reduction{make([]float64, len(kept)), sparse.NewBlock[float64](len(kept), len(kept)), f.columns}
	value := f.stack
	last := f.fronts.all(int32(len(f.fronts.parent) - 1))
	last = last[len(last)-len(kept):]
	for j, v := range last {
		for _, u := range last[j+1:] {
			x, y := place[f.vertices[v]], place[f.vertices[u]]
			r.weight.Row(x)[y] = value[0]
			r.weight.Row(y)[x] = value[0]
			value = value[1:]
		}
	}
	for i, v := range kept {
		r.Mass[i] = f.columns.mass[v]
	}
	return r, nil
}

// ExtendTo stores in the rows U of f the function that is harmonic there and has the values of f in L. Rows of U that are connected
// with no row of L become 0. Cost: a product for each entry of the triangle and each column of f.
func (r *Reduction) ExtendTo(f *sparse.Block[float64]) {
	c := r.columns
	for step, v := range slices.Backward(c.order) {
		row := f.Row(int(v))
		clear(row)
		for entry, end := c.start[step], c.start[step+1]; entry < end; {
			neighbours, shares := c.from(entry, end)
			for i, u := range neighbours {
				blocks.AddScaled(row, shares[i], f.Row(int(u)))
			}
			entry += int64(len(neighbours))
		}
	}
}

// HarmonicTo stores in the rows of f that are free the values of the function that is harmonic there and in U, and has the
// values of f in the other rows of L. Those of free rows that are connected with no other row have no meaning. Cost: k³/3 + k²·cols
// products for k free rows.
func (r *Reduction) HarmonicTo(ctx context.Context, f *sparse.Block[float64], free []int) error {
	isFree := make([]bool, f.Rows)
	for _, i := range free {
		isFree[i] = true
	}
	k := len(free)
	q := sparse.NewBlock[float64](k, k+1+f.Cols)
	for v, i := range free {
		row := q.Row(v)
		for u, j := range free {
			row[u] = r.weight.Row(i)[j]
		}
		for j, w := range r.weight.Row(i) {
			if !isFree[j] {
				row[k] += w
				blocks.AddScaled(row[k+1:], w, f.Row(j))
			}
		}
	}
	_, err := Absorb(ctx, q)
	for v, i := range free {
		copy(f.Row(i), q.Row(v)[k+1:])
	}
	return err
}

// Absorb stores in the last columns of q the mean of the values where walks from each of k nodes end. Row i of q has the weights of arcs to
// the k nodes, that of arcs to an end, and the sums of these times the values there; the arc to itself does not count. ends reports whether a walk from every
// node ends. The error is the context's.
//
// Eliminating a node joins its predecessors to its successors. All numbers are sums of products of weights, never differences,
// so that they have all digits whatever the weights span (Grassmann, Taksar and Heyman 1985). Cost: k³/3 products.
func Absorb(ctx context.Context, q *sparse.Block[float64]) (ends bool, err error) {
	k := q.Rows
	ends = true
	for v := k - 1; v >= 0; v-- {
		if ctx.Err() != nil {
			return false, sched.Cause(ctx)
		}
		row := q.Row(v)
		total := floats.Sum(row[:v]) + row[k]
		if !(total > 0) {
			ends = false
			continue
		}
		floats.Scale(1/total, row[:v])
		floats.Scale(1/total, row[k:])
		for u := range v {
			if w := q.Row(u)[v]; w > 0 {
				blocks.AddScaled(q.Row(u)[:v], w, row[:v])
				blocks.AddScaled(q.Row(u)[k:], w, row[k:])
				q.Row(u)[u] = 0
			}
		}
	}
	for v := range k {
		row := q.Row(v)
		for u, w := range row[:v] {
			if w > 0 {
				blocks.AddScaled(row[k+1:], w, q.Row(u)[k+1:])
			}
		}
	}
	return ends, nil
}

// Reduces reports whether a sparse matrix with n rows and that many entries is large enough for [Reduce] to pay, and
// small enough to keep that many of its rows.
func Reduces(n int, entries int64, kept int) bool {
	return isLean(n, entries) && n > smallRows && pairs(kept) <= reductionPairs
}

// reductionStack bounds the weights that wait while a graph is reduced. In lattices that is half as many as entries.
func reductionStack(entries int64, kept int) int64 {
	return entries + int64(pairs(kept))
}

// ReductionBytes returns the memory of [Reduce] and of its result.
func ReductionBytes(n int, entries int64, kept int) budget.Size {
	return budget.AllOf(budget.Times(entries, 20+12*reductionFill), budget.Times(reductionStack(entries, kept), 8), budget.Times(n, 300),
		budget.Times(3, budget.Block[float64](kept, kept)))
}
