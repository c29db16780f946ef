package kernel

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

type edge struct {
	i, j   uint32
	weight float64
}

func graphOf(t *testing.T, n int, edges ...edge) *sparse.CSR {
	var list []sparse.Triplet
	for _, e := range edges {
		list = append(list, sparse.Triplet{Row: e.i, Col: e.j, Val: e.weight})
		if e.i != e.j {
			list = append(list, sparse.Triplet{Row: e.j, Col: e.i, Val: e.weight})
		}
	}
	return mustTriplets(t, n, list)
}

func cliques(t *testing.T, size int, bridge float64, more ...edge) *sparse.CSR {
	edges := append(more, edge{uint32(size - 1), uint32(size), bridge})
	for i := range uint32(size) {
		for j := range i {
			edges = append(edges, edge{i, j, 1}, edge{uint32(size) + i, uint32(size) + j, 1})
		}
	}
	return graphOf(t, 2*size, edges...)
}

func errorOf(t *testing.T, a *sparse.CSR, c named) (off float64, r *Report, err error) {
	t.Helper()
	g := newGraph(t, a, 1)
	h := &huntCase{named: c, s: Settings{Lenient: true}, rows: upTo(len(g.Degrees)), cols: upTo(len(g.Degrees))}
	got := h.run(t, a, newOracle(a, g.Components.Of))
	return got.off, &Report{ErrorBound: got.bound, Largest: got.largest, Method: got.method}, got.err
}

// True residuals certify a Matérn kernel, because recurrences differ from them for weak or strong links.
func TestMaternBoundsHold(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *sparse.CSR
		p    param.Values
		most float64 // largest relative bound
	}{
		{"triangles and a weak link", cliques(t, 3, 1e-9), param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(2.0), "kappa": param.Of(1e4)}, 1e-5},
		{"a weaker link", cliques(t, 3, 1e-11), param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(2.0), "kappa": param.Of(1e5)}, 1e-3},
		{"half a power", cliques(t, 6, 1e-7), param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(0.5), "kappa": param.Of(6e4)}, 1e-5},
		{"a strong bridge", cliques(t, 5, 1e12), param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(2.0), "kappa": param.Of(1.0)}, 1e-2},
		{"loops", cliques(t, 5, 1e-4, edge{1, 1, 1e8}, edge{7, 7, 1e6}), param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(2.5), "kappa": param.Of(100.0)}, 1e-8},
		{"a pair and a node", graphOf(t, 3, edge{0, 1, 1}, edge{1, 2, 3.3e-10}), param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(2.5), "kappa": param.Of(4e4)}, 1e-3},
	} {
		off, r, err := errorOf(t, c.a, named{"matern", c.p})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		t.Logf("%s: error %.2g, bound %.2g, largest %.3g, %s", c.name, off, r.ErrorBound, r.Largest, r.Method)
		peak := math.Pow(2*c.p.Number("nu")/(c.p.Number("kappa")*c.p.Number("kappa")), -c.p.Number("nu"))
		if !(off <= r.ErrorBound && r.Largest <= peak+r.ErrorBound && relative(r) <= c.most) {
			t.Errorf("%s: error %.3g, bound %.3g, largest value %.3g of %.3g at the most", c.name, off, r.ErrorBound, r.Largest, peak)
		}
	}
}

// A power multiplies the rounding error of 2ν/κ² by ν, which shows in null spaces and at isolated nodes.
func TestLargePowers(t *testing.T) {
	lone := graphOf(t, 7, edge{0, 1, 1}, edge{1, 2, 1}, edge{3, 4, 2.5})
	complete := testgraph.Complete(9)
	for _, nu := range []float64{1.5, 12.5, 13, 20.3, 29, 40.5, 63, 77.7, 100} {
		for _, kappa := range []float64{0.9, 1.1, 3.3, 7, 13.7} {
			for _, l := range []string{normalized, combinatorial} {
				for name, a := range map[string]*sparse.CSR{"nodes without edges": lone, "complete": complete} {
					p := param.Values{"laplacian": param.Of(l), "nu": param.Of(nu), "kappa": param.Of(kappa * math.Sqrt(2*nu) / 3)}
					n, _ := a.Dims()
					h := &huntCase{named: named{"matern", p}, rows: upTo(n), cols: upTo(n), x: sparse.NewBlock[float64](n, 2)}
					for i := range n {
						h.x.Row(i)[0] = 1 // null space of L
					}
					h.x.Row(n - 1)[1] = 1
					for _, x := range []*sparse.Block[float64]{nil, h.x} {
						h.x = x
						if got := h.run(t, a, newOracle(a, newGraph(t, a, 1).Components.Of)); got.err != nil || !(got.off <= got.bound) {
							t.Errorf("%s, %v: error %.3g, bound %.3g of %.3g, %v", name, p, got.off, got.bound, got.largest, got.err)
						}
					}
				}
			}
		}
	}
}

