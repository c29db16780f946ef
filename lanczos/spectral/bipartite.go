package spectral

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// bipartite returns ±d^½ on the components whose nodes have two colours, neighbours never
// the same, and 0 on the others: S·w = −w. It returns nil if there are none.
// Cost: one sweep by one goroutine, or if several processes share the rows, a sweep with one column for each
// level of a breadth-first search.
func bipartite(ctx context.Context, g *graph.Graph) ([]float64, error) {
	colours, err := joinColours(ctx, g)
	if errors.Is(err, sparse.ErrDivided) {
		colours, err = searchColours(ctx, g)
	}
	if err != nil {
		return nil, err
	}
	nonzero := []float64{0}
	for i, d := range g.Degrees {
		if colours[i] *= math.Sqrt(d); colours[i] != 0 {
			nonzero[0] = 1
		}
	}
	sparse.TeamOf(g.A).Max(nonzero)
	if nonzero[0] == 0 {
		return nil, nil
	}
	return colours, nil
}

// joinColours returns ±1 on the two sides of bipartite components, and 0 elsewhere. It joins the sets of
// nodes whose sides determine each other.
func joinColours(ctx context.Context, g *graph.Graph) ([]float64, error) {
	n := len(g.Degrees)
	up, odd, size := make([]uint32, n), make([]bool, n), make([]uint32, n) // odd: the colour is not that of up
	for i := range up {
		up[i], size[i] = uint32(i), 1
	}
	root := func(i uint32) (r uint32, differs bool) {
		for up[i] != i {
			differs = differs != odd[i]
			i = up[i]
		}
		return i, differs
	}
	failed := make([]bool, len(g.Components.Sizes))
	err := g.A.Sweep(ctx, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			if failed[g.Components.Of[i]] {
				continue
			}
			col, val := p.Row(i - p.Lo)
			for e, j := range col {
				if int(j) < i || val != nil && val[e] == 0 {
					continue
				}
				a, x := root(uint32(i))
				b, y := root(j)
				if size[a] < size[b] {
					a, b = b, a
				}
				if a != b {
					up[b], odd[b] = a, x == y
					size[a] += size[b]
				} else if x == y {
					failed[g.Components.Of[i]] = true
					break
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	colours := make([]float64, n)
	for i := range colours {
		if failed[g.Components.Of[i]] {
			continue
		}
		colours[i] = 1
		if _, differs := root(uint32(i)); differs {
			colours[i] = -1
		}
	}
	return colours, nil
}

// searchColours is joinColours by a breadth-first search from the first row of each component: an edge inside
// a level shows that a component is not bipartite.
func searchColours(ctx context.Context, g *graph.Graph) ([]float64, error) {
	n, component, team := len(g.Degrees), g.Components.Of, sparse.TeamOf(g.A)
	first := slices.Repeat([]float64{math.Inf(-1)}, len(g.Components.Sizes)) // minus the first row of each component
	for i, c := range component {
		if !team.IsPadding(i) {
			first[c] = max(first[c], -float64(team.Row(i)))
		}
	}
	team.Max(first)
	op := &sparse.Operator[float64]{A: g.A, Workers: g.Workers}
	level, image := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1) // 1 for the nodes of a level
	colours, failed := make([]float64, n), make([]float64, len(first))
	for i, c := range component {
		if !team.IsPadding(i) && first[c] == -float64(team.Row(i)) {
			level.Row(i)[0], colours[i] = 1, 1
		}
	}
	for depth := 1; ; depth++ {
		if err := op.StepTo(ctx, image, level, sparse.Step[float64]{Alpha: 1}); err != nil {
			return nil, err
		}
		added := []float64{0}
		for i, c := range component {
			isNew := false
			switch {
			case image.Row(i)[0] == 0 || failed[c] > 0:
			case level.Row(i)[0] > 0:
				failed[c] = 1
			case colours[i] == 0:
				isNew = true
			}
			level.Row(i)[0] = 0
			if isNew {
				level.Row(i)[0], colours[i] = 1, float64(1-2*(depth%2))
				if team.Counts(i) {
					added[0]++
				}
			}
		}
		team.Sum(added)
		if added[0] == 0 {
			break
		}
		if depth&(depth-1) == 0 { // rarely, because there may be many components
			team.Max(failed)
		}
	}
	team.Max(failed)
	for i, c := range component {
		colours[i] *= 1 - failed[c]
	}
	return colours, nil
}
