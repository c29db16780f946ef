package papers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// goldenLines returns the fields of the lines of a golden table, and the rows of ids.
func goldenLines(t *testing.T, name string) (lines [][]string, row map[string]uint32) {
	t.Helper()
	read := func(file string) (all [][]string) {
		text, err := os.ReadFile(filepath.Join(testgraph.Root(t), "testdata", "golden", name, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			all = append(all, strings.Split(line, "\t"))
		}
		return all
	}
	row = map[string]uint32{}
	for i, node := range read("nodes.tsv") {
		row[node[0]] = uint32(i)
	}
	return read("edges.tsv"), row
}

func arcsOf(t testing.TB, n int, arcs [][2]uint32) *sparse.CSR {
	t.Helper()
	entries := make([]sparse.Triplet, len(arcs))
	for i, a := range arcs {
		entries[i] = sparse.Triplet{Row: a[0], Col: a[1], Val: 1}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func directedOf(t testing.TB, a *sparse.CSR, workers int) *graph.Graph {
	t.Helper()
	g, err := graph.New(context.Background(), a, &graph.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	g.In = a.Transpose()
	return g
}

func goldenDigraph(t *testing.T) *graph.Graph {
	lines, row := goldenLines(t, "digraph")
	var arcs [][2]uint32
	for _, l := range lines {
		arcs = append(arcs, [2]uint32{row[l[0]], row[l[1]]})
	}
	return directedOf(t, arcsOf(t, len(row), arcs), 1)
}

// goldenHypergraph returns the incidence graph; its first nodes are the vertices.
func goldenHypergraph(t *testing.T) (g *graph.Graph, vertices int) {
	lines, row := goldenLines(t, "hypergraph")
	var arcs [][2]uint32
	for e, l := range lines {
		node := uint32(len(row) + e)
		for _, v := range l {
			arcs = append(arcs, [2]uint32{node, row[v]}, [2]uint32{row[v], node})
		}
	}
	g, err := graph.New(context.Background(), arcsOf(t, len(row)+len(lines), arcs), &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	g.Hyperedges = true
	return g, len(row)
}

func TestVertexKernelGolden(t *testing.T) {
	ctx := context.Background()
	g := goldenDigraph(t)
	all := sched.UpTo(len(g.Degrees))
	check := func(t *testing.T, k kernel.Kernel, nodes []int, file string) {
		t.Helper()
		got, report, err := kernel.Matrix(ctx, k, nodes, nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		testgraph.Close(t, got, testgraph.Golden(t, file), 1e-10, 1e-9)
		if !(report.ErrorBound < 1e-9*report.Largest) {
			t.Errorf("error bound %g beside %g", report.ErrorBound, report.Largest)
		}
	}
	// c of golden/manifest.json.
	for weights, c := range map[string]float64{geometricWeights: 0.15, exponentialWeights: 0.5} {
		for _, steps := range []int{1, 2, 5, 0} {
			name := fmt.Sprintf("n%d", steps)
			if steps == 0 {
				name = "limit"
			}
			t.Run("digraph "+weights+" "+name, func(t *testing.T) {
				k, err := newVertex(ctx, g, weights, c, cmp.Or(steps, mostSteps))
				if err != nil {
					t.Fatal(err)
				}
				check(t, k, all, "digraph/vertex_kernel_"+weights+"_"+name+".npy")
			})
		}
	}
	h, vertices := goldenHypergraph(t)
	for weights, c := range map[string]float64{geometricWeights: 0.104, exponentialWeights: 0.4} {
		t.Run("hypergraph "+weights, func(t *testing.T) {
			k, err := newVertex(ctx, h, weights, c, mostSteps)
			if err != nil {
				t.Fatal(err)
			}
			check(t, k, sched.UpTo(vertices), "hypergraph/vertex_kernel_"+weights+".npy")
		})
	}
}

// walked returns Σ λᵢ⟨Tⁱe_u, Tⁱe_v⟩ with an explicit T. An edge is a list of vertices; an arc, a
// tail and a head.
func walked(n int, edges [][]uint32, arcs bool, lambda func(i int) float64, steps int) *sparse.Block[float64] {
	m := n + len(edges)
	next := make([][]int, m) // ends of one step
	for e, of := range edges {
		for at, v := range of {
			if !arcs || at == 0 {
				next[v] = append(next[v], n+e)
			}
			if !arcs || at == 1 {
				next[n+e] = append(next[n+e], int(v))
			}
		}
	}
	k := sparse.NewBlock[float64](n, n)
	x := make([][]float64, n)
	for u := range x {
		x[u] = make([]float64, m)
		x[u][u] = 1
	}
	for i := range steps + 1 {
		for u := range n {
			for v := range n {
				for p := range m {
					k.Row(u)[v] += lambda(i) * x[u][p] * x[v][p]
				}
			}
		}
		for u := range x {
			y := make([]float64, m)
			for p, value := range x[u] {
				for _, q := range next[p] {
					y[q] += value
				}
			}
			x[u] = y
		}
	}
	return k
}

func TestVertexKernelWalks(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		n := 3 + rng.IntN(8)
		arcs := rng.IntN(2) == 0
		var edges [][]uint32
		var places [][2]uint32
		for range 1 + rng.IntN(2*n) {
			u, v := uint32(rng.IntN(n)), uint32(rng.IntN(n))
			edge := []uint32{u, v}
			places = append(places, [2]uint32{u, v})
			if !arcs && u != v {
				places = append(places, [2]uint32{v, u})
			} else if !arcs {
				edge = edge[:1]
			}
			edges = append(edges, edge)
		}
		a := arcsOf(t, n, places)
		g := directedOf(t, a, 1)
		if !arcs {
			var err error
			if g, err = graph.New(ctx, a, &graph.Settings{Workers: 1}); err != nil {
				t.Fatal(err)
			}
		}
		weights, beta := exponentialWeights, 0.1+rng.Float64()
		lambda := func(i int) float64 { return math.Pow(beta, float64(i)) / math.Gamma(float64(i)+1) }
		if rng.IntN(2) == 0 {
			weights, beta = geometricWeights, 0.1*rng.Float64()/float64(n)
			lambda = func(i int) float64 { return math.Pow(beta, float64(i)) }
		}
		k, err := newVertex(ctx, g, weights, beta, mostSteps)
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := kernel.Matrix(ctx, k, sched.UpTo(n), sched.UpTo(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := walked(n, edges, arcs, lambda, 100)
		for i := range n {
			for j, v := range got.Row(i) {
				if off := math.Abs(v - want.Row(i)[j]); !(off <= report.ErrorBound+1e-13*report.Largest) {
					t.Errorf("%s β=%g: K[%d, %d] = %v for %v, bound %g", weights, beta, i, j, v, want.Row(i)[j], report.ErrorBound)
				}
				if v != got.Row(j)[i] {
					t.Errorf("K[%d, %d] and its mirror image differ", i, j)
				}
			}
		}
	}
}

func TestVertexKernelBits(t *testing.T) {
	ctx := context.Background()
	a := testgraph.RandomDirected(5, 300, 2000, false)
	var first *sparse.Block[float64]
	for _, s := range []struct {
		workers int
		memory  int64
	}{{1, 0}, {2, 0}, {7, 1 << 20}, {2, 60_000}} {
		k, err := newVertex(ctx, directedOf(t, a, s.workers), exponentialWeights, 0.3, mostSteps)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := kernel.Matrix(ctx, k, sched.UpTo(300)[:90], sched.UpTo(300)[40:70], &kernel.Settings{Memory: s.memory})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		for i := range got.Rows {
			for j, v := range got.Row(i) {
				if v != first.Row(i)[j] {
					t.Fatalf("%+v: K[%d, %d] is %v, not %v", s, i, j, v, first.Row(i)[j])
				}
			}
		}
		wide, _, err := kernel.Matrix(ctx, k, sched.UpTo(300)[40:70], sched.UpTo(300)[:90], &kernel.Settings{Memory: s.memory})
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Rows {
			for j, v := range got.Row(i) {
				if v != wide.Row(j)[i] {
					t.Fatalf("%+v: K[%d, %d] depends on the shape of the block", s, i, j)
				}
			}
		}
	}
}

func TestVertexKernelApplies(t *testing.T) {
	ctx := context.Background()
	k, err := newVertex(ctx, goldenDigraph(t), geometricWeights, 0.15, mostSteps)
	if err != nil {
		t.Fatal(err)
	}
	whole, _, err := kernel.Matrix(ctx, k, sched.UpTo(k.Len()), sched.UpTo(k.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	x, y := sparse.NewBlock[float64](k.Len(), 3), sparse.NewBlock[float64](k.Len(), 3)
	rng := rand.New(rand.NewPCG(1, 9))
	for i := range x.Rows {
		for c := range x.Row(i) {
			x.Row(i)[c] = rng.NormFloat64()
		}
	}
	report, err := k.ApplyTo(ctx, y, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range y.Rows {
		for c, v := range y.Row(i) {
			want := 0.0
			for j := range x.Rows {
				want += whole.Row(i)[j] * x.Row(j)[c]
			}
			if math.Abs(v-want) > report.ColumnBound[c]+1e-13 {
				t.Errorf("(KX)[%d, %d] = %v for %v, bound %g", i, c, v, want, report.ColumnBound[c])
			}
		}
	}
}

func TestVertexKernelDiverges(t *testing.T) {
	ctx := context.Background()
	// A cycle of 5 arcs has one walk of any length for each start: β < 1.
	cycle := directedOf(t, arcsOf(t, 5, [][2]uint32{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}), 1)
	if _, err := newVertex(ctx, cycle, geometricWeights, 0.9, mostSteps); err != nil {
		t.Error(err)
	}
	_, err := newVertex(ctx, cycle, geometricWeights, 1.01, mostSteps)
	if !errors.As(err, new(*param.ParameterError)) || !strings.Contains(fmt.Sprint(err), "β < 1;") {
		t.Errorf("error %v does not name the limit 1", err)
	}
	// Near the limit more steps would be needed; the message says which β is accepted.
	_, err = newVertex(ctx, cycle, geometricWeights, 0.9999, mostSteps)
	if text := fmt.Sprint(err); !strings.Contains(text, "0.9999 is too near to 1, ") || !strings.Contains(text, "give β ≤ 0.98,") {
		t.Error(text)
	}
	if _, err := newVertex(ctx, cycle, geometricWeights, 0.98, mostSteps); err != nil {
		t.Error(err)
	}
	if _, err := newVertex(ctx, cycle, geometricWeights, 1.01, 50); err != nil {
		t.Errorf("a sum of 50 steps always converges: %v", err)
	}
	// Without cycles walks end.
	path := directedOf(t, arcsOf(t, 4, [][2]uint32{{0, 1}, {1, 2}, {2, 3}}), 1)
	k, err := newVertex(ctx, path, geometricWeights, 100, mostSteps)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := kernel.Matrix(ctx, k, []int{0}, []int{0}, nil)
	if want := 1 + 1e2 + 1e4 + 1e6 + 1e8 + 1e10 + 1e12; err != nil || got.Row(0)[0] != want {
		t.Errorf("K[0, 0] = %v for %v, error %v", got.Row(0)[0], want, err)
	}
}

// One node has most of the edges.
func TestVertexKernelOfHubs(t *testing.T) {
	ctx := context.Background()
	g, err := graph.New(ctx, testgraph.Star(3000), &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{0.1, 0.3, 1, 3} {
		beta, err := perStepWeight(x, param.Values{"weights": param.Of(exponentialWeights)}, kernel.On(ctx, g))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newVertex(ctx, g, exponentialWeights, beta, mostSteps); err != nil {
			t.Error(err)
		}
	}
}
