package spread

import (
	"context"
	"maps"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Propagation gives a node the class of the label that a walk from the node is most likely to meet first (Zhu et al.
// 2003). A node that no label reaches keeps its prior. If labels absorb only part of a walk, or walks have a given length,
// the scores are the distributions P_t of the walk of package cwk.
var Propagation = &engine.Engine{
	Name:  "lp",
	Takes: append([]string{cwk.PriorParam.Name}, propagationSpec.Takes()...),
	Specs: []*param.Spec{&propagationSpec},
	Fit:   predictPropagated,
	Workspace: func(p *engine.Problem, s *engine.Settings) (w budget.Workspace, err error) {
		v, _, err := propagationValues(s)
		if err != nil {
			return w, err
		}
		w = propagationOf(p, v, s).Workspace()
		if !s.Given.Has("center") && s.Baselines == nil {
			w = w.Or(engine.BaselineWorkspace(p, s))
		}
		return w, nil
	},
	Highest: func(*engine.Problem, *engine.Settings) bool { return true },
	HasRaw:  true, Extension: extendPropagation,
	Baseline: func(b *engine.Baselines) problem.Estimate { return b.Propagation },
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

func predictPropagated(ctx context.Context, p *engine.Problem, par *engine.Parameters,
	s *engine.Settings) (*engine.Prediction, error) {
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
	out := new(engine.Prediction)
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
		out.Parameters = engine.Parameters{Declared: &engine.Setting{Spec: &propagationSpec, Values: v}}
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
	if set.Raw || set.Explain || set.Columns {
		out.Raw = blocks.NewDense[float64](n, len(p.Names))
		l.Raw = out.Raw
	}
	if err = l.ScoresTo(ctx, out.Scores, out.Reached, &out.Work); err != nil {
		return nil, err
	}
	if set.Explain {
		out.Form = l.Form()
	}
	if set.Columns {
		q := &equation{Gain: 1, Prior: set.Prior.Distributions(p.Seeds())(0), Signed: p.Signed && !l.Center}
		out.Columns = q.columns(out.Raw, p.Degrees, false, nil)
	}
	out.Seconds.Walk = time.Since(start).Seconds()
	engine.FillClasses(out, p, set.Prior)
	return out, nil
}

// heldOutOf returns the scores at held-out labels, which show whether centred scores predict significantly more labels. If
// the settings or the graph do not allow centred scores to be chosen, it returns nil.
func heldOutOf(ctx context.Context, p *engine.Problem, set *engine.Settings,
	l *propagation.Propagation) (*propagation.HeldOut, error) {
	switch {
	case set.Baselines != nil:
		return set.Baselines.Held, nil
	case set.Fixed || choose.TooFew(p.Class) || p.Directed || p.Signed ||
		l.Alpha < 1 || l.Steps > 0:
		return nil, nil
	}
	return propagation.NewBaseline(p, set.Prior, set.Memory, set.Workers).CompareCenter(ctx, choose.TaskOf(p, set.RNGSeed, 0))
}

func propagationOf(p *engine.Problem, v param.Values,
	set *engine.Settings) *propagation.Propagation {
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

func propagationValues(set *engine.Settings) (v param.Values, isGiven bool, err error) {
	values := propagationSpec.Own(set.Given)
	v, err = propagationSpec.Resolve(values, nil)
	return v, len(values) > 0, err
}
