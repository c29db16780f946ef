package iterative

import (
	"context"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// exact is the factor G·D·Gᵀ of N = scale·L + diag(ground), by elimination without
// subtraction (Grassmann, Taksar and Heyman 1985; O'Cinneide 1993).
//
// Eliminating a vertex v joins its neighbours u and x by an edge of weight
// w_vu·w_vx/Σ_u w_vu, where the sum includes the edge to the ground. Diagonals are sums of
// weights, never differences, so that every number has full relative precision whatever
// the weights span. Vertices are eliminated in the order of their degrees.
type exact struct {
	order []uint32 // vertices in the order of elimination
	start []int    // of the column of each position
	row   []uint32 // vertices of a column
	share []float64
	total []float64 // the pivot of each position; 0 for the last vertex of a singular component

	// error bounds the relative error of the elements of N⁻¹·b with b ≥ 0.
	//
	// By the matrix-tree theorem an element of N⁻¹ is a quotient of two sums of products
	// of weights, one product for each forest, all positive. A relative change δ of the
	// weights among the k neighbours of a vertex changes both sums by at most k·δ, and one of
	// all weights, which are rounded once or twice, by n·δ.
	error float64

	workers int
}

const (
	// ExactFirst is the largest number of nodes of a graph on which systems are eliminated,
	// which then takes less than a second, whatever the graph.
	ExactFirst = 1024

	unitRoundoff = 0x1p-53
)

// EliminationBytes bounds the memory of [System.EliminateTo] on a graph with n nodes, in addition to the
// blocks of a solve: a dense matrix and the entries of half of one. It is 0 for more than [ExactFirst] nodes.
func EliminationBytes(n int) int64 {
	if n > ExactFirst {
		return 0
	}
	return 14*int64(n)*int64(n) + 64*int64(n)
}

// FactorBytes bounds the memory of the factors of a solve of cols columns within room bytes, 0 for no
// limit: a Cholesky factor, which is not made where it does not fit, and the elimination of a
// small graph, which always is.
func FactorBytes(n int, entries int64, cols int, room int64) int64 {
	bytes := EliminationBytes(n)
	if factor := CholeskyBytes(n, entries, cols, room); room == 0 || factor <= room {
		bytes = max(bytes, factor)
	}
	return bytes
}

// newExact factors scale·L(A) + diag(ground). Entries of A are weights ≥ 0; its diagonal is
// ignored. held are nodes, one in each singular component, that are eliminated last, where
// solutions are 0. The error wraps [ErrFill] where products of weights vanish, or it is that
// of the sweep.
//
// Cost: one sweep, and n³/6 products at most.
func newExact(ctx context.Context, a sparse.Matrix, scale float64, ground []float64, held []int, workers int) (*exact, error) {
	n, _ := a.Dims()
	l := &loopless{n: n, weight: make([]float64, n*n), ground: make([]float64, n), degree: make([]int, n)}
	copy(l.ground, ground)
	err := eachEdge(ctx, a, scale, func(i, c uint32, w float64) {
		weight := &l.weight[int(i)*n+int(c)]
		if *weight == 0 {
			l.degree[i]++
		}
		*weight += w // entries that join one pair add
	})
	if err != nil {
		return nil, err
	}
	f := &exact{error: float64(8*n) * unitRoundoff, workers: workers, start: append(make([]int, 0, n+1), 0)}
	last := make([]bool, n)
	for _, v := range held {
		last[v] = true
	}
	for range n - len(held) {
		next := -1
		for v, degree := range l.degree {
			if degree >= 0 && !last[v] && (next < 0 || degree < l.degree[next]) {
				next = v
			}
		}
		if l.eliminate(f, next) == 0 {
			return nil, fmt.Errorf("%w: products of weights vanish", ErrFill)
		}
	}
	for _, v := range held {
		l.eliminate(f, v)
	}
	return f, nil
}

// loopless is the graph that an elimination has left.
type loopless struct {
	n      int
	weight []float64 // n×n; right only below the diagonal where both vertices are left
	ground []float64
	degree []int // −1 for a vertex that was eliminated
}

// at returns the weight between two vertices.
func (l *loopless) at(u, v int) *float64 { return &l.weight[max(u, v)*l.n+min(u, v)] }

// eliminate takes vertex v out of the graph, stores its column in f and returns its pivot.
func (l *loopless) eliminate(f *exact, v int) float64 {
	total := blocks.ExactSum{Sum: l.ground[v]}
	for u, degree := range l.degree {
		if degree < 0 || u == v {
			continue
		}
		if w := *l.at(u, v); w != 0 {
			f.row = append(f.row, uint32(u))
			f.share = append(f.share, w)
			total.Add(w)
		}
	}
	pivot := total.Value()
	first := f.start[len(f.order)]
	neighbours := f.row[first:]
	share := f.share[first:]
	weight := append([]float64(nil), share...)
	for i, u := range neighbours {
		share[i] /= pivot
		l.ground[u] += float64(share[i] * l.ground[v])
		l.degree[u]--
		row := l.weight[int(u)*l.n:][:l.n]
		for j, x := range neighbours[:i] {
			if row[x] == 0 {
				l.degree[u]++
				l.degree[x]++
			}
			row[x] += float64(share[i] * weight[j])
		}
	}
	l.degree[v] = -1
	f.order = append(f.order, uint32(v))
	f.total = append(f.total, pivot)
	f.start = append(f.start, len(f.row))
	f.error += columnError(len(neighbours))
	return pivot
}

// columnError bounds the relative error of a solution that comes from eliminating a vertex
// with k neighbours, and from using its column in two substitutions.
func columnError(k int) float64 { return float64(14*k+12) * unitRoundoff }

// solveTo stores N⁻¹·B in x, which may be b. In the last row of a singular component it
// stores 0. Columns are shared out among the workers.
func (f *exact) solveTo(ctx context.Context, x, b *sparse.Block[float64]) error {
	blocks.Copy(x, b)
	registers := (b.Cols + slabColumns - 1) / slabColumns
	slabs := min(sched.Workers(f.workers), registers)
	return sched.Run(ctx, slabs, slabs, func(_, slab int) error {
		lo := registers * slab / slabs * slabColumns
		hi := min(b.Cols, registers*(slab+1)/slabs*slabColumns)
		f.substitute(x.Columns(lo, hi))
		return nil
	})
}

// substitute solves for some columns in place.
func (f *exact) substitute(x *sparse.Block[float64]) {
	for p, v := range f.order {
		row := x.Row(int(v))
		for e := f.start[p]; e < f.start[p+1]; e++ {
			blocks.AddScaled(x.Row(int(f.row[e])), f.share[e], row)
		}
		if t := f.total[p]; t == 0 {
			clear(row)
		} else {
			for j := range row {
				row[j] /= t
			}
		}
	}
	for p := len(f.order) - 1; p >= 0; p-- {
		row := x.Row(int(f.order[p]))
		for e := f.start[p]; e < f.start[p+1]; e++ {
			blocks.AddScaled(row, f.share[e], x.Row(int(f.row[e])))
		}
	}
}
