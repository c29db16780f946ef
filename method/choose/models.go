package choose

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
)

// withTests returns the trial with its test rows among the items, without a class.
func (t *Trial) withTests() *Trial {
	extended := *t
	extended.Train = slices.Concat(t.Train, t.Test)
	extended.TrainClass = slices.Concat(t.TrainClass, slices.Repeat([]int{-1}, len(t.Test)))
	return &extended
}

// asked calls visit with the kernel between each test row and the items, and itself: the sum
// over the steps on a path, the mean otherwise.
func (w *Tester) asked(t *Trial, terms int, visit func(j int, row []float64, selfValue float64)) {
	if w.Path != nil {
		terms = 1
	}
	m, n := len(t.Train), span(len(t.Test))
	row := make([]float64, m)
	for j := range t.Test {
		for i := range row {
			row[i] = w.cross[i*n+j] / float64(terms)
		}
		selfValue := 0.0
		if w.Learner.Whole {
			selfValue = row[m-len(t.Test)+j]
		}
		visit(j, row, selfValue)
	}
}

// scoreModels counts the right answers of the learner's settings.
func (w *Tester) scoreModels(models []*classify.Model, t *Trial, terms int, hits Hits) {
	var scores []float64
	w.asked(t, terms, func(j int, row []float64, selfValue float64) {
		for s, model := range models {
			answer := t.Largest
			if model != nil {
				scores = zeros(scores, len(model.Pairs))
				answer = model.Pairs.Predict(model.ScoresTo(scores, row, selfValue))
			}
			if answer == t.TestClass[j] {
				hits.Right[s]++
				hits.Weight[s] += t.Weight[t.TestClass[j]]
			}
		}
	})
}
