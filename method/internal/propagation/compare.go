package propagation

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Comparison is the accuracy of label propagation.
type Comparison struct {
	Propagation problem.Estimate // accuracy, with centred scores if they are better

	HeldOut *HeldOut     // scores of held-out labels; nil: there is no solution
	Rows    *choose.Held // the same as predictions, not adapted to known shares of classes
}

// NewBaseline returns the label propagation to compare other methods with.
func NewBaseline(p *problem.Problem, prior cwk.Prior, memory int64, workers int) *Propagation {
	return &Propagation{P: p, Prior: prior, Alpha: 1, Memory: budget.Subtract(memory, HeldOutBytes(p)), Workers: workers, Rough: true}
}

// centerErrors is the number of standard errors by which centred scores must be better, so that near ties keep the plain
// scores of the literature.
const centerErrors = 3

// CompareCenter ends after fewestFolds folds if centred scores are not better.
const fewestFolds = 2

// compareCentered counts a held-out label of a class in l.better if only centred scores predict the class, and in l.worse if
// only plain scores do. row has the plain scores; centred scores subtract means.
func compareCentered(l *Propagation, row []float32, means []float64,
	class int) {
	best := 0
	highest := math.Inf(-1)
	for c, v := range row {
		if z := float64(v) - means[c]; z > highest {
			best = c
			highest = z
		}
	}
	switch plain := classify.ArgMax(row); {
	case best == class && plain != class:
		l.better++
	case best != class && plain == class:
		l.worse++
	}
}

func centerIsBetter(l *Propagation) bool {
	return l.better-l.worse > centerErrors*math.Sqrt(l.better+l.worse)
}

// CompareCenter returns the held-out scores of as many folds as show whether centred or plain scores are better on an
// undirected graph. It ends when centred scores are significantly better, or when they are not better after two folds. If
// there is no solution, it returns nil. Cost: a prediction for each fold.
func (l *Propagation) CompareCenter(ctx context.Context, t *choose.Task) (*HeldOut, error) {
	held, err := outOfFold(ctx, l, t, func(f int) bool {
		return centerIsBetter(l) || f+1 >= fewestFolds && l.better <= l.worse
	})
	if errors.As(err, new(*problem.Error)) {
		return nil, nil
	}
	return held, err
}

// Compare estimates the accuracy of label propagation by predicting each fold of labels from the other folds. If there is no
// solution, the result is empty. Cost: as [Propagation.OutOfFold].
func (l *Propagation) Compare(ctx context.Context, t *choose.Task) (*Comparison, error) {
	p := l.P
	var work graph.Work
	reached, err := p.Reachable(ctx, p.Row, l.Workers, &work)
	if err != nil {
		return nil, err
	}
	if err := t.FindIsolated(ctx, l.Workers, &work); err != nil {
		return nil, err
	}
	held, err := l.OutOfFold(ctx, t)
	if errors.As(err, new(*problem.Error)) {
		return &Comparison{}, nil
	}
	if err != nil {
		return nil, err
	}
	rows := new(choose.Held)
	scores := make([]float64, len(p.Names))
	for f := range t.Folds() {
		largest := t.Largest(f)
		for _, i := range t.Split(f).Test {
			if held.Scores[i] == nil {
				continue
			}
			simd.ConvertTo(scores, held.Scores[i])
			class := classify.ArgMax(held.Scores[i])
			if t.Isolated[i] {
				class = l.Prior.Likeliest(p.Row[i], largest)
			}
			rows.Add(i, class, !t.Isolated[i], scores)
		}
	}
	return &Comparison{Propagation: rows.Reweigh(p).Estimate(p, reached), HeldOut: held, Rows: rows}, nil
}
