package iterative

import "slices"

// eliminateLeaves eliminates vertices with at most one neighbour until none is left, except held vertices. It appends the
// columns to c. It renumbers the remaining vertices, keeps only their edges in a, and returns the former number of each.
func (a *adjacency) eliminateLeaves(ground []float64, held []int, c *columns) []uint32 {
	n := len(a.start) - 1
	degree := make([]int, n)       // remaining neighbours; -1: eliminated
	neighbour := make([]uint32, n) // exclusive or of the remaining neighbours
	for v := range degree {
		ends, _ := a.of(uint32(v))
		degree[v] = len(ends)
		for _, u := range ends {
			neighbour[v] ^= u
		}
	}
	for _, v := range held {
		degree[v] += n + 2
	}
	for first := range degree {
		v := uint32(first)
		for degree[v] == 1 {
			u := neighbour[v]
			ends, weights := a.of(v)
			w := weights[slices.Index(ends, u)]
			total := ground[v] + w
			share := w / total
			c.begin(v, total)
			c.add(u, share)
			c.start = append(c.start, c.count)
			ground[u] += float64(share * ground[v])
			degree[v] = -1
			degree[u]--
			neighbour[u] ^= v
			v = u
		}
		if degree[v] == 0 {
			c.begin(v, ground[v])
			c.start = append(c.start, c.count)
			degree[v] = -1
		}
	}
	core := make([]uint32, 0, n-len(c.order))
	for v, d := range degree {
		if d >= 0 {
			neighbour[v] = uint32(len(core)) // new number
			core = append(core, uint32(v))
		}
	}
	start := make([]int64, 1, len(core)+1)
	var size int64
	for _, v := range core {
		ends, weights := a.of(v)
		for e, u := range ends {
			if degree[u] >= 0 {
				a.end[size] = neighbour[u]
				a.weight[size] = weights[e]
				size++
			}
		}
		start = append(start, size)
	}
	*a = adjacency{start, a.end[:size], a.weight[:size]}
	return core
}
