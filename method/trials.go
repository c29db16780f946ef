package method

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/validate"
)

// Trials are outcomes of settings of a grid. Those of a choice may be found
// apart, by [Try], and added up: a walk of one absorption knows nothing of the
// others.
type Trials struct {
	Grid   *Grid        `json:"grid"`   // features vary slowest, then alpha, steps and strength
	Tested int          `json:"tested"` // predictions behind the hits of each setting; 0: too few labels
	Hits   []int64      `json:"hits"`   // right predictions by fold and setting; 0 of one that was not tried
	Work   problem.Work `json:"work"`   // with one sweep for each absorption and step, however many threads made them

	// Weights are those of the right predictions at labels that others reach, as the
	// accuracy that is told counts them, by fold and setting too.
	Weights []float64 `json:"weights"`
}

// Try tries the settings that [CrossValidate] would try first whose α is one of
// lo ≤ a < hi of the grid, with the learner of m. To find the outcomes of all,
// add those of ranges that cover the grid; as Settings.Trials they take the
// place of the trials of a choice.
//
// A choice that then turns to long walks, see [CrossValidate], makes these
// trials itself.
func Try(ctx context.Context, m Method, p *Problem, s *Settings, lo, hi int) (*Trials, error) {
	if !Divided(m) {
		return nil, fmt.Errorf("%w: %s does not choose from walks", validate.ErrUsage, m.Name())
	}
	set := s.WithDefaults()
	set.learner = m.(walkMethod).learner
	c, err := newChooser(ctx, p, &set)
	if err != nil {
		return nil, err
	}
	if short := c.shortGrid(set.folds(len(p.Row)), longWork); short != nil {
		set.Grid = short
	}
	hits := trial.NewHits(c.folds() * set.Grid.Size())
	t := &Trials{Grid: set.Grid, Tested: c.tested, Hits: hits.Right, Weights: hits.Weight}
	t.Work = c.work
	if c.tested > 0 {
		err = c.run(ctx, lo, hi, hits)
		// Threads may each sweep for columns of their own, which outcomes do not tell.
		t.Work.Sweeps += (hi - lo) * set.Grid.last()
		t.Work.EntryColumns = c.work.EntryColumns
	}
	return t, err
}

// Divided reports whether a method chooses in one go from settings of walks, which [Try]
// tries apart.
func Divided(m Method) bool {
	walks, ok := m.(walkMethod)
	return ok && walks.learner.declared() == nil
}

// Add adds the outcomes of other settings of the same choice.
func (t *Trials) Add(o *Trials) error {
	folds := len(t.Hits) / max(1, t.Grid.Size())
	if !t.fit(o.Grid, o.Tested, folds) || !o.fit(t.Grid, t.Tested, folds) {
		return fmt.Errorf("%w: trials of other settings or labels", validate.ErrUsage)
	}
	trial.Hits{Right: t.Hits, Weight: t.Weights}.Add(trial.Hits{Right: o.Hits, Weight: o.Weights})
	t.Work.Add(o.Work)
	return nil
}

// fit reports whether t are the outcomes of a grid, with so many predictions
// each in so many folds.
func (t *Trials) fit(g *Grid, tested, folds int) bool {
	wrong := func(hits int64) bool { return hits < 0 || hits > int64(tested) }
	return t.Tested == tested && t.Grid != nil && reflect.DeepEqual(t.Grid, g) &&
		len(t.Hits) == folds*g.Size() && len(t.Weights) == len(t.Hits) && !slices.ContainsFunc(t.Hits, wrong)
}
