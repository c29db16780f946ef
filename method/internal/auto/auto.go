package auto

import (
	"context"
	"errors"
	"time"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/spread"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// settings are the settings of a prediction. Results do not depend on the number of workers and the memory limit.
type settings struct {
	engine.Settings
	choice *Choice // choice of a kept model; nil: held-out labels choose

	// balanced states that the caller reweighs probabilities for balanced classes. Accuracies are estimated for reweighed
	// probabilities; returned scores are not reweighed.
	balanced bool
}

const (
	stageFeatures = "features"
	stageWalk     = "walk"
	stageChoose   = "choose"
	stagePredict  = "predict"
)

// predict returns the class and the probabilities of every node of a valid problem.
func predict(ctx context.Context, p *problem.Problem,
	set *settings) (out *engine.Prediction, err error) {
	out = &engine.Prediction{}
	choice := set.choice
	plan := newPlan(p, set)
	var tried *beliefs.Model
	if choice == nil && beginsWithBeliefs(p, set) ||
		choice != nil && choice.BlockModel {
		start := time.Now()
		m, err := blockModel(ctx, p, set, &out.Work)
		if err != nil {
			return nil, err
		}
		isChosen := choice != nil || plan.isOver
		if !isChosen {
			if isChosen, err = isExplained(ctx, p, m); err != nil {
				return nil, err
			}
		} else if choice == nil {
			out.Unfit = []string{"models other than beliefs"}
			out.MissingMemory = plan.missing
		}
		out.Seconds.Choose = time.Since(start).Seconds()
		if isChosen {
			out.Mixed = &Choice{BlockModel: true}
			err := predictByBeliefs(ctx, p, set, m, out)
			if err == nil && set.Columns {
				out.Columns = &engine.Columns{Kept: m.Messages, Values: m.Messages.Values}
				err = keepAlone(spread.Beliefs.Name, out.Columns)
			}
			return out, err
		}
		tried = m
	}
	in, err := newInput(ctx, p, set, plan.design, plan.memory, &out.Work)
	if err != nil {
		return nil, err
	}
	in.tried = tried
	in.unfit = plan.unfit
	out.Unfit = plan.unfit
	out.MissingMemory = plan.missing
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

// predict fits a mixture and stores its prediction in out. It is not called if beliefs of a block model predict alone.
func (in *input) predict(ctx context.Context, out *engine.Prediction) error {
	clock := time.Now()
	lap := func(seconds *float64) {
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
	out.Mixed = m.choice()
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
	if in.set.Columns {
		if out.Columns, err = m.columns(ctx); err != nil {
			return err
		}
	}
	if err := likeliestClasses(ctx, in.p, out, in.set.Workers); err != nil {
		return err
	}
	lap(&out.Seconds.Classify)
	out.Reached = f.reached
	out.Unfinished = in.unfinished
	out.Omitted = in.omitted
	out.More = f.more()
	return estimateAccuracy(ctx, in.p, in.set, m.confidence, out)
}

func all(int) bool { return true }

// input holds the problem of a prediction, without directions of edges, and what its stages share.
type input struct {
	p   *problem.Problem // its edges have no direction
	set *settings
	design
	work       *graph.Work
	memory     int64      // limit for the allocations of a stage; 0: no limit
	files      *tempFiles // nil: rows are stored in memory
	unfinished string
	unfit      []string // see plan

	arcs *arcs // nil: the graph is undirected

	propagated *propagation.HeldOut // nil: not computed yet
	tried      *beliefs.Model       // beliefs that do not predict alone; nil: not tried

	// learned is p with only the labels that models learn from and are tested on, the learned labels: a sample if there
	// are many classes, else all labels. Label i of learned is label places[i] of p.
	learned *problem.Problem
	places  []int
}

// newInput removes the directions of the edges of p and samples the labels that models learn from.
func newInput(ctx context.Context, p *problem.Problem, set *settings, d design,
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

func (in *input) reportProgress(stage string, done, total int) {
	if in.set.Progress != nil {
		in.set.Progress(stage, int64(done), int64(total))
	}
}
