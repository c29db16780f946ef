package evaluate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
)

// Problem is a graph with classes on some of its nodes.
type Problem struct {
	A        sparse.Matrix // n×n, weights ≥ 0; walks follow the entries of a row
	Directed bool          // A need not be symmetric
	Degrees  []float64     // the row sums of A, see [sparse.Degrees]
	Row      []int         // the labelled nodes, each once
	Class    []int         // their classes, positions in Names
	Names    []string      // the classes
}

// Errors that the labels of a problem cause.
var (
	ErrNoLabels = errors.New("evaluate: no labelled node")
	ErrOneClass = errors.New("evaluate: all labelled nodes have the same class")
)

// Validate returns [ErrNoLabels] or [ErrOneClass] if there is nothing to learn
// from, and panics if the fields do not fit each other.
func (p *Problem) Validate() error {
	n, _ := p.A.Dims()
	if len(p.Degrees) != n || len(p.Row) != len(p.Class) {
		panic(badProblem)
	}
	several := false
	for i, c := range p.Class {
		if uint(c) >= uint(len(p.Names)) || uint(p.Row[i]) >= uint(n) {
			panic(badProblem)
		}
		several = several || c != p.Class[0]
	}
	switch {
	case len(p.Class) == 0:
		return ErrNoLabels
	case !several:
		return fmt.Errorf("%w, %q", ErrOneClass, p.Names[p.Class[0]])
	}
	return nil
}

// at returns the problem with the labels at the given positions alone.
func (p *Problem) at(positions []int) *Problem {
	part := *p
	part.Row, part.Class = make([]int, len(positions)), make([]int, len(positions))
	for i, at := range positions {
		part.Row[i], part.Class[i] = p.Row[at], p.Class[at]
	}
	return &part
}

// alone tells for every labelled node whether no label outside its own fold
// can be reached from it. Its walk among hidden labels says nothing, whatever
// its class. Cost: one sweep; of a directed graph those of [cwk.Reached] for
// each fold.
func (p *Problem) alone(ctx context.Context, fold []int, workers int) ([]bool, error) {
	if p.Directed {
		return p.aloneAlong(ctx, fold, workers)
	}
	parts, err := sparse.FindComponents(ctx, p.A, workers)
	if err != nil {
		return nil, err
	}
	const several = -1
	sole := make(map[uint32]int) // the fold of all labels in a component
	for i, row := range p.Row {
		part := parts.Of[row]
		if f, ok := sole[part]; ok && f != fold[i] {
			sole[part] = several
		} else {
			sole[part] = fold[i]
		}
	}
	alone := make([]bool, len(p.Row))
	for i, row := range p.Row {
		alone[i] = sole[parts.Of[row]] != several
	}
	return alone, nil
}

// aloneAlong is alone for a directed graph.
func (p *Problem) aloneAlong(ctx context.Context, fold []int, workers int) ([]bool, error) {
	alone := make([]bool, len(p.Row))
	for f := range slices.Max(fold) + 1 {
		var visible, hidden []int
		for i, row := range p.Row {
			if fold[i] == f {
				hidden = append(hidden, i)
			} else {
				visible = append(visible, row)
			}
		}
		reached, err := cwk.Reached(ctx, p.A, visible, true, workers)
		if err != nil {
			return nil, err
		}
		for _, i := range hidden {
			alone[i] = !reached[p.Row[i]]
		}
	}
	return alone, nil
}

const badProblem = "evaluate: fields of a problem do not fit each other"
