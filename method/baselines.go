package method

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Baselines are the accuracies that a prediction is compared with: those of label propagation
// and of the largest class, estimated on the same folds.
type Baselines struct {
	Propagation, Majority problem.Estimate

	Seconds float64 // that measuring took

	heldOut *propagation.HeldOut // predictions of label propagation for labels; nil: none

	declared *problem.Estimate // of label propagation with values of its parameters; nil: it has none
}

// IsBaseline reports whether a method is one of the baselines, label propagation or the largest class, whose estimate of
// accuracy is theirs.
func (m *Engine) IsBaseline() bool { return m.Baseline != nil }

// Mixture describes an engine that mixes models, of which label propagation may be one. Its accuracy is
// the accuracy for known shares of classes, and held-out labels choose the weights of edges for it.
type Mixture struct {
	FoldCount  func(labels int) int  // by which it measures itself
	Propagates func(p *Problem) bool // whether label propagation may be one of the models
}

// ShowingLabels is the number of labels from which [Baselines.ShowLikeness] may be true: fewer show it by chance.
const ShowingLabels = 24

// ShowLikeness reports whether a number of labels shows that linked nodes mostly share labels: label propagation predicts more of
// them than the largest class when they are held out, by the binomial standard error of its share or more.
func (b *Baselines) ShowLikeness(labels int) bool {
	held := b.HeldOut()
	return labels >= ShowingLabels && held.Tested > 0 && held.Accuracy-held.Stderr >= b.Majority.Accuracy
}

// HeldOut returns the share of held-out labels that label propagation predicts.
func (b *Baselines) HeldOut() problem.Estimate {
	tested := b.Propagation.Tested
	return problem.EstimateShare(b.Propagation.Accuracy*float64(tested), tested)
}

// PredictCompared predicts with m as [Engine.Predict] does, and measures the baselines, from which the estimate of a
// baseline is taken. auto learns from the predictions of label propagation, which are computed once for both.
func (m *Engine) PredictCompared(ctx context.Context, p *Problem,
	s *Settings) (*Prediction, *Baselines, error) {
	p, err := m.Weigh(ctx, p, s)
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	b, err := m.measureBaselines(ctx, p, s)
	if err != nil {
		return nil, nil, err
	}
	b.Seconds = time.Since(start).Seconds()
	set := s.WithDefaults()
	set.baselines = b
	out, err := m.Predict(ctx, p, nil, &set)
	if err != nil {
		return nil, nil, err
	}
	if m.Baseline != nil {
		out.Estimate = m.Baseline(b)
	}
	return out, b, nil
}

// measureBaselines estimates the accuracies of label propagation and of the largest class on the folds that
// a method measures itself on, and if the method is label propagation with given values of its
// parameters, that of it. All are zero with too few labels, see [choose.TooFew]. Label
// propagation is left out where auto does not have it as a candidate, but for suggestions, which
// compare the labels of one fold there. Cost: a prediction without each
// fold, or without some of the folds if these have enough labels or take long.
func (m *Engine) measureBaselines(ctx context.Context, p *Problem,
	s *Settings) (*Baselines, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	if choose.TooFew(p.Class) {
		return new(Baselines), nil
	}
	folds := set.testFolds(len(p.Row))
	if m.Mixture != nil {
		folds = m.Mixture.FoldCount(len(p.Row))
	}
	fold := choose.Folds(p.Class, folds, set.RNGSeed, 0)
	r := &Baselines{Majority: choose.LargestClass(p, fold)}
	if m.Mixture != nil && !m.Mixture.Propagates(p) {
		if !set.Suggests {
			return r, nil
		}
		folds = 1 // of enough labels, see ShowingLabels
	}
	within, _ := m.within(p, &set)
	set.Memory = within.Memory
	comparison, err := newBaseline(p, &set).Compare(ctx, fold, folds)
	if err != nil {
		return nil, err
	}
	r.Propagation = comparison.Propagation
	r.heldOut = comparison.HeldOut
	if _, isGiven, _ := propagationValues(&set); isGiven && m.IsBaseline() {
		r.declared, err = m.apart(ctx, p, nil, &set, fold, folds)
	}
	return r, err
}

// newBaseline returns the label propagation that others are compared with.
func newBaseline(p *Problem, s *Settings) *propagation.Propagation {
	return &propagation.Propagation{P: p, Prior: s.Prior, Alpha: 1,
		Memory: budget.Subtract(s.Memory, propagation.HeldOutBytes(p)), Workers: s.Workers, Rough: true}
}

// apartWork bounds the entries × classes of the graph times the folds that are predicted
// apart, but for one of these.
const apartWork = 20_000_000

