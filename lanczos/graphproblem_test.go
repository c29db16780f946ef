package lanczos

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestEigenAgainstDense(t *testing.T) {
	const n, k = 60, 25
	a := testgraph.Random(5, n, 70, true)
	g, err := graph.New(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, entries := g.Degrees, entriesOf(a, g.Degrees)
	for _, matrix := range sparse.Kinds {
		for _, which := range []Which{Largest, Smallest} {
			p := &GraphProblem{Matrix: matrix, Which: which, Resolution: 0.7}
			pairs, err := p.Solve(t.Context(), g, k, &Settings{Tolerance: 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			rises := slices.IsSorted(pairs.Values)
			slices.Reverse(pairs.Values)
			falls := slices.IsSorted(pairs.Values)
			slices.Reverse(pairs.Values)
			if which == Largest && !falls || which == Smallest && !rises {
				t.Errorf("%v, %s: values %v", which, matrix, pairs.Values)
			}
			var scale []float64
			if matrix == sparse.Transition {
				scale = blocks.Roots(d)
			}
			checkEigen(t, fmt.Sprintf("%v of %s", which, matrix), entries[matrix], pairs, scale)
		}
	}
}

// The first filters show that a path would take thousands of products.
func TestUnresolvedEnd(t *testing.T) {
	const n, k, most = 20_000, 20, 800
	g, err := graph.New(t.Context(), testgraph.Path(n), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &GraphProblem{Matrix: sparse.Laplacian, Which: Smallest}
	pairs, err := p.Solve(t.Context(), g, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range pairs.Values {
		root := 2 * math.Sin(math.Pi*float64(j)/(2*n))
		if math.Abs(v-root*root) > pairs.ErrorBounds[j] {
			t.Errorf("value %d is %g ± %g, want %g", j, v, pairs.ErrorBounds[j], root*root)
		}
	}
	if pairs.Method != "lobpcg" || pairs.Products > most {
		t.Errorf("%d products by %s, want at most %d", pairs.Products, pairs.Method, most)
	}
}

// Beyond keeps the vector of the sides of a balanced component.
func TestBeyondKeepsSides(t *testing.T) {
	sides := []float64{1, 1, -1, -1}
	n := len(sides)
	dense := mat.NewSymDense(n, nil)
	for _, e := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}} {
		dense.SetSym(e[0], e[1], sides[e[0]]*sides[e[1]])
	}
	g, err := graph.FromMat(t.Context(), dense, &graph.Settings{Signed: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []GraphProblem{{Matrix: sparse.NormalizedAdjacency, Which: Largest}, {Matrix: sparse.Laplacian, Which: Smallest}} {
		p.Beyond = true
		pairs, err := p.Solve(t.Context(), g, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if x := pairs.Vectors.Row(i)[0] * pairs.Vectors.Row(0)[0] * sides[i]; math.Abs(x-0.25) > 1e-7 {
				t.Errorf("%s: element %d of the first vector is %v", p.Matrix, i, pairs.Vectors.Row(i)[0])
			}
		}
		want := map[sparse.Kind][]float64{sparse.NormalizedAdjacency: {1, 0}, sparse.Laplacian: {0, 2}}[p.Matrix]
		if !scalar.EqualWithinAbs(pairs.Values[0], want[0], 1e-7) || !scalar.EqualWithinAbs(pairs.Values[1], want[1], 1e-7) {
			t.Errorf("%s: eigenvalues %v, want %v", p.Matrix, pairs.Values, want)
		}
	}
}

// entriesOf uses γ = 0.7.
func entriesOf(a *sparse.CSR, d []float64) map[sparse.Kind]func(i, j int) float64 {
	var vol float64
	for _, v := range d {
		vol += v
	}
	half := func(i int) float64 {
		if d[i] == 0 {
			return 0
		}
		return 1 / math.Sqrt(d[i])
	}
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	return map[sparse.Kind]func(i, j int) float64{
		sparse.Adjacency:           func(i, j int) float64 { return a.At(i, j) },
		sparse.NormalizedAdjacency: func(i, j int) float64 { return half(i) * a.At(i, j) * half(j) },
		sparse.Laplacian:           func(i, j int) float64 { return is(i == j)*d[i] - a.At(i, j) },
		sparse.NormalizedLaplacian: func(i, j int) float64 { return half(i) * (is(i == j)*d[i] - a.At(i, j)) * half(j) },
		sparse.Modularity:          func(i, j int) float64 { return a.At(i, j) - 0.7*d[i]*d[j]/vol },
		sparse.Transition: func(i, j int) float64 {
			if d[i] == 0 {
				return is(i == j)
			}
			return a.At(i, j) / d[i]
		},
	}
}

func checkEigen(t *testing.T, name string, entry func(i, j int) float64, pairs *GraphPairs, root []float64) {
	t.Helper()
	x := pairs.Vectors
	for j, value := range pairs.Values {
		var off, length, top float64
		for i := range x.Rows {
			weight, sum := 1.0, 0.0
			if root != nil {
				weight = root[i]
			}
			for l := range x.Rows {
				sum += entry(i, l) * x.At(l, j)
			}
			off = math.Hypot(off, weight*(sum-value*x.At(i, j)))
			length = math.Hypot(length, weight*x.At(i, j))
			if v := x.At(i, j); math.Abs(v) > math.Abs(top)*(1+1e-9) {
				top = v
			}
		}
		if off > pairs.ErrorBounds[j] || math.Abs(length-1) > 1e-13 || top < 0 {
			t.Errorf("%s, pair %d: off by %g, said %g; length %g; largest entry %g", name, j, off, pairs.ErrorBounds[j], length, top)
		}
	}
}

func TestVectorsOfTheMatrix(t *testing.T) {
	const n = 100_000
	a := testgraph.Path(n)
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, matrix := range sparse.Kinds {
		before := inUse()
		g, err := graph.New(t.Context(), a, &graph.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		e, err := (&GraphProblem{Matrix: matrix, Which: Smallest}).of(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		held := inUse() - before
		runtime.KeepAlive(g)
		if runtime.KeepAlive(e); held > 8*graphVectors*n {
			t.Errorf("%s: %d bytes are held, %d are listed", matrix, held, 8*graphVectors*n)
		}
	}
}
