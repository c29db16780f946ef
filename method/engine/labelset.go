package engine

import (
	"math"

	"github.com/heatwalk/heatwalk/method/choose"
)

// LabelSetModel predicts a probability of each label of a node; a node may have several labels. For each label it has a
// least squares classifier against the rest, and a sigmoid of its scores. All classifiers have the same columns and λ. A
// kept [Model] stores columns, λ, the threshold and the sigmoids, but no weights of classifiers.
type LabelSetModel struct {
	Columns int     `json:"columns"` // number of eigenvectors that are features
	Lambda  float64 `json:"lambda"`  // λ of [classify.RidgePath]

	// MicroF1 is the micro-F1 at labelled nodes, each left out and predicted with the columns, λ and threshold that other
	// folds choose. Stderr is its standard error. Both are 0 for a kept model.
	MicroF1 float64 `json:"micro_f1,omitempty"`
	Stderr  float64 `json:"micro_f1_stderr,omitempty"`

	// Labels with a probability of at least Threshold are predicted. If a node has no such label, its likeliest label is
	// predicted.
	Threshold float64 `json:"threshold"`

	Slopes []float64 `json:"slopes"` // a of the sigmoid 1/(1 + exp(a·f + b)) of each label
	Shifts []float64 `json:"shifts"` // b of the sigmoid of each label

	Labelled int `json:"-"`

	// HeldOut are the scores of left-out labelled nodes in increasing order: 1 less the smallest probability of a label of
	// the node, see [choose.Scores].
	HeldOut []float64 `json:"-"`

	Scores func(node int) []float64 `json:"-"` // scores f of a node
	Labels map[int][]int            `json:"-"`
}

// Valid reports whether the model is consistent and has the given number of labels.
func (m *LabelSetModel) Valid(labels int) bool {
	return m.Columns > 0 && m.Lambda > 0 && len(m.Slopes) == labels && len(m.Shifts) == labels
}

// Probabilities returns the probability of each label of a node.
func (m *LabelSetModel) Probabilities(node int) []float64 {
	return m.Probable(m.Scores(node))
}

// Probable replaces the scores of labels by their probabilities, and returns them.
func (m *LabelSetModel) Probable(scores []float64) []float64 {
	for c, f := range scores {
		scores[c] = 1 / (1 + math.Exp(m.Slopes[c]*f+m.Shifts[c]))
	}
	return scores
}

// LabelsOf returns the labels of a labelled node. For other nodes it returns the labels that prediction p gives at least
// the probability m.Threshold, or the likeliest label.
func (m *LabelSetModel) LabelsOf(p *Prediction, node int) []int {
	if labels, labelled := m.Labels[node]; labelled {
		return labels
	}
	return choose.LabelsAbove(p.Scores.Row(node), float32(m.Threshold))
}
