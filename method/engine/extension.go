package engine

import (
	"errors"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Extension predicts a node that comes after a run from columns of its neighbours, as if walks could leave the new node and
// not return to it. docs/new.md has the formula of each method.
type Extension struct {
	// Count returns the largest number of columns of a prediction, for the plan of the memory.
	Count func(p *Problem, s *Settings) int

	// Restore returns a function that returns steps, from the JSON of [Columns].Kept. The error wraps [ErrChanged] if the JSON does not
	// fit the numbers of classes and of columns.
	Restore func(kept []byte, classes, columns int) (func() Step, error)
}

// Step computes the columns and the scores of a new node. It has a workspace of its own, so that it must not be called
// concurrently.
type Step func(x *NewNode)

// NewNode is the input and the result of a [Step].
type NewNode struct {
	Mean       []float64 // Σ w·c/Σ|w| over the columns c of neighbours; zeros without neighbours
	Degree     float64   // Σ|w|
	Attributes []float32 // a value for each column of attributes; nil: the node has none

	// Reached states that a label reaches a neighbour. A step sets it if attributes suffice.
	Reached bool

	Columns []float64 // columns of the new node, for its own new neighbours
	Scores  []float64 // probabilities of the classes
}

// Columns has what an [Extension] needs of a prediction.
type Columns struct {
	Kept    any
	Values  *sparse.Block[float32] // a row for each node
	Omitted []problem.MixedModel   // models of auto that do not predict new nodes
}

// ErrNoColumns is returned for a prediction whose method cannot predict new nodes.
var ErrNoColumns = errors.New("method: new nodes need a prediction of the whole graph")
