package method

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
)

// Regression declares how an engine predicts numbers, from [problem.Problem.Value]. It is in the file of its algorithm.
type Regression struct {
	param.Spec

	// Attributes reports that it uses the attributes of nodes.
	Attributes bool

	// Ridge reports that larger values of the last parameter are simpler.
	Ridge bool

	// OnKernel reports that it learns from the values of a kernel, as in diffusion+rls.
	OnKernel bool

	// Predict predicts the value of every node from each of some samples of values, problems on one graph, with complete values of the
	// parameters. If several processes share the nodes, it predicts the nodes of the process.
	Predict func(ctx context.Context, samples []*Problem, v param.Values, s *Settings) ([][]float64, error)

	// Widens reports that the largest value of the first parameter costs most, and is compared only if the next one is the best
	// of the others.
	Widens bool

	// prepare gives a copy for one problem its functions, which keep what depends on the graph alone; nil: there is nothing.
	prepare func(r *Regression)

	// Workspace declares the memory of Predict and HeldOut; nil: none but the values.
	Workspace func(p *Problem, s *Settings) budget.Workspace

	// HeldOut returns the errors by setting of predictions for values from all values outside their fold, those of values with a
	// negative fold without use; nil: Predict is used. The one of an engine on a kernel takes few values.
	HeldOut func(ctx context.Context, p *Problem, fold []int, settings []param.Values, s *Settings) ([][]float64, error)
}

// oneByOne returns a function for [Regression].Predict that predicts from each sample by itself.
func oneByOne(predict func(ctx context.Context, p *Problem, v param.Values, s *Settings) ([]float64, error)) func(ctx context.Context, samples []*Problem, v param.Values, s *Settings) ([][]float64, error) {
	return func(ctx context.Context, samples []*Problem, v param.Values, s *Settings) (list [][]float64, err error) {
		for _, p := range samples {
			values, err := predict(ctx, p, v, s)
			if err != nil {
				return nil, err
			}
			list = append(list, values)
		}
		return list, nil
	}
}

var regressions = param.List[*Regression]{&harmonic, &hops, &ridge, &spectralRidge}

// Regressions returns the declarations of all engines of numbers, with one for all kernels.
func Regressions() param.List[*Regression] {
	list := slices.Clone(regressions)
	for _, l := range propagate.Learners() {
		if l.Averages() {
			list = append(list, averages(l))
		}
	}
	return list
}

// Engine returns an engine of numbers.
func (r *Regression) Engine() *Engine {
	m := Engine{Name: r.Spec.Name, Takes: r.Spec.Takes(), Specs: []*param.Spec{&r.Spec}, Numbers: r}.inStages(r.begin)
	m.Choose = nil
	return m
}

// The numbers of nodes up to which engines are among the defaults: all together cost some seconds there. A kernel takes a column of
// all nodes for each of a thousand values, and is the best of them where values have heavy tails.
const (
	mostKernelNodes   = 8_000
	mostSpectralNodes = 20_000
)

// DefaultNumbers returns the list of engines of numbers to compare on a graph of the given size unless others are named: lgc, hops
// and up to 20,000 nodes spectral, or harmonic if weights have signs; up to 8,000 nodes diffusion+rls. On each graph of
// docs/honesty.md another engine is better than the harmonic function.
func DefaultNumbers(nodes int, signed bool) string {
	list := []string{"lgc", "hops"}
	if signed {
		list = []string{"harmonic"}
	}
	if nodes <= mostKernelNodes {
		list = append(list, "diffusion+rls")
	}
	if !signed && nodes <= mostSpectralNodes {
		list = append(list, "spectral")
	}
	return strings.Join(list, ",")
}

// findRegression returns the engine of numbers with a name.
func findRegression(name string) (*Engine, error) {
	kernelName, modelName, isPair := strings.Cut(name, "+")
	if !isPair {
		modelName = name
	}
	all := Regressions()
	r := all.Named(modelName)
	switch {
	case r == nil || r.OnKernel != isPair:
	case !isPair:
		return r.Engine(), nil
	case kernelName == cwk.Spec.Name:
		return nil, choose.Usage("%s: its walks start at labels of classes, which numbers do not have; "+
			"give another kernel, such as %s", kernelName, kernel.Families()[0].Name)
	default:
		if f := kernel.Families().Named(kernelName); f != nil && f.Works&param.Undirected != 0 {
			e := onKernel(f).Engine()
			e.Check = func(s *Settings) error { return f.Asymmetric(f.Own(s.Given)) }
			return e, nil
		}
	}
	var names []string
	for _, r := range all {
		form := r.Spec.Name
		if r.OnKernel {
			form = "KERNEL+" + form
		}
		names = append(names, form)
	}
	hint := "give " + strings.Join(names, ", ")
	if _, err := findMethod(name); err != nil {
		return nil, choose.Usage("%s: is no method of regression in this program; %s", name, hint)
	}
	reason := "its scores compare classes"
	if l := propagate.Learners().Named(name); l != nil {
		reason = cmp.Or(l.NoNumbers, reason)
	}
	return nil, choose.Usage("%s: predicts classes and no numbers, because %s; %s", name, reason, hint)
}

// begin returns the settings and the stages.
func (r *Regression) begin(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*job, error) {
	if p.Directed || p.In != nil {
		return nil, &problem.Error{Method: r.Spec.Name, Err: problem.ErrDirected}
	}
	if err := problem.ValidateFor(p, &r.Spec); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	p, err := withStructure(ctx, p, &set)
	if err != nil {
		return nil, err
	}
	j := &job{p: p, set: &set, out: new(Prediction), sourceSpace: new(choose.Space), declared: &r.Spec}
	j.values, j.space, err = set.grid(&r.Spec, r.Own(set.Given), kernel.On(ctx, p.Graph))
	if err != nil {
		return nil, err
	}
	if last := len(j.space.Axes) - 1; last >= 0 {
		j.space.Axes[last].Falling = r.Ridge
	}
	if par != nil {
		j.fix(par)
	}
	if r.prepare != nil {
		prepared := *r
		r = &prepared
		r.prepare(r)
	}
	j.byFolds = func(ctx context.Context) (*Choice, error) { return r.choose(ctx, j, newTestValues(p, set.RNGSeed)) }
	j.learn = func(ctx context.Context, c *Choice) error {
		v := j.values[0]
		if c.Declared != nil {
			v = c.Declared.Values
		}
		list, err := r.Predict(ctx, []*Problem{p}, v, j.set)
		if err == nil {
			j.out.Value = list[0]
			known := rangeOf(p.Value)
			for i, x := range j.out.Value {
				j.out.Value[i] = known.clip(x)
			}
			j.out.Reached = p.Components.Reachable(p.Row)
		}
		return err
	}
	return j, nil
}
