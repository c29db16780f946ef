package kernel

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var background = context.Background()

func mustNew(t testing.TB, g *graph.Graph, name string, p param.Values) Kernel {
	t.Helper()
	k, err := New(background, g, name, p)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustMatrix(t testing.TB, k Kernel, rows, cols []int, s *Settings) (*sparse.Block[float64], *Report) {
	t.Helper()
	b, r, err := Matrix(background, k, rows, cols, s)
	if err != nil {
		t.Fatal(err)
	}
	return b, r
}

func (c named) text() string { return Families().Named(c.name).Text(c.p) }

type named struct {
	name string
	p    param.Values
}

var symmetricKernels = []named{
	{"diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(1.5)}},
	{"diffusion", param.Values{"laplacian": param.Of(normalized), "beta": param.Of(20.0)}},
	{"exponential", param.Values{"beta": param.Of(0.3)}},
	{"exponential", param.Values{"matrix": param.Of(normalizedAdjacency), "beta": param.Of(2.0)}},
	{"von-neumann", param.Values{"alpha": param.Of(0.95)}},
	{"von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(0.03)}},
	{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(5.0)}},
	{"regularized-laplacian", param.Values{"laplacian": param.Of(normalized), "alpha": param.Of(0.5)}},
	{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}},
	{"pseudo-inverse", param.Values{"laplacian": param.Of(normalized)}},
	{"regularized-commute-time", param.Values{"alpha": param.Of(0.9)}},
	{"p-step", param.Values{"steps": param.Of(4)}},
	{"p-step", param.Values{"shift": param.Of(3.0), "steps": param.Of(3)}},
	{"matern", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(1.5), "kappa": param.Of(2.0)}},
	{"matern", param.Values{"laplacian": param.Of(normalized), "nu": param.Of(0.3), "kappa": param.Of(1.0)}},
	{"modularity", param.Values{}},
	{"modularity", param.Values{"rank": param.Of(3)}},
	{"pagerank", param.Values{"alpha": param.Of(0.85), "symmetric": param.Of(true)}},
	{"heat-pagerank", param.Values{"beta": param.Of(3.0), "symmetric": param.Of(true)}},
	{"von-neumann", param.Values{"alpha": param.Of(0.995)}},
	{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(50.0)}},
	{"pagerank", param.Values{"alpha": param.Of(0.999), "symmetric": param.Of(true)}},
}

var others = []named{
	{"commute-time", param.Values{}},
	{"diffusion", param.Values{"laplacian": param.Of(randomWalk), "beta": param.Of(2.0)}},
	{"regularized-laplacian", param.Values{"laplacian": param.Of(randomWalk), "alpha": param.Of(2.0)}},
	{"matern", param.Values{"laplacian": param.Of(randomWalk), "nu": param.Of(1.0), "kappa": param.Of(2.0)}},
	{"pagerank", param.Values{"alpha": param.Of(0.5)}},
	{"heat-pagerank", param.Values{"beta": param.Of(3.0)}},
}

// Every kernel except the distance must be in the list.
func TestSymmetricAndSemidefinite(t *testing.T) {
	g := newGraph(t, testgraph.Random(5, 90, 80, true), 2)
	isolated, larger := 0, 0
	for _, size := range g.Components.Sizes {
		if size == 1 {
			isolated++
		} else {
			larger++
		}
	}
	if isolated == 0 || larger < 2 {
		t.Fatalf("%d isolated nodes and %d larger components", isolated, larger)
	}
	list := symmetricKernels
	for _, f := range Families() {
		if f.Asymmetric(nil) == nil && !slices.ContainsFunc(list, func(c named) bool { return c.name == f.Name }) {
			list = append(list, named{f.Name, nil})
		}
	}
	halves := map[string]int{}
	for _, c := range list {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			k := mustNew(t, g, c.name, c.p)
			for _, nodes := range [][]int{upTo(90), {7, 3, 80, 3, 0}} {
				b, r := mustMatrix(t, k, nodes, nodes, nil)
				if r.HalfSteps {
					halves[c.name]++
				}
				testgraph.Semidefinite(t, b, float64(len(nodes))*(r.ErrorBound+4*epsilon*r.Largest))
			}
		})
	}
	want := map[string]int{"diffusion": 4, "exponential": 4, "von-neumann": 4, "regularized-laplacian": 4, "p-step": 2,
		"matern": 4, "modularity": 4, "pagerank": 2, "heat-pagerank": 2}
	for name, blocks := range want {
		if halves[name] != blocks {
			t.Errorf("%s: %d blocks by half steps, want %d", name, halves[name], blocks)
		}
	}
}

