package sides

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// leastGain is the smallest relative gain of quality by which a setting replaces the best setting so far. The gain must also
// exceed one standard error, and the gain that the best of all trials is expected to have by luck. Two standard errors or no
// leastGain lose 5 to 10 points on some graphs, see bench/results/kinds.md.
const leastGain = 0.05

// IsBetter reports whether quality q is better than quality best, where q is one of as many settings as trials. The gain
// must be at least 5 %, and more than luck explains.
func (q Quality) IsBetter(best Quality, trials int) bool {
	n := float64(len(q))
	sum := 0.0
	squares := 0.0
	for i := range q {
		d := q[i] - best[i]
		sum += d
		squares += float64(d * d)
	}
	variance := squares - sum*sum/n
	count := float64(trials)
	luck := distuv.UnitNormal.Quantile((count - 0.375) / (count + 0.25)) // Blom 1958
	return n > 1 && sum > max(1, luck)*math.Sqrt(max(0, variance)) && sum > leastGain*math.Abs(floats.Sum(best))
}

// Best returns the best of the settings 0 … count−1, and its quality. A later setting wins only if [Quality.IsBetter], so
// that settings must be ordered from the simplest on.
func (c *Evidence) Best(count int,
	qualityOf func(setting int) (Quality, error)) (best int, highest Quality, err error) {
	for setting := range count {
		q, err := qualityOf(setting)
		if err != nil {
			return 0, nil, err
		}
		if setting == 0 || q.IsBetter(highest, count-1) {
			best = setting
			highest = q
		}
	}
	return best, highest, nil
}

const (
	// mostKinds is the largest number of kinds whose weights are chosen, the most frequent kinds. Less frequent kinds have the
	// weight 1.
	mostKinds = 16
	factor    = 8
	// leastWeight is above 0 so that labels reach nodes whose edges are of one kind.
	leastWeight = 1. / 64
	mostWeight  = 64

	// halfLives is the number of half-lives of the grid: the range of times divided by powers of 2.
	halfLives = 8
)

// Choose returns the function of entry weights, one of functions, that predicts l best together with the factors that suit
// the function best. It chooses the factors of kinds and times that the options leave open. Its walks take at most a quarter
// of memory; 0 means no limit. Cost: steps sweeps over a column for each class and fold, for some dozen vectors of weights
// and each function.
func (e *Edges) Choose(ctx context.Context, l *Labels, functions []shard.Values, memory int64,
	workers int) (*Choice, error) {
	key := sha256.Sum256(fmt.Append(nil, *l, functions))
	if cached, isCached := e.choices.Load(key); isCached {
		return cached.(*Choice), nil
	}
	c := &chooser{Edges: e, Evidence: NewEvidence(l, e.entries(), memory, workers), functions: len(functions)}
	var choices []*Choice
	best, _, err := c.Best(len(functions), func(i int) (q Quality, err error) {
		out := e.Given()
		out.IsGiven = false
		c.fixed = *out.Book
		c.fixed.Values = functions[i]
		if out.Kinds == nil && len(e.Store.Manifest.Kinds) > 1 {
			q, err = c.chooseKinds(ctx, out)
		}
		if err == nil && e.Options.HalfLife == ChosenHalfLife {
			q, err = c.chooseHalfLife(ctx, out)
		}
		out.Book = c.book(out.Kinds, out.HalfLife)
		choices = append(choices, out)
		return q, err
	})
	if err != nil {
		return nil, err
	}
	e.choices.Store(key, choices[best])
	return choices[best], nil
}

type chooser struct {
	*Edges
	*Evidence
	fixed     shard.Codebook // factors given by the options, and the function of entry weights
	functions int
}

// book returns the codebook with the given weights of kinds and half-life. If halfLife is +Inf, it keeps the factors of
// times of the options.
func (c *chooser) book(kinds []float64, halfLife float64) *shard.Codebook {
	b := c.fixed
	b.Kinds = kinds
	if !math.IsInf(halfLife, 1) {
		b.Times = c.Options.factors(c.Store.Manifest.Times, halfLife)
	}
	return &b
}

// chooseKinds stores the chosen weights of kinds in out and returns their quality. It starts from equal weights and changes
// one weight at a time, the largest gain first.
func (c *chooser) chooseKinds(ctx context.Context, out *Choice) (best Quality, err error) {
	kinds := c.Store.Manifest.Kinds
	weights := slices.Repeat([]float64{1}, len(kinds))
	order := sched.Order(len(kinds), func(a, b int) int { return cmp.Compare(kinds[b].Entries, kinds[a].Entries) })
	order = order[:min(len(order), mostKinds)]
	try := func(k int, weight float64) ([]float64, Quality, error) {
		changed := slices.Clone(weights)
		changed[k] = weight
		q, err := c.qualityOf(ctx, c.book(changed, math.Inf(1)))
		return changed, q, err
	}
	if _, best, err = try(0, 1); err != nil {
		return nil, err
	}
	type direction struct {
		kind       int
		step, gain float64
	}
	var directions []direction
	for _, k := range order {
		for _, step := range []float64{1. / factor, factor} {
			_, q, err := try(k, step)
			if err != nil {
				return nil, err
			}
			if gain := floats.Sum(q) - floats.Sum(best); gain > 0 {
				directions = append(directions, direction{k, step, gain})
			}
		}
	}
	slices.SortStableFunc(directions, func(a, b direction) int { return cmp.Compare(b.gain, a.gain) })
	for _, d := range directions {
		if weights[d.kind] != 1 { // not raised if lower is better
			continue
		}
		for w := d.step; leastWeight <= w && w <= mostWeight; w *= d.step {
			changed, q, err := try(d.kind, w)
			if err != nil {
				return nil, err
			}
			if !q.IsBetter(best, len(order)*c.functions) {
				break
			}
			weights = changed
			best = q
		}
	}
	floats.Scale(1/slices.Max(weights), weights)
	out.Kinds = weights
	return best, nil
}

// chooseHalfLife stores the chosen half-life in out and returns its quality. It tries a grid, from the longest half-life on.
func (c *chooser) chooseHalfLife(ctx context.Context, out *Choice) (Quality, error) {
	grid := []float64{out.HalfLife} // no decay
	h := float64(c.Store.Manifest.Times.Last-c.Store.Manifest.Times.First) + 1
	for range halfLives {
		grid = append(grid, h)
		h /= 2
	}
	best, q, err := c.Best(len(grid),
		func(i int) (Quality, error) { return c.qualityOf(ctx, c.book(out.Kinds, grid[i])) })
	out.HalfLife = grid[best]
	return q, err
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
