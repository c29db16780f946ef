package sides

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// A setting replaces the best one so far if its mean quality is higher by more than leastErrors standard errors of the
// difference and by more than leastGain of its size. Two errors lose 10 points where co-work, friends and advice of lawyers
// are kinds; without the gain, five points of made payments are lost to kinds that are left out for little. See
// bench/results/kinds.md.
const (
	leastErrors = 1
	leastGain   = 0.05
)

// IsBetter reports whether a setting with the quality q replaces one with the quality best, see [leastGain].
func (q Quality) IsBetter(best Quality) bool {
	n := float64(len(q))
	sum := 0.0
	squares := 0.0
	for i := range q {
		d := q[i] - best[i]
		sum += d
		squares += float64(d * d)
	}
	variance := squares - sum*sum/n
	return n > 1 && sum > leastErrors*math.Sqrt(max(0, variance)) && sum > leastGain*math.Abs(floats.Sum(best))
}

// Best returns the setting that the labels choose among count settings, from the simplest on, see [Quality.IsBetter].
func (c *Evidence) Best(count int,
	qualityOf func(setting int) (Quality, error)) (best int, err error) {
	var highest Quality
	for setting := range count {
		q, err := qualityOf(setting)
		if err != nil {
			return 0, err
		}
		if setting == 0 || q.IsBetter(highest) {
			best = setting
			highest = q
		}
	}
	return best, nil
}

const (
	// mostKinds is the number of kinds, the most frequent ones, whose weights are chosen. Others have the weight 1.
	mostKinds = 16
	factor    = 8
	// leastWeight is above 0 so that labels reach nodes whose edges are of one kind.
	leastWeight = 1. / 64
	mostWeight  = 64

	// halfLives is the number of half-lives of the grid: the range of times divided by powers of 2.
	halfLives = 8
)

// Choose chooses the factors that are open, of entries of the weight 1 if ones is set. The memory of its walks is at
// most a quarter of the given one if that is not 0. It chooses once for the same labels. The error is that of a sweep or of memory.
// Cost: steps sweeps over a block with a column for each class and fold, for some dozen vectors of weights.
func (e *Edges) Choose(ctx context.Context, l *Labels, ones bool, memory int64,
	workers int) (*Choice, error) {
	key := sha256.Sum256(fmt.Append(nil, *l, ones))
	if cached, isCached := e.choices.Load(key); isCached {
		return cached.(*Choice), nil
	}
	c := &chooser{Edges: e, Evidence: NewEvidence(l, e.entries(), memory, workers)}
	out := e.Given()
	c.fixed = *out.Book
	c.fixed.Ones = ones
	out.IsGiven = false
	if out.Kinds == nil && len(e.Store.Manifest.Kinds) > 1 {
		if err := c.chooseKinds(ctx, out); err != nil {
			return nil, err
		}
	}
	if e.Options.HalfLife == ChosenHalfLife {
		if err := c.chooseHalfLife(ctx, out); err != nil {
			return nil, err
		}
	}
	out.Book = c.book(out.Kinds, out.HalfLife)
	e.choices.Store(key, out)
	return out, nil
}

// chooser is a run of [Edges.Choose].
type chooser struct {
	*Edges
	*Evidence
	fixed shard.Codebook // of the options
}

// book returns the codebook of weights of kinds and a half-life, +Inf for the given one.
func (c *chooser) book(kinds []float64, halfLife float64) *shard.Codebook {
	b := c.fixed
	b.Kinds = kinds
	if !math.IsInf(halfLife, 1) {
		b.Times = c.Options.factors(c.Store.Manifest.Times, halfLife)
	}
	return &b
}

// chooseKinds chooses the weights of kinds by coordinate steps, the most frequent kind first.
func (c *chooser) chooseKinds(ctx context.Context, out *Choice) error {
	kinds := c.Store.Manifest.Kinds
	weights := make([]float64, len(kinds))
	order := make([]int, len(kinds))
	for k := range kinds {
		weights[k] = 1
		order[k] = k
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(kinds[b].Entries, kinds[a].Entries) })
	order = order[:min(len(order), mostKinds)]
	best, err := c.qualityOf(ctx, c.book(weights, math.Inf(1)))
	if err != nil {
		return err
	}
	try := func(k int, weight float64) (bool, error) {
		changed := slices.Clone(weights)
		changed[k] = weight
		q, err := c.qualityOf(ctx, c.book(changed, math.Inf(1)))
		if err != nil || !q.IsBetter(best) {
			return false, err
		}
		weights = changed
		best = q
		return true, nil
	}
	for _, k := range order {
		for _, step := range []float64{1. / factor, factor} {
			for w := step; leastWeight <= w && w <= mostWeight; w *= step {
				ok, err := try(k, w)
				if err != nil {
					return err
				}
				if !ok {
					break
				}
			}
			if weights[k] != 1 { // one that is better lower is not raised
				break
			}
		}
	}
	largest := slices.Max(weights)
	for k := range weights {
		weights[k] /= largest
	}
	out.Kinds = weights
	return nil
}

// chooseHalfLife chooses the half-life from a grid, from the longest on.
func (c *chooser) chooseHalfLife(ctx context.Context, out *Choice) error {
	grid := []float64{out.HalfLife} // no decay
	h := float64(c.Store.Manifest.Times.Last-c.Store.Manifest.Times.First) + 1
	for range halfLives {
		grid = append(grid, h)
		h /= 2
	}
	best, err := c.Best(len(grid),
		func(i int) (Quality, error) { return c.qualityOf(ctx, c.book(out.Kinds, grid[i])) })
	out.HalfLife = grid[best]
	return err
}

// qualityOf returns the quality of weights for the labels of the predicted folds.
func (c *chooser) qualityOf(ctx context.Context,
	book *shard.Codebook) (Quality, error) {
	a, back := shard.ApplyCodebook(c.Store, book)
	if c.Store.Manifest.Negative > 0 { // entries of a pair may cancel
		var err error
		if a, back, err = c.Matrices(ctx, book, c.workers); err != nil {
			return nil, err
		}
	}
	if !c.Store.Manifest.Directed {
		back = nil
	}
	return c.QualityOf(ctx, sparse.NormalizedAdjacency, a, back)
}
