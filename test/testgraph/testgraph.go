// Package testgraph has graphs for tests: tiny graphs with known answers, random graphs from an rng seed, and the
// graphs of testdata/golden with reference results that other programs computed. Row i of every golden array belongs to
// line i of the graph's nodes.tsv.
//
// [TestMatrix] is the contract of [sparse.Matrix] as a test. [Processes] runs goroutines in place of the processes of
// several machines.
package testgraph

import (
	"fmt"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// Path returns the path 0 – 1 – … – n−1.
func Path(n int) *sparse.CSR {
	b := builder{nodes: n}
	for i := range n - 1 {
		b.edge(i, i+1, 1)
	}
	return b.csr()
}

// Ladder returns the paths over the even and over the odd of n nodes, and the rungs between 2i and 2i + 1.
func Ladder(n int) *sparse.CSR {
	b := builder{nodes: n}
	for i := range n {
		if i%2 == 0 && i+1 < n {
			b.edge(i, i+1, 1)
		}
		if i+2 < n {
			b.edge(i, i+2, 1)
		}
	}
	return b.csr()
}

// Cycle returns the cycle over n ≥ 3 nodes.
func Cycle(n int) *sparse.CSR {
	b := builder{nodes: n}
	for i := range n {
		b.edge(i, (i+1)%n, 1)
	}
	return b.csr()
}

// Star returns n nodes, of which node 0 is joined to all others.
func Star(n int) *sparse.CSR {
	b := builder{nodes: n}
	for i := 1; i < n; i++ {
		b.edge(0, i, 1)
	}
	return b.csr()
}

// Complete returns n nodes, all joined to each other.
func Complete(n int) *sparse.CSR {
	b := builder{nodes: n}
	b.clique(0, n)
	return b.csr()
}

// TwoCliques returns two complete graphs of size nodes, rows 0 … size−1 and rows size … 2·size−1, without an edge
// between them.
func TwoCliques(size int) *sparse.CSR {
	b := builder{nodes: 2 * size}
	b.clique(0, size)
	b.clique(size, 2*size)
	return b.csr()
}

// Hub returns a wheel whose hub, node 0, has so many neighbours that its row is cut into three pieces.
func Hub() *sparse.CSR {
	const rim = 2*sparse.MaxRange + 5
	b := builder{nodes: rim + 1}
	for i := range rim {
		b.edge(0, 1+i, 1)
		b.edge(1+i, 1+(i+1)%rim, 1)
	}
	return b.csr()
}

// Random returns an undirected graph with the given number of distinct edges between uniformly drawn nodes. About a
// fraction 1/nodes of the edges are self loops. If weighted is set, weights are multiples of 1/64 in (0, 4], otherwise
// 1. If there are few edges, some nodes are isolated.
func Random(rngSeed uint64, nodes, edges int, weighted bool) *sparse.CSR {
	return random(rngSeed, nodes, edges, weighted, false)
}

// RandomDirected is Random with arcs instead of edges.
func RandomDirected(rngSeed uint64, nodes, arcs int, weighted bool) *sparse.CSR {
	return random(rngSeed, nodes, arcs, weighted, true)
}

func random(rngSeed uint64, nodes, edges int, weighted, directed bool) *sparse.CSR {
	limit := nodes * (nodes + 1) / 2
	if directed {
		limit = nodes * nodes
	}
	if edges > limit {
		panic(fmt.Sprintf("testgraph: %d edges among %d nodes", edges, nodes))
	}
	rng := rand.New(rand.NewPCG(rngSeed, uint64(nodes)))
	b := builder{nodes: nodes}
	drawn := map[[2]int]bool{}
	for len(drawn) < edges {
		i, j := rng.IntN(nodes), rng.IntN(nodes)
		if !directed && i > j {
			i, j = j, i
		}
		if drawn[[2]int{i, j}] {
			continue
		}
		drawn[[2]int{i, j}] = true
		weight := 1.0
		if weighted {
			weight = float64(1+rng.IntN(256)) / 64
		}
		if directed {
			b.arc(i, j, weight)
		} else {
			b.edge(i, j, weight)
		}
	}
	return b.csr()
}

// Permute returns the graph in which node i of a has the number order[i].
func Permute(a *sparse.CSR, order []int) *sparse.CSR {
	rows, _ := a.Dims()
	b := builder{nodes: rows}
	a.DoNonZero(func(i, j int, v float64) { b.arc(order[i], order[j], v) })
	return b.csr()
}

type builder struct {
	nodes   int
	entries []sparse.Triplet
}

func (b *builder) arc(i, j int, weight float64) {
	b.entries = append(b.entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: weight})
}

func (b *builder) edge(i, j int, weight float64) {
	b.arc(i, j, weight)
	if i != j {
		b.arc(j, i, weight)
	}
}

func (b *builder) clique(lo, hi int) {
	for i := lo; i < hi; i++ {
		for j := i + 1; j < hi; j++ {
			b.edge(i, j, 1)
		}
	}
}

func (b *builder) csr() *sparse.CSR {
	a, err := sparse.FromTriplets(b.nodes, b.nodes, b.entries)
	if err != nil {
		panic(err)
	}
	return a
}