// apart measures a method with the given parameters, or, if they are nil, with its own choice by
// predictions without each fold of the labels, or, of large graphs, some of them.
func (m *Engine) apart(ctx context.Context, p *Problem, par *Parameters, s *Settings,
	fold []int, folds int) (*problem.Estimate, error) {
	set := *s
	set.Progress = nil
	var work graph.Work
	reached, err := p.Reachable(ctx, p.Row, set.Workers, &work)
	if err != nil {
		return nil, err
	}
	isolated, err := choose.Unreachable(ctx, p, fold, set.Workers, &work)
	if err != nil {
		return nil, err
	}
	var count choose.Estimator
	weight := choose.WeightsOf(p)
	for f := range min(int64(folds),
		max(1, apartWork/max(1, sparse.EntriesOf(p.A)*int64(len(p.Names))))) {
		foldSplit := choose.OfFold(fold, int(f))
		visible := p.At(foldSplit.Train)
		out, err := m.Fit(ctx, visible, par, &set)
		if err == nil {
			err = Reweigh(ctx, visible, out, set.Workers)
		}
		if err != nil {
			return nil, err
		}
		for _, i := range foldSplit.Test {
			c := p.Class[i]
			count.Note(!isolated[i], out.Class[p.Row[i]] == c, weight[c])
		}
	}
	e := count.Estimate(p, reached)
	return &e, nil
}

// BaselineWorkspace declares the memory of measuring label propagation, see [Engine.PredictCompared], beside the memory of a prediction.
func BaselineWorkspace(p *Problem, s *Settings) budget.Workspace {
	return newBaseline(p, cmp.Or(s, new(Settings))).CompareWorkspace()
}

// labelPropagation gives a node the class of the label that a walk from it is
// most likely to meet first (Zhu et al. 2003). A node that no label reaches keeps
// its prior. Labels that absorb less of a walk, and walks of a given length, give the
// distributions P_t of the walk of package cwk.
var labelPropagation = &Engine{
	Name:  "lp",
	Takes: append([]string{cwk.PriorParam.Name}, propagationSpec.Takes()...),
	Specs: []*param.Spec{&propagationSpec},
	Fit:   predictPropagated,
	Workspace: func(p *Problem, s *Settings) (w budget.Workspace, err error) {
		v, _, err := propagationValues(s)
		if err != nil {
			return w, err
		}
		w = propagationOf(p, v, s).Workspace()
		if !s.Given.Has("center") && s.baselines == nil {
			w = w.Or(BaselineWorkspace(p, s))
		}
		return w, nil
	},
	Highest: func(*Problem, *Settings) bool { return true },
	HasRaw:  true,
	Baseline: func(b *Baselines) problem.Estimate { // with given values of the parameters if there are some
		if b.declared != nil {
			return *b.declared
		}
		return b.Propagation
	},
}

var propagationSpec = param.Spec{
	Name: "lp", Title: "limit of the absorbing walk, label propagation",
	Works: param.Undirected | param.Directed | param.Signed, Arcs: param.AlongArcs,
	Source: "Zhu, Ghahramani and Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML 2003",
	Params: []param.Param{
		{Name: "alpha", Symbol: "α", Meaning: "probability that a labelled node keeps its label at a step",
			Range:   param.Range{Least: 0, Most: 1, AboveLeast: true},
			Default: param.Of(1.0)},
		{Name: "steps", Symbol: "steps", Meaning: "length of the walk; 0: until it has settled", Kind: param.Whole,
			Range: param.Range{Least: 0, Most: cwk.MaxSteps}, Default: param.Of(0)},
		{Name: "center", Symbol: "center", Meaning: "subtract from the scores of each class their mean over nodes, weighted by degrees", Kind: param.Switch,
			Default:   param.Of(false),
			Otherwise: "true if it predicts significantly more held-out labels"},
	},
}

