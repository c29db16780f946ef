package regress

import (
	"errors"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse"
)

// Problem is a graph with numbers on some of its nodes.
type Problem struct {
	// Graph is one of [graph.New], whose edges have no direction.
	*graph.Graph

	Row   []int     // nodes with a value, each once; folds follow their order
	Value []float64 // their values, finite

	// Attributes has a row for each node, which may be missing; nil: there are none.
	Attributes *sparse.Table

	// Edges are those of a store with kinds or times, as in [problem.Problem].
	Edges *sides.Edges
}

// ErrConstant is wrapped by the error about values that are all equal.
var ErrConstant = errors.New("regress: all values are equal")

// ErrDirected is returned for a graph whose edges have a direction.
var ErrDirected = errors.New("regress: the graph is directed")

// validate returns an error if there is nothing to learn from, and panics if the fields do not fit
// each other.
func (p *Problem) validate() error {
	n, _ := p.A.Dims()
	if len(p.Degrees) != n || len(p.Row) != len(p.Value) ||
		p.Attributes != nil && p.Attributes.Rows != n {
		panic(badProblem)
	}
	constant := true
	for i, v := range p.Value {
		if math.IsNaN(v) || math.IsInf(v, 0) || uint(p.Row[i]) >= uint(n) {
			panic(badProblem)
		}
		constant = constant && v == p.Value[0]
	}
	switch {
	case p.In != nil:
		return ErrDirected
	case len(p.Value) == 0:
		return fmt.Errorf("%w: there are none", ErrConstant)
	case constant:
		return fmt.Errorf("%w: %v", ErrConstant, p.Value[0])
	}
	return nil
}

const badProblem = "regress: fields of a problem do not fit each other"

// At returns the problem with the values at the given positions alone.
func (p *Problem) At(positions []int) *Problem {
	sub := *p
	sub.Row = make([]int, len(positions))
	sub.Value = make([]float64, len(positions))
	for i, position := range positions {
		sub.Row[i] = p.Row[position]
		sub.Value[i] = p.Value[position]
	}
	return &sub
}

// Settings are the settings of [Run]. Nil means all defaults.
type Settings struct {
	RNGSeed uint64 // of folds and samples
	Memory  int64  // limit in bytes; 0: no limit; never changes a result
	Workers int    // number of goroutines; 0: one for each processor; never changes a result

	// Progress, if not nil, is called with the name of a method, the finished parts of its work and
	// all of them.
	Progress func(stage string, done, total int64)

	rough bool // predictions are compared, and need few digits
}

// Errors measure predictions ŷ of values y: RMSE = (mean (y − ŷ)²)^½, MAE = mean |y − ŷ|, and
// R2 = 1 − Σ(y − ŷ)²/Σ(y − ȳ)² with the mean ȳ of the values.
type Errors struct {
	RMSE float64 `json:"rmse"`
	MAE  float64 `json:"mae"`
	R2   float64 `json:"r2"`
}

// Compared is the cross-validated result of a method.
type Compared struct {
	Method     string            `json:"method"`
	Parameters method.Parameters `json:"parameters"` // those that all folds choose
	Settings   int               `json:"settings"`   // settings that were compared
	Errors
}

// Prediction is the result of [Run].
type Prediction struct {
	Value []float64 `json:"-"` // by row; a node with a known value has that

	Reached *roaring.Bitmap `json:"-"` // nodes that are connected with a node with a value

	Factors *sides.Choice `json:"-"` // of kinds and times of edges; nil: edges have none

	Compared // the method that was used, with its cross-validated errors

	Tested     int           `json:"tested"`        // values that errors are measured on, a sample of many
	HeldOut    []TestedValue `json:"tested_values"` // these values, and those that models of other folds predict
	Methods    []Compared    `json:"methods"`       // all methods, in their order
	Mean       Errors        `json:"mean"`          // of predicting the mean of the other folds
	Neighbours Errors        `json:"neighbours"`    // of predicting the mean of the neighbours outside the fold, or else that mean
}

// TestedValue is a value that a model does not know, and its prediction.
type TestedValue struct {
	True      float64 `json:"true"`
	Predicted float64 `json:"prediction"`
}
