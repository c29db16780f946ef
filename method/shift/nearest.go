package shift

import (
	"context"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// reach is a label that reaches a node: its position among the labels above hopBits, and the edges of
// the shortest path.
type reach uint32

const (
	hopBits = 6

	// mostHops limits the sweeps of nearestLabels, because shortest paths of road networks have
	// thousands of edges. Nodes further away from a label are left out.
	mostHops = 1<<hopBits - 2

	unreached reach = 1<<32 - 1
)

func reachOf(label, hops int) reach { return reach(label<<hopBits | hops) }

func (r reach) label() reach { return r >> hopBits }
func (r reach) hops() int    { return int(r & (1<<hopBits - 1)) }

// nearest holds the two nearest labels of each node, the nearest first.
type nearest [2][]atomic.Uint32

func (f *nearest) at(i, v int) reach { return reach(f[i][v].Load()) }

// nearestLabels finds the two nearest labels of every node along the entries of its row, breadth first
// from all labels at once. The two nearest labels of a node are among those of its neighbours. Of
// equally near ones the order of rows decides. Cost: a sweep for each edge of the longest of the
// shortest paths, at most mostHops.
func nearestLabels(ctx context.Context, p *problem.Problem, workers int, work *problem.Work) (*nearest, error) {
	n := len(p.Degrees)
	f := &nearest{make([]atomic.Uint32, n), make([]atomic.Uint32, n)}
	for i := range f {
		for v := range f[i] {
			f[i][v].Store(uint32(unreached))
		}
	}
	for i, row := range p.Row {
		f[0][row].Store(uint32(reachOf(i, 0)))
	}
	for hops, grew := 1, true; grew && hops <= mostHops; hops++ {
		var more atomic.Bool
		err := p.A.Sweep(ctx, workers, func(_ int, panel sparse.Panel) error {
			for v := panel.Lo; v < panel.Hi; v++ {
				if f.at(1, v) == unreached && f.extend(panel, v, hops) {
					more.Store(true)
				}
			}
			return nil
		})
		work.Add(problem.Work{Sweeps: 1, EntryColumns: p.A.NNZ()})
		if err != nil {
			return nil, err
		}
		grew = more.Load()
	}
	return f, nil
}

// extend adds the labels of v that are the given number of hops away, and reports whether there are any.
// Neighbours that get a label in the same sweep have that number too, and do not count.
func (f *nearest) extend(panel sparse.Panel, v, hops int) (grew bool) {
	col, val := panel.Row(v - panel.Lo)
	for e, u := range col {
		if val != nil && val[e] == 0 {
			continue
		}
		for i := range f {
			r, own := f.at(i, int(u)), f.at(0, v)
			if r == unreached || r.hops() != hops-1 || r.label() == own.label() && own != unreached {
				continue
			}
			r, grew = reachOf(int(r.label()), hops), true
			if own != unreached {
				f[1][v].Store(uint32(r))
				return true
			}
			f[0][v].Store(uint32(r))
		}
	}
	return grew
}
