package regress

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	// mostHops is the number of steps after which means of values are taken.
	mostHops = 3

	// hopColumns is the width of the blocks of hop means.
	hopColumns = 16
)

// hopMeans are means of the values around nodes, of several sets of values.
type hopMeans struct {
	folds int
	sets  []*hopSet
}

// hopSet holds the means that leave out the values of two folds, −1 for none: at[i][h] is
// Σ_j (T^{h+1})_ij·y_j / Σ_j (T^{h+1})_ij − center at the node of value i, where j are the nodes of the
// set and center is the mean of their values. Where no walk reaches the set it is 0.
type hopSet struct {
	hiddenFolds [2]int
	center      float64
	means       [][mostHops]float64
}

// newHopMeans returns the means without every fold and without every pair of folds. A value takes part
// in no set that leaves out its fold, so that no mean at its node contains it.
func (c *comparison) newHopMeans(ctx context.Context) (*hopMeans, error) {
	h := &hopMeans{folds: c.folds}
	for f := range c.folds {
		for g := range f + 1 {
			h.sets = append(h.sets, &hopSet{hiddenFolds: [2]int{f, g}})
		}
	}
	for lo := 0; lo < len(h.sets); lo += hopColumns / 2 {
		sets := h.sets[lo:min(len(h.sets), lo+hopColumns/2)]
		if err := c.walkMeans(ctx, c.fold, sets, nil); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// pair returns the set without two folds, which may be equal.
func (h *hopMeans) pair(f, g int) *hopSet {
	f, g = max(f, g), min(f, g)
	return h.sets[f*(f+1)/2+g]
}

// without returns the set without one fold.
func (h *hopMeans) without(f int) *hopSet { return h.pair(f, f) }

// walkMeans computes the means of sets of values by walks, where fold is the fold of each value. visit,
// unless it is nil, is called after each step with the block whose columns 2s and 2s + 1 are the sums
// of the centred values and of ones of set s. Cost: mostHops sweeps.
func (r *run) walkMeans(ctx context.Context, fold []int, sets []*hopSet, visit func(hop int, b *sparse.Block[float64])) error {
	n := len(r.Degrees)
	x, y := sparse.NewBlock[float64](n, 2*len(sets)), sparse.NewBlock[float64](n, 2*len(sets))
	for s, set := range sets {
		var values []float64
		for i, f := range fold {
			if f != set.hiddenFolds[0] && f != set.hiddenFolds[1] {
				values = append(values, r.Value[i])
			}
		}
		if len(values) > 0 { // two folds may hold all values
			set.center = meanOf(values)
		}
		set.means = make([][mostHops]float64, len(fold))
		for i, f := range fold {
			if f != set.hiddenFolds[0] && f != set.hiddenFolds[1] {
				x.Row(r.Row[i])[2*s], x.Row(r.Row[i])[2*s+1] = r.Value[i]-set.center, 1
			}
		}
	}
	for hop := range mostHops {
		if err := r.op.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1}); err != nil {
			return err
		}
		for s, set := range sets {
			for i, row := range r.Row {
				set.means[i][hop] = ratio(y.Row(row)[2*s:])
			}
		}
		if visit != nil {
			visit(hop, y)
		}
		x, y = y, x
	}
	return nil
}

// ratio returns a sum over its count, 0 without a count.
func ratio(pair []float64) float64 {
	if pair[1] == 0 {
		return 0
	}
	return pair[0] / pair[1]
}

// walkBytes returns the memory of hop means of the given number of values on n nodes.
func walkBytes(n, values, sets int) int64 {
	return 2*blocks.BlockBytes[float64](n, hopColumns) + 8*mostHops*int64(values)*int64(sets)
}
