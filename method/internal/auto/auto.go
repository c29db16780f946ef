package auto

import (
	"context"
	"errors"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Settings of a prediction. Results are the same for any number of workers and any memory limit.
type Settings struct {
	LowEffort  bool   // compute features of walks and attributes alone
	RNGSeed    uint64 // of folds and samples
	Unmeasured bool   // leave out models that serve the accuracy alone
	Memory     int64  // limit of the allocations, in bytes; 0: no limit
	Workers    int    // goroutines; 0: one for each processor

	// Balanced reports that probabilities will be reweighed as [problem.Problem.Reweigher] does for balanced classes, so that
	// the accuracy is for the reweighed probabilities. Scores are not reweighed here.
	Balanced bool

	// Explain keeps the prediction in the form of Prediction.Form.
	Explain bool
	// Highest replaces the scores of all classes by the highest ones, see [KeepsHighest].
	Highest    bool
	Propagated *propagation.HeldOut // scores of label propagation at labels; nil: they are computed

	Targets []uint32 // rows of the nodes that could have a label, which the accuracy is about; nil: all nodes

	// Choice, if not nil, is the choice of an earlier prediction, in place of a choice by held-out labels.
	Choice *Choice

	// Progress, if not nil, is called with the number of steps done of a stage and their total.
	Progress func(stage string, done, total int64)
}

// Stages that [Settings.Progress] names.
const (
	stageFeatures = "features"
	stageWalk     = "walk"
	stageChoose   = "choose"
)

// Prediction is a class and the probabilities of all classes for every node.
type Prediction struct {
	Class   []int
	Scores  *featureBlock
	Highest *problem.Highest // in place of Scores, which then are nil
	Reached *roaring.Bitmap  // the nodes that a label, or attributes, reach

	problem.Estimate
	HeldOut []problem.HeldOut
	Places  []choose.Place // of the classes of held-out labels; nil: there is no estimate

	Unfinished string // the iteration that ended at its limit; "": none

	BlockModel bool     // beliefs of a block model predict alone, because they explain the graph
	Omitted    []string // stages that are left out because of their cost
	Choice     *Choice
	Form       *explain.Form // of the linear part of the scores; nil: none, or it was not asked for

	Work    graph.Work
	Seconds problem.PhaseSeconds
}

// Predict returns the class and the probabilities of every node of a valid problem, by the
// stages that the package comment lists.
func Predict(ctx context.Context, p *problem.Problem,
	set *Settings) (out *Prediction, err error) {
	out = &Prediction{}
	choice := set.Choice
	plan := newPlan(p, set)
	if choice == nil && beginsWithBeliefs(p, set) ||
		choice != nil && choice.BlockModel {
		start := time.Now()
		m, err := blockModel(ctx, p, set, &out.Work)
		if err != nil {
			return nil, err
		}
		isChosen := choice != nil
		if !isChosen {
			if isChosen, err = isExplained(ctx, p, m); err != nil {
				return nil, err
			}
		}
		out.Seconds.Choose = time.Since(start).Seconds()
		if isChosen {
			out.Choice = &Choice{BlockModel: true}
			return out, predictByBeliefs(ctx, p, set, m, out)
		}
		if err := budget.Check(set.Memory, plan.learning.Required(set.Memory),
			"learning without a block model, which does not explain the graph,"); err != nil {
			return nil, err
		}
	}
	in, err := newInput(ctx, p, set, plan.design, plan.memory, &out.Work)
	if err != nil {
		return nil, err
	}
	if plan.disk > 0 {
		if in.files, err = newTempFiles(p.TempDir); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, in.files.remove()) }() // also after a panic
	if err := in.predict(ctx, out); err != nil {
		return nil, err
	}
	if p.Attributes != nil && p.Attributes.Err() != nil {
		return nil, p.Attributes.Err()
	}
	in.release()
	return out, nil
}

// predict runs the stages.
func (in *input) predict(ctx context.Context, out *Prediction) error {
	clock := time.Now()
	lap := func(seconds *float64) { // adds the time since the last call
		now := time.Now()
		*seconds += now.Sub(clock).Seconds()
		clock = now
	}
	f, err := newFeatures(ctx, in)
	if err != nil {
		return err
	}
	lap(&out.Seconds.Walk)
	m, err := in.choose(ctx, f, out)
	if err != nil {
		return err
	}
	out.Choice = m.choice()
	lap(&out.Seconds.Choose)
	if err := m.fit(ctx); err != nil {
		return err
	}
	if err := m.predict(ctx, out); err != nil {
		return err
	}
	if in.set.Explain {
		out.Form = newForm(m)
	}
	if err := likeliestClasses(ctx, in.p, out, in.set.Workers); err != nil {
		return err
	}
	lap(&out.Seconds.Classify)
	out.Reached = f.reached
	out.Unfinished = in.unfinished
	out.Omitted = in.omitted
	return estimateAccuracy(ctx, in.p, in.set, m.confidence, out)
}

// all selects every label.
func all(int) bool { return true }

// input is the problem as the stages use it.
type input struct {
	p   *problem.Problem // without directions
	set *Settings
	design
	work       *graph.Work
	memory     int64      // limit of the own allocations of a stage; 0: no limit
	files      *tempFiles // of stored rows; nil: these are in memory
	unfinished string

	arcs *arcs // nil: edges have no direction

	propagated *propagation.HeldOut // scores of label propagation at labels; nil: they were not needed

	// learned is the problem with the labels that models learn from and are tested on; all of
	// them unless there are many classes. Label i of it is label at[i] of p.
	learned *problem.Problem
	places  []int
}

// newInput leaves directions out of a graph and chooses the labels that models learn from.
func newInput(ctx context.Context, p *problem.Problem, set *Settings, d design,
	memory int64, work *graph.Work) (*input, error) {
	in := &input{p: p, set: set, design: d, work: work, memory: memory}
	if p.Directed {
		if err := leaveDirections(ctx, in); err != nil {
			return nil, err
		}
	}
	if err := blocks.CheckScale[float32](in.p.Team(), in.p.Degrees); err != nil {
		return nil, err
	}
	in.places = choose.Sample(p.Class, in.examples, set.RNGSeed, 0)
	in.learned = in.p
	if len(in.places) < len(p.Row) {
		in.learned = in.p.At(in.places)
	}
	return in, nil
}

// reportProgress reports steps of a stage.
func (in *input) reportProgress(stage string, done, total int) {
	if in.set.Progress != nil {
		in.set.Progress(stage, int64(done), int64(total))
	}
}
