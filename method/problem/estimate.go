package problem

import (
	"errors"
	"fmt"
	"math"
)

// Estimate is the accuracy of a prediction, estimated from held-out labels, at the unlabelled nodes that labels
// reach. Nodes that no label reaches count in Unreached alone, because nothing can be learned about them.
type Estimate struct {
	Accuracy, Stderr float64
	Tested           int // held-out labels; 0 if there are too few for an estimate

	Reached, Unreached int // numbers of nodes without a label

	// Unseen estimates the share of nodes whose class has no label. Predictions of these nodes count as wrong.
	Unseen float64
}

// EstimateShare returns the estimate p = right/tested of independent predictions, with the binomial standard error
// √(p(1−p)/tested). If nothing was tested, it is zero.
func EstimateShare(right float64, tested int) (e Estimate) {
	if tested > 0 {
		e.Accuracy = right / float64(tested)
		e.Stderr = math.Sqrt(e.Accuracy * (1 - e.Accuracy) / float64(tested))
		e.Tested = tested
	}
	return e
}

// PhaseSeconds is the time of each phase of a prediction.
type PhaseSeconds struct {
	Choose   float64 `json:"choose"` // parameters and weights
	Walk     float64 `json:"walk"`   // features and scores of nodes: walks, solves, kernels
	Classify float64 `json:"classify"`
}

// Add adds q to p.
func (p *PhaseSeconds) Add(q PhaseSeconds) {
	p.Choose = p.Choose + q.Choose
	p.Walk = p.Walk + q.Walk
	p.Classify = p.Classify + q.Classify
}

// Error reports why a method or learner cannot predict.
type Error struct {
	Method string // method, kernel or learner
	Err    error  // [ErrDirected], [sparse.ErrDivided], or an error of the iteration or learner
}

// ErrDirected says that edges have a direction where a symmetric graph is needed.
var ErrDirected = errors.New("edges have a direction, and a symmetric graph is needed")

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("method: %s: %v", e.Method, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
