package classify

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// descent solves the dual of one linear classifier,
//
//	minimise ½ αᵀQα − Σ α_i,  0 ≤ α_i ≤ upper_i,  Q_ij = y_i·y_j·⟨x_i, x_j⟩,
//
// one coordinate at a time while w = Σ y_i·α_i·x_i is kept up to date. Items at a bound whose gradient points outwards by
// more than any seen in the pass before are passed over until the others have
// settled. Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent
// method for large-scale linear SVM, ICML 2008, algorithm 3.
type descent[T sparse.Float] struct {
	features *sparse.Block[T]
	w        []float64
	b        float64 // the weight of the constant feature
	items    []coordinate
}

type coordinate struct {
	item         int
	y            float64
	alpha, upper float64
	inverse      float64 // 1/Q_ii
}

// start sets up the classifier of p; square holds the squared norm of each item.
func (d *descent[T]) start(set *LinearSVM, g *groups, p Pair, square []float64) {
	members, positive := g.membersTo(nil, p)
	rate := g.factorsTo(nil, members, set.Weights)
	d.items = make([]coordinate, len(members))
	for k, item := range members {
		c := coordinate{item: item, y: 1, upper: set.Cost * rate[k]}
		if k >= positive {
			c.y = -1
		}
		c.inverse = 1 / square[item]
		d.items[k] = c
	}
}

// solve passes over the items in random order until the projected gradients of
// a pass over all of them lie within the tolerance of each other. It returns
// the number of passes.
func (d *descent[T]) solve(ctx context.Context, tolerance float64, limit int, rng *rand.Rand) (int, error) {
	active := len(d.items)
	high, low := math.Inf(1), math.Inf(-1)
	for pass := range limit {
		if err := ctx.Err(); err != nil {
			return pass, err
		}
		for k := active - 1; k > 0; k-- { // faster than Shuffle, which calls a function for each item
			j := int(uint64(uint32(rng.Uint64())) * uint64(k+1) >> 32)
			d.items[k], d.items[j] = d.items[j], d.items[k]
		}
		highest, lowest := math.Inf(-1), math.Inf(1)
		for k := 0; k < active; k++ {
			c := &d.items[k]
			x := d.features.Row(c.item)
			gradient := c.y*(simd.Dot(x, d.w)+d.b) - 1
			projected := gradient
			switch c.alpha {
			case 0:
				if gradient > high {
					active--
					d.items[k], d.items[active] = d.items[active], d.items[k]
					k--
					continue
				}
				projected = min(gradient, 0)
			case c.upper:
				if gradient < low {
					active--
					d.items[k], d.items[active] = d.items[active], d.items[k]
					k--
					continue
				}
				projected = max(gradient, 0)
			}
			if projected > highest {
				highest = projected
			}
			if projected < lowest {
				lowest = projected
			}
			if projected == 0 {
				continue
			}
			old := c.alpha
			c.alpha = old - gradient*c.inverse
			if c.alpha < 0 {
				c.alpha = 0
			} else if c.alpha > c.upper {
				c.alpha = c.upper
			}
			if step := c.y * (c.alpha - old); step != 0 {
				simd.AddScaled(d.w, step, x)
				d.b += step
			}
		}
		if !(highest-lowest > tolerance) {
			if active == len(d.items) {
				return pass + 1, nil
			}
			active = len(d.items)
			high, low = math.Inf(1), math.Inf(-1)
			continue
		}
		high, low = math.Inf(1), math.Inf(-1)
		if highest > 0 {
			high = highest
		}
		if lowest < 0 {
			low = lowest
		}
	}
	return limit, ErrIterationLimit
}
