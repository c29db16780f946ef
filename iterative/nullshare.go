package iterative

import "github.com/heatwalk/heatwalk/sparse/blocks"

// nullShare computes the parts in the null space of a preconditioned residual z and of a residual r. Its sums for z come
// first, then its sums for r. With scale s, the vectors are s∘z and r/s. u are the vectors of the null space.
type nullShare struct {
	blocks.Share
	scale []float64 // s; nil means ones
}

func (n *nullShare) total() {
	n.Total()
	n.Negate()
}

// factors returns u∘s, or u/s if divided is set, in the rows of a chunk.
func (n *nullShare) factors(room *[blocks.ChunkRows]float64, lo, hi int, divided bool) []float64 {
	unit := n.Unit[lo:hi]
	if n.scale == nil {
		return unit
	}
	for i, s := range n.scale[lo:hi] {
		if divided {
			s = 1 / s
		}
		room[i] = unit[i] * s
	}
	return room[:hi-lo]
}
