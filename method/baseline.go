package method

import (
	"context"
	"maps"
	"time"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// labelPropagation gives a node the class of the label that a walk from it is
// most likely to meet first (Zhu et al. 2003). A node that no label reaches keeps
// its prior. Labels that absorb less of a walk, and walks of a given length, give the
// distributions P_t of the walk of package cwk.
type labelPropagation struct{ noTuning }

var propagationSpec = param.Spec{
	Name: "lp", Title: "limit of the absorbing walk, label propagation", Works: param.Undirected | param.Directed | param.Signed,
	Source: "Zhu, Ghahramani and Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML 2003",
	Params: []param.Param{
		{Name: "alpha", Symbol: "α", Meaning: "probability that a labelled node keeps its label at a step",
			Range: param.Range{Least: 0, Most: 1, AboveLeast: true}, Default: param.Of(1.0)},
		{Name: "steps", Symbol: "steps", Meaning: "length of the walk; 0: until it has settled", Kind: param.Whole,
			Range: param.Range{Least: 0, Most: cwk.MaxSteps}, Default: param.Of(0)},
		{Name: "center", Symbol: "center", Meaning: "subtract from the scores of each class their mean over nodes, weighted by degrees", Kind: param.Switch,
			Default: param.Of(false), Otherwise: "true if it predicts significantly more held-out labels"},
	},
}

// Declarations implements [Method].
func (labelPropagation) Declarations() []*param.Spec { return []*param.Spec{&propagationSpec} }

// Name implements [Method].
func (labelPropagation) Name() string { return "lp" }

// Takes implements [Method].
func (labelPropagation) Takes() []string {
	return append([]string{cwk.PriorParam.Name}, propagationSpec.Takes()...)
}

// Predict implements [Method].
func (labelPropagation) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
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
		return nil, &param.ParameterError{Of: "lp", Parameter: "lp", What: "with negative weights it solves for the limit of an undirected graph; leave out --directed, --alpha and --steps"}
	}
	out := new(Prediction)
	if !set.Given.Has("center") {
		if l.Center, err = centers(ctx, p, &set, l); err != nil {
			return nil, err
		}
		if l.Center {
			v, isGiven = maps.Clone(v), true
			v["center"] = param.Of(true)
		}
	}
	if isGiven {
		out.Parameters, out.Settings = Parameters{Declared: &Setting{&propagationSpec, v}}, 1
	}
	if out.Reached, err = p.Reached(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	n, _ := p.A.Dims()
	if l.Highest != nil {
		l.Highest = problem.NewHighest(n, p.Row, p.Class)
		out.Highest = l.Highest
	} else {
		out.Scores = sparse.NewBlock[float32](n, len(p.Names))
	}
	if set.Raw {
		out.Raw = chunks.Block[float64](n, len(p.Names))
	}
	if out.Unfinished, err = l.ScoresTo(ctx, out.Scores, out.Raw, out.Reached, &out.Work); err != nil {
		return nil, err
	}
	if set.Explain {
		out.form = l.Form()
	}
	out.Seconds.Walk = time.Since(start).Seconds()
	fillClasses(out, p, set.Prior)
	return out, nil
}

// centers reports whether centred scores of label propagation predict held-out labels significantly better.
func centers(ctx context.Context, p *Problem, set *Settings, l *propagation.Propagation) (bool, error) {
	switch {
	case set.baselines != nil:
		return set.baselines.center, nil
	case set.Fixed || split.TooFew(p.Class) || p.Directed || p.Signed || l.Alpha < 1 || l.Steps > 0 || set.Memory > 0 && BaselineBytes(p, set) > set.Memory:
		return false, nil
	}
	folds := set.folds(len(p.Row))
	return compared(p, set).PrefersCenter(ctx, split.Folds(p.Class, folds, set.RNGSeed, 0), folds)
}

// propagationOf returns label propagation with the given values.
func propagationOf(p *Problem, v param.Values, set *Settings) *propagation.Propagation {
	l := &propagation.Propagation{
		P: p, Alpha: v.Number("alpha"), Steps: v.Int("steps"), Prior: set.Prior, Raw: set.Raw, Center: v.On("center"), Memory: p.Remaining(set.Memory), Workers: set.Workers,
		Progress: set.Progress,
	}
	if keepsHighest(p, set) {
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

// Bytes implements [Sizer].
func (labelPropagation) Bytes(p, _ *Problem, s *Settings) (int64, error) {
	v, _, err := propagationValues(s)
	if err != nil {
		return 0, err
	}
	return propagationOf(p, v, s).Bytes(), nil
}

// Majority gives every node the largest class. It takes nothing from the graph.
var Majority Method = majority{}

// majority gives every node the largest class, whether a label reaches it or
// not, and the shares of the labels for scores, each class counted once more.
type majority struct{ noTuning }

// Name implements [Method].
func (majority) Name() string { return "majority" }

// Takes implements [Method].
func (majority) Takes() []string { return nil }

// Declarations implements [Method].
func (majority) Declarations() []*param.Spec { return nil }

// Predict implements [Method].
func (majority) Predict(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	n := p.Rows()
	out := &Prediction{Scores: sparse.NewBlock[float32](n, len(p.Names))}
	var err error
	if out.Reached, err = p.Reached(ctx, p.Row, set.Workers, &out.Work); err != nil {
		return nil, err
	}
	prior := classShares.Of(seedsOf(p, 0, len(p.Names)))
	for i := range n {
		simd.ConvertTo(out.Scores.Row(i), prior(i))
	}
	fillClasses(out, p, classShares)
	return out, nil
}
