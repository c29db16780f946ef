package evaluate

import (
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/ranked"
	"github.com/heatwalk/heatwalk/sparse"
)

// confidenceBins is the number of bins of probabilities in [Predictions].
const confidenceBins = 10

// leastCertain is the number of nodes that [Predictions] lists.
const leastCertain = 20

// Predictions are statistics of the predicted classes of a graph, see [Summarize].
type Predictions struct {
	Classes    []string
	Labelled   []int // labels of each class
	Predicted  []int // nodes without a label that have the class as prediction
	Confidence [confidenceBins]int
	Expected   float64     // mean probability of the predicted class, the accuracy that calibrated probabilities have
	Least      []uncertain // nodes with the least probability of the predicted class, in increasing order

	// Of the nodes whose true class is known, and has a label; nil without such classes.
	confusion   confusion
	calibration *calibration
}

// uncertain is a node with its two most likely classes.
type uncertain struct {
	row           int
	class, second int
	p, q          float64 // their probabilities
}

// Summarize returns statistics of the predictions for nodes without a label: labels are their classes,
// or [Unlabelled], which does not count, and rows of scores sum to one. truth may be nil. Cost: one pass over the scores.
func Summarize(scores *sparse.Block[float32], labels []int, seeds, truth *nodefile.Labels) *Predictions {
	classes := len(seeds.Names)
	s := &Predictions{Classes: seeds.Names, Labelled: make([]int, classes), Predicted: make([]int, classes)}
	for _, c := range seeds.Class {
		s.Labelled[c]++
	}
	seedClass, count := classOfRow(seeds, len(labels)), 0
	trueClass := slices.Repeat([]int{Unlabelled}, len(labels))
	if truth != nil {
		var positions []int // of the names of true classes
		for _, name := range truth.Names {
			positions = append(positions, slices.Index(seeds.Names, name))
		}
		s.confusion, s.calibration = newConfusion(classes), new(calibration)
		for i, row := range truth.Row {
			trueClass[row] = positions[truth.Class[i]]
		}
	}
	for row, c := range labels {
		if seedClass[row] != Unlabelled || c == Unlabelled {
			continue
		}
		p := scores.Row(row)
		u := uncertain{row: row, class: c, second: Unlabelled, p: float64(p[c])}
		for class, q := range p {
			if class != c && (u.second == Unlabelled || float64(q) > u.q) {
				u.second, u.q = class, float64(q)
			}
		}
		count++
		s.Predicted[c]++
		s.Confidence[min(max(0, int(u.p*confidenceBins)), confidenceBins-1)]++
		s.Expected += u.p
		s.Least = ranked.Insert(s.Least, u, leastCertain, func(a, b uncertain) int { return cmp.Compare(a.p, b.p) })
		if want := trueClass[row]; want != Unlabelled {
			s.confusion[want][c]++
			s.calibration.add(u.p, want == c)
		}
	}
	s.Expected /= float64(max(1, count))
	return s
}
