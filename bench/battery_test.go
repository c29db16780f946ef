package bench

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// BenchmarkKrylovBattery times the 20 largest eigenvalues of S and 8 columns of L⁺ on the graphs of
// results/krylov.md. HEATWALK_NODES is the number of nodes, by default 20,000.
func BenchmarkKrylovBattery(b *testing.B) {
	n := 20_000
	if v, err := strconv.Atoi(os.Getenv("HEATWALK_NODES")); err == nil {
		n = v
	}
	for _, kind := range battery {
		var g *graph.Graph
		load := func(b *testing.B) *graph.Graph {
			if g == nil {
				var err error
				a := edgeMatrix(b, kind.nodes(n), kind.edges(n, rand.New(rand.NewPCG(1, 0))))
				if g, err = graph.New(b.Context(), a, nil); err != nil {
					b.Fatal(err)
				}
			}
			return g
		}
		b.Run(kind.name+"/eigen", func(b *testing.B) {
			g := load(b)
			for b.Loop() {
				p := &lanczos.GraphProblem{Matrix: sparse.NormalizedAdjacency, Which: lanczos.Largest}
				if _, err := p.Solve(b.Context(), g, 20, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(kind.name+"/pseudo-inverse", func(b *testing.B) {
			g := load(b)
			part := uint32(slices.Index(g.Components.Sizes, slices.Max(g.Components.Sizes)))
			rows := slices.DeleteFunc(rowNumbers(len(g.Degrees)), func(i int) bool { return g.Components.Of[i] != part })
			x, y := sparse.NewBlock[float64](len(g.Degrees), 8), sparse.NewBlock[float64](len(g.Degrees), 8)
			for j := range x.Cols {
				x.Row(rows[j*len(rows)/x.Cols])[j] = 1
			}
			for b.Loop() {
				s, err := iterative.ShiftedLaplacian(g, false, 1, 0)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.SolveTo(b.Context(), y, x, &iterative.Settings{Tolerance: 1e-10}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestBattery(t *testing.T) {
	for _, kind := range battery {
		a := edgeMatrix(t, kind.nodes(400), kind.edges(400, rand.New(rand.NewPCG(1, 0))))
		g, err := graph.New(t.Context(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		pairs, err := (&lanczos.GraphProblem{Matrix: sparse.NormalizedAdjacency, Which: lanczos.Largest}).Solve(t.Context(), g, 5, nil)
		if err != nil || math.Abs(pairs.Values[0]-1) > 1e-12 || a.NNZ() < 600 {
			t.Errorf("%s: %d entries, error %v", kind.name, a.NNZ(), err)
		}
	}
}

func rowNumbers(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

type edge struct {
	i, j   int
	weight float64
}

// graphKind is a kind of random graphs. nodes rounds a requested number of nodes.
type graphKind struct {
	name  string
	nodes func(n int) int
	edges func(n int, rng *rand.Rand) []edge
}

func same(n int) int { return n }

func power(n int, exponent float64) int { return int(math.Round(math.Pow(float64(n), exponent))) }

var battery = []graphKind{
	{"small world, weighted", same, func(n int, rng *rand.Rand) []edge {
		edges := neighbours(n, 8, rng)
		for range 3 * n {
			edges = append(edges, edge{rng.IntN(n), rng.IntN(n), 0.25})
		}
		return edges
	}},
	{"nearest neighbours", same, func(n int, rng *rand.Rand) []edge { return neighbours(n, 8, rng) }},
	{"Erdős–Rényi, degree 6", same, func(n int, rng *rand.Rand) []edge { return uniform(n, 3*n, rng) }},
	{"Erdős–Rényi, degree 3, isolated nodes", same, func(n int, rng *rand.Rand) []edge { return uniform(n, 3*n/2, rng) }},
	{"grid 2D", func(n int) int { side := int(math.Sqrt(float64(n))); return side * side }, func(n int, _ *rand.Rand) []edge {
		side := int(math.Sqrt(float64(n)))
		return grid(side, side, 1)
	}},
	{"grid 3D", func(n int) int { side := power(n, 1./3); return side * side * side }, func(n int, _ *rand.Rand) []edge {
		side := power(n, 1./3)
		return grid(side, side, side)
	}},
	{"R-MAT", func(n int) int { return 1 << (bits.Len(uint(n)) - 1) }, func(n int, rng *rand.Rand) []edge {
		edges := make([]edge, 16*n)
		for e := range edges {
			i, j := 0, 0
			for range bits.Len(uint(n)) - 1 {
				u := rng.Float64()
				i, j = 2*i, 2*j
				if u >= 0.76 {
					i++
				}
				if u >= 0.57 && u < 0.76 || u >= 0.95 {
					j++
				}
			}
			edges[e] = edge{i, j, 1}
		}
		return edges
	}},
	{"blocks, 10", same, func(n int, rng *rand.Rand) []edge {
		edges := make([]edge, 6*n)
		for e := range edges {
			i, j := rng.IntN(n), rng.IntN(n)
			if rng.Float64() < 0.9 {
				j = (rng.IntN(n/10)*10 + i%10) % n
			}
			edges[e] = edge{i, j, 1}
		}
		return edges
	}},
	{"random tree", same, func(n int, rng *rand.Rand) (edges []edge) {
		for i := 1; i < n; i++ {
			edges = append(edges, edge{i, rng.IntN(i), 1})
		}
		return edges
	}},
	{"star and ring", same, func(n int, _ *rand.Rand) (edges []edge) {
		for i := 1; i < n; i++ {
			edges = append(edges, edge{0, i, 1}, edge{i, i%(n-1) + 1, 1})
		}
		return edges
	}},
	{"weights over 8 orders", same, func(n int, rng *rand.Rand) []edge {
		edges := uniform(n, 4*n, rng)
		for e := range edges {
			edges[e].weight = math.Pow(10, 8*rng.Float64()-6)
		}
		return edges
	}},
	{"bipartite", same, func(n int, rng *rand.Rand) (edges []edge) {
		for range 4 * n {
			edges = append(edges, edge{rng.IntN(n / 2), n/2 + rng.IntN(n-n/2), 1})
		}
		return edges
	}},
}

func uniform(n, edges int, rng *rand.Rand) []edge {
	all := make([]edge, edges)
	for e := range all {
		all[e] = edge{rng.IntN(n), rng.IntN(n), 1}
	}
	return all
}

// grid returns the edges of a grid with x·y·z nodes.
func grid(x, y, z int) (edges []edge) {
	for i := range x * y * z {
		if i%x+1 < x {
			edges = append(edges, edge{i, i + 1, 1})
		}
		if i/x%y+1 < y {
			edges = append(edges, edge{i, i + x, 1})
		}
		if i/(x*y)+1 < z {
			edges = append(edges, edge{i, i + x*y, 1})
		}
	}
	return edges
}

// neighbours joins random points of the unit square to their k nearest, with weights exp(−(d/d_k)²) for the distance
// d and the distance d_k of the k-th. It searches cells with about two points each in growing squares around each
// point.
func neighbours(n, k int, rng *rand.Rand) (edges []edge) {
	side := max(1, int(math.Sqrt(float64(n)/2)))
	points, cells := make([][2]float64, n), make([][]int, side*side)
	cell := func(x float64) int { return min(side-1, int(x*float64(side))) }
	for i := range points {
		points[i] = [2]float64{rng.Float64(), rng.Float64()}
		at := cell(points[i][0])*side + cell(points[i][1])
		cells[at] = append(cells[at], i)
	}
	type neighbour struct {
		node     int
		distance float64
	}
	for i, p := range points {
		for reach := 2; ; reach *= 2 {
			var near []neighbour
			for a := max(0, cell(p[0])-reach); a <= min(side-1, cell(p[0])+reach); a++ {
				for b := max(0, cell(p[1])-reach); b <= min(side-1, cell(p[1])+reach); b++ {
					for _, j := range cells[a*side+b] {
						if j != i {
							near = append(near, neighbour{j, math.Hypot(points[j][0]-p[0], points[j][1]-p[1])})
						}
					}
				}
			}
			slices.SortFunc(near, func(a, b neighbour) int { return cmp.Compare(a.distance, b.distance) })
			if len(near) < k || near[k-1].distance > float64(reach)/float64(side) && reach < side {
				continue // a nearer point may lie outside
			}
			for _, v := range near[:k] {
				r := v.distance / near[k-1].distance
				edges = append(edges, edge{i, v.node, math.Exp(-r * r)})
			}
			break
		}
	}
	return edges
}

// edgeMatrix returns the symmetric matrix of edges without self loops, with the heaviest of repeated edges.
func edgeMatrix(t testing.TB, n int, edges []edge) *sparse.CSR {
	var arcs []edge
	for _, e := range edges {
		if e.i != e.j {
			arcs = append(arcs, e, edge{e.j, e.i, e.weight})
		}
	}
	slices.SortFunc(arcs, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j), cmp.Compare(b.weight, a.weight))
	})
	arcs = slices.CompactFunc(arcs, func(a, b edge) bool { return a.i == b.i && a.j == b.j })
	ptr, col, val := make([]int64, n+1), make([]uint32, len(arcs)), make([]float64, len(arcs))
	for e, a := range arcs {
		ptr[a.i+1]++
		col[e], val[e] = uint32(a.j), a.weight
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	m, err := sparse.NewCSR(n, n, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
