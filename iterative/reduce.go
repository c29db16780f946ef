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

// Reduction is a graph on some rows L of another graph. A function on that graph which is harmonic outside a subset of L
// has the same values in L as the harmonic function on the reduction. The Laplacian of the reduction is
//
//	S = L_LL − A_LU·L_UU⁻¹·A_UL
//
// where U are the rows outside L (Kron reduction: Dörfler and Bullo 2013). So one elimination gives the harmonic functions
// for every subset of L whose values are known. The weights keep all digits.
type Reduction struct {
	// Mass holds for each row l of L the sum of the masses m of all rows, each times the probability that a walk from the row
	// meets l first in L. So Σ_i m_i·f_i = Σ_l Mass_l·f_l for a function f that is harmonic in U.
	Mass []float64

	weight  *sparse.Block[float64] // between rows of L; the diagonal is 0
	columns *columns
}

// reductionPairs is the largest number of pairs of rows L of a reduction.
const reductionPairs = 1 << 21

// reductionLimit bounds the entries of the triangle, without the pairs of rows L.
func reductionLimit(n int, entries int64) int64 {
	if n > leanRows {
		return largeFill * entries
	}
	return 10 * entries
}

// Reduce returns the reduction of the graph with weights A ≥ 0 on the rows kept, in the order of kept. mass has the mass of
// each row of A, see [Reduction].Mass. Loops are ignored. If a row is kept twice, or if the reduction takes too many
// entries or products, the error wraps [ErrFill]; it does on most graphs with more than eight entries a row. If memory is
// less than [ReductionBytes], the error is a [*budget.Error]; memory 0 means no limit.
//
// Cost: one sweep, a search for an order and a sequential elimination.
func Reduce(ctx context.Context, a sparse.Matrix, kept []int, mass []float64, memory int64) (*Reduction, error) {
	n, _ := a.Dims()
	place := make(map[uint32]int, len(kept))
	for i, v := range kept {
		place[uint32(v)] = i
	}
	if !Reduces(n, a.NNZ(), len(kept)) || len(place) < len(kept) {
		return nil, errCompleteFill
	}
	if err := tryFill(ctx, a); err != nil {
		return nil, err
	}
	if err := budget.Check(memory, ReductionBytes(n, a.NNZ(), len(kept)), "the elimination of nodes without labels"); err != nil {
		return nil, err
	}
	f, err := beginFactor(ctx, a, 1, nil, kept, mass, func(n int, entries int64) fillLimits {
		limits := limitsOf(n, entries)
		limits.entries = reductionLimit(n, entries) + int64(pairs(len(kept)))
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

// ExtendTo stores in the rows U of f the harmonic function with the values of f in L. Rows of U without a path to L become
// 0. Cost: a multiplication for each entry of the factor and each column of f.
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

// HarmonicTo stores in the free rows of f the function that has the values of f in the other rows of L and is harmonic
// elsewhere. f has a row for each row of L. A free row that is not connected with any other row gets a meaningless value.
// Cost: k³/3 + k²·cols multiplications for k free rows.
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

// Absorb computes for each of k nodes the mean of the values at the ends where walks from the node stop. Row i of q must
// have the weights of the arcs of node i to the k nodes, then the total weight of the arcs of node i to ends, and then, for
// each value, the sum of these last weights times the value at the ends. Absorb replaces these sums by the means. The arc
// of a node to itself is ignored. ends reports whether walks from every node stop. The error is the error of the context.
//
// The sums keep all digits for weights of any range (Grassmann, Taksar and Heyman 1985). Cost: k³/3 multiplications.
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

// IsForest reports whether a matrix with n rows and the given numbers of entries and components has the graph of a forest. A
// [Harmonic] system of a forest is solved by one elimination without a [Reduction].
func IsForest(n int, entries int64, components int) bool {
	return isSparseAsForest(n, entries) && entries == 2*int64(n-components)
}

// Reduces reports whether [Reduce] pays for a matrix with n rows and the given number of entries:
// the matrix must be large and sparse, and the number of kept rows small.
func Reduces(n int, entries int64, kept int) bool {
	return isLean(n, entries) && n > smallRows && pairs(kept) <= reductionPairs
}

// reductionStack bounds the number of weights on the stack of a reduction. In lattices the stack has half as many weights
// as the matrix has entries.
func reductionStack(entries int64, kept int) int64 {
	return entries + int64(pairs(kept))
}

// ReductionBytes returns the memory of [Reduce] and of its result.
func ReductionBytes(n int, entries int64, kept int) budget.Size {
	return budget.AllOf(budget.Times(entries, 20), budget.Times(reductionLimit(n, entries), 12), budget.Times(reductionStack(entries, kept), 8), budget.Times(n, 300),
		budget.Times(3, budget.Block[float64](kept, kept)))
}
