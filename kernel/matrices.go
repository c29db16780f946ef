package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// matrices are the matrices of a graph, each made at first use.
type matrices struct {
	*graph.Graph
	degrees *degrees
	maps    map[sparse.Kind]*expm.Map

	work work
}

// spectral returns the kernel K = full or, if root is not nil, diag(1/root)·K·diag(root). half is the square root of
// full, or nil.
func (g *matrices) spectral(full, half engine, root []float64) *spectral {
	if !g.work.half {
		half = nil
	}
	return &spectral{graph: g.Graph, full: full, half: half, root: root,
		work: g.work}
}

func (g *matrices) of(ctx context.Context,
	kind sparse.Kind) (m *expm.Map, err error) {
	m = g.maps[kind]
	if m == nil {
		m, err = expm.New(ctx, g.Graph, kind)
		g.maps[kind] = m
	}
	return m, err
}

// laplacian returns the map of the named Laplacian L or L̃. For I − T it returns the map of L̃, which is similar, and
// d^½.
func (g *matrices) laplacian(ctx context.Context, laplacian string) (*expm.Map, []float64, error) {
	m, err := g.of(ctx, laplacianKind(laplacian))
	if laplacian == randomWalk {
		return m, roots(g.Graph), err
	}
	return m, nil, err
}

// laplacianKind returns a symmetric matrix, similar to I − T or equal to L or L̃.
func laplacianKind(laplacian string) sparse.Kind {
	if laplacian == combinatorial {
		return sparse.Laplacian
	}
	return sparse.NormalizedLaplacian
}

// roots returns d^½ of each node over the smallest d^½ in its component, and 1 for a row without entries. Kernels are
// 0 between components, and other ratios would enlarge error bounds.
func roots(g *graph.Graph) []float64 {
	component := g.Components.Of
	smallest := slices.Repeat([]float64{math.Inf(-1)}, len(g.Components.Sizes)) // negated
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

func lone(deg []float64) []int {
	var rows []int
	for i, d := range deg {
		if d == 0 {
			rows = append(rows, i)
		}
	}
	return rows
}