func TestSameBits(t *testing.T) {
	a := testgraph.Random(8, 200, 500, true)
	rows, cols := []int{5, 199, 17, 40, 41, 5}, upTo(140)
	kernels := slices.Concat(symmetricKernels, others)
	if testing.Short() {
		kernels = kernels[:3]
	}
	for i, c := range kernels {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			for j, lists := range [][2][]int{{cols, cols}, {rows, cols}, {cols, rows}} {
				var want *sparse.Block[float64]
				for _, workers := range testgraph.Workers(i + j) {
					k := mustNew(t, newGraph(t, a, workers), c.name, c.p)
					memory := int64(0)
					for range 5 {
						got, _, err := Matrix(background, k, lists[0], lists[1], &Settings{Memory: memory})
						var over *budget.Error
						switch {
						case memory == 0:
							memory = 8 << 20
						case errors.As(err, &over):
							memory = over.Need
						default:
							memory /= 4
						}
						if over != nil {
							continue
						}
						if err != nil {
							if errors.Is(err, budget.ErrMemory) || strings.Contains(err.Error(), "memory") {
								break
							}
							t.Fatal(err)
						}
						if want == nil {
							want = got
						}
						for i := range want.Data {
							if math.Float64bits(got.Data[i]) != math.Float64bits(want.Data[i]) {
								t.Fatalf("%d workers, %d bytes: element %d is %v, not %v", workers, memory, i, got.Data[i], want.Data[i])
							}
						}
					}
				}
			}
		})
	}
}

func TestBlocksAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := newGraph(t, testgraph.Random(9, 120, 200, true), 2)
	rows, cols := []int{0, 119, 17, 40, 17}, []int{17, 3}
	for _, c := range slices.Concat(symmetricKernels, others) {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			k := mustNew(t, g, c.name, c.p)
			all, r0 := mustMatrix(t, k, upTo(120), upTo(120), nil)
			for _, lists := range [][2][]int{{rows, cols}, {cols, rows}} {
				got, r1 := mustMatrix(t, k, lists[0], lists[1], nil)
				want := sparse.NewBlock[float64](got.Rows, got.Cols)
				for i, row := range lists[0] {
					for j, col := range lists[1] {
						want.Row(i)[j] = all.Row(row)[col]
					}
				}
				if e := worstError(t, got, want); e > r0.ErrorBound+r1.ErrorBound {
					t.Errorf("the difference is %g, the bounds are %g and %g", e, r0.ErrorBound, r1.ErrorBound)
				}
			}
		})
	}
}

func TestManyComponentsTakeNoMore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 20_000
	a := testgraph.Random(3, n, n/2, false)
	g := newGraph(t, a, 1)
	if parts := len(g.Components.Sizes); parts < n/4 {
		t.Fatalf("only %d components", parts)
	}
	k := mustNew(t, g, "pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := Matrix(background, k, upTo(5), upTo(5), nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 10_000*n {
		t.Errorf("%d bytes a node", got/n)
	}
}

