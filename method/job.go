package method

import (
	"cmp"
	"context"
	"maps"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/param"
)

// job is a prediction, or a choice, by a learner on a source: the walk or a kernel.
type job struct {
	p       *Problem
	set     *Settings
	learner *classify.Learner
	out     *Prediction

	source      *param.Spec
	sources     []param.Values // of the source, to choose from
	sourceSpace *choose.Space
	values      []param.Values // of the learner, to choose from
	space       *choose.Space
}

// fix leaves the given parameters alone to choose from.
func (j *job) fix(par *Parameters) {
	declared := maps.Clone(j.values[j.space.Usual])
	maps.Copy(declared, par.Declared.Values)
	j.sources = []param.Values{par.Kernel.Values}
	j.sourceSpace = new(choose.Space)
	j.values = []param.Values{declared}
	j.space = new(choose.Space)
}

// size returns the number of settings to choose from.
func (j *job) size() int { return len(j.sources) * len(j.values) }

// parameters returns those of a setting of the source and of one of the learner.
func (j *job) parameters(source, value int) Parameters {
	return Parameters{Kernel: &Setting{j.source, j.sources[source]},
		Declared: &Setting{specOf(j.learner), j.values[value]}}
}

// choose chooses a setting of the source and one of the learner; measure returns the counts of all pairs of some of them,
// those of the learner varying fastest.
func (j *job) choose(ctx context.Context,
	measure func(ctx context.Context, sources, values []int) (*choose.Counts, error)) (*Choice, error) {
	s := &choose.Search{Kernel: j.sourceSpace, Learner: j.space,
		Together: j.learner.Path != nil, Measure: measure}
	result, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: j.parameters(result.Kernel, result.Setting),
		Accuracy:   result.Accuracy, Tested: result.Tested, Settings: j.size(),
		choice: result,
	}, nil
}

// machinesOf returns the number of binary classifiers, and whether each separates one class from the rest.
func machinesOf(j *job) (machines int, isRest bool) {
	classes := len(j.p.Names)
	if pairwise(j.learner, j.values[0]) {
		return classes * (classes - 1) / 2, false
	}
	return classes, true
}

// Choice is the result of choosing parameters.
type Choice struct {
	Parameters
	Accuracy float64 // of the parameters on the labels that they were chosen by
	Tested   int     // predictions behind it for each setting; 0: there were too few labels
	Settings int     // number of settings to choose from
	Work     graph.Work

	choice *choose.Found // nil of other methods, and with too few labels
}

// candidatesOf returns those of a choice on features of the given walks.
func candidatesOf(j *job, walks, values []param.Values) *choose.Candidates {
	c := &choose.Candidates{Classes: len(j.p.Names),
		MinSteps: walks[0].Int("min-steps"), Learner: j.learner, Values: values}
	for _, v := range walks {
		c.Steps = append(c.Steps, v.Int("steps"))
	}
	if path := j.learner.Path; path != nil {
		c.Path = cmp.Or(path.OnFeatures, path)
	}
	return c
}

// comparedLabels returns the number of labels on which settings on walks are compared.
func comparedLabels(j *job) int {
	if limit := j.learner.ComparedItems; limit > 0 {
		return min(j.set.sample, limit)
	}
	return j.set.sample
}
