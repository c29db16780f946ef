package shift

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// reach is the position of a label, shifted left by hopBits, plus the number of edges of the shortest path to the label.
type reach uint32

const (
	hopBits = 6

	// mostHops is the largest number of sweeps: shortest paths of road networks have thousands of edges. Nodes further than
	// mostHops from all labels are left out.
	mostHops = 1<<hopBits - 2

	unreached reach = 1<<32 - 1
)

func reachOf(label, hops int) reach {
	return reach(label<<hopBits | hops)
}

func (r reach) label() reach { return r >> hopBits }
func (r reach) hops() int    { return int(r & (1<<hopBits - 1)) }

// nearest holds the two nearest labels of each node, the nearest first, each a [reach].
type nearest struct{ *sparse.Block[float64] }

func (f nearest) at(i, v int) reach { return reach(f.Row(v)[i]) }

// nearestLabels finds the two nearest labels of every node along the entries of its row, breadth first from all labels. The
// two nearest labels of a node are among the two nearest labels of its neighbours. Of equally near labels the first counts.
// If there is a single label, rows that the label has reached are skipped. Cost: a sweep for each edge of the longest
// shortest path, at most mostHops.
func nearestLabels(ctx context.Context, p *problem.Problem, workers int,
	work *graph.Work) (nearest, error) {
	n := len(p.Degrees)
	team := p.Team()
	now := nearest{sparse.NewBlock[float64](n, 2)}
	next := nearest{sparse.NewBlock[float64](n, 2)}
	for v := range n {
		now.Row(v)[0], now.Row(v)[1] = float64(unreached), float64(unreached)
	}
	for i, row := range p.Row {
		now.Row(row)[0] = float64(reachOf(i, 0))
	}
	last := min(1, len(p.Row)-1)
	for hops, grew := 1, true; grew && hops <= mostHops; hops++ {
		var hasChanged atomic.Bool
		blocks.Copy(next.Block, now.Block)
		err := sparse.EachRowWith(ctx, p.A, next.Block, now.Block, workers, func(v int, col []uint32, val []float64, x *sparse.Block[float64]) error {
			if next.at(last, v) == unreached &&
				next.extend(v, col, val, last, hops, nearest{x}) {
				hasChanged.Store(true)
			}
			return nil
		})
		work.Sweeps++
		if err != nil {
			return now, err
		}
		grew, now, next = anywhere(team, hasChanged.Load()), next, now
	}
	return now, nil
}

// extend adds to node v the labels hops edges away from v, and reports whether there are any. These are the labels that
// previous has for neighbours of v at hops−1 edges. A node keeps the labels in the positions 0 to last.
func (f nearest) extend(v int, col []uint32, val []float64, last, hops int,
	previous nearest) (grew bool) {
	first := f.at(0, v)
	best := [2]reach{unreached, unreached}
	for e, u := range col {
		if val != nil && val[e] == 0 {
			continue
		}
		for i := range last + 1 {
			r := previous.at(i, int(u))
			if r == unreached || r.hops() != hops-1 ||
				r.label() == first.label() && first != unreached {
				continue
			}
			r = reachOf(int(r.label()), hops)
			switch {
			case r == best[0] || r == best[1]:
			case best[0] == unreached || r.label() < best[0].label():
				best[0], best[1] = r, best[0]
			case best[1] == unreached || r.label() < best[1].label():
				best[1] = r
			}
		}
	}
	place := 0
	if first != unreached {
		place = 1
	}
	for _, r := range best[:last+1-place] {
		f.Row(v)[place] = float64(r)
		place++
	}
	return best[0] != unreached
}

// onOneKind reports whether an undirected graph is bipartite, with all labels of a component on one side. Of two
// neighbours, one then has an odd number of edges to its nearest label. For a directed graph it returns false.
func (f nearest) onOneKind(ctx context.Context, p *problem.Problem, workers int,
	work *graph.Work) (bool, error) {
	isOdd := func(row int) bool { r := f.at(1, row); return r != unreached && r.hops()%2 == 1 }
	if p.Directed || slices.ContainsFunc(p.Row, isOdd) {
		return false, nil
	}
	var isMixed atomic.Bool
	err := sparse.EachRowWith(ctx, p.A, sparse.NewBlock[float64](len(p.Degrees), 2), f.Block, workers, func(v int, col []uint32, _ []float64, x *sparse.Block[float64]) error {
		for _, u := range col {
			a, b := f.at(0, v), nearest{x}.at(0, int(u))
			if a != unreached && b != unreached && (a.hops()+b.hops())%2 == 0 {
				isMixed.Store(true)
			}
		}
		return nil
	})
	work.Sweeps++
	return !anywhere(p.Team(), isMixed.Load()), err
}

func anywhere(team *sparse.Team, condition bool) bool {
	count := []float64{0}
	if condition {
		count[0] = 1
	}
	team.Max(count)
	return count[0] > 0
}
