package graphmap

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/ranked"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	mostNearest  = 60 // neighbours of a node that are drawn, those with the largest weights
	mostOfOne    = 6  // further nodes behind one of them
	mostRivals   = 20 // predictions that contradict their neighbours
	fewestRivals = 3  // neighbours with a class that such a node has
)

// nearest returns the most important neighbours of some rows, at most number of each. Cost: one sweep.
func (g *Graph) nearest(ctx context.Context, rows []int, number int) (map[int][]int32, error) {
	indexOf, list := map[int]int{}, make([][]int32, len(rows))
	for i, row := range rows {
		indexOf[row] = i
	}
	err := g.A.Sweep(ctx, g.Workers, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			index, isWanted := indexOf[i]
			if !isWanted {
				continue
			}
			col, val := p.Row(i - p.Lo)
			order := make([]int, 0, len(col))
			for e, c := range col {
				if int(c) != i {
					order = append(order, e)
				}
			}
			if val != nil {
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(val[b], val[a]) })
			}
			for _, e := range order[:min(number, len(order))] {
				list[index] = append(list[index], int32(col[e]))
			}
		}
		return nil
	})
	neighbours := map[int][]int32{}
	for i, row := range rows {
		neighbours[row] = append(neighbours[row], list[i]...) // pieces of a long row are not joined in a sweep
	}
	return neighbours, err
}

// pairsAround returns the pairs of nodes that are linked within two steps of the centers. Cost: two sweeps.
func (g *Graph) pairsAround(ctx context.Context, centers []int) ([][2]int, error) {
	first, err := g.nearest(ctx, centers, mostNearest)
	if err != nil {
		return nil, err
	}
	isThere, between := map[int]bool{}, []int{}
	pairs := map[[2]int]bool{}
	join := func(a, b int) { pairs[[2]int{min(a, b), max(a, b)}] = true }
	for _, v := range centers {
		for _, u := range first[v] {
			join(v, int(u))
			if !isThere[int(u)] {
				isThere[int(u)] = true
				between = append(between, int(u))
			}
		}
	}
	slices.Sort(between)
	second, err := g.nearest(ctx, between, 10*mostNearest)
	if err != nil {
		return nil, err
	}
	for _, v := range between {
		further := 0
		for _, u := range second[v] {
			if isThere[int(u)] {
				join(v, int(u))
			} else if further < mostOfOne {
				join(v, int(u))
				further++
			}
		}
	}
	list := make([][2]int, 0, len(pairs))
	for pair := range pairs {
		list = append(list, pair)
	}
	slices.SortFunc(list, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return list, nil
}

// rival is a predicted node most of whose neighbours have one other class.
type rival struct {
	row, class int     // the class of most neighbours
	share      float64 // of the weights of links to nodes of that class
	links      int     // to nodes with a class
}

// rivals returns the predicted nodes whose neighbours contradict their class most: those with the greatest squared share
// times the number of links. Cost: one sweep.
func (g *Graph) rivals(ctx context.Context) ([]rival, error) {
	workers := sched.Workers(g.Workers)
	lists, sums := make([][]rival, workers), make([][]float64, workers)
	merit := func(r rival) float64 { return r.share * r.share * float64(r.links) }
	compare := func(a, b rival) int { return cmp.Or(cmp.Compare(merit(b), merit(a)), a.row-b.row) }
	err := g.A.Sweep(ctx, g.Workers, func(worker int, p sparse.Panel) error {
		if sums[worker] == nil {
			sums[worker] = make([]float64, len(g.Classes))
		}
		sum := sums[worker]
		for i := p.Lo; i < p.Hi; i++ {
			if g.Class[i] < 0 || g.Known(i) {
				continue
			}
			clear(sum)
			total := 0.0
			r := rival{row: i}
			col, val := p.Row(i - p.Lo)
			for e, c := range col {
				class := g.Class[c]
				if class < 0 || int(c) == i {
					continue
				}
				w := 1.0
				if val != nil {
					w = val[e]
				}
				sum[class] += w
				total += w
				r.links++
			}
			for class, w := range sum {
				if w > sum[r.class] {
					r.class = class
				}
			}
			if r.share = sum[r.class] / max(total, 1e-300); r.class == g.Class[i] || r.share <= 0.5 || r.links < fewestRivals {
				continue
			}
			lists[worker] = ranked.Insert(lists[worker], r, mostRivals, compare)
		}
		return nil
	})
	list := slices.SortedFunc(slices.Values(slices.Concat(lists...)), compare)
	return list[:min(mostRivals, len(list))], err
}