func TestNoEdges(t *testing.T) {
	for _, n := range []int{1, 4} {
		a, err := sparse.FromTriplets(n, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := newGraph(t, a, 1)
		for _, c := range []struct {
			name            string
			p               param.Values
			diagonal, other float64
		}{
			{"diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(2.0)}, 1, 0},
			{"exponential", param.Values{"beta": param.Of(2.0)}, 1, 0},
			{"von-neumann", param.Values{"alpha": param.Of(0.5)}, 1, 0},
			{"von-neumann", param.Values{"alpha": param.Of(5.0), "matrix": param.Of(adjacency)}, 1, 0},
			{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(2.0)}, 1, 0},
			{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}, 0, 0},
			{"pseudo-inverse", param.Values{"laplacian": param.Of(normalized)}, 0, 0},
			{"commute-time", param.Values{}, 0, math.Inf(1)},
			{"regularized-commute-time", param.Values{"alpha": param.Of(0.5)}, 0, 0},
			{"p-step", param.Values{"shift": param.Of(3.0), "steps": param.Of(2)}, 9, 0},
			{"matern", param.Values{"laplacian": param.Of(combinatorial), "nu": param.Of(0.5), "kappa": param.Of(1.0)}, 1, 0},
			{"modularity", param.Values{}, 0, 0},
			{"pagerank", param.Values{"alpha": param.Of(0.5)}, 1, 0},
			{"heat-pagerank", param.Values{"beta": param.Of(1.0)}, 1, 0},
		} {
			b, _ := mustMatrix(t, mustNew(t, g, c.name, c.p), upTo(n), upTo(n), nil)
			for i := range n {
				for j, v := range b.Row(i) {
					want := c.other
					if i == j {
						want = c.diagonal
					}
					if v != want && !(math.Abs(v-want) < 1e-12) {
						t.Errorf("%d nodes, %s (%d, %d): %v, want %v", n, c.name, i, j, v, want)
					}
				}
			}
		}
	}
}

func TestProgress(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := newGraph(t, testgraph.Random(15, 300, 1200, true), 2)
	for _, c := range slices.Concat(symmetricKernels, others) {
		if c.name == "modularity" {
			continue // is a dense eigenproblem here
		}
		k := mustNew(t, g, c.name, c.p)
		last, calls := 0, 0
		_, r := mustMatrix(t, k, upTo(200), upTo(200), &Settings{Progress: func(_ string, done, total int64) {
			calls++
			if int(done) < last || total < done {
				t.Errorf("%s: %d of %d after %d", c.name, done, total, last)
			}
			last = int(done)
		}})
		if calls == 0 || last > r.Sweeps {
			t.Errorf("%s: %d calls, the last at %d of %d sweeps", c.name, calls, last, r.Sweeps)
		}
	}
}

func TestPiecesCover(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := newGraph(t, testgraph.Random(17, 200, 500, true), 2)
	for _, c := range slices.Concat(symmetricKernels, others) {
		k := mustNew(t, g, c.name, c.p)
		for _, lists := range [][2][]int{{upTo(140), upTo(140)}, {upTo(140), upTo(3)}, {upTo(3), upTo(140)}} {
			for _, memory := range []int64{0, 1<<20 + 1<<19} {
				seen := sparse.NewBlock[float64](len(lists[0]), len(lists[1]))
				_, err := Block(background, k, lists[0], lists[1], func(lo, left int, piece *sparse.Block[float64]) error {
					for i := range piece.Rows {
						for j := range piece.Cols {
							seen.Row(lo + i)[left+j]++
						}
					}
					return nil
				}, &Settings{Memory: memory})
				if err != nil {
					t.Fatalf("%s %v: %v", c.name, c.p, err)
				}
				for i := range seen.Rows {
					for j, times := range seen.Row(i) {
						if times != 1 {
							t.Fatalf("%s %v, %d bytes: (%d, %d) came %v times", c.name, c.p, memory, i, j, times)
						}
					}
				}
			}
		}
	}
}

func TestPiecesHaveTheirValues(t *testing.T) {
	g := newGraph(t, testgraph.Random(17, 200, 500, true), 2)
	all, some := upTo(140), []int{1, 70, 139}
	for _, c := range slices.Concat(symmetricKernels, others) {
		whole, r := mustMatrix(t, mustNew(t, g, c.name, c.p), all, all, nil)
		columns, rs := mustMatrix(t, mustNew(t, g, c.name, c.p), all, some, nil)
		for i := range all {
			for j, node := range some {
				if got, want := whole.Row(i)[node], columns.Row(i)[j]; got != want && !(math.Abs(got-want) <= r.ErrorBound+rs.ErrorBound) {
					t.Fatalf("%s %v: (%d, %d) is %v among all nodes and %v by itself", c.name, c.p, i, node, got, want)
				}
			}
		}
	}
}

func gramOf(ctx context.Context, k Kernel, nodes []int, s *Settings) (*sparse.Block[float64], *Report, error) {
	return Matrix(ctx, k, nodes, nodes, s)
}
