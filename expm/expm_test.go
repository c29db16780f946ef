package expm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var ctx = context.Background()

func graphOf(t testing.TB, a sparse.Matrix, workers int) *graph.Graph {
	t.Helper()
	g, err := graph.New(ctx, a, &graph.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func must[V any](t testing.TB) func(v V, err error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func randomBlock(rngSeed uint64, rows, cols int) *sparse.Block[float64] {
	rng := rand.New(rand.NewPCG(rngSeed, uint64(cols)))
	b := sparse.NewBlock[float64](rows, cols)
	for i := range rows {
		for j := range cols {
			b.Row(i)[j] = rng.NormFloat64()
		}
	}
	return b
}

func identity(n int, rows ...int) *sparse.Block[float64] {
	b := sparse.NewBlock[float64](n, len(rows))
	for j, i := range rows {
		b.Row(i)[j] = 1
	}
	return b
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func transposed(b *sparse.Block[float64]) *sparse.Block[float64] {
	c := sparse.NewBlock[float64](b.Cols, b.Rows)
	for i := range b.Rows {
		for j, v := range b.Row(i) {
			c.Row(j)[i] = v
		}
	}
	return c
}

func newBlocks(n, k, count int) []*sparse.Block[float64] {
	y := make([]*sparse.Block[float64], count)
	for i := range y {
		y[i] = sparse.NewBlock[float64](n, k)
	}
	return y
}

func apply(t testing.TB, m *Map, b *sparse.Block[float64], tolerance float64, fs ...Function) ([]*sparse.Block[float64], *Result) {
	t.Helper()
	y := newBlocks(b.Rows, b.Cols, len(fs))
	r, err := m.ApplyTo(ctx, y, b, fs, &Settings{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	return y, r
}

var mapNames = []string{"L", "L̃", "A", "S"}

func mapOf(t testing.TB, g *graph.Graph, name string) *Map {
	t.Helper()
	switch name {
	case "L":
		return must[*Map](t)(New(ctx, g, sparse.Laplacian))
	case "L̃":
		return must[*Map](t)(New(ctx, g, sparse.NormalizedLaplacian))
	case "A":
		return must[*Map](t)(New(ctx, g, sparse.Adjacency))
	case "S":
		return must[*Map](t)(New(ctx, g, sparse.NormalizedAdjacency))
	}
	panic(name)
}

func dense(g *graph.Graph, name string) *mat.SymDense {
	a, n := g.A.(*sparse.CSR), len(g.Degrees)
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := a.At(i, j)
			if name != "L" && name != "A" && v != 0 {
				v /= math.Sqrt(g.Degrees[i] * g.Degrees[j])
			}
			if name != "A" && name != "S" {
				v = -v
				if i == j {
					switch {
					case name == "L":
						v += g.Degrees[i]
					case g.Degrees[i] > 0:
						v++
					}
				}
			}
			h.SetSym(i, j, v)
		}
	}
	return h
}

type eigen struct {
	values []float64
	v      mat.Dense
}

func eigenOf(g *graph.Graph, name string) *eigen {
	h := dense(g, name)
	var f mat.EigenSym
	if !f.Factorize(h, true) {
		panic("eigenpairs")
	}
	e := &eigen{values: f.Values(nil)}
	for i, v := range e.values {
		// At a rate of 400, 1e-14 would differ from 0.
		if math.Abs(v) < 1e-12*e.values[len(e.values)-1] {
			e.values[i] = 0
		}
	}
	f.VectorsTo(&e.v)
	return e
}

func (e *eigen) function(f func(float64) float64, b *sparse.Block[float64]) *sparse.Block[float64] {
	n := b.Rows
	x := mat.NewDense(n, b.Cols, nil)
	for i := range n {
		for j, v := range b.Row(i) {
			x.Set(i, j, v)
		}
	}
	var c, y mat.Dense
	c.Mul(e.v.T(), x)
	for i, l := range e.values {
		v := f(l)
		for j := range b.Cols {
			c.Set(i, j, v*c.At(i, j))
		}
	}
	y.Mul(&e.v, &c)
	out := sparse.NewBlock[float64](n, b.Cols)
	for i := range n {
		for j := range b.Cols {
			out.Row(i)[j] = y.At(i, j)
		}
	}
	return out
}

func distance(a, b *sparse.Block[float64]) (d, norm float64, columns []float64) {
	columns = make([]float64, a.Cols)
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		for j := range x {
			columns[j] += (x[j] - y[j]) * (x[j] - y[j])
			norm += y[j] * y[j]
		}
	}
	for j, c := range columns {
		d += c
		columns[j] = math.Sqrt(c)
	}
	return math.Sqrt(d), math.Sqrt(norm), columns
}

// certified checks the error against the bound and the tolerance. slack is the error of the reference.
func certified(t testing.TB, name string, y, want *sparse.Block[float64], o Outcome, tolerance, slack float64) {
	t.Helper()
	d, norm, columns := distance(y, want)
	if !(d <= o.ErrorBound+slack) {
		t.Errorf("%s: error %.3g, bound %.3g, reference good to %.3g", name, d, o.ErrorBound, slack)
	}
	if !(o.Relative <= tolerance) || !(o.ErrorBound <= tolerance*norm*(1+1e-6)+slack) {
		t.Errorf("%s: relative bound %.3g (%.3g of %.3g), tolerance %.3g", name, o.Relative, o.ErrorBound, norm, tolerance)
	}
	if !(o.NormLowerBound <= norm*(1+1e-12)+slack) {
		t.Errorf("%s: norm %.6g, its lower bound %.6g", name, norm, o.NormLowerBound)
	}
	for j, c := range columns {
		if !(c <= o.ColumnBound[j]+slack) {
			t.Errorf("%s: column %d: error %.3g, bound %.3g", name, j, c, o.ColumnBound[j])
		}
	}
}

func TestAgainstEigenpairs(t *testing.T) {
	for gi, a := range []*sparse.CSR{
		testgraph.Random(3, 70, 160, true), testgraph.Random(11, 80, 60, true), testgraph.Random(5, 40, 120, false),
		testgraph.Star(60), testgraph.TwoCliques(7), testgraph.Path(30), testgraph.Cycle(31), testgraph.Path(1),
		testgraph.Random(1, 5, 0, false),
	} {
		if testing.Short() && gi%2 == 0 {
			continue
		}
		g := graphOf(t, a, 2)
		n := len(g.Degrees)
		for _, name := range mapNames {
			m, e := mapOf(t, g, name), eigenOf(g, name)
			fs := map[string]Function{
				"1": Exp(0), "exp(−.1x)": Exp(-.1), "exp(−x)": Exp(-1), "exp(−30x)": Exp(-30), "exp(.05x)": Exp(.05),
				"(3−x)^4": Power(3, 4), "cos": Smooth(math.Cos), "1/(200+x)": Inverse(200, 1), "1/(−200−.5x)": Inverse(-200, -.5),
			}
			if m.Lo < 0 {
				// The interval is wider than the spectrum.
				delete(fs, "exp(−30x)")
			}
			if name == "S" {
				fs["von Neumann"] = Inverse(1, -.9)
			}
			if m.Lo == 0 {
				fs["regularised"] = Inverse(1, 5)
			}
			for _, k := range []int{1, 5} {
				b := randomBlock(7, n, k)
				for label, f := range fs {
					for _, tolerance := range []float64{1e-4, 1e-10} {
						y, r := apply(t, m, b, tolerance, f)
						want := e.function(f.value, b)
						_, size, _ := distance(want, want)
						_, norm, _ := distance(b, b)
						slack := 1e-13 * math.Max(size, norm)
						certified(t, fmt.Sprintf("graph %d, %s of %s, %d columns, %g", gi, label, name, k, tolerance), y[0], want, r.Functions[0], tolerance, slack)
					}
				}
			}
		}
	}
}

// Near the pole of (I − αA)⁻¹ the bound consists of rounding errors.
func TestNearPole(t *testing.T) {
	var e []sparse.Triplet
	for _, p := range [][2]uint32{{0, 1}, {1, 2}, {2, 0}, {2, 3}} {
		e = append(e, sparse.Triplet{Row: p[0], Col: p[1], Val: 1}, sparse.Triplet{Row: p[1], Col: p[0], Val: 1})
	}
	a, err := sparse.FromTriplets(4, 4, e)
	if err != nil {
		t.Fatal(err)
	}
	const rho = 2.1700864866260341 // the largest eigenvalue, rounded up
	m, err := NewBounded(&sparse.Operator[float64]{A: a}, -rho, rho, 1)
	if err != nil {
		t.Fatal(err)
	}
	gaps := []float64{1e-2, 1e-5, 1e-8}
	if testing.Short() {
		gaps = gaps[:2]
	}
	for _, gap := range gaps {
		alpha := (1 - gap) / rho
		want := exactInverse(a, alpha)
		b, y := sparse.NewBlock[float64](4, 4), newBlocks(4, 4, 1)
		for i := range 4 {
			b.Row(i)[i] = 1
		}
		r, err := m.ApplyTo(ctx, y, b, []Function{Inverse(1, -alpha)}, &Settings{Tolerance: 1e-10})
		if err != nil && !errors.Is(err, ErrTolerance) {
			t.Fatal(err)
		}
		for j, bound := range r.Functions[0].ColumnBound {
			var d float64
			for i := range 4 {
				d = math.Hypot(d, y[0].At(i, j)-want[i][j])
			}
			if d > bound {
				t.Errorf("α·ρ = 1 − %g, column %d: error %g above its bound %g", gap, j, d, bound)
			}
		}
	}
}

func exactInverse(a *sparse.CSR, alpha float64) [][]float64 {
	n, _ := a.Dims()
	return inverse(n, func(i, j int) *big.Rat {
		v := new(big.Rat).Mul(exact(-alpha), exact(a.At(i, j)))
		if i == j {
			v.Add(v, exact(1))
		}
		return v
	})
}

func exact(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// inverse returns M⁻¹ rounded once.
func inverse(n int, entry func(i, j int) *big.Rat) [][]float64 {
	rows := make([][]*big.Rat, n) // rows of the matrix (M | I)
	for i := range rows {
		rows[i] = make([]*big.Rat, 2*n)
		for j := range n {
			rows[i][j], rows[i][n+j] = entry(i, j), exact(0)
		}
		rows[i][n+i] = exact(1)
	}
	for c := range n {
		pivot := new(big.Rat).Inv(rows[c][c])
		for _, v := range rows[c] {
			v.Mul(v, pivot)
		}
		for i := range n {
			if i == c {
				continue
			}
			f := new(big.Rat).Set(rows[i][c])
			for j, v := range rows[i] {
				v.Sub(v, new(big.Rat).Mul(f, rows[c][j]))
			}
		}
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range n {
			out[i][j], _ = rows[i][n+j].Float64()
		}
	}
	return out
}
