package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// fewestAlike is the least number of nodes of about the same degree from which a random seed is drawn.
const fewestAlike = 100

// draws draws sets of nodes with about the degrees of the seeds.
type draws struct {
	bins  [][]int // nodes by rising degree, in groups with the bounds of degrees in common
	count []int   // number of seeds in each group
	seed  uint64
}

// newDraws groups the nodes by degree: each group has at least fewestAlike nodes, where there are as
// many, and all nodes of its degrees.
func newDraws(p *Problem, seed uint64) *draws {
	order := slices.Clone(p.Nodes)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Degrees[a], p.Degrees[b]) })
	d := &draws{seed: seed}
	bin := make([]int, len(p.Degrees))
	for lo := 0; lo < len(order); {
		hi := min(lo+fewestAlike, len(order))
		for hi < len(order) && p.Degrees[order[hi]] == p.Degrees[order[hi-1]] {
			hi++
		}
		if len(order)-hi < fewestAlike {
			hi = len(order)
		}
		for _, v := range order[lo:hi] {
			bin[v] = len(d.bins)
		}
		d.bins = append(d.bins, order[lo:hi])
		lo = hi
	}
	d.count = make([]int, len(d.bins))
	for _, s := range p.Seeds {
		d.count[bin[s]]++
	}
	return d
}

// set returns a set of random nodes, of each group as many as there are seeds in it. It depends on
// the number of the set and the rng seed alone.
func (d *draws) set(number int) (nodes []int) {
	rng := rand.New(rand.NewPCG(d.seed, uint64(number)))
	for b, count := range d.count {
		// Floyd's algorithm: every subset of this size is as likely as any other.
		bin, isDrawn := d.bins[b], map[int]bool{}
		for top := len(bin) - count; top < len(bin); top++ {
			index := rng.IntN(top + 1)
			if isDrawn[index] {
				index = top
			}
			isDrawn[index] = true
			nodes = append(nodes, bin[index])
		}
	}
	return nodes
}
