package kernels

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// method is a learner on a kernel. If the learner's decisions are linear in kernel values, it needs only the values between
// labelled nodes, and predicts by one application of the kernel.
type method struct {
	kernel  *kernel.Family
	learner *classify.Learner
}

// Families returns the kernels that learners can use: all kernels but distances. Learners use the symmetric form of
// PageRank.
func Families() []*kernel.Family {
	return slices.DeleteFunc(kernel.Families(),
		func(f *kernel.Family) bool { return f.Distance != "" })
}

// Engines returns an engine for every kernel with every learner.
func Engines() (list []*engine.Engine) {
	for _, f := range Families() {
		for _, l := range classify.Learners() {
			list = append(list, method{f, l}.engine())
		}
	}
	return list
}

func (m method) engine() *engine.Engine {
	e := engine.Engine{
		Name: m.kernel.Name + "+" + m.learner.Name, Specs: []*param.Spec{&m.kernel.Spec, engine.SpecOf(m.learner)},
		Workspace: m.workspace, HasRaw: m.learner.Path == nil,
	}
	if m.learner == classify.Learners()[0] {
		e.Name = m.kernel.Name
	}
	for _, p := range m.kernel.Params {
		if p.Kind != param.Switch {
			e.Takes = append(e.Takes, p.Name)
		}
	}
	e.Takes = append(e.Takes, engine.SpecOf(m.learner).Takes()...)
	return e.InStages(m.begin)
}

// Learners without a path are compared on at most trySettings labels, because each setting needs its own fit in every fold.
const trySettings = 250

// job returns a job with the settings to choose from. If there are too few labels, the only setting is the setting nearest
// to the defaults.
func (m method) job(p *engine.Problem, s *engine.Settings,
	g param.Graph) (j *engine.Job, err error) {
	set := s.WithDefaults()
	if m.learner.Path == nil {
		set.Sample = min(set.Sample, trySettings)
	}
	j = &engine.Job{Problem: p, Settings: &set, Learner: m.learner, Out: new(engine.Prediction),
		Source: &m.kernel.Spec, Declared: engine.SpecOf(m.learner), Compared: set.Sample, Counted: true}
	if j.Values, j.Space, err = engine.LearnerSettings(&set, m.learner, len(p.Names)); err != nil {
		return nil, err
	}
	searched := set
	if choose.TooFew(p.Class) {
		j.Values, j.Space = j.Values[j.Space.Usual:][:1], new(choose.Space)
		searched.Fixed = true
		searched.Lists = nil
	}
	j.Sources, j.SourceSpace, err = searched.Grid(&m.kernel.Spec, m.kernel.Own(set.Given), g)
	return j, err
}

func (m method) begin(ctx context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings) (*engine.Job, error) {
	r, err := m.newPredictor(ctx, p, par, s)
	if err != nil {
		return nil, err
	}
	r.Compare = r.compare
	r.Settle = r.settle
	r.Job.Learn = r.learnChosen
	r.Measures = r.Compared < len(p.Row) && !m.learner.Whole && !r.Settings.Unmeasured
	return r.Job, nil
}

// newPredictor validates the problem and returns a predictor with the components of the graph, the kernels,
// and the settings to choose from.
func (m method) newPredictor(ctx context.Context, p *engine.Problem, par *engine.Parameters,
	s *engine.Settings) (*predictor, error) {
	if err := problem.ValidateFor(p, &m.kernel.Spec); err != nil {
		return nil, err
	}
	if p.Directed {
		return nil, &problem.Error{Method: m.kernel.Name, Err: problem.ErrDirected}
	}
	if err := engine.CheckProcesses(m.learner, p); err != nil {
		return nil, err
	}
	var work graph.Work
	graph, err := p.Whole(ctx, s.WithDefaults().Workers, &work)
	if err != nil {
		return nil, err
	}
	j, err := m.job(p, s, kernel.On(ctx, graph))
	if err != nil {
		return nil, err
	}
	if par != nil {
		j.Fix(par)
	}
	for _, v := range j.Sources {
		if m.kernel.Asymmetric(v) != nil {
			return nil, choose.Usage("%s, %s, is not symmetric, and learners need it to be", m.kernel.Name, m.kernel.Text(v))
		}
	}
	graph.Memory = j.Settings.Memory
	j.Out.Reached = graph.Components.Reachable(p.Row)
	j.Out.Work = work
	name, _ := choose.UnitParameter(m.learner)
	isGiven := par != nil || j.Settings.Given.Has(name) || len(j.Settings.Lists[name]) > 0
	r := &predictor{Job: j, isUsual: !isGiven || j.Settings.Model != nil && j.Settings.Model.Usual}
	// Learners with a closed form predict each label from all other labels, unless labels of a group are held out together.
	path := m.learner.Path
	j.LeavesOneOut = path != nil && path.LeaveOneOut != nil && p.Group == nil
	r.kernels, err = m.kernel.NewAll(ctx, graph, j.Sources)
	r.scales = make([]float64, len(r.kernels))
	return r, err
}

// solves reports whether the learner's Solve fits it without kernel values: if these are not known yet, and computing a
// column for each label would take longer.
func solves(j *engine.Job) bool {
	const products = 60
	labels := len(j.Problem.Row)
	return j.Learner.Solve != nil && (labels > j.Learner.Solved || labels > max(j.Settings.Sample, products*len(j.Problem.Names)))
}

// workspace declares the memory of slabs of kernels, of the kernel values between labels or items, and of the
// fits.
func (m method) workspace(p *engine.Problem, s *engine.Settings) (w budget.Workspace, err error) {
	j, err := m.job(p, s, kernel.OnDegrees(p.Degrees))
	if err != nil {
		return w, err
	}
	n := len(p.Degrees)
	k := len(p.Names)
	labels := len(p.Row)
	seen := min(labels, max(j.Settings.Sample, 2*k)) + min(s.Tested, engine.MaxTestedRows)
	machines := j.CountMachines()
	columns := max(6*max(16, k, min(machines, machinesAtATime)), 5*kernel.SlabColumns(n)) + k + 20
	items := seen
	switch {
	case m.learner.Whole:
		items = n
	case !m.learner.Dual:
		columns += labels
	case !solves(j):
		items = max(labels, seen)
	}
	workers := int64(min(sched.Workers(j.Settings.Workers), max(len(j.Sources), len(j.Values))))
	outcomes := int64(seen) * int64(len(j.Values)) * (budget.Vector[choose.Outcome](1) + 8*int64(machines) + 16)
	return iterative.FactorWorkspace(n, p.A.NNZ(), false).AndHeld(
		budget.Times(columns, 8*int64(n)), 16*int64(items)*int64(items), m.learner.Declare(items, 0, k).Required(0),
		8*int64(seen)*int64(seen)*int64(len(j.Sources)), workers*(m.learner.Declare(seen, 0, k).Required(0)+outcomes)), nil
}
