package auto

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/beliefs"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// On graphs of more than blockModelNodes nodes without attributes a prediction tries beliefs of a block model first. On
	// smaller graphs all stages take seconds.
	blockModelNodes = 50_000

	// blockModelClasses is the largest number of classes for which beliefs are tried first. With more classes, beliefs
	// cannot learn which classes are adjacent, and were rejected.
	blockModelClasses = 24
)

func beginsWithBeliefs(p *problem.Problem, set *settings) bool {
	return p.Nodes() > blockModelNodes && len(p.Names) <= blockModelClasses &&
		!p.Directed && p.Attributes == nil &&
		set.Effort != engine.LowEffort && !choose.TooFew(p.Class)
}

// fitBeliefs returns the better of the block models whose ratios of classes come from the given sources, such as
// beliefs.Walks. fold[i] is the fold of label i, or −1 if label i is not held out.
func fitBeliefs(ctx context.Context, p *problem.Problem, set *settings, sources []string,
	fold []int, memory int64, work *graph.Work) (*beliefs.Model, error) {
	parts, err := p.FindComponents(ctx, set.Workers, work)
	if err != nil {
		return nil, err
	}
	g := &graph.Graph{A: p.A, Degrees: p.Degrees, Components: parts,
		Workers: set.Workers}
	var list []beliefs.Candidate
	for _, ratios := range sources {
		candidate := beliefs.Candidates()[0]
		candidate.Ratios = ratios
		list = append(list, candidate)
	}
	return beliefs.Fit(ctx, g, p.Seeds(), fold,
		&beliefs.Settings{Candidates: list,
			Explain: set.Explain, Extend: set.Columns, Memory: memory, Progress: set.Progress})
}

func blockModel(ctx context.Context, p *problem.Problem, set *settings,
	work *graph.Work) (*beliefs.Model, error) {
	fold := beliefs.Folds(p, set.RNGSeed)
	beliefs.OneFold(fold)
	return fitBeliefs(ctx, p, set, []string{beliefs.Walks}, fold,
		budget.Subtract(set.Memory, propagation.HeldOutBytes(p)), work)
}

const (
	// With at least manyBelieved labels only believedFolds of the five folds are held out. Two sources of class ratios with two
	// folds each cost about as much as one source with five folds.
	manyBelieved  = 200
	believedFolds = 2
)

// believes reports whether beliefs are a component of mixtures, if they do not predict alone. Of at most mostFew labels with
// attributes, beliefs would be a factor by chance.
func believes(p *problem.Problem, set *settings) bool {
	return !p.Directed && set.Effort != engine.LowEffort && !choose.TooFew(p.Class) &&
		(p.Attributes == nil || len(p.Row) > mostFew) && (p.Nodes() <= blockModelNodes || len(p.Names) <= blockModelClasses)
}

// believe fits beliefs of a block model and stores them in f.believed. The sources of class ratios that it tries depend on
// the number of labels. On graphs of more than blockModelNodes nodes it takes the beliefs that were tried first.
func (f *features) believe(ctx context.Context) (err error) {
	in := f.in
	if in.p.Nodes() > blockModelNodes {
		f.believed = in.tried
		if f.believed == nil {
			f.believed, err = blockModel(ctx, in.p, in.set, in.work)
		}
		return err
	}
	fold := slices.Clone(f.seeds.fold)
	sources := []string{beliefs.Walks, beliefs.Iterated}
	switch {
	case in.fewLabels:
		sources = sources[1:]
	case len(fold) < manyBelieved:
		sources = sources[:1]
	}
	for i := range fold {
		if len(fold) >= manyBelieved && fold[i] >= believedFolds {
			fold[i] = -1
		}
		if in.fewLabels {
			fold[i] %= believedFolds
		}
	}
	f.believed, err = fitBeliefs(ctx, in.p, in.set, sources, fold, in.memory, in.work)
	return err
}

// addBeliefs adds the held-out probabilities of a block model to the components.
func (h *heldOut) addBeliefs(ctx context.Context, f *features) error {
	in := f.in
	if !in.beliefs {
		return nil
	}
	if err := f.believe(ctx); err != nil {
		return err
	}
	t := newComponent(candidate{Beliefs: true, Alone: in.fewLabels}, 0, len(h.class))
	for j, label := range f.believed.HeldOut {
		i, isLearned := slices.BinarySearch(in.places, label)
		switch {
		case !isLearned:
		case h.hasFeatures[i]:
			t.rows[i] = f.believed.Probabilities[j]
		case t.Alone:
			t.set(i, f.priorOfMissed(h.fold[i]))
		}
	}
	h.components = append(h.components, t)
	return nil
}

const voteErrors = 2

// isExplained reports whether beliefs of m predict alone. They do if [beliefs.Model.KnowsItself] is true and the votes of
// labelled neighbours are not better by voteErrors standard errors, as they are on wordnet-2024.
func isExplained(ctx context.Context, p *problem.Problem,
	m *beliefs.Model) (bool, error) {
	if !m.KnowsItself() {
		return false, nil
	}
	votes, err := m.Votes(ctx)
	better := 0.0
	worse := 0.0
	for i, vote := range votes {
		switch class := p.Class[m.HeldOut[i]]; {
		case vote == class && m.Predicted[i] != class:
			better++
		case vote >= 0 && vote != class && m.Predicted[i] == class:
			worse++
		}
	}
	return better-worse <= voteErrors*math.Sqrt(better+worse), err
}

func predictByBeliefs(ctx context.Context, p *problem.Problem, set *settings,
	m *beliefs.Model, out *engine.Prediction) error {
	start := time.Now()
	var err error
	if out.Reached, err = p.Reachable(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return err
	}
	hidden := make([]int, len(p.Row)) // 1 if held out
	for _, i := range m.HeldOut {
		hidden[i] = 1
	}
	t := &choose.Task{Problem: p, Fold: hidden}
	if err := t.FindIsolated(ctx, set.Workers, &out.Work); err != nil {
		return err
	}
	confidence := choose.NewConfidence(p)
	reweigh := p.Reweigher(set.balanced)
	for i, label := range m.HeldOut {
		row := toFloat64(m.Shares[i])
		full := toFloat64(m.Probabilities[i])
		if reweigh != nil {
			reweigh(row)
			reweigh(full)
		}
		confidence.Note(!t.Isolated[label], label, row, full)
	}
	if out.Scores, err = m.Predict(ctx); err != nil {
		return err
	}
	out.Form = m.Form
	out.BlockModel = true
	out.Work.Sweeps += m.Sweeps
	if err = likeliestClasses(ctx, p, out, set.Workers); err != nil {
		return err
	}
	err = estimateAccuracy(ctx, p, set, confidence, out)
	out.Seconds.Walk += time.Since(start).Seconds()
	return err
}

// likeliestClasses stores in out.Class the class of each label, and the class with the largest score of each
// other node.
func likeliestClasses(ctx context.Context, p *problem.Problem, out *engine.Prediction,
	workers int) error {
	out.Class = make([]int, len(p.Degrees))
	err := blocks.EachNodeChunk(ctx, workers, len(out.Class), func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			if out.Highest != nil {
				out.Class[v] = out.Highest.Class(v)
			} else {
				out.Class[v] = classify.ArgMax(out.Scores.Row(v))
			}
		}
	})
	for i, row := range p.Row {
		out.Class[row] = p.Class[i]
	}
	return err
}
