package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/param"
)

// Settings are the settings of a prediction and of a choice of parameters. The zero value and
// nil mean all defaults.
type Settings struct {
	Prior   cwk.Prior // where walks without a label start; the zero value: uniform
	RNGSeed uint64    // of folds and samples

	// Given has values of parameters that are not to be chosen; a method uses those that its
	// declarations have.
	Given param.Values

	// Lists replaces the grids of parameters, by name. A method ignores the names that its
	// declarations do not have.
	Lists map[string][]param.Value

	// Fixed reports that parameters which are neither given nor listed have their defaults, and
	// are not chosen.
	Fixed bool

	// Raw asks for the scores of the method's formula in Prediction.Raw, in addition to
	// probabilities.
	Raw bool

	// Top, if not 0, is the number of the highest scores of a node that are used, at most [problem.HighestCount]. A
	// method may then leave Prediction.Scores nil and set Prediction.Highest, if the scores of all classes would
	// take more than a quarter of Memory.
	Top int

	// Explain keeps the prediction in a form that [Prediction.Explain] reads. It needs Raw.
	Explain bool

	// Weights are the weights of edges that [Engine.Weigh] gives a method: one of [Weightings]; "": chosen by held-out
	// labels for auto, as given for others.
	Weights string

	// LowEffort leaves scores of eigenvectors and kernels out of the method auto.
	LowEffort bool

	// Unmeasured leaves out computations that serve the estimate of the accuracy alone.
	Unmeasured bool

	// Suggests measures label propagation on a large graph too, where auto does not have it as a candidate, so that
	// [Baselines.ShowLikeness] has held-out labels.
	Suggests bool `json:"-"`

	// Rough reports that predicted numbers are compared, and need few digits.
	Rough bool

	Memory  int64 // limits what walks and features allocate, in bytes; 0: no limit
	Workers int   // goroutines, 0: one for each processor; never changes a result

	Tested    int        `json:"-"` // labels of the problem whose splits choose; 0: there are no splits
	Sample    int        `json:"-"` // limits the labelled nodes on which settings are compared; 0: 500
	Baselines *Baselines `json:"-"` // of the same problem, for auto; nil: it measures label propagation itself
	Model     *Model     `json:"-"` // predicts in place of a choice and a fit; nil: none, see [Model]

	// Targets are the rows of the nodes that could have a label, which the accuracy of auto is about; nil: all nodes.
	Targets []uint32

	// Progress, if not nil, is called with the stage ("choose", "features" or "walk"), the
	// finished part of it, and the whole.
	Progress func(stage string, done, total int64) `json:"-"`
}

// IgnoreProgress is the callback of settings that have none.
func IgnoreProgress(string, int64, int64) {}

// WithDefaults returns the settings with every default filled in.
func (s *Settings) WithDefaults() Settings {
	var f Settings
	if s != nil {
		f = *s
	}
	if f.Sample == 0 {
		f.Sample = 500
	}
	if f.Progress == nil {
		f.Progress = IgnoreProgress
	}
	return f
}

// Fix moves single values of Lists to Given, and gives the parameters of values their values.
func (s *Settings) Fix(values param.Values) {
	s.Given = maps.Clone(values)
	for name, list := range s.Lists {
		if len(list) == 1 && !values.Has(name) {
			s.Given[name] = list[0]
		}
		if s.Given.Has(name) {
			delete(s.Lists, name)
		}
	}
}

// Grid returns the complete settings of a declaration to choose from, with some values fixed, and their space. The error
// comes from [param.Spec.Resolve].
func (s *Settings) Grid(spec *param.Spec, fixed param.Values, g param.Graph) ([]param.Values, *choose.Space, error) {
	tried := s.WithGrids(spec)
	list, err := choose.Combinations(tried, fixed, g)
	if err != nil {
		return nil, nil, err
	}
	usual, err := spec.Resolve(fixed, g)
	return list, choose.SpaceOf(tried, list, usual), err
}

// WithGrids returns a declaration with the grids of the settings: values by the name of their
// parameter, which stand for themselves on every graph. A parameter in whose place one of
// them stands is left out.
func (s *Settings) WithGrids(spec *param.Spec) *param.Spec {
	tried := *spec
	tried.Params = nil
	for _, p := range spec.Params {
		if slices.ContainsFunc(spec.Params,
			func(q param.Param) bool {
				return q.Instead == p.Name &&
					len(s.Lists[q.Name]) > 0
			}) {
			continue
		}
		if s.Fixed && len(p.Grid) > 1 {
			p.Grid = nil
		}
		if list := s.Lists[p.Name]; len(list) > 0 {
			p.Grid = slices.Clone(list)
			p.On = nil
			p.Instead = ""
			p.Default = list[0] // of a parameter that stood in place of another, which has none
			if p.Kind == param.Real || p.Kind == param.Whole {
				slices.SortFunc(p.Grid, func(a, b param.Value) int {
					return cmp.Compare(param.Values{"": a}.Number(""),
						param.Values{"": b}.Number(""))
				})
			}
		}
		tried.Params = append(tried.Params, p)
	}
	return &tried
}
