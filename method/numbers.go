package method

import (
	"context"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
)

// numberFit predicts the number of every node from each of some samples of numbers, problems on one graph. If several processes
// share the nodes, it predicts the nodes of the process.
type numberFit func(ctx context.Context, samples []*Problem, v param.Values, s *Settings) ([][]float64, error)

// oneByOne returns a function that predicts from each sample by itself.
func oneByOne(predict func(ctx context.Context, p *Problem, v param.Values, s *Settings) ([]float64, error)) numberFit {
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

// samplesAtOnce is the number of groups whose models are fitted together: of learners that spread labels their columns, two for each, fill a line of
// the cache.
const samplesAtOnce = 4

// predictions is the field of [graphMethod].
func (f numberFit) predictions(ctx context.Context, j *job, settings []param.Values, groups []group, visit foldVisitor) error {
	for setting, v := range settings {
		for lo := 0; lo < len(groups); lo += samplesAtOnce {
			var samples []*Problem
			for _, g := range groups[lo:min(len(groups), lo+samplesAtOnce)] {
				samples = append(samples, g.train)
			}
			list, err := f(ctx, samples, v, j.set)
			if err != nil {
				return err
			}
			for i, values := range list {
				visit(setting, lo+i, func(node int) (float64, bool) { return values[node], true })
			}
		}
		j.set.Progress(j.declared.Name, int64(setting+1), int64(len(settings)))
	}
	return nil
}

// scores is the field of [graphMethod].
func (f numberFit) scores(ctx context.Context, j *job, v param.Values) error {
	list, err := f(ctx, []*Problem{j.p}, v, j.set)
	if err == nil {
		j.out.Value = list[0]
	}
	return err
}

// numeric returns the steps of an engine of numbers.
func numeric(spec *param.Spec, fit numberFit, workspace func(p *Problem) budget.Workspace) graphMethod {
	return graphMethod{spec: spec, target: Numbers, predictions: fit.predictions, scores: fit.scores,
		workspace: func(p *Problem, _ []param.Values, _ *Settings) (budget.Workspace, error) { return workspace(p), nil }}
}

// Regressions returns all engines of numbers.
func Regressions() (list []*Engine) {
	for _, m := range []graphMethod{harmonic, hops, spectralRidge} {
		list = append(list, m.engine())
	}
	list[1].Takes = append(list[1].Takes, "node_features")
	for _, l := range propagate.Learners() {
		if l.Averages() {
			list = append(list, spreading{l}.numbers().engine())
		}
	}
	list = append(list, registeredFor(Numbers)...)
	for _, f := range kernels() {
		if f.Works&param.Undirected != 0 {
			list = append(list, kernelRidge{f}.engine())
		}
	}
	return list
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
	var names []string
	for _, e := range Regressions() {
		switch {
		case e.Name == name:
			return e, nil
		case len(e.Specs) == 1:
			names = append(names, e.Name)
		}
	}
	for _, e := range Means() { // of kept models
		if e.Name == name {
			return e.Method, nil
		}
	}
	return nil, choose.Usage("%s: predicts no numbers in this program; give %s or KERNEL+%s", name, strings.Join(names, ", "), ridgeSpec.Name)
}
