package kernel

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// matrices are the matrices of a graph that its kernels are functions of, made
// when the first one needs them.
type matrices struct {
	*graph.Graph
	degrees *degrees
	maps    map[sparse.Kind]*expm.Map

	work work // of the kernel that is made
}

// spectral returns the kernel under construction: a function of a symmetric matrix, or with a
// root s the map that is similar to it. half is its square root, or nil.
func (g *matrices) spectral(full, half engine, root []float64) *spectral {
	if !g.work.half {
		half = nil
	}
	return &spectral{graph: g.Graph, full: full, half: half, root: root,
		work: g.work}
}

// of returns a matrix of the graph, which it makes once.
func (g *matrices) of(ctx context.Context,
	kind sparse.Kind) (m *expm.Map, err error) {
	m = g.maps[kind]
	if m == nil {
		m, err = expm.New(ctx, g.Graph, kind)
		g.maps[kind] = m
	}
	return m, err
}

// checkSymmetric compares uᵀ(Av) with vᵀ(Au) for two random vectors.
func checkSymmetric(ctx context.Context, g *graph.Graph) error {
	n := len(g.Degrees)
	team := sparse.TeamOf(g.A)
	x, y := sparse.NewBlock[float64](n, 2), sparse.NewBlock[float64](n, 2)
	source := rand.NewPCG(1, 1)
	rng := rand.New(source)
	for i := range n {
		source.Seed(1, uint64(team.Row(i))) // so that all processes have the same values in a named row
		x.Row(i)[0], x.Row(i)[1] = rng.Float64(), rng.Float64()
	}
	product := func(i, j int) float64 { return blocks.Dots(team, x.Columns(i, i+1), y.Columns(j, j+1))[0] }
	op := &sparse.Operator[float64]{A: g.A, Workers: g.Workers}
	if err := op.ApplyTo(ctx, y, x); err != nil {
		return err
	}
	// The elements of u and v are below 1, so that the sizes of all terms together are at most the sum of the degrees; one arc
	// among many changes one of the products by more.
	rounding := 1e-13 * math.Sqrt(float64(team.TotalOf(n))+64) * blocks.Total(team, g.Degrees)
	if math.Abs(product(0, 1)-product(1, 0)) > rounding {
		return ErrAsymmetric
	}
	return nil
}

// laplacian returns the symmetric map of a Laplacian, and d^½ for I − T, which is similar to
// that map.
func (g *matrices) laplacian(ctx context.Context, laplacian string) (*expm.Map, []float64, error) {
	m, err := g.of(ctx, laplacianKind(laplacian))
	if laplacian == randomWalk {
		return m, roots(g.Graph), err
	}
	return m, nil, err
}

// laplacianKind is the symmetric matrix of a Laplacian, or the one that it is similar to.
func laplacianKind(laplacian string) sparse.Kind {
	if laplacian == combinatorial {
		return sparse.Laplacian
	}
	return sparse.NormalizedLaplacian
}

// roots returns d^½ relative to the least in the component of each node, 1 for a
// row without entries. A kernel has no values between components, so that only
// ratios within one count; larger ones would be in bounds on errors.
func roots(g *graph.Graph) []float64 {
	component := g.Components.Of
	smallest := make([]float64, len(g.Components.Sizes)) // negated
	for c := range smallest {
		smallest[c] = math.Inf(-1)
	}
	for i, d := range g.Degrees {
		if d > 0 {
			smallest[component[i]] = max(smallest[component[i]], -d)
		}
	}
	sparse.TeamOf(g.A).Max(smallest)
	root := make([]float64, len(g.Degrees))
	for i, d := range g.Degrees {
		root[i] = 1
		if d > 0 {
			root[i] = math.Sqrt(d / -smallest[component[i]])
		}
	}
	return root
}

// lone returns the rows without entries.
func lone(deg []float64) []int {
	var rows []int
	for i, d := range deg {
		if d == 0 {
			rows = append(rows, i)
		}
	}
	return rows
}
