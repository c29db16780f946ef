package function

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// denseMatrix returns a matrix of a graph by its definition.
func denseMatrix(g *graph.Graph, name string) *mat.Dense {
	n := len(g.Degrees)
	m := mat.NewDense(n, n, nil)
	a := g.A.(*sparse.CSR)
	for i := range n {
		d := g.Degrees[i]
		for j := range n {
			w, e := a.At(i, j), g.Degrees[j]
			s := 0.0
			if d > 0 && e > 0 {
				s = w / math.Sqrt(d) / math.Sqrt(e)
			}
			same := 0.0
			if i == j {
				same = 1
			}
			switch name {
			case "adjacency":
				m.Set(i, j, w)
			case "normalized-adjacency":
				m.Set(i, j, s)
			case "laplacian":
				m.Set(i, j, same*d-w)
			case "normalized-laplacian":
				if d == 0 {
					same = 0
				}
				m.Set(i, j, same-s)
			case "transition":
				if d > 0 {
					m.Set(i, j, w/d)
				} else {
					m.Set(i, j, same)
				}
			}
		}
	}
	return m
}

// TestFunctions compares every function with dense algebra, and the reported bounds with the errors.
func TestFunctions(t *testing.T) {
	ctx := context.Background()
	a := testgraph.Random(5, 60, 90, true) // with isolated nodes and components
	for _, workers := range []int{1, 3} {
		g, err := graph.New(ctx, a, &graph.Settings{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		n := len(g.Degrees)
		rng := rand.New(rand.NewPCG(1, 1))
		b := sparse.NewBlock[float64](n, 5)
		dense := mat.NewDense(n, 5, nil)
		for i := range n {
			for j := range b.Cols {
				b.Row(i)[j] = rng.NormFloat64()
				dense.Set(i, j, b.Row(i)[j])
			}
		}
		for _, c := range []struct {
			name  string
			given param.Values
			exact func() mat.Matrix
		}{
			{"adjacency", nil, func() mat.Matrix { return denseMatrix(g, "adjacency") }},
			{"normalized-adjacency", nil, func() mat.Matrix { return denseMatrix(g, "normalized-adjacency") }},
			{"transition", nil, func() mat.Matrix { return denseMatrix(g, "transition") }},
			{"laplacian", nil, func() mat.Matrix { return denseMatrix(g, "laplacian") }},
			{"normalized-laplacian", nil, func() mat.Matrix { return denseMatrix(g, "normalized-laplacian") }},
			{Exp, param.Values{"t": param.Of(0.5)}, func() mat.Matrix { return exponential(0.5, denseMatrix(g, "adjacency")) }},
			{Exp, param.Values{"t": param.Of(-2.0), "matrix": param.Of("laplacian")}, func() mat.Matrix { return exponential(-2, denseMatrix(g, "laplacian")) }},
			{Exp, param.Values{"t": param.Of(1.5), "matrix": param.Of("normalized-laplacian")}, func() mat.Matrix { return exponential(1.5, denseMatrix(g, "normalized-laplacian")) }},
			{Exp, param.Values{"t": param.Of(-1.0), "matrix": param.Of("normalized-adjacency")}, func() mat.Matrix { return exponential(-1, denseMatrix(g, "normalized-adjacency")) }},
			{Solve, param.Values{"shift": param.Of(0.5)}, func() mat.Matrix { return inverse(t, denseMatrix(g, "laplacian"), 0.5) }},
			{Solve, param.Values{"shift": param.Of(3.0), "matrix": param.Of("normalized-laplacian")}, func() mat.Matrix { return inverse(t, denseMatrix(g, "normalized-laplacian"), 3) }},
			{Solve, nil, func() mat.Matrix { return pseudoInverse(denseMatrix(g, "laplacian")) }},
			{"diffusion", param.Values{"beta": param.Of(2.0), "laplacian": param.Of("combinatorial")}, func() mat.Matrix { return exponential(-2, denseMatrix(g, "laplacian")) }},
		} {
			f, err := New(ctx, g, &Named{Name: c.name, Given: c.given})
			if err != nil {
				t.Fatal(c.name, err)
			}
			y := sparse.NewBlock[float64](n, b.Cols)
			set := &kernel.Settings{Tolerance: 1e-9}
			if IsProduct(c.name) {
				set = nil
			}
			r, err := f.ApplyTo(ctx, y, b, set)
			if err != nil {
				t.Fatal(c.name, err)
			}
			var want mat.Dense
			want.Mul(c.exact(), dense)
			off := sparse.NewBlock[float64](n, b.Cols)
			largest := 0.0
			for i := range n {
				for j := range b.Cols {
					off.Row(i)[j] = y.Row(i)[j] - want.At(i, j)
					largest = max(largest, math.Abs(y.Row(i)[j]))
				}
			}
			const reference = 1e-12 // error of the dense result, relative to the largest value
			for j, e := range blocks.Norms(nil, off) {
				if e > r.ColumnBound[j]+reference*largest*float64(n) {
					t.Errorf("%s %v: error %.3g of column %d, bound %.3g", c.name, f.Values, e, j, r.ColumnBound[j])
				}
				if r.ErrorBound < r.ColumnBound[j] || r.ErrorBound > 1e-6*largest || r.Largest != largest {
					t.Errorf("%s %v: bound %.3g, column %.3g, largest value %g, want %g", c.name, f.Values, r.ErrorBound, r.ColumnBound[j], r.Largest, largest)
				}
			}
			if bytes, err := Bytes(&Named{Name: c.name, Given: c.given}, g.Degrees, b.Cols); err != nil || bytes < 2*blocks.BlockBytes[float64](n, b.Cols) {
				t.Errorf("%s: %d bytes, %v", c.name, bytes, err)
			}
		}
	}
}

// TestTimes compares several times in the same sweeps with one time after the other.
func TestTimes(t *testing.T) {
	ctx := context.Background()
	g, err := graph.New(ctx, testgraph.Random(5, 60, 90, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := sparse.NewBlock[float64](60, 3)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range b.Rows {
		for j := range b.Cols {
			b.Row(i)[j] = rng.NormFloat64()
		}
	}
	given := param.Values{"matrix": param.Of("laplacian")}
	n := &Named{Name: Exp, Given: given, Times: []float64{0, -0.1, 0.2, -100}}
	f, err := New(ctx, g, n)
	if err != nil {
		t.Fatal(err)
	}
	y := sparse.NewBlock[float64](60, n.Results()*b.Cols)
	all, err := f.ApplyTo(ctx, y, b, &kernel.Settings{Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i, time := range n.Times {
		one, err := New(ctx, g, &Named{Name: Exp, Given: given, Times: []float64{time}})
		if err != nil {
			t.Fatal(err)
		}
		want := sparse.NewBlock[float64](60, b.Cols)
		r, err := one.ApplyTo(ctx, want, b, &kernel.Settings{Tolerance: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		sum += r.Sweeps
		got := y.Columns(i*b.Cols, (i+1)*b.Cols)
		for j := range b.Cols {
			bound := r.ColumnBound[j] + all.ColumnBound[i*b.Cols+j]
			for row := range 60 {
				if off := math.Abs(got.At(row, j) - want.At(row, j)); off > bound {
					t.Errorf("t = %v: element %d, %d differs by %.3g, bounds %.3g", time, row, j, off, bound)
				}
			}
		}
	}
	if all.Sweeps >= sum {
		t.Errorf("%d sweeps, one time after the other %d", all.Sweeps, sum)
	}
}

func exponential(t float64, m *mat.Dense) mat.Matrix {
	var e mat.Dense
	m.Scale(t, m)
	e.Exp(m)
	return &e
}

func inverse(t *testing.T, m *mat.Dense, shift float64) mat.Matrix {
	n, _ := m.Dims()
	for i := range n {
		m.Set(i, i, m.At(i, i)+shift)
	}
	var e mat.Dense
	if err := e.Inverse(m); err != nil {
		t.Fatal(err)
	}
	return &e
}

func pseudoInverse(m *mat.Dense) mat.Matrix {
	n, _ := m.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, m.At(i, j))
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(sym, true)
	values := eigen.Values(nil)
	for i, v := range values {
		if values[i] = 0; v > 1e-9 {
			values[i] = 1 / v
		}
	}
	var u, left, all mat.Dense
	eigen.VectorsTo(&u)
	left.Mul(&u, mat.NewDiagDense(n, values))
	all.Mul(&left, u.T())
	return &all
}

func TestRefused(t *testing.T) {
	ctx := context.Background()
	g, err := graph.New(ctx, testgraph.Random(5, 60, 90, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		given param.Values
		want  string
	}{
		{"laplace", nil, "function"},
		{Exp, param.Values{"beta": param.Of(1.0)}, "beta"},
		{Solve, param.Values{"shift": param.Of(1e-300)}, "shift"},
	} {
		_, err := New(ctx, g, &Named{Name: c.name, Given: c.given})
		if wrong := (*param.ParameterError)(nil); !errors.As(err, &wrong) || wrong.Parameter != c.want {
			t.Errorf("%s %v: %v", c.name, c.given, err)
		}
	}
	b := sparse.NewBlock[float64](60, 1)
	b.Row(0)[0] = 1
	f, err := New(ctx, g, &Named{Name: "commute-time"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ApplyTo(ctx, sparse.NewBlock[float64](60, 1), b, nil); !errors.Is(err, kernel.ErrDistance) {
		t.Error(err)
	}
	g.In = g.A
	if _, err := New(ctx, g, &Named{Name: Exp}); !errors.Is(err, kernel.ErrAsymmetric) {
		t.Error(err)
	}
}

// TestExtremeTimes computes exp(0)·B = B, and e^660·B on a complete graph, whose squares overflow.
func TestExtremeTimes(t *testing.T) {
	g, err := graph.New(t.Context(), testgraph.Complete(7), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		time   float64
		matrix string
		want   float64 // of each element; 0: refused
	}{{0, "adjacency", 1}, {0, "laplacian", 1}, {0, "normalized-laplacian", 1}, {110, "adjacency", math.Exp(330)}, {119, "adjacency", 0}} {
		n := &Named{Name: Exp, Given: param.Values{"t": param.Of(c.time), "matrix": param.Of(c.matrix)}}
		if bytes, err := Bytes(n, g.Degrees, 1); err != nil || bytes <= 0 {
			t.Fatalf("t = %v: %d bytes, %v", c.time, bytes, err)
		}
		f, err := New(t.Context(), g, n)
		if err != nil {
			t.Fatal(err)
		}
		b, y := sparse.NewBlock[float64](7, 1), sparse.NewBlock[float64](7, 1)
		for i := range b.Rows {
			b.Row(i)[0] = 1
		}
		r, err := f.ApplyTo(t.Context(), y, b, nil)
		if wrong := (*param.ParameterError)(nil); c.want == 0 {
			if !errors.As(err, &wrong) || wrong.Parameter != "t" {
				t.Errorf("t = %v: %v", c.time, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.time != 0 { // e^660 in two steps
			y.Row(0)[0] /= c.want
		}
		if math.Abs(y.Row(0)[0]-c.want) > 1e-7*c.want || !(r.ErrorBound <= 1e-6*c.want*c.want) {
			t.Errorf("t = %v of %s: %v, bound %v, want %v", c.time, c.matrix, y.Row(0)[0], r.ErrorBound, c.want)
		}
	}
}

// TestSmallColumns has a column with one result much larger than others: these are computed again at once, each to
// the tolerance.
func TestSmallColumns(t *testing.T) {
	ctx := context.Background()
	const n, cols, tolerance = 120, 8, 1e-9
	g, err := graph.New(ctx, testgraph.Random(5, n, 300, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := sparse.NewBlock[float64](n, cols)
	for i := range n {
		b.Row(i)[0] = 100
	}
	for j := 1; j < cols; j++ {
		b.Row(j)[j] = 1
	}
	f, err := New(ctx, g, &Named{Name: Exp, Given: param.Values{"matrix": param.Of("laplacian")}, Times: []float64{-1}})
	if err != nil {
		t.Fatal(err)
	}
	y := sparse.NewBlock[float64](n, cols)
	r, err := f.ApplyTo(ctx, y, b, &kernel.Settings{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	single, err := f.ApplyTo(ctx, sparse.NewBlock[float64](n, 1), b.Columns(1, 2), &kernel.Settings{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	if r.Sweeps <= single.Sweeps || r.Sweeps > 3*single.Sweeps {
		t.Errorf("%d sweeps, one column takes %d", r.Sweeps, single.Sweeps)
	}
	want := exponential(-1, denseMatrix(g, "laplacian"))
	norms := blocks.Norms(nil, y)
	for j := 1; j < cols; j++ {
		square := 0.0
		for i := range n {
			off := y.At(i, j) - want.At(i, j)
			square += off * off
		}
		if e := math.Sqrt(square); e > r.ColumnBound[j]+1e-13 || r.ColumnBound[j] > tolerance*norms[j] {
			t.Errorf("column %d of norm %.3g: error %.3g, bound %.3g", j, norms[j], e, r.ColumnBound[j])
		}
	}
}
