package iterative

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func tree(t *rapid.T) *sparse.CSR {
	n := rapid.IntRange(1, 60).Draw(t, "nodes")
	var e []sparse.Triplet
	for i := 1; i < n; i++ {
		j := rapid.IntRange(0, i-1).Draw(t, "parent")
		w := float64(rapid.IntRange(1, 1000).Draw(t, "weight")) / 64
		e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
	}
	a, err := sparse.FromTriplets(n, n, e)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFactorOfAForestIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := tree(t)
		n, _ := a.Dims()
		g, err := graph.New(ctx, a, &graph.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := ShiftedLaplacian(g, false, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.anyFactor(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b, x := randomBlock(1, n, 2), sparse.NewBlock[float64](n, 2)
		s.prepare()
		s.cg.Precond = f
		res, err := s.cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if res.Steps > 1 {
			t.Fatalf("%d steps with an exact factor", res.Steps)
		}
	})
}

func TestFactorIsUnbiased(t *testing.T) {
	a := testgraph.Complete(8)
	n := 8
	ground := []float64{1, 0, 0, 0.5, 0, 0, 2, 0}
	want := denseLaplacian(a, degreesOf(t, a), false)
	for i, v := range ground {
		want.SetSym(i, i, want.At(i, i)+v)
	}
	const draws = 4000
	mean := mat.NewDense(n, n, nil)
	for seed := range uint64(draws) {
		c, err := eliminate(ctx, a, 1, ground, seed, 28)
		if err != nil {
			t.Fatal(err)
		}
		g := mat.NewDense(n, n, nil)
		pivots := mat.NewDiagDense(n, nil)
		for step, v := range c.order {
			g.Set(int(v), step, 1)
			pivots.SetDiag(step, 1/c.pivot[step])
			rows, values := c.from(c.start[step], c.start[step+1])
			for e, row := range rows {
				g.Set(int(row), step, -values[e])
			}
		}
		var p, m mat.Dense
		p.Mul(g, pivots)
		m.Mul(&p, g.T())
		mean.Add(mean, &m)
	}
	for i := range n {
		for j := range n {
			if d := math.Abs(mean.At(i, j)/draws - want.At(i, j)); d > 10/math.Sqrt(draws) {
				t.Errorf("(%d, %d): mean %g, want %g", i, j, mean.At(i, j)/draws, want.At(i, j))
			}
		}
	}
}

func TestLimitOfFactor(t *testing.T) {
	for _, a := range []*sparse.CSR{testgraph.Complete(40), testgraph.Random(3, 300, 2000, true), grid(20)} {
		if _, err := eliminate(ctx, a, 1, nil, 1, 9*a.NNZ()); err != nil {
			t.Error(err)
		}
		if _, err := eliminate(ctx, a, 1, nil, 1, 10); !errors.Is(err, ErrFill) {
			t.Errorf("a factor of ten entries: %v", err)
		}
	}
}

// The factor also preconditions conjugate gradients on L̃ itself.
func TestPreconditioner(t *testing.T) {
	a := grid(30)
	g := graphOf(t, a)
	n := len(g.Degrees)
	s, err := ShiftedLaplacian(g, true, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := s.Preconditioner(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, x, y := randomBlock(1, n, 9), sparse.NewBlock[float64](n, 9), sparse.NewBlock[float64](n, 9)
	cg := &CG{A: sparse.NewOperator[float64](sparse.NormalizedLaplacian, a, g.Degrees), Null: s.Null, Precond: p}
	res, err := cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-11})
	if err != nil || res.Steps > 60 {
		t.Fatalf("%v, %d steps", err, res.Steps)
	}
	if _, err := s.SolveTo(ctx, y, b, &Settings{Tolerance: 1e-11}); err != nil {
		t.Fatal(err)
	}
	testgraph.Close(t, x, y, 0, 1e-7) // condition 1e4
}
