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

// Prediction is a class, or a number, for every node of a problem's graph.
type Prediction struct {
	// Value is the predicted number of every node, also of nodes with a known number; it is nil if classes are predicted.
	Value []float64

	// Class of every node. A labelled node has its own, an unreached one the
	// likeliest of its prior, which is the largest where no other is likelier; any
	// other the class with the highest score.
	Class []int

	// Scores has a row for each node and a column for each class. Rows sum to one. An unreached node has its prior: for a
	// method that walks, and label propagation, the prior of the settings; for other methods the shares of the labels, each
	// class counted once more.
	Scores *sparse.Block[float32]

	// Highest, unless nil, has the highest scores of each node in place of Scores, which then is nil, see Settings.Top.
	Highest *problem.Highest

	// Raw, unless nil, holds the scores as the method's formula gives them.
	Raw *sparse.Block[float64]

	// Reached are the nodes from which a walk can end in a label or, where attributes
	// are learned from, at a node that has some.
	Reached *roaring.Bitmap

	// IsForAll reports that the class of a node that is not reached is a prediction too, as for [Majority].
	IsForAll bool

	Parameters Parameters
	Settings   int // how many parameters there were to choose from

	// Estimate is the accuracy of this prediction. It is zero with too few labels, see [choose.TooFew].
	// [Engine.PredictCompared] computes the accuracies of label propagation and of the largest class, see
	// [Engine.IsBaseline].
	problem.Estimate
	HeldOut []problem.HeldOut // behind the estimate of auto; nil for other methods
	Places  []choose.Place    // of the classes of held-out labels in the order of their probabilities; nil for other methods

	// Unfinished names the iteration that ended at its limit, in which case the prediction uses
	// its last result. It is empty if every iteration converged.
	Unfinished string

	// BlockModel reports that auto stopped at beliefs of a block model, because their certainty
	// agrees with held-out labels and label propagation is not more accurate. Omitted lists the stages that auto leaves out because of
	// their cost.
	BlockModel bool
	Omitted    []string

	EdgeWeights // of Problem

	// Problem is the problem with the weights of edges that the method has learned from, see [Engine.Weigh].
	Problem *Problem

	Work    graph.Work
	Seconds problem.PhaseSeconds

	// LabelSets is the model of several labels of a node; nil: each node has one.
	LabelSets *LabelSetModel

	// Contest compares the engines of [BestAmong]; nil for other engines.
	Contest *Contest

	Power float64 // of the votes of a learner on a kernel, see [Engine.Keep]

	// Mixed is what held-out labels have chosen for an engine that mixes models, such as auto; nil: it mixes none. Its JSON
	// is part of a model.
	Mixed interface{ Models() []problem.MixedModel }

	// Form gives the reasons of predictions, see [Settings].Explain; nil: none, or it was not asked for.
	Form *explain.Form
}

// Models describes the models in the mixture of auto, by decreasing weight; nil for other methods.
func (p *Prediction) Models() []problem.MixedModel {
	if p.Mixed == nil {
		return nil
	}
	return p.Mixed.Models()
}

// RunPhases runs phases in order, up to the first error, and adds the time of each to a number.
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

// Problem is the graph with classes, or numbers, on some of its nodes that a method is given.
type Problem = problem.Problem

// Explain returns the reasons for the predicted classes of some nodes of a problem, whose labels the prediction has learned
// from with [Settings].Explain. The error wraps [explain.ErrNoForm] for a method whose scores are no sums over labelled nodes.
func (p *Prediction) Explain(ctx context.Context, problem *Problem, nodes []int,
	s *explain.Settings) ([]explain.Explanation, error) {
	if p.Form == nil {
		return nil, explain.ErrNoForm
	}
	return explain.Nodes(ctx, problem, p.Form, p.Class, nodes, s)
}