func TestLoopsAreNoPartOfL(t *testing.T) {
	path := []edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}}
	for _, loop := range []float64{1e3, 1e6, 1e9, 1e15} {
		a := graphOf(t, 4, append(path, edge{1, 1, loop}, edge{2, 2, loop / 3})...)
		for _, c := range []named{
			{"diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(1.0)}},
			{"diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(1000.0)}},
			{"matern", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(2.0), "kappa": param.Of(50.0)}},
			{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(100.0)}},
			{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}},
		} {
			off, r, err := errorOf(t, a, c)
			if err != nil || !(off <= r.ErrorBound && relative(r) < 1e-9) {
				t.Errorf("loops of %g, %s %v: error %.3g, bound %.3g of %.3g, %v", loop, c.name, c.p, off, r.ErrorBound, r.Largest, err)
			}
		}
	}
}

// Inverses where conjugate gradients fail are eliminated, with an error close to rounding.
func TestEliminatedInverses(t *testing.T) {
	uneven := graphOf(t, 6, edge{0, 1, 1e-9}, edge{1, 2, 3e4}, edge{2, 3, 1e-3}, edge{3, 4, 7e8}, edge{4, 5, 2})
	for i, c := range []struct {
		name string
		a    *sparse.CSR
		k    named
	}{
		{"a weak bridge", cliques(t, 4, 3e-11, edge{0, 1, 1e4}), named{"commute-time", nil}},
		{"a bridge of 1e-16", cliques(t, 5, 1e-16), named{"commute-time", nil}},
		{"a weaker bridge", cliques(t, 5, 1e-14), named{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}}},
		{"a bridge of 1e-17", cliques(t, 5, 1e-17, edge{0, 1, 1e9}), named{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}}},
		{"a bridge of 1e-18", cliques(t, 5, 1e-18), named{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}}},
		{"a weak bridge and loops", cliques(t, 4, 1e-11, edge{1, 1, 1e9}), named{"pseudo-inverse", param.Values{"laplacian": param.Of(normalized)}}},
		{"uneven weights", uneven, named{"regularized-commute-time", param.Values{"alpha": param.Of(1 - 5e-9)}}},
		{"uneven weights", uneven, named{"regularized-laplacian", param.Values{"laplacian": param.Of(normalized), "alpha": param.Of(1e12)}}},
		{"uneven weights", uneven, named{"von-neumann", param.Values{"alpha": param.Of(1 - 1e-12)}}},
	} {
		for _, applied := range []bool{false, true} {
			if testing.Short() && applied != (i%2 == 1) {
				continue
			}
			n, _ := c.a.Dims()
			o := newOracle(c.a, newGraph(t, c.a, 1).Components.Of)
			h := &huntCase{named: c.k, s: Settings{Tolerance: 5e-12}, rows: upTo(n), cols: upTo(n)}
			if applied {
				if c.k.name == "commute-time" {
					continue
				}
				h.x = sparse.NewBlock[float64](n, 2)
				h.x.Row(0)[0], h.x.Row(n - 1)[1] = 1, 3
			}
			if got := h.run(t, c.a, o); got.err != nil || !(got.off <= got.bound) {
				t.Errorf("%s of %s: error %.3g, bound %.3g of %.3g, %s, %v", c.k.name, c.name, got.off, got.bound, got.largest, got.method, got.err)
			}
		}
	}
}

