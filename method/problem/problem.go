package problem

import (
	"errors"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Problem is a graph with classes, or numbers, on some of its nodes.
type Problem struct {
	// Graph comes from [graph.New], or has A and Degrees alone. Walks follow the entries of a row. If items are not nodes,
	// Graph is nil, see [OfItems].
	*graph.Graph
	items int // number of items that are not nodes

	Directed bool      // A may be asymmetric
	Weighted bool      // A may have values other than 1
	Row      []int     // labelled nodes, each once
	Class    []int     // classes of Row, positions in Names; nil: there are numbers
	Value    []float64 // numbers of Row, up to ±1e100; nil: there are classes
	Names    []string

	// Group has a number for each label: labels with equal numbers are held out together, so that no label is predicted from
	// a label of its group. Nil: each node is a group.
	Group []int

	// Time has the time of each label, in any unit: held-out labels are newer than the labels that they are predicted from.
	// Nil: labels have no times.
	Time []float64

	// Shares are the known shares of the classes among all nodes. They must be positive with the sum 1; nil means the shares
	// of the labels.
	Shares []float64

	// Attributes has a row for each node, which may be missing; nil: no attributes.
	Attributes *sparse.Table

	// Edges are the edges of a store with kinds or times. Nil: there are none, or A already contains their factors. Factors
	// that labels are to choose are 1 in A.
	Edges *sides.Edges

	// Origin describes the graph, to compare a kept model with; nil: not known.
	Origin *sides.Origin

	// Key returns a number computed from the id of a row's node; nil: nodes have no ids. Samples of nodes are drawn in the
	// order of Key, and so do not depend on the order of rows.
	Key func(row int) uint64

	// Learned describes the edge weights that were chosen for a method and that A contains. Nil: A has the weights of the
	// graph, and a method may choose others.
	Learned *EdgeWeights
}

// EdgeWeights are the weights of edges that a method learns from.
type EdgeWeights struct {
	// Weights names a function of the weights; "": the graph has none.
	Weights string

	// Factors are the factors of kinds and times; nil: edges have none.
	Factors *sides.Choice
}

// OfItems returns a problem of items that are no nodes, such as records, or the graphs of a collection. Item row[i] has
// class[i].
func OfItems(items int, row, class []int, names []string) *Problem {
	return &Problem{Graph: new(graph.Graph), items: items, Row: row, Class: class, Names: names}
}

// Errors that the labels of a problem cause.
var (
	ErrNoLabels = errors.New("method: no labelled node")
	ErrOneClass = errors.New("method: all labelled nodes have the same class")
	ErrConstant = errors.New("method: all values are equal")
)

// largestValue keeps squares of values finite.
const largestValue = 1e100

// Validate returns [ErrNoLabels], [ErrOneClass] or [ErrConstant] if there is nothing to learn from. It panics if the fields
// do not fit each other.
func (p *Problem) Validate() error {
	n := p.Rows()
	if p.A != nil {
		n, _ = p.A.Dims()
	}
	if p.Rows() != n || len(p.Row) != len(p.Class)+len(p.Value) ||
		p.Group != nil && len(p.Group) != len(p.Row) || p.Time != nil && len(p.Time) != len(p.Row) {
		panic(badProblem)
	}
	if p.Attributes != nil {
		if rows := p.Attributes.Rows; rows != n {
			panic(badProblem)
		}
	}
	several := false
	for _, row := range p.Row {
		if uint(row) >= uint(n) {
			panic(badProblem)
		}
	}
	for _, c := range p.Class {
		if uint(c) >= uint(len(p.Names)) {
			panic(badProblem)
		}
		several = several || c != p.Class[0]
	}
	for _, v := range p.Value {
		if !(math.Abs(v) <= largestValue) {
			panic(badProblem)
		}
		several = several || v != p.Value[0]
	}
	switch {
	case len(p.Row) == 0:
		return ErrNoLabels
	case several:
		return nil
	case p.Value != nil:
		return fmt.Errorf("%w: %v", ErrConstant, p.Value[0])
	}
	return fmt.Errorf("%w, %q", ErrOneClass, p.Names[p.Class[0]])
}

// ValidateFor validates p as [Problem.Validate] does. If the declared method, kernel or walk refuses negative weights and p
// has some, it returns an error.
func ValidateFor(p *Problem, declared *param.Spec) error {
	if err := param.CheckSigned(declared, p.Signed); err != nil {
		return err
	}
	return p.Validate()
}

// Nodes returns the number of nodes of the whole graph, even if this process has a part of them, see
// [sparse.Team].
func (p *Problem) Nodes() int {
	return p.Team().TotalOf(p.Rows())
}

// Rows returns the number of nodes of this process, or of items without a graph.
func (p *Problem) Rows() int { return len(p.Degrees) + p.items }

// CountOf returns the number of nodes of the whole graph in a set. set has the part of this process.
func (p *Problem) CountOf(set *roaring.Bitmap) int {
	team := p.Team()
	count := []float64{0}
	for lo, hi := range team.CountingRows(0, p.Rows()) {
		count[0] += float64(set.CardinalityInRange(uint64(lo), uint64(hi)))
	}
	team.Sum(count)
	return int(count[0])
}

// Seeds returns the labels of p for walks, which end at them.
func (p *Problem) Seeds() cwk.Seeds {
	return cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)}
}

// MarkLabels reports whether each node has a label.
func MarkLabels(p *Problem) []bool {
	isLabelled := make([]bool, p.Rows())
	for _, row := range p.Row {
		isLabelled[row] = true
	}
	return isLabelled
}

// ListUnlabelled returns the nodes without a label in increasing order. If targets is not nil, it returns only nodes in
// targets.
func ListUnlabelled(p *Problem, targets []int) (rows []int) {
	isLeftOut := MarkLabels(p)
	if targets != nil {
		isTarget := make([]bool, len(isLeftOut))
		for _, row := range targets {
			isTarget[row] = true
		}
		for row := range isLeftOut {
			isLeftOut[row] = isLeftOut[row] || !isTarget[row]
		}
	}
	for row, isLeft := range isLeftOut {
		if !isLeft {
			rows = append(rows, row)
		}
	}
	return rows
}

// At returns the problem on the same graph with only the labels at the given positions.
func (p *Problem) At(positions []int) *Problem {
	sub := *p
	sub.Row = Pick(p.Row, positions)
	sub.Class = Pick(p.Class, positions)
	sub.Value = Pick(p.Value, positions)
	sub.Group = Pick(p.Group, positions)
	sub.Time = Pick(p.Time, positions)
	return &sub
}

// Pick returns the elements of list at positions; nil for a nil list.
func Pick[T any](list []T, positions []int) []T {
	if list == nil {
		return nil
	}
	elements := make([]T, len(positions))
	for i, position := range positions {
		elements[i] = list[position]
	}
	return elements
}

const badProblem = "method: fields of a problem do not fit each other"

// MixedModel describes a model in a mixture.
type MixedModel struct {
	Name       string  `json:"name"`
	Parameters string  `json:"parameters,omitempty"`
	Weight     float64 `json:"weight"`
	IsFactor   bool    `json:"is_factor,omitempty"` // the probabilities of the model multiply the mixture, to the power of Weight
}
