package trees

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// triangleWork is the largest number of compared neighbours for which triangles are counted, some five seconds of a
// processor. Graphs with more have no columns of triangles.
const triangleWork = 4_000_000_000

// addTriangles stores log(1 + triangles) and the clustering coefficient of each node, 2·triangles/(d·(d − 1)) for d
// neighbours, NaN for fewer than two. Weights and loops do not count.
//
// Each edge leads from the end with fewer neighbours to the other end, so that few edges leave a node; a triangle has one
// node whose two edges lead to the others (Chiba and Nishizeki, Arboricity and subgraph listing algorithms, 1985). Cost: two
// sweeps, and Σ over edges u → v of the edges that leave v, at most edges^1.5·√2.
func (c *nodeColumns) addTriangles(ctx context.Context, g *graphWalks) error {
	n := c.Rows
	const first = 3
	for v := range n {
		c.Row(v)[first] = missing
		c.Row(v)[first+1] = missing
	}
	neighbours := make([]int32, n)
	err := g.eachNode(ctx, func(_, v int, list []uint32) {
		neighbours[v] = int32(len(list))
		if _, hasLoop := slices.BinarySearch(list, uint32(v)); hasLoop {
			neighbours[v]--
		}
	})
	if err != nil {
		return err
	}
	later := make([][]uint32, n)
	err = g.eachNode(ctx, func(_, v int, list []uint32) {
		for _, u := range list {
			if more := cmp.Compare(neighbours[u], neighbours[v]); more > 0 || more == 0 && v < int(u) {
				later[v] = append(later[v], u)
			}
		}
	})
	if err != nil {
		return err
	}
	work := 0
	for _, list := range later {
		for _, u := range list {
			work += len(later[u])
		}
	}
	if work > triangleWork {
		return nil
	}
	workers := sched.Workers(g.workers)
	counts := make([][]int64, workers)
	marks := make([][]bool, workers)
	const piece = 1024
	err = sched.Run(ctx, workers, (n+piece-1)/piece, func(worker, number int) error {
		if counts[worker] == nil {
			counts[worker] = make([]int64, n)
			marks[worker] = make([]bool, n)
		}
		count := counts[worker]
		mark := marks[worker]
		for v := number * piece; v < min(n, (number+1)*piece); v++ {
			for _, u := range later[v] {
				mark[u] = true
			}
			for _, u := range later[v] {
				for _, w := range later[u] {
					if mark[w] {
						count[v]++
						count[u]++
						count[w]++
					}
				}
			}
			for _, u := range later[v] {
				mark[u] = false
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for v := range n {
		triangles := 0.0
		for _, count := range counts {
			if count != nil {
				triangles += float64(count[v])
			}
		}
		d := float64(neighbours[v])
		c.Row(v)[first] = float32(math.Log1p(triangles))
		if d > 1 {
			c.Row(v)[first+1] = float32(2 * triangles / (d * (d - 1)))
		}
	}
	return nil
}

// largest returns the positions of the largest counts, at most limit, in increasing order. Of equal counts it takes the
// first.
func largest(count []int, limit int) []int {
	list := sched.UpTo(len(count))
	slices.SortStableFunc(list, func(a, b int) int { return count[b] - count[a] })
	list = slices.Clone(list[:min(limit, len(list))])
	slices.Sort(list)
	return list
}
