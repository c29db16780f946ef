package lanczos

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var ctx = context.Background()

func degreesOf(t testing.TB, a sparse.Matrix) []float64 {
	t.Helper()
	deg, err := sparse.Degrees(ctx, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return deg
}

func componentsOf(t testing.TB, a sparse.Matrix) *sparse.Components {
	t.Helper()
	c, err := sparse.FindComponents(ctx, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func roots(deg []float64) []float64 {
	r := make([]float64, len(deg))
	for i, d := range deg {
		r[i] = 1
		if d > 0 {
			r[i] = math.Sqrt(d)
		}
	}
	return r
}

func denseOf(t testing.TB, a sparse.Applier[float64]) *mat.SymDense {
	t.Helper()
	n, _ := a.Dims()
	x, y := sparse.NewBlock[float64](n, n), sparse.NewBlock[float64](n, n)
	for i := range n {
		x.Row(i)[i] = 1
	}
	if err := a.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1}); err != nil {
		t.Fatal(err)
	}
	m := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			m.SetSym(i, j, (y.At(i, j)+y.At(j, i))/2)
		}
	}
	return m
}

func exactValues(m *mat.SymDense, which Which) []float64 {
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		panic("eigenvalues")
	}
	v := e.Values(nil)
	if which == Largest {
		slices.Reverse(v)
	}
	return v
}

// checkPairs checks the reported residuals independently.
func checkPairs(t *testing.T, a sparse.Applier[float64], p *Pairs, want []float64, tolerance float64) {
	t.Helper()
	k, n := len(p.Values), p.Vectors.Rows
	for i, v := range p.Values {
		if d := math.Abs(v - want[i]); d > tolerance {
			t.Errorf("value %d is %.15g, want %.15g", i, v, want[i])
		}
	}
	y := sparse.NewBlock[float64](n, k)
	if err := a.StepTo(ctx, y, p.Vectors, sparse.Step[float64]{Alpha: 1}); err != nil {
		t.Fatal(err)
	}
	for i := range k {
		var square float64
		for r := range n {
			d := y.At(r, i) - p.Values[i]*p.Vectors.At(r, i)
			square += d * d
		}
		if got, res := p.Residuals[i], math.Sqrt(square); math.Abs(got-res) > 1e-6*res+1e-14*(1+p.Norm) {
			t.Errorf("residual %d is %g, reported %g", i, res, got)
		}
		for j := range i + 1 {
			var dot float64
			for r := range n {
				dot += p.Vectors.At(r, i) * p.Vectors.At(r, j)
			}
			if i == j {
				dot--
			}
			if math.Abs(dot) > max(1e-13, float64(n)*epsilon/4) { // the sum of n equal numbers is rounded
				t.Errorf("vectors %d and %d: product off by %g", i, j, dot)
			}
		}
	}
}

type kind struct {
	name  string
	op    func(a *sparse.CSR, deg []float64) *sparse.Operator[float64]
	which Which
	known func(c *sparse.Components, deg []float64) *Known
}

func isolatedOut(deg []float64) []float64 {
	r := make([]float64, len(deg))
	for i, d := range deg {
		r[i] = math.Sqrt(d)
	}
	return r
}

// modularity returns A − d·dᵀ/Σd.
func modularity(a *sparse.CSR, deg []float64) *sparse.Operator[float64] {
	var vol float64
	for _, d := range deg {
		vol += d
	}
	return &sparse.Operator[float64]{A: a, Gamma: -1 / vol, U: deg, V: deg}
}

var kinds = []kind{
	{"A_largest", func(a *sparse.CSR, _ []float64) *sparse.Operator[float64] { return &sparse.Operator[float64]{A: a} }, Largest, nil},
	{"S_largest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, d)
	}, Largest, func(c *sparse.Components, d []float64) *Known {
		return &Known{Components: c, Weights: isolatedOut(d), Value: 1}
	}},
	{"M_largest", modularity, Largest, nil},
	{"M_smallest", modularity, Smallest, nil},
	{"L_smallest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewOperator[float64](sparse.Laplacian, a, d)
	}, Smallest, func(c *sparse.Components, _ []float64) *Known { return &Known{Components: c} }},
	{"Lnorm_smallest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewOperator[float64](sparse.NormalizedLaplacian, a, d)
	}, Smallest, func(c *sparse.Components, d []float64) *Known { return &Known{Components: c, Weights: roots(d)} }},
}

// methods also run on small maps.
var methods = []struct {
	name  string
	solve func(p *Problem, k int, s *Settings) (*Pairs, error)
}{
	{"dense", func(p *Problem, k int, s *Settings) (*Pairs, error) { return p.Solve(ctx, k, s) }},
	{"lanczos", func(p *Problem, k int, s *Settings) (*Pairs, error) {
		return p.forced(k, s, func(r *run) (*Pairs, error) { return r.lanczos(ctx, false) })
	}},
	{"lobpcg", func(p *Problem, k int, s *Settings) (*Pairs, error) {
		return p.forced(k, s, func(r *run) (*Pairs, error) { return r.lobpcg(ctx, math.Inf(1)) })
	}},
}

func (p *Problem) forced(k int, s *Settings, by func(r *run) (*Pairs, error)) (*Pairs, error) {
	w, err := p.prepare(k, s)
	if err != nil {
		return nil, err
	}
	return by(w)
}

// The norm is at most the largest eigenvalue, and not much less.
func TestNorm(t *testing.T) {
	for _, n := range []int{60, 600} {
		a := testgraph.Random(3, n, 4*n, true)
		op := sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a))
		var e mat.EigenSym
		if !e.Factorize(denseOf(t, op), false) {
			t.Fatal("no eigenvalues")
		}
		norm := slices.Max(e.Values(nil))
		null := &Known{Components: componentsOf(t, a)}
		for _, p := range []Problem{
			{A: op, Which: Largest}, {A: op, Which: Smallest},
			{A: op, Which: Smallest, Known: null}, {A: op, Which: Smallest, Known: null, Beyond: true},
		} {
			pairs, err := p.Solve(ctx, 3, &Settings{Tolerance: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			if pairs.Norm > norm*(1+1e-12) || pairs.Norm < norm*0.9 {
				t.Errorf("%d rows, %v, known %v, %s: a norm of %v, the largest eigenvalue is %v", n, p.Which, p.Known != nil, pairs.Method, pairs.Norm, norm)
			}
		}
	}
}
