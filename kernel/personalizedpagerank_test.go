package kernel

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// solvePageRank solves densely for the columns of weights in b.
func solvePageRank(t *testing.T, a sparse.Matrix, alpha float64, sinksToAll bool, b []float64) []float64 {
	t.Helper()
	n := len(b)
	p := mat.NewVecDense(n, nil)
	total := 0.0
	for _, weight := range b {
		total += weight
	}
	for i, weight := range b {
		p.SetVec(i, weight/total)
	}
	dense := mat.DenseCopyOf(a.(mat.Matrix))
	system := mat.NewDense(n, n, nil)
	for i := range n {
		degree := mat.Sum(dense.Slice(i, i+1, 0, n))
		for j := range n {
			share := dense.At(i, j) / degree
			if degree == 0 {
				share = p.AtVec(j)
			}
			if degree == 0 && sinksToAll {
				share = 1 / float64(n)
			}
			system.Set(j, i, -alpha*share)
		}
		system.Set(i, i, system.At(i, i)+1)
	}
	var x mat.VecDense
	if err := x.SolveVec(system, p); err != nil {
		t.Fatal(err)
	}
	x.ScaleVec(1-alpha, &x)
	return x.RawVector().Data
}

// Plain steps are slowest on a directed cycle.
func TestPersonalizedPageRank(t *testing.T) {
	const n = 60
	b := sparse.NewBlock[float64](n, 3)
	for i := range n {
		b.Row(i)[0] = 1
		b.Row(i)[1] = max(0, math.Sin(float64(i)))
	}
	b.Row(7)[2] = 3
	b.Row(59)[2] = 1
	arcs := testgraph.RandomDirected(5, n, 70, true)
	directed, err := graph.New(t.Context(), arcs, nil)
	if err != nil {
		t.Fatal(err)
	}
	directed.In = arcs.Transpose()
	undirected, err := graph.New(t.Context(), testgraph.Random(11, n, 40, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	ptr := []int64{0}
	var col []uint32
	for i := range n {
		col = append(col, uint32((i+1)%n))
		ptr = append(ptr, int64(len(col)))
	}
	arcs, err = sparse.NewCSR(n, n, ptr, col, nil)
	if err != nil {
		t.Fatal(err)
	}
	cycle, err := graph.New(t.Context(), arcs, nil)
	if err != nil {
		t.Fatal(err)
	}
	cycle.In = arcs.Transpose()
	for _, g := range []*graph.Graph{directed, undirected, cycle} {
		if g != cycle && !slices.Contains(g.Degrees, 0) {
			t.Error("no sink")
		}
		for _, alpha := range []float64{0, 0.5, 0.85, 0.999, 0.9999} {
			for _, q := range []string{"seeds", "all"} {
				f, err := NewFunction(t.Context(), g, &NamedFunction{Name: PersonalizedPageRank.Name, Given: param.Values{"alpha": param.Of(alpha), "sinks": param.Of(q)}})
				if err != nil {
					t.Fatal(err)
				}
				for _, tolerance := range []float64{0, 1e-3, 1e-10} {
					y := sparse.NewBlock[float64](n, b.Cols)
					r, err := f.ApplyTo(t.Context(), y, b, &Settings{Tolerance: tolerance})
					if errors.Is(err, ErrTolerance) && alpha >= 0.999 && tolerance == 1e-10 {
						continue // rounding may exceed the tolerance
					}
					if err != nil {
						t.Fatal(err)
					}
					if r.Sweeps > 100*patience || g == undirected && r.Sweeps > 3*patience {
						t.Errorf("α %v: %d sweeps", alpha, r.Sweeps)
					}
					for j := range b.Cols {
						column := make([]float64, n)
						for i := range n {
							column[i] = b.Row(i)[j]
						}
						var square, norm float64
						for i, want := range solvePageRank(t, g.A, alpha, q == "all", column) {
							square += (y.Row(i)[j] - want) * (y.Row(i)[j] - want)
							norm += want * want
						}
						if rounding := 1e-13 * math.Sqrt(norm) / (1 - alpha); math.Sqrt(square) > r.ColumnBound[j]+rounding {
							t.Errorf("α %v, sinks to %s, column %d: error %.3g, bound %.3g", alpha, q, j, math.Sqrt(square), r.ColumnBound[j])
						}
						if limit := cmp.Or(tolerance, FunctionTolerance); r.ColumnBound[j] > 1.01*limit*math.Sqrt(norm) {
							t.Errorf("α %v: bound %.3g of norm %.3g", alpha, r.ColumnBound[j], math.Sqrt(norm))
						}
					}
				}
			}
		}
	}
	f, err := NewFunction(t.Context(), directed, &NamedFunction{Name: PersonalizedPageRank.Name})
	if err != nil {
		t.Fatal(err)
	}
	for _, weight := range []float64{-1, math.NaN(), math.Inf(1), 0} {
		c := sparse.NewBlock[float64](n, 1)
		c.Row(3)[0] = weight
		if _, err := f.ApplyTo(t.Context(), sparse.NewBlock[float64](n, 1), c, nil); err == nil {
			t.Errorf("the weight %v is accepted", weight)
		}
	}
}