func TestInverseOfUnevenDegrees(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *sparse.CSR
		most float64 // largest relative bound
	}{
		{"a bridge of 1e8", cliques(t, 5, 1e8), 1e-9},
		{"a bridge of 1e12", cliques(t, 5, 1e12), 1e-7},
		{"a bridge of 1e15", cliques(t, 5, 1e15), 1e-5},
		{"a strong bridge and loops", cliques(t, 4, 1e12, edge{1, 1, 1e15}, edge{5, 5, 3}), 1e-7},
		{"a weak bridge, a strong link", cliques(t, 4, 1e-8, edge{0, 1, 1e9}), 1e-3},
		{"two units", graphOf(t, 6, edge{0, 1, 1e-9}, edge{1, 2, 3e-9}, edge{3, 4, 1e9}, edge{4, 5, 2e9}, edge{3, 5, 1e9}), 1e-11},
	} {
		for _, k := range []named{{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}}, {"commute-time", nil}} {
			off, r, err := errorOf(t, c.a, k)
			if err != nil || !(off <= r.ErrorBound && relative(r) < c.most) {
				t.Errorf("%s of %s: error %.3g, bound %.3g of %.3g, %v", k.name, c.name, off, r.ErrorBound, r.Largest, err)
			}
		}
	}
}

// wrong is an engine whose errors in the first two rows are as large as the bound.
type wrong struct {
	engine
	by float64
}

func (e wrong) applyTo(ctx context.Context, dst, x *sparse.Block[float64], o effort, again bool) (*engineResult, error) {
	a, err := e.engine.applyTo(ctx, dst, x, o, again)
	if err != nil {
		return nil, err
	}
	for j := range x.Cols {
		own := x.Row(0)[j] - x.Row(1)[j]
		dst.Row(0)[j] += own * e.by
		dst.Row(1)[j] -= own * e.by
		a.bound[j] += math.Sqrt2 * e.by
	}
	return a, nil
}

func (e wrong) eliminate(context.Context, *sparse.Block[float64], *sparse.Block[float64]) (*engineResult, error) {
	return nil, iterative.ErrStagnation
}

func TestCommuteTimeAddsErrorsUp(t *testing.T) {
	const n, by = 5, 1e-3
	g := newGraph(t, testgraph.Complete(n), 1)
	exact := mustNew(t, g, "commute-time", nil).(*distance)
	off := *exact.inverse
	off.full = wrong{off.full, by}
	for _, lists := range [][2][]int{{{0, 1}, {0, 1}}, {{0}, {1}}} {
		want, _ := mustMatrix(t, exact, lists[0], lists[1], nil)
		got, r := mustMatrix(t, newDistance(&off), lists[0], lists[1], &Settings{Tolerance: 0.5})
		if e, all := worstError(t, got, want), float64(n*(n-1)*4*by); e < 0.99*all || e > r.ErrorBound {
			t.Errorf("the error is %g, of %g where all add up, the bound %g", e, all, r.ErrorBound)
		}
	}
}

func TestScaledRootIsRounded(t *testing.T) {
	g := newGraph(t, testgraph.Random(3, 60, 200, true), 1)
	m, err := expm.New(background, g, sparse.NormalizedLaplacian)
	if err != nil {
		t.Fatal(err)
	}
	const scale = 3
	e := newInverseRoot(m, 0.7, 1.3, scale, nil)
	x, y := sparse.NewBlock[float64](60, 2), sparse.NewBlock[float64](60, 2)
	x.Row(7)[0], x.Row(9)[1] = 1, 1
	o := effort{tolerance: 1e-13}
	series, err := e.series.applyTo(background, y, x, o, false)
	if err != nil {
		t.Fatal(err)
	}
	scaled, err := e.applyTo(background, y, x, o, false)
	if err != nil {
		t.Fatal(err)
	}
	for j, size := range blocks.Norms(nil, y) {
		least := series.bound[j]*e.scale + 2*epsilon*size // a root, a quotient and a product, rounded by ε/2 each
		if rounded := scaled.rounded[j] - series.rounded[j]*e.scale; scaled.bound[j] < least || rounded < 2*epsilon*size {
			t.Errorf("column %d: bound %g, want %g at least, of which rounding adds %g", j, scaled.bound[j], least, rounded)
		}
	}
}
