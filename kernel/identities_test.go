package kernel

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestPseudoInverse(t *testing.T) {
	g := newGraph(t, testgraph.Random(11, 60, 70, true), 1)
	if len(g.Components.Sizes) < 3 {
		t.Fatal("the graph has too few components")
	}
	for l, op := range map[string]*sparse.Operator[float64]{
		combinatorial: sparse.NewOperator[float64](sparse.Laplacian, g.A, g.Degrees),
		normalized:    sparse.NewOperator[float64](sparse.NormalizedLaplacian, g.A, g.Degrees),
	} {
		k := mustNew(t, g, "pseudo-inverse", param.Values{"laplacian": param.Of(l)})
		identity := sparse.NewBlock[float64](60, 60)
		for i := range 60 {
			identity.Row(i)[i] = 1
		}
		lap, x, y := sparse.NewBlock[float64](60, 60), sparse.NewBlock[float64](60, 60), sparse.NewBlock[float64](60, 60)
		if err := op.ApplyTo(background, lap, identity); err != nil {
			t.Fatal(err)
		}
		r, err := k.ApplyTo(background, x, lap, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := op.ApplyTo(background, y, x); err != nil {
			t.Fatal(err)
		}
		// ‖L·ΔX‖ ≤ ‖L‖·‖ΔX‖ with ‖L‖ ≤ 2·max d.
		if e, most := worstError(t, y, lap), 2*slices.Max(g.Degrees)*r.ErrorBound+1e-12; e > max(most, 2*r.ErrorBound) {
			t.Errorf("%s: L·L⁺·L differs from L by %g, more than %g", l, e, most)
		}
	}
}

func TestSemigroup(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "nodes")
		edges := rapid.IntRange(0, n*(n-1)/4).Draw(t, "edges")
		a := testgraph.Random(rapid.Uint64().Draw(t, "rng seed"), n, edges, true)
		s, u := rapid.Float64Range(0.01, 4).Draw(t, "a"), rapid.Float64Range(0.01, 4).Draw(t, "b")
		g, err := graph.New(background, a, &graph.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		l := rapid.SampledFrom([]string{combinatorial, normalized, randomWalk}).Draw(t, "laplacian")
		of := func(beta float64) Kernel {
			k, err := New(background, g, "diffusion", param.Values{"laplacian": param.Of(l), "beta": param.Of(beta)})
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		sum, _, err := gramOf(background, of(s+u), upTo(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := gramOf(background, of(u), upTo(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		product := sparse.NewBlock[float64](n, n)
		if _, err := of(s).ApplyTo(background, product, second, nil); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				if d := math.Abs(product.Row(i)[j] - sum.Row(i)[j]); d > 1e-7*max(1, blocks.Largest(nil, sum)) {
					t.Fatalf("(%d, %d) differs by %g", i, j, d)
				}
			}
		}
	})
}

// On the complete graph exp(−βL) is e^−nβ on top of (1−e^−nβ)/n; on the cycle a sum of cosines; on the hypercube a
// power of tanh β.
func TestClosedForms(t *testing.T) {
	const beta = 0.7
	check := func(name string, a sparse.Matrix, want func(i, j int) float64) {
		t.Helper()
		n, _ := a.Dims()
		got, r := mustMatrix(t, mustNew(t, newGraph(t, a, 1), "diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(beta)}), upTo(n), upTo(n), nil)
		for i := range n {
			for j := range n {
				if e := math.Abs(got.Row(i)[j] - want(i, j)); e > r.ErrorBound+1e-14 {
					t.Fatalf("%s (%d, %d): %v, want %v", name, i, j, got.Row(i)[j], want(i, j))
				}
			}
		}
	}
	check("complete", testgraph.Complete(7), func(i, j int) float64 {
		v := -math.Expm1(-7*beta) / 7
		if i == j {
			v += math.Exp(-7 * beta)
		}
		return v
	})
	check("cycle", testgraph.Cycle(9), func(i, j int) (sum float64) {
		for q := range 9 {
			angle := 2 * math.Pi * float64(q) / 9
			sum += math.Exp(-beta*(2-2*math.Cos(angle))) * math.Cos(angle*float64(i-j)) / 9
		}
		return sum
	})
	var edges []sparse.Triplet
	for i := range uint32(16) {
		for b := range 4 {
			edges = append(edges, sparse.Triplet{Row: i, Col: i ^ 1<<b, Val: 1})
		}
	}
	cube, err := sparse.FromTriplets(16, 16, edges)
	if err != nil {
		t.Fatal(err)
	}
	check("hypercube", cube, func(i, j int) float64 {
		v := math.Pow((1+math.Exp(-2*beta))/2, 4)
		for b := range 4 {
			if (i^j)>>b&1 == 1 {
				v *= math.Tanh(beta)
			}
		}
		return v
	})
}

// On a path of unit weights the commute time is twice the number of edges
// times the distance.
func TestCommuteTimeOfPath(t *testing.T) {
	got, r := mustMatrix(t, mustNew(t, newGraph(t, testgraph.Path(12), 1), "commute-time", param.Values{}), upTo(12), upTo(12), nil)
	for i := range 12 {
		for j := range 12 {
			want := 22 * math.Abs(float64(i-j))
			if e := math.Abs(got.Row(i)[j] - want); e > r.ErrorBound {
				t.Errorf("(%d, %d): %v, want %v, the bound is %g", i, j, got.Row(i)[j], want, r.ErrorBound)
			}
		}
	}
}

// Rows of PageRank kernels are distributions.
func TestPageRankSums(t *testing.T) {
	g := newGraph(t, testgraph.Random(12, 80, 100, true), 1)
	for _, c := range []struct {
		name string
		p    param.Values
	}{{"pagerank", param.Values{"alpha": param.Of(0.85)}}, {"heat-pagerank", param.Values{"beta": param.Of(4.0)}}} {
		b, _ := mustMatrix(t, mustNew(t, g, c.name, c.p), upTo(80), upTo(80), nil)
		for i := range 80 {
			var sum float64
			for _, v := range b.Row(i) {
				sum += v
			}
			if math.Abs(sum-1) > 1e-8 {
				t.Errorf("%s: row %d sums to %v", c.name, i, sum)
			}
		}
	}
}
