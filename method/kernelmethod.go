package method

import (
	"context"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/graphlearner"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// kernelMethod is a learner on a kernel of package kernel. At most the block
// between labelled nodes is ever made: all nodes are predicted by one
// application of the kernel to the machines' dual coefficients.
type kernelMethod struct {
	kernel  *kernel.Family
	learner learner
}

// kernels returns every kernel that is symmetric or, as those of PageRank, has a
// symmetric form.
func kernels() []*kernel.Family {
	return slices.DeleteFunc(kernel.Families(), func(f *kernel.Family) bool { return f.Distance != "" })
}

// kernelMethods returns every kernel with the learners that have ways of their own to choose
// and to learn.
func kernelMethods() (list []Method) {
	for _, f := range kernels() {
		list = append(list, kernelMethod{f, kernelSVM}, kernelMethod{f, rls})
	}
	return list
}

// Name implements [Method]: that of the kernel, and of the learner unless it is
// the support vector machine.
func (m kernelMethod) Name() string {
	if m.learner == kernelSVM {
		return m.kernel.Name
	}
	return m.kernel.Name + "+" + string(m.learner)
}

// Takes implements [Method]: the parameters of the kernel but for switches, which
// choose the form that learners take, and that of the learner.
func (m kernelMethod) Takes() []string {
	return append(m.takes(), m.learner.spec().Takes()...)
}

// takes returns the names of the kernel's parameters but for switches.
func (m kernelMethod) takes() (takes []string) {
	for _, p := range m.kernel.Params {
		if p.Kind != spec.Switch {
			takes = append(takes, p.Name)
		}
	}
	return takes
}

// Declarations implements [Method].
func (m kernelMethod) Declarations() []*spec.Spec {
	return []*spec.Spec{&m.kernel.Spec, m.learner.spec()}
}

// Predict implements [Method].
func (m kernelMethod) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	r, err := m.begin(ctx, p, par, s)
	if err != nil {
		return nil, err
	}
	choose, learn := r.choose, r.learn
	if m.learner == rls {
		choose, learn = r.chooseSolved, r.solve
	}
	return r.run(ctx, choose, learn, r.score)
}

// begin finds what is known of the graph, and the kernels to choose from.
func (m kernelMethod) begin(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*kernelPredictor, error) {
	own := s.WithDefaults()
	own.learner = m.learner
	set, err := own.on(p)
	if err != nil {
		return nil, err
	}
	if p.Directed {
		return nil, &problem.Error{Method: m.kernel.Name, Err: problem.ErrDirected}
	}
	if err := set.checkStrategy(len(p.Names)); err != nil {
		return nil, err
	}
	r := &kernelPredictor{
		predictor: predictor{p: p, set: &set, prior: graphlearner.Shares, counted: true, out: &Prediction{learner: m.learner}},
		kernel:    m.kernel, learner: m.learner.spec(), settled: set.Grid.tried(),
	}
	on, err := p.Graph(ctx, set.Workers, &r.out.Work)
	if err != nil {
		return nil, err
	}
	set.Memory = ledger.Beside(p, set.Memory)
	on.Memory = set.Memory
	r.out.Reached = on.Components.Reached(p.Row)
	switch seen := kernel.On(ctx, on); {
	case par != nil:
		r.grid, r.settled = []spec.Values{par.Kernel.Values}, []spec.Values{par.Declared.Values}
	case validate.TooFew(p.Class):
		err = r.usual(seen)
	default:
		r.grid, err = kernelGrid(m.kernel, &set, seen)
	}
	if err != nil {
		return nil, err
	}
	for _, v := range r.grid {
		if m.kernel.Asymmetric(v) != nil {
			return nil, fmt.Errorf("%w: %s, %s, is not symmetric, and learners need it to be", validate.ErrUsage, m.kernel.Name, m.kernel.Text(v))
		}
	}
	if byParts := m.learner == rls && len(p.Row) > maxSolved; set.kernels != nil && len(r.grid) == 1 && !byParts {
		r.kept, err = set.kernels.Of(ctx, m.kernel, r.grid[0])
		return r, err
	}
	r.kernels, err = m.kernel.NewAll(ctx, on, r.grid)
	return r, err
}

// run goes through the phases of a prediction.
func (r *kernelPredictor) run(ctx context.Context, choose, learn, score func(context.Context) error) (*Prediction, error) {
	t := &r.out.Seconds
	err := piece.Phases(ctx, []piece.Phase{
		{Do: choose, Seconds: &t.Choose}, {Do: learn, Seconds: &t.Classify}, {Do: score, Seconds: &t.Walk}, {Do: r.finish, Seconds: &t.Classify},
	})
	if err != nil {
		return nil, err
	}
	r.out.Parameters, r.out.Settings = r.parameters(r.best, r.values), len(r.grid)*len(r.settled)
	return r.out, nil
}

// parameters returns those of a kernel of the grid with values of the learner.
func (r *kernelPredictor) parameters(kernel int, own spec.Values) Parameters {
	par := Parameters{Kernel: &Setting{&r.kernel.Spec, r.grid[kernel]}, Declared: &Setting{r.learner, own}}
	if r.by == nil {
		par.Beside = r.set.beside(r.set.learner, len(r.p.Names))
	}
	return par
}

// kernelGrid returns the values that a kernel is tried with on a graph.
func kernelGrid(f *kernel.Family, set *Settings, g spec.Graph) ([]spec.Values, error) {
	return validate.Settings(set.trying(&f.Spec), f.Spec.Own(set.Given), g)
}

// usual takes what there is where nothing can be tried: the
// kernel's defaults, in the form that learners take, and the setting that walks have
// then.
func (r *kernelPredictor) usual(g spec.Graph) error {
	given := r.kernel.Spec.Own(r.set.Given)
	for i := range r.kernel.Params {
		p := &r.kernel.Params[i]
		if !given.Has(p.Name) && len(p.Grid) == 1 {
			grid, err := p.GridOn(given, g)
			if err != nil {
				return err
			}
			given[p.Name] = grid[0]
		}
	}
	v, err := r.kernel.Resolve(given, g)
	r.grid, r.settled = []spec.Values{v}, []spec.Values{r.set.Grid.at(r.set.Grid.usual()).Declared.Values}
	return err
}
