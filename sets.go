package heatwalk

import (
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/conformal"
	"github.com/heatwalk/heatwalk/method/problem"
)

// ErrNoScores is returned by [Prediction.Sets] for predictions without held-out probabilities, or without the scores of all
// classes.
var ErrNoScores = errors.New("there are no probabilities for held-out labels: labels are too few, the shares of their classes are given, or the method has none")

// Sets has a set of classes for each node that a label reaches, which holds the class of the node with the probability
// Coverage if labels are a random sample of the nodes. See package conformal.
type Sets struct {
	Coverage   float64 `json:"coverage"`
	IsPromised bool    `json:"is_promised"` // the labels may be a random sample of the nodes
	Tested     int     `json:"tested"`      // held-out labels

	// Of the nodes without a label that a label reaches: the mean number of classes, and the shares of sets with one class,
	// with all classes, and with Marker.
	MeanSize float64 `json:"mean_size"`
	Single   float64 `json:"single_share"`
	All      float64 `json:"all_share"`
	Other    float64 `json:"other_share"`

	Marker string `json:"other"` // of all classes without a label

	p         *Prediction
	threshold float64
}

// Sets returns sets of classes with the given coverage. The error wraps [ErrNoScores], [conformal.ErrFew] or
// [conformal.ErrRange]. Cost: k·log k for each node with k classes.
func (p *Prediction) Sets(coverage float64) (*Sets, error) {
	if p.HeldOutScores == nil || p.Prediction.Scores == nil {
		return nil, ErrNoScores
	}
	threshold, err := conformal.Threshold(p.HeldOutScores.Sorted, coverage)
	if err != nil {
		return nil, err
	}
	s := &Sets{Coverage: coverage, IsPromised: !p.HeldOutScores.IsShifted, Tested: len(p.HeldOutScores.Sorted),
		Marker: "other", p: p, threshold: threshold}
	for slices.Contains(p.Classes, s.Marker) {
		s.Marker += "*"
	}
	nodes := 0.0
	var list []int
	for _, row := range problem.ListUnlabelled(p.problem, nil) {
		if list = s.appendRow(list[:0], row); len(list) == 0 {
			continue
		}
		nodes++
		s.MeanSize += float64(len(list))
		if len(list) == 1 {
			s.Single++
		}
		if len(list) >= len(p.Classes) {
			s.All++
		}
		if slices.Contains(list, conformal.Other) {
			s.Other++
		}
	}
	for _, sum := range []*float64{&s.MeanSize, &s.Single, &s.All, &s.Other} {
		*sum /= max(1, nodes)
	}
	return s, nil
}

// appendRow appends the set of a row to dst; nothing for a row that no label reaches.
func (s *Sets) appendRow(dst []int, row int) []int {
	if !s.p.Reached.Contains(uint32(row)) {
		return dst
	}
	probabilities := make([]float64, len(s.p.Classes))
	simd.ConvertTo(probabilities, s.p.Prediction.Scores.Row(row))
	u := conformal.Uniform(s.p.g.Nodes.ID(row), s.p.HeldOutScores.Seed)
	return s.p.HeldOutScores.AppendSet(dst, probabilities, u, s.threshold)
}

// Row returns the set of a row without a label by falling probability; nil if no label reaches it.
func (s *Sets) Row(row int) (names []string) {
	for _, class := range s.appendRow(nil, row) {
		name := s.Marker
		if class != conformal.Other {
			name = s.p.Classes[class]
		}
		names = append(names, name)
	}
	return names
}

// Classes returns the set of a node without a label, see [Sets.Row]; nil if the graph has no such node.
func (s *Sets) Classes(id string) []string {
	row, ok := s.p.g.Nodes.Lookup(id)
	if !ok {
		return nil
	}
	return s.Row(row)
}

// holdOut keeps the scores of the held-out labels of a problem for sets.
func (p *Prediction) holdOut(q *method.Problem, seed uint64) {
	if p.Comparison == nil {
		return
	}
	p.HeldOutScores = &conformal.Scores{Seed: seed, Other: p.Comparison.Unseen, IsShifted: p.Shift != nil && p.Shift.Sounds()}
	for _, place := range p.Comparison.Places {
		u := conformal.Uniform(p.g.Nodes.ID(q.Row[place.Label]), seed)
		p.HeldOutScores.Sorted = append(p.HeldOutScores.Sorted, place.Score(u))
	}
	slices.Sort(p.HeldOutScores.Sorted)
}
