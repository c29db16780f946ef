package trial

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
)

// Fit returns the model of a setting of a learner on the kernel values of the items with
// y ≥ 0.
type Fit func(ctx context.Context, k classify.Gram, y []int, classes, setting int) (*classify.Model, error)

// learner tries a declared learner, each setting of which is a fit of its own.
type learner struct {
	fit   Fit
	whole bool // it needs the values between all items, of which test rows then are some
}

// withTests returns the trial with its test rows among the items, without a class.
func (t *Trial) withTests() *Trial {
	all := *t
	all.Train = append(append([]int(nil), t.Train...), t.Test...)
	all.TrainClass = append([]int(nil), t.TrainClass...)
	for range t.Test {
		all.TrainClass = append(all.TrainClass, -1)
	}
	return &all
}

// fitAll returns a model of each setting on the kernel of so many terms, nil where the
// training rows have one class. Others than machines are not free of the kernel's scale,
// which is that of the mean over steps.
func (w *Tester) fitAll(ctx context.Context, t *Trial, terms int) ([]*classify.Model, error) {
	m := len(t.Train)
	w.mean = zeros(w.mean, m*m)
	for i, v := range w.gram[:m*m] {
		w.mean[i] = v / float64(terms)
	}
	gram := classify.DenseGram(&sparse.Block[float64]{Rows: m, Cols: m, Stride: m, Data: w.mean})
	list := make([]*classify.Model, len(w.strength))
	for s := range list {
		model, err := w.learner.fit(ctx, gram, t.TrainClass, w.classes, s)
		switch {
		case model != nil && (err == nil || errors.Is(err, classify.ErrIterationLimit)):
			list[s] = model // the best so far
		case err != nil && !errors.Is(err, classify.ErrOneClass):
			return nil, err
		}
	}
	return list, nil
}

// asked calls visit with the mean over so many steps of the kernel between each test row
// and the items, and itself.
func (w *Tester) asked(t *Trial, terms int, visit func(j int, row []float64, own float64)) {
	m, n := len(t.Train), span(len(t.Test))
	row := make([]float64, m)
	for j := range t.Test {
		for i := range row {
			row[i] = w.cross[i*n+j] / float64(terms)
		}
		own := 0.0
		if w.learner.whole {
			own = row[m-len(t.Test)+j]
		}
		visit(j, row, own)
	}
}

// scoreModels counts the right answers of the learner's settings.
func (w *Tester) scoreModels(ctx context.Context, t *Trial, terms int, hits Hits) error {
	models, err := w.fitAll(ctx, t, terms)
	if err != nil {
		return err
	}
	var scores []float64
	w.asked(t, terms, func(j int, row []float64, own float64) {
		for s, model := range models {
			answer := t.Largest
			if model != nil {
				scores = zeros(scores, len(model.Pairs))
				answer = model.Pairs.Predict(model.ScoresTo(scores, row, own))
			}
			if answer == t.TestClass[j] {
				hits.Right[s]++
				hits.Weight[s] += t.Weight[t.TestClass[j]]
			}
		}
	})
	return nil
}

// modelOutcomes returns what the model of the only setting says of each test row.
func (w *Tester) modelOutcomes(ctx context.Context, t *Trial, terms int) (list []Outcome, err error) {
	models, err := w.fitAll(ctx, t, terms)
	if err != nil {
		return nil, err
	}
	w.asked(t, terms, func(j int, row []float64, own float64) {
		o := Outcome{Class: t.TestClass[j], Largest: t.Largest}
		if model := models[0]; model != nil {
			o.Pairs, o.Decisions = model.Pairs, model.ScoresTo(nil, row, own)
		}
		list = append(list, o)
	})
	return list, nil
}
