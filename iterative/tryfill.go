package iterative

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// ballCount is the number of balls on which tryFill tries a large graph that may be a grid or a mesh, and ballVertices
// is the number of vertices of each ball. Balls fill in less for each entry than the graph.
const (
	ballCount    = 4
	ballVertices = 1 << 14
)

// tryFill returns an error that wraps [ErrFill] if balls of a large graph show that its complete
// factor fills in.
func tryFill(ctx context.Context, matrix sparse.Matrix) error {
	n, _ := matrix.Dims()
	if !IsSlow(n, matrix.NNZ()) {
		return nil
	}
	a, err := readAdjacency(ctx, matrix, 1)
	if err != nil {
		return err
	}
	a = a.balls()
	size := len(a.start) - 1
	limits := limitsOf(size, int64(len(a.end)))
	limits.entries = largeFill * int64(len(a.end))
	_, err = a.orderFronts(ctx, make([]bool, size), limits)
	return err
}

// balls returns the edges within ballCount balls. A ball has the vertices nearest to one vertex.
func (a *adjacency) balls() *adjacency {
	n := len(a.start) - 1
	place := make([]uint32, n) // one more than the number in the balls; 0: in no ball
	var found []uint32
	find := func(v uint32) {
		if place[v] == 0 {
			found = append(found, v)
			place[v] = uint32(len(found))
		}
	}
	for ball := range ballCount {
		next := len(found)
		for v := ball * (n / ballCount); v < n && len(found) < (ball+1)*ballVertices; v++ { // continues in the next components
			for find(uint32(v)); next < len(found) && len(found) < (ball+1)*ballVertices; next++ {
				ends, _ := a.of(found[next])
				for _, u := range ends {
					find(u)
				}
			}
		}
	}
	b := &adjacency{start: make([]int64, 1)}
	for _, v := range found {
		ends, weights := a.of(v)
		for e, u := range ends {
			if place[u] > 0 {
				b.end = append(b.end, place[u]-1)
				b.weight = append(b.weight, weights[e])
			}
		}
		b.start = append(b.start, int64(len(b.end)))
	}
	return b
}
