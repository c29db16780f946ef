package method

import (
	"context"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/validate"
)

// Trials are outcomes of settings of a grid. Those of a choice may be found
// apart, by Try of an [Extension], and added up: a walk of one absorption knows nothing of the
// others.
type Trials struct {
	Grid   *Grid        `json:"grid"`   // features vary slowest, then alpha, steps and strength
	Tested int          `json:"tested"` // predictions behind the hits of each setting; 0: too few labels
	Hits   []int64      `json:"hits"`   // right predictions by fold and setting; 0 of one that was not tried
	Work   problem.Work `json:"work"`   // with one sweep for each absorption and step, however many threads made them

	// Weights are those of the right predictions at labels that others reach, as the
	// accuracy that is told counts them, by fold and setting too.
	Weights []float64 `json:"weights"`

	// Folds are what models of auto say, in place of hits; nil of a fold that was not tried.
	Folds []*problem.Fold `json:"folds,omitempty"`
}

func (automatic) try(ctx context.Context, p *Problem, s *Settings, lo, hi int) (*Trials, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	folds, work, err := auto.Try(ctx, p, autoSettings(set), lo, hi)
	return &Trials{Grid: set.Grid, Tested: len(p.Row), Work: work, Folds: folds}, err
}

func (m walkMethod) try(ctx context.Context, p *Problem, s *Settings, lo, hi int) (*Trials, error) {
	set, err := s.of(m.by, len(p.Names))
	if err != nil {
		return nil, err
	}
	c, err := newChooser(ctx, p, &set)
	if err != nil {
		return nil, err
	}
	if short := c.shortGrid(longWork); short != nil {
		c.set.Grid = short
	}
	hits := trial.NewHits(c.folds() * c.set.Grid.Size())
	t := &Trials{Grid: c.set.Grid, Tested: c.tested, Hits: hits.Right, Weights: hits.Weight, Work: c.work}
	if c.tested > 0 {
		err = c.run(ctx, lo, hi, hits)
		// Threads may each sweep for columns of their own, which outcomes do not tell.
		t.Work.Sweeps += (hi - lo) * c.set.Grid.last()
		t.Work.EntryColumns = c.work.EntryColumns
	}
	return t, err
}

func (m walkMethod) reckonTrials(a *account, lo, hi int) (err error) {
	if *a.set, err = a.set.of(m.by, len(a.P.Names)); err != nil {
		return err
	}
	if validate.TooFew(a.P.Class) {
		return nil
	}
	return a.choice(lo, hi)
}

// Add adds the outcomes of other settings of the same choice.
func (t *Trials) Add(o *Trials) error {
	if t.Grid == nil || o.Grid == nil {
		return fmt.Errorf("%w: trials without a grid", validate.ErrUsage)
	}
	folds := len(t.Hits) / max(1, t.Grid.Size())
	if !t.fit(o.Grid, o.Tested, folds) || !o.fit(t.Grid, t.Tested, folds) {
		return fmt.Errorf("%w: trials of other settings or labels", validate.ErrUsage)
	}
	if len(t.Folds) != len(o.Folds) {
		return fmt.Errorf("%w: trials of other labels", validate.ErrUsage)
	}
	for f, fold := range o.Folds {
		if fold != nil {
			t.Folds[f] = fold
		}
	}
	trial.Hits{Right: t.Hits, Weight: t.Weights}.Add(trial.Hits{Right: o.Hits, Weight: o.Weights})
	t.Work.Add(o.Work)
	return nil
}

// fit reports whether t are the outcomes of a grid, with so many predictions
// each in so many folds.
func (t *Trials) fit(g *Grid, tested, folds int) bool {
	wrong := func(hits int64) bool { return hits < 0 || hits > int64(tested) }
	return t.Tested == tested && t.Grid != nil && t.Grid.like(g) &&
		len(t.Hits) == folds*g.Size() && len(t.Weights) == len(t.Hits) && !slices.ContainsFunc(t.Hits, wrong)
}
