package method

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/validate"
)

// kernelMethod is a learner on a kernel of package kernel. At most the block
// between labelled nodes is ever made: all nodes are predicted by one
// application of the kernel to the machines' dual coefficients.
type kernelMethod struct {
	kernel  string
	learner Learner
}

// kernelMethods returns the methods of every kernel that is symmetric or, as
// those of PageRank, has a symmetric form.
func kernelMethods() []Method {
	var list []Method
	for _, name := range kernel.Names() {
		if kernelGrid(name, kernel.Parameters{}, 1) != nil {
			list = append(list, kernelMethod{name, KernelSVM}, kernelMethod{name, RLS})
		}
	}
	return list
}

// Name implements [Method]: that of the kernel, and of the learner unless it is
// the support vector machine.
func (m kernelMethod) Name() string {
	if m.learner == KernelSVM {
		return m.kernel
	}
	return m.kernel + "+" + string(m.learner)
}

// Takes implements [Method]: the parameters of the kernel but for the choice of
// a form, which is the symmetric one, and that of the learner.
func (m kernelMethod) Takes() []string { return append(m.takes(), m.learner.takes()...) }

// takes returns the names of the kernel's parameters but for the choice of a form.
func (m kernelMethod) takes() []string {
	return slices.DeleteFunc(slices.Clone(kernel.Takes(m.kernel)), func(name string) bool { return name == "symmetric" })
}

// Predict implements [Method].
func (m kernelMethod) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	r, err := m.begin(ctx, p, par, s)
	if err != nil {
		return nil, err
	}
	choose, learn := r.choose, r.learn
	if m.learner == RLS {
		choose, learn = r.chooseSolved, r.solve
	}
	if err := r.run(ctx, choose, learn, r.score); err != nil {
		return nil, err
	}
	if m.learner == RLS {
		r.out.Parameters.Lambda = r.strength
	} else {
		r.out.Parameters.Cost = r.strength
	}
	r.out.Settings = len(r.grid) * len(r.strengths)
	return r.out, nil
}

// begin finds what is known of the graph, and the kernels to choose from.
func (m kernelMethod) begin(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*kernelPredictor, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	set.Learner = m.learner
	set.Grid = set.Grid.of(m.learner)
	if err := set.Grid.Validate(); err != nil {
		return nil, err
	}
	if p.Directed {
		return nil, &DirectedError{m.kernel}
	}
	r := &kernelPredictor{
		predictor: predictor{p: p, set: &set, prior: shares, out: &Prediction{Learner: m.learner}},
		name:      m.kernel,
		grid:      kernelGrid(m.kernel, set.Kernel, len(p.Degrees)), strengths: set.Grid.strengths(),
	}
	if set.Kernel.Laplacian == kernel.RandomWalk && slices.Contains(kernel.Takes(m.kernel), "laplacian") {
		return nil, fmt.Errorf("%w: %s of the random-walk Laplacian is not symmetric; choose combinatorial or normalized", validate.ErrUsage, m.kernel)
	}
	if par != nil {
		r.grid, r.strengths = []kernel.Parameters{par.Of}, []float64{max(par.Cost, par.Lambda)}
	}
	on, err := graph.New(ctx, p.A, set.Workers)
	if err != nil {
		return nil, err
	}
	set.Memory = beside(p, set.Memory)
	on.Memory = set.Memory
	r.out.Work = Work{graph.Sweeps, graph.Sweeps * p.A.NNZ()}
	p.components = on.Components
	r.out.Reached = on.Components.Reached(p.Row)
	if err := r.scaleGrid(ctx, on); err != nil {
		return nil, err
	}
	if par == nil && tooFew(p.Class) {
		if err := r.usual(ctx, on); err != nil {
			return nil, err
		}
	}
	r.kernels, err = kernel.NewAll(ctx, on, m.kernel, r.grid)
	return r, err
}

// run goes through the phases of a prediction.
func (r *kernelPredictor) run(ctx context.Context, choose, learn, score func(context.Context) error) error {
	for _, phase := range []struct {
		do      func(context.Context) error
		seconds *float64
	}{
		{choose, &r.out.Seconds.Choose},
		{learn, &r.out.Seconds.Classify},
		{score, &r.out.Seconds.Walk},
		{r.finish, &r.out.Seconds.Classify},
	} {
		start := time.Now()
		if err := phase.do(ctx); err != nil {
			return err
		}
		*phase.seconds += time.Since(start).Seconds()
	}
	r.out.Parameters = Parameters{Kernel: r.name, Of: kernel.Used(r.name, r.grid[r.best])}
	return nil
}

// usual leaves of the grid what is taken where nothing can be tried: the
// kernel's defaults, and the strength that walks have then.
func (r *kernelPredictor) usual(ctx context.Context, g *graph.Graph) error {
	form := r.grid[0]
	form, err := kernel.Resolve(ctx, g, r.name, kernel.Parameters{
		Laplacian: form.Laplacian, Matrix: form.Matrix, Rank: form.Rank, Symmetric: form.Symmetric,
	}.With(r.set.Kernel, r.name))
	if err != nil {
		return err
	}
	s := r.set.Grid.at(r.set.Grid.nearest(NoGrid().of(r.set.Learner).at(0)))
	r.grid, r.strengths = []kernel.Parameters{form}, []float64{max(s.Cost, s.Lambda)}
	return nil
}

// scaleGrid makes α and β that are tried on the adjacency matrix relative to
// its spectral radius, which for the normalised one is 1.
func (r *kernelPredictor) scaleGrid(ctx context.Context, g *graph.Graph) error {
	given := r.set.Kernel
	if r.grid[0].Matrix != kernel.Adjacency || given.Alpha != 0 || given.Beta != 0 || r.p.A.NNZ() == 0 {
		return nil
	}
	find := kernel.RoughRadius
	if r.grid[0].Alpha != 0 {
		find = kernel.Radius // which α may come near to
	}
	radius, err := find(ctx, g)
	for i := range r.grid {
		r.grid[i].Alpha /= radius
		r.grid[i].Beta /= radius
	}
	return err
}

// DirectedError is returned for a graph with directions by a method whose
// kernel needs a symmetric one. It is an [ErrUsage].
type DirectedError struct{ Kernel string }

// Error says which kernel needs a symmetric graph.
func (e *DirectedError) Error() string {
	return "method: edges have a direction, and " + e.Kernel + " needs a symmetric graph"
}

// Unwrap returns [ErrUsage].
func (e *DirectedError) Unwrap() error { return validate.ErrUsage }
