package problem

import (
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/sparse"
)

// Problem is a graph with classes on some of its nodes.
type Problem struct {
	A        sparse.Matrix // n×n, weights ≥ 0; walks follow the entries of a row
	Directed bool          // A need not be symmetric
	Weighted bool          // of a directed graph: A may have values other than 1, which take memory
	Degrees  []float64     // the row sums of A, see [sparse.Degrees]
	Row      []int         // the labelled nodes, each once
	Class    []int         // their classes, positions in Names
	Names    []string      // the classes

	// Attributes has a row for each node, which may be missing; nil: there are none.
	Attributes *sparse.Table

	Parts *sparse.Components // the components; nil until they are looked for
}

// Errors that the labels of a problem cause.
var (
	ErrNoLabels = errors.New("method: no labelled node")
	ErrOneClass = errors.New("method: all labelled nodes have the same class")
)

// Validate returns [ErrNoLabels] or [ErrOneClass] if there is nothing to learn
// from, and panics if the fields do not fit each other.
func (p *Problem) Validate() error {
	n, _ := p.A.Dims()
	if len(p.Degrees) != n || len(p.Row) != len(p.Class) {
		panic(badProblem)
	}
	if p.Attributes != nil {
		if rows := p.Attributes.Rows; rows != n {
			panic(badProblem)
		}
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

// At returns the problem with the labels at the given positions alone. It has
// the components of p if these were found.
func (p *Problem) At(positions []int) *Problem {
	part := *p
	part.Row, part.Class = make([]int, len(positions)), make([]int, len(positions))
	for i, at := range positions {
		part.Row[i], part.Class[i] = p.Row[at], p.Class[at]
	}
	return &part
}

const badProblem = "method: fields of a problem do not fit each other"
