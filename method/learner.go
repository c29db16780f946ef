package method

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// learners returns the learners that methods have on walks and kernels, see
// [classify.Register]. The name of a method may leave out the first one.
var learners = classify.Learners

// specOf returns the declaration whose parameters a learner on a walk or a kernel receives.
func specOf(l *classify.Learner) *param.Spec {
	if l.Path != nil {
		return &l.Path.Spec
	}
	return &l.Spec
}

// onPath reports whether a declaration is that of a path.
func onPath(spec *param.Spec) bool {
	return slices.ContainsFunc(learners(), func(l *classify.Learner) bool { return l.Path != nil && spec == &l.Path.Spec })
}

// constantsOf returns the values of a path's parameters but the one along it, with those that are given.
// The error is that of [param.Spec.Resolve].
func constantsOf(path *classify.Path, fixed param.Values, classes int) (param.Values, error) {
	v := param.Values{}
	if path.For != nil {
		maps.Copy(v, path.For(classes))
	}
	maps.Copy(v, path.Own(fixed))
	delete(v, path.Parameter)
	v, err := path.Resolve(v, nil)
	delete(v, path.Parameter)
	return v, err
}

// pairwise reports whether there is a machine for every two classes.
func pairwise(l *classify.Learner, constant param.Values) bool {
	return l.Path != nil && l.Path.Pairwise != nil && l.Path.Pairwise(constant)
}

// mostPairwise is the largest number of classes whose votes fit into bytes.
const mostPairwise = 256

// mostPlainFolds is the largest number of folds by default.
const mostPlainFolds = 10

// onWalks returns the settings with every default for a learner on walks: its settings and those of the walk are in the
// grid, and the values that are not chosen in constant. The error is that of newGrid or of learnerSettings.
func (s *Settings) onWalks(l *classify.Learner, classes int) (Settings, error) {
	set := s.WithDefaults()
	set.learner = l
	g, err := newGrid(&set, l)
	if err != nil {
		return set, err
	}
	longest := onWalk(0, g.last(), g.minSteps, Honest)
	if l.Whole && slices.Contains(g.features, Honest) || len(g.features) > 1 && mostPlainFolds*set.comparedLabels() > mostRows(l, &longest, classes) {
		// Trials know no other nodes, which plain rows are unlike; and plain rows are as many as labels and folds.
		g.features = []string{Honest}
	}
	g.settings, g.space, set.constant, err = set.learnerSettings(l, classes)
	set.grid = g
	return set, err
}

// learnerSettings returns the settings of a learner to choose from, their space, and the values of a path's other
// parameters, which are not chosen. The error is that of [param.Spec.Resolve], or a [split.UsageError] for classifiers for
// every two of very many classes.
func (s *Settings) learnerSettings(l *classify.Learner, classes int) (settings []param.Values, space *choose.Space, constant param.Values, err error) {
	spec, fixed := &l.Spec, givenFor(l, s.Given, classes)
	if path := l.Path; path != nil {
		if constant, err = constantsOf(path, s.Given, classes); err != nil {
			return nil, nil, nil, err
		}
		if classes > mostPairwise && pairwise(l, constant) {
			return nil, nil, nil, split.Usage("machines for every two of %d classes are too many; take one-vs-rest", classes)
		}
		spec = &param.Spec{Name: path.Name, Params: []param.Param{*path.Param(path.Parameter)}}
		fixed = spec.Own(s.Given)
	}
	usual, err := spec.Resolve(fixed, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	if settings, err = split.Settings(s.trying(spec), fixed, nil); err != nil {
		return nil, nil, nil, err
	}
	space = choose.SpaceOf(s.trying(spec), settings, usual)
	if l.Path != nil && len(space.Axes) == 1 {
		space.Axes[0].Falling = l.Path.Ridge
	}
	return settings, space, constant, nil
}

// givenFor returns the given values of a learner's parameters, and those that replace its defaults
// for the number of classes: a thousand classes have half a million pairs, which one-vs-one
// classifiers would be trained for.
func givenFor(l *classify.Learner, fixed param.Values, classes int) param.Values {
	v := param.Values{}
	if l.Path != nil && l.Path.For != nil {
		maps.Copy(v, l.Path.For(classes))
	}
	maps.Copy(v, l.Spec.Own(fixed))
	return v
}

// complete returns the settings with the values that are not chosen.
func complete(constant param.Values, settings ...param.Values) []param.Values {
	completed := make([]param.Values, len(settings))
	for i, v := range settings {
		completed[i] = maps.Clone(v)
		maps.Copy(completed[i], constant)
	}
	return completed
}

// constantsOn returns the values v of the learner's parameters that are not chosen, nil if there are none.
func constantsOn(l *classify.Learner, v param.Values) []Setting {
	if l.Path == nil || len(v) == 0 {
		return nil
	}
	return []Setting{{&l.Path.Spec, v}}
}

// candidates returns the candidates of a choice on features.
func (s *Settings) candidates() choose.Candidates {
	t := choose.Candidates{Learner: s.learner, Steps: s.grid.steps, MinSteps: s.grid.minSteps, Values: complete(s.constant, s.grid.settings...)}
	if path := s.learner.Path; path != nil {
		t.Path = cmp.Or(path.OnFeatures, path)
	}
	return t
}

// unfinished is the message for a learner that ended at its iteration limit.
func unfinished(l *classify.Learner) string {
	noun := "learning"
	if l.Path != nil {
		noun = cmp.Or(l.Path.Noun, noun)
	}
	return noun + " ended at the limit of its steps, before its tolerance"
}
