package evaluate

import (
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/ranked"
	"github.com/heatwalk/heatwalk/method"
)

// probabilityBins is the number of bins of probabilities in [Predictions].
const probabilityBins = 10

// leastCertain is the number of nodes that [Predictions] lists.
const leastCertain = 20

// Predictions are statistics of the predicted classes of a graph, see [Summarize].
type Predictions struct {
	Classes     []string         `json:"classes"`
	Expected    float64          `json:"expected"` // mean probability of the predicted class, the accuracy that calibrated probabilities have
	ByClass     []ClassCounts    `json:"by_class"`
	Probability []ProbabilityBin `json:"by_probability"` // of nodes without a label, by the probability of their predicted class
	Least       []UncertainNode  `json:"least_certain"`  // nodes with the least probability of the predicted class, in increasing order

	// Of the nodes whose true class is known, and has a label, else of held-out labels; nil without either.
	ComparedWith string       `json:"compared_with,omitempty"`
	Confusion    confusion    `json:"confusion,omitempty"`
	Calibration  *calibration `json:"calibration,omitempty"`
}

// ClassCounts counts the labels of a class and the nodes without a label that have it as prediction.
type ClassCounts struct {
	Class           string  `json:"class"`
	Labels          int     `json:"labels"`
	LabelShare      float64 `json:"label_share"`
	Predictions     int     `json:"predictions"`
	PredictionShare float64 `json:"prediction_share"`
}

// ProbabilityBin counts nodes with a probability of at least From and less than 0.1 more.
type ProbabilityBin struct {
	From  float64 `json:"from"`
	Nodes int     `json:"nodes"`
}

// UncertainNode is a node with its two most likely classes.
type UncertainNode struct {
	row         int
	Node        string  `json:"node"`
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
	Second      string  `json:"second"`
	SecondShare float64 `json:"second_probability"`
}

// Summarize returns statistics of the predictions for nodes without a label: labels are their classes,
// or [Unlabelled], which does not count, and rows of scores sum to one. truth may be nil, then held-out labels take its place; id returns the name of a node. Cost: one pass over the scores.
func Summarize(prediction *method.Prediction, labels []int, seeds, truth *nodefile.Labels, id func(row int) string) *Predictions {
	classes, scores := len(seeds.Names), prediction.Scores
	s := &Predictions{Classes: seeds.Names, ByClass: make([]ClassCounts, classes), Probability: make([]ProbabilityBin, probabilityBins)}
	for i := range s.Probability {
		s.Probability[i].From = float64(i) / probabilityBins
	}
	for _, c := range seeds.Class {
		s.ByClass[c].Labels++
	}
	seedClass, count := classOfRow(seeds, len(labels)), 0
	trueClass := slices.Repeat([]int{Unlabelled}, len(labels))
	if truth != nil {
		var positions []int // of the names of true classes
		for _, name := range truth.Names {
			positions = append(positions, slices.Index(seeds.Names, name))
		}
		s.Confusion, s.Calibration, s.ComparedWith = newConfusion(classes), new(calibration), "true labels"
		for i, row := range truth.Row {
			trueClass[row] = positions[truth.Class[i]]
		}
	}
	if held := prediction.HeldOut; truth == nil && held != nil {
		s.Confusion, s.Calibration, s.ComparedWith = newConfusion(classes), new(calibration), "held-out labels"
		for _, h := range held {
			s.Confusion[h.Class][h.Predicted]++
			s.Calibration.add(h.Probability, h.Class == h.Predicted)
		}
	}
	for row, c := range labels {
		if seedClass[row] != Unlabelled || c == Unlabelled {
			continue
		}
		p := scores.Row(row)
		u := UncertainNode{row: row, Class: seeds.Names[c], Probability: float64(p[c])}
		for class, q := range p {
			if class != c && (u.Second == "" || float64(q) > u.SecondShare) {
				u.Second, u.SecondShare = seeds.Names[class], float64(q)
			}
		}
		count++
		s.ByClass[c].Predictions++
		s.Probability[min(max(0, int(u.Probability*probabilityBins)), probabilityBins-1)].Nodes++
		s.Expected += u.Probability
		s.Least = ranked.Insert(s.Least, u, leastCertain, func(a, b UncertainNode) int { return cmp.Compare(a.Probability, b.Probability) })
		if want := trueClass[row]; want != Unlabelled {
			s.Confusion[want][c]++
			s.Calibration.add(u.Probability, want == c)
		}
	}
	for i := range s.Least {
		s.Least[i].Node = id(s.Least[i].row)
	}
	for c := range s.ByClass {
		b := &s.ByClass[c]
		b.Class, b.LabelShare, b.PredictionShare = seeds.Names[c], float64(b.Labels)/float64(max(1, len(seeds.Row))), float64(b.Predictions)/float64(max(1, count))
	}
	slices.SortStableFunc(s.ByClass, func(a, b ClassCounts) int { return cmp.Compare(b.Labels, a.Labels) })
	s.Expected /= float64(max(1, count))
	return s
}
