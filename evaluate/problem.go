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

// reached tells for every node whether a label at one of the given positions
// can be reached from it.
func (p *Problem) reached(ctx context.Context, positions []int, workers int) ([]bool, error) {
	return cwk.Reached(ctx, p.A, p.at(positions).Row, p.Directed, workers)
}

// alone tells for every labelled node whether no label outside its own fold
// can be reached from it. Its walk among hidden labels says nothing, whatever
// its class.
func (p *Problem) alone(ctx context.Context, fold []int, workers int) ([]bool, error) {
	alone := make([]bool, len(p.Row))
	for f := range slices.Max(fold) + 1 {
		var visible, hidden []int
		for i := range fold {
			if fold[i] == f {
				hidden = append(hidden, i)
			} else {
				visible = append(visible, i)
			}
		}
		reached, err := p.reached(ctx, visible, workers)
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
