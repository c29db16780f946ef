package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/param"
)

// Values of [Settings.Effort].
const (
	LowEffort    = "low"    // auto learns from random walks and attributes alone
	NormalEffort = "normal" // optional stages of auto take about ten seconds of one processor
	HighEffort   = "high"   // optional stages of auto take about 100 seconds, and it learns from up to 20,000 labels
)

// Efforts returns the values of [Settings.Effort].
func Efforts() []string { return []string{LowEffort, NormalEffort, HighEffort} }

// Settings are the settings of a prediction and of a choice of parameters. The zero value and nil mean the defaults.
type Settings struct {
	Prior   cwk.Prior // scores of walks without a label; the zero value: uniform
	RNGSeed uint64

	// Given has values of parameters that must not be chosen. Methods ignore names that they do not declare.
	Given param.Values

	// Lists has grids in place of the grids of parameters, by name. Methods ignore names that they do not declare.
	Lists map[string][]param.Value

	// Fixed states that parameters in neither Given nor Lists have their defaults.
	Fixed bool

	// Raw asks for Prediction.Raw, the scores of the method's formula.
	Raw bool

	// Top is how many of the highest scores of each node the caller uses, at most [problem.HighestCount]; 0: all scores. If
	// Top is set and all scores would take more than a quarter of Memory, a method may set Prediction.Highest and leave
	// Prediction.Scores nil.
	Top int

	// Explain asks for Prediction.Form, which [Prediction.Explain] needs. It requires Raw.
	Explain bool

	// Columns asks for Prediction.Columns. The engine must have an Extension.
	Columns bool

	// Weights is the function of edge weights that [Engine.Weigh] applies, one of [Weightings]. If it is empty, held-out
	// labels choose the function for auto, and other methods use the given weights.
	Weights string

	// Effort is LowEffort, NormalEffort or HighEffort: how much time the optional stages of auto may take. "" means
	// NormalEffort.
	Effort string

	// Unmeasured omits what serves only the estimate of the accuracy.
	Unmeasured bool

	// Suggests measures label propagation also on a large graph where auto does not use it, for [Baselines.ShowLikeness].
	Suggests bool `json:"-"`

	// Rough states that predicted numbers are only compared and need few digits.
	Rough bool

	Memory  int64 // limit of walks and features in bytes; 0: none
	Workers int   // number of goroutines; 0: one for each processor

	Tested    int        `json:"-"` // number of labels in the splits that choose; 0: no splits
	Sample    int        `json:"-"` // limit of the labelled nodes that compare settings; 0: 500
	Baselines *Baselines `json:"-"` // baselines of the same problem; nil: auto measures label propagation
	Model     *Model     `json:"-"` // replaces choice and fit; nil: none

	// Targets are the nodes that can have a label, for which auto estimates its accuracy; nil: all.
	Targets []uint32

	// Progress, if not nil, is called with a stage ("choose", "features", "walk", "predict" or "compare"), how much of it is done, and its total.
	Progress func(stage string, done, total int64) `json:"-"`
}

// IgnoreProgress is the Progress of settings without a callback.
func IgnoreProgress(string, int64, int64) {}

// WithDefaults returns s with every default filled in; s may be nil.
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

// Fix sets Given to values, adds the parameters whose list has a single value, and removes all given parameters from Lists.
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

// Grid returns the settings of spec to choose from on graph g, and the grid that they form. A parameter in fixed has only its
// value there. The error comes from [param.Spec.Resolve].
func (s *Settings) Grid(spec *param.Spec, fixed param.Values, g param.Graph) ([]param.Values, *choose.Space, error) {
	tried := s.WithGrids(spec)
	list, err := choose.Combinations(tried, fixed, g)
	if err != nil {
		return nil, nil, err
	}
	usual, err := spec.Resolve(fixed, g)
	return list, choose.SpaceOf(tried, list, usual), err
}

// WithGrids returns spec with the grids of s.Lists in place of its own grids. The grids do not depend on the graph. If a
// listed parameter replaces another parameter, the other parameter is removed.
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
			p.Default = list[0] // a parameter that replaces another has no default
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
