package engine

import (
	"context"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// More is what [HighEffort] adds to a prediction of auto.
type More struct {
	Seconds float64  `json:"seconds"` // estimated time of one processor
	Labels  int      `json:"labels,omitempty"`
	Stages  []string `json:"stages,omitempty"` // stages that were omitted or have more rounds
}

// Prediction has a class, or a number, for every node of a graph.
type Prediction struct {
	// Value is the predicted number of every node; nil if classes are predicted.
	Value []float64

	// Class is the class of every node: its label, or the class with the highest score. If no label reaches a node, its
	// class is the likeliest class of its prior, or the largest of equally likely classes.
	Class []int

	// Scores has a row for each node and a column for each class. Rows sum to one. The row of a node that no label reaches
	// is its prior. Label propagation and walks use the prior of the settings; other methods use [ClassShares].
	Scores *sparse.Block[float32]

	// Highest has the highest scores of each node if Scores is nil, see Settings.Top; else nil.
	Highest *problem.Highest

	// Raw holds the scores of the method's formula, see Settings.Raw; else nil.
	Raw *sparse.Block[float64]

	// Reached holds the nodes from which a walk can reach a label, or a node with attributes if attributes are used.
	Reached *roaring.Bitmap

	// IsForAll states that the classes of nodes that are not reached are predictions too, as for [Majority].
	IsForAll bool

	Parameters Parameters
	Settings   int // number of compared settings

	// Estimate is the accuracy of this prediction. It is zero with too few labels, see [choose.TooFew].
	problem.Estimate
	Held *choose.Held // predictions of held-out labels; nil: none, see [Engine.HoldOut]

	// Unfinished names an iteration that stopped at its limit, whose last result is used; else it is empty.
	Unfinished string

	// BlockModel states that auto predicts with beliefs of a block model alone. Omitted lists the stages that auto omits
	// because of their cost, and Unfit the stages that it omits because they need MissingMemory more bytes than
	// Settings.Memory.
	BlockModel    bool
	Omitted       []string
	Unfit         []string
	MissingMemory int64
	More          *More // what auto adds with HighEffort; nil: nothing

	EdgeWeights

	// Problem is the problem with the edge weights that the method learned from, see [Engine.Weigh].
	Problem *Problem

	Work    graph.Work
	Seconds problem.PhaseSeconds

	// LabelSets is the model of several labels of a node; nil: each node has one label.
	LabelSets *LabelSetModel

	// Contest compares the engines of [BestAmong]; nil for other engines.
	Contest *Contest

	Power float64 // power of the votes of a learner on a kernel, see [Engine.Keep]

	// Mixed is what held-out labels chose for auto; nil for other engines. Its JSON is part of a model.
	Mixed interface{ Models() []problem.MixedModel }

	Columns *Columns // see [Settings].Columns; else nil

	// Form explains predictions, see [Settings].Explain; nil: the method has none, or it was not asked for.
	Form *explain.Form
}

// Models describes the mixture of auto by decreasing weight; nil for other methods.
func (p *Prediction) Models() []problem.MixedModel {
	if p.Mixed == nil {
		return nil
	}
	return p.Mixed.Models()
}

// RunPhases runs phases in order, until the first error, and adds the time of phase i to *seconds[i].
func RunPhases(ctx context.Context, seconds []*float64, phases ...func(context.Context) error) error {
	for i, do := range phases {
		start := time.Now()
		if err := do(ctx); err != nil {
			return err
		}
		*seconds[i] += time.Since(start).Seconds()
	}
	return nil
}

// Problem is a graph with classes, or numbers, on some of its nodes.
type Problem = problem.Problem

// Explain returns the reasons for the predicted classes of nodes. The prediction must be of problem, with [Settings].Explain
// set. The error wraps [explain.ErrNoForm] for methods whose scores are not sums over labelled nodes.
func (p *Prediction) Explain(ctx context.Context, problem *Problem, nodes []int,
	s *explain.Settings) ([]explain.Explanation, error) {
	if p.Form == nil {
		return nil, explain.ErrNoForm
	}
	return explain.Nodes(ctx, problem, p.Form, p.Class, nodes, s)
}