// predictPropagated is the Fit of label propagation.
func predictPropagated(ctx context.Context, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	if err := problem.ValidateFor(p, &propagationSpec); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	if par != nil && par.Declared != nil {
		set.Given = par.Declared.Values
	}
	v, isGiven, err := propagationValues(&set)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	l := propagationOf(p, v, &set)
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if p.Signed && (p.Directed || l.Alpha < 1 || l.Steps > 0) {
		return nil, param.Refuse("lp", "lp",
			"with negative weights it solves for the limit of an undirected graph; leave out --directed, --alpha and --steps")
	}
	out := new(Prediction)
	if !set.Given.Has("center") {
		if l.HeldOut, err = heldOutOf(ctx, p, &set, l); err != nil {
			return nil, err
		}
		l.Center = l.HeldOut != nil && l.HeldOut.Center
		if l.Center {
			v = maps.Clone(v)
			isGiven = true
			v["center"] = param.Of(true)
		}
	}
	if isGiven {
		out.Parameters = Parameters{Declared: &Setting{&propagationSpec, v}}
		out.Settings = 1
	}
	if out.Reached, err = p.Reachable(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	n, _ := p.A.Dims()
	if l.Highest != nil {
		l.Highest = problem.NewHighest(n, p.Row, p.Class)
		out.Highest = l.Highest
	} else {
		out.Scores = sparse.NewBlock[float32](n, len(p.Names))
	}
	if set.Raw || set.Explain {
		out.Raw = blocks.NewDense[float64](n, len(p.Names))
		l.Raw = out.Raw
	}
	if err = l.ScoresTo(ctx, out.Scores, out.Reached, &out.Work); err != nil {
		return nil, err
	}
	if set.Explain {
		out.Form = l.Form()
	}
	out.Seconds.Walk = time.Since(start).Seconds()
	fillClasses(out, p, set.Prior)
	return out, nil
}

// heldOutOf returns the scores of label propagation at held-out labels, which say whether centred scores predict them significantly
// better; nil: they are not computed.
func heldOutOf(ctx context.Context, p *Problem, set *Settings,
	l *propagation.Propagation) (*propagation.HeldOut, error) {
	switch {
	case set.baselines != nil:
		return set.baselines.heldOut, nil
	case set.Fixed || choose.TooFew(p.Class) || p.Directed || p.Signed ||
		l.Alpha < 1 || l.Steps > 0:
		return nil, nil
	}
	folds := set.folds(len(p.Row))
	return newBaseline(p, set).CompareCenter(ctx,
		choose.Folds(p.Class, folds, set.RNGSeed, 0), folds)
}

// propagationOf returns label propagation with the given values.
func propagationOf(p *Problem, v param.Values,
	set *Settings) *propagation.Propagation {
	l := &propagation.Propagation{
		P: p, Alpha: v.Number("alpha"), Steps: v.Int("steps"), Prior: set.Prior,
		Center: v.On("center"), Memory: set.Memory,
		Workers:  set.Workers,
		Progress: set.Progress,
	}
	if set.Top > 0 {
		l.Highest = new(problem.Highest)
	}
	return l
}

// propagationValues returns the values of label propagation, and whether one of them
// was given.
func propagationValues(set *Settings) (v param.Values, isGiven bool, err error) {
	values := propagationSpec.Own(set.Given)
	v, err = propagationSpec.Resolve(values, nil)
	return v, len(values) > 0, err
}

// Majority gives every node the largest class, whether a label reaches it or
// not, and the shares of the labels for scores, each class counted once more. It takes nothing from the graph.
var Majority = &Engine{
	Name: "majority", Fit: predictLargest,
	Baseline: func(b *Baselines) problem.Estimate { return b.Majority },
}

// predictLargest is the Fit of [Majority].
func predictLargest(ctx context.Context, p *Problem, _ *Parameters,
	s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	n := p.Rows()
	out := &Prediction{Scores: sparse.NewBlock[float32](n, len(p.Names)),
		IsForAll: true}
	var err error
	if out.Reached, err = p.Reachable(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	prior := classShares.Distributions(p.Seeds())
	for i := range n {
		simd.ConvertTo(out.Scores.Row(i), prior(i))
	}
	fillClasses(out, p, classShares)
	return out, nil
}

// AdaptToShares adjusts the probabilities of out, see [Reweigh], and its cross-validated accuracy to
// p.Shares. Except for auto, whose accuracy is adjusted already, it repeats the cross-validation with the
// parameters of out. Cost: a prediction for each fold.
func (m *Engine) AdaptToShares(ctx context.Context, p *Problem, out *Prediction,
	s *Settings) error {
	s = cmp.Or(s, new(Settings))
	err := Reweigh(ctx, p, out, s.Workers)
	if err != nil || p.Shares == nil || out.Tested == 0 || m.Mixture != nil {
		return err
	}
	var par *Parameters
	if out.Settings > 0 {
		par = &out.Parameters
	}
	folds := s.folds(len(p.Row))
	within, _ := m.within(p, s)
	e, err := m.apart(ctx, p, par, within,
		choose.Folds(p.Class, folds, s.RNGSeed, 0), folds)
	if err == nil {
		out.Estimate = *e
	}
	return err
}

// Reweigh adapts a prediction from the labels of p to the known shares of classes, see
// [problem.Problem.Reweigher]: the scores of all nodes, and the classes of nodes without a label. Nodes
// that no label reaches have the shares as scores. It does nothing if the shares are not known.
func Reweigh(ctx context.Context, p *Problem, out *Prediction, workers int) error {
	return reweighBy(ctx, p, out, p.Reweigher(false), workers)
}

// reweighBy is Reweigh by a function, nil for none. Without known shares nodes that no label reaches keep
// their scores.
func reweighBy(ctx context.Context, p *Problem, out *Prediction,
	reweigh func([]float64), workers int) error {
	if reweigh == nil {
		return nil
	}
	err := blocks.EachNodeChunk(ctx, workers, p.Rows(), func(_, lo, hi int) {
		row := make([]float64, len(p.Names))
		for v := lo; v < hi; v++ {
			if simd.ConvertTo(row, out.Scores.Row(v)); out.Reached.Contains(uint32(v)) {
				reweigh(row)
			} else if copy(row, p.Shares); p.Shares == nil {
				continue
			}
			simd.ConvertTo(out.Scores.Row(v), row)
			out.Class[v] = classify.ArgMax(row)
		}
	})
	setKnown(out, p)
	return err
}
