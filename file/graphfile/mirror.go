package graphfile

import "hash/maphash"

// mirror checks that every edge is listed at both of its ends with the same
// weight, in memory that depends on nothing: of each entry a hash of the edge is
// added to the sum of its smaller end's block, or taken from it, by the end at
// which it is listed. Where all edges are listed twice, all sums are zero; that
// they are so by chance has a probability of 2⁻⁶⁴.
type mirror struct {
	seed  maphash.Seed
	width uint64 // nodes of a block
	sum   [mirrorBlocks]uint64
	line  [mirrorBlocks]int64 // of the block's first node
}

const mirrorBlocks = 1 << 14

func newMirror(nodes uint64) *mirror {
	return &mirror{seed: maphash.MakeSeed(), width: (nodes + mirrorBlocks - 1) / mirrorBlocks}
}

// begin notes the line on which a node's edges are.
func (m *mirror) begin(node uint64, line int64) {
	if node%m.width == 0 {
		m.line[node/m.width] = line
	}
}

// add adds the entry (u, v), nodes being numbered from 0.
func (m *mirror) add(u, v uint64, w float64) {
	type edge struct {
		lo, hi uint64
		w      float64
	}
	switch {
	case u < v:
		m.sum[u/m.width] += maphash.Comparable(m.seed, edge{u, v, w})
	case u > v:
		m.sum[v/m.width] -= maphash.Comparable(m.seed, edge{v, u, w})
	}
}

// differing returns the first block of nodes, from lo to hi−1, of which one has
// an edge that is not the same at its other end.
func (m *mirror) differing() (lo, hi uint64, line int64, any bool) {
	for b, sum := range m.sum {
		if sum != 0 {
			return uint64(b) * m.width, uint64(b+1) * m.width, m.line[b], true
		}
	}
	return 0, 0, 0, false
}
