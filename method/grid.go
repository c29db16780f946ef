package method

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Values of the parameter "features" of walks: the walk that yields the features of a training node.
const (
	// Plain: from the walk in which all training nodes are labelled. A training
	// row then carries its own label, which a test row never does.
	Plain = "plain"

	// Honest: from the walk in which the training nodes of its own fold are
	// unlabelled, so that training rows and test rows are alike.
	Honest = "honest"
)

// walkSpec declares [cwk.Spec] with the features that learners have.
var walkSpec = param.Spec{
	Name: cwk.Spec.Name, Title: cwk.Spec.Title, Source: cwk.Spec.Source, Works: cwk.Spec.Works,
	Params: append(slices.Clone(cwk.Spec.Params), param.Param{
		Name: "features", Meaning: "features of labelled nodes: from walks with all labels, or without those of the node's fold",
		Kind: param.Choice, Words: []string{Plain, Honest}, Default: param.Of(Plain), Grid: []param.Value{param.Of(Plain), param.Of(Honest)},
	}),
}

// Parameters are the values of the parameters of a method. Walks are a kernel, K = Σ PₜPₜᵀ/(steps − min-steps + 1) with t
// from min-steps to steps. Learners on another kernel learn from it divided by its mean value between a labelled node and
// itself.
type Parameters struct {
	// Kernel has the values of the kernel or walk that the learner is on, nil without one. Declared has those of
	// the learner, or of a method without a kernel, nil without parameters.
	Kernel   *Setting
	Declared *Setting

	// Constant are values that are never chosen: those of a learner's other parameters than the one
	// along its path. A prediction reports them and reads them from its settings.
	Constant []Setting
}

// onWalks reports whether the learner is on walks.
func (p *Parameters) onWalks() bool { return p.Kernel != nil && p.Kernel.Spec.Name == walkSpec.Name }

// Parameters of walks.
func (p *Parameters) alpha() float64   { return p.Kernel.Values.Number("alpha") }
func (p *Parameters) steps() int       { return p.Kernel.Values.Int("steps") }
func (p *Parameters) minSteps() int    { return p.Kernel.Values.Int("min-steps") }
func (p *Parameters) features() string { return p.Kernel.Values.Word("features") }

// setSteps replaces the last step of the walk.
func (p *Parameters) setSteps(steps int) { p.Kernel.Values["steps"] = param.Of(steps) }

// terms returns the number of steps that count.
func (p *Parameters) terms() int { return p.steps() - p.minSteps() + 1 }

// onWalk returns the parameters of a walk.
func onWalk(alpha float64, steps, minSteps int, features string) Parameters {
	return Parameters{Kernel: &Setting{&walkSpec, param.Values{
		"alpha": param.Of(alpha), "steps": param.Of(steps), "min-steps": param.Of(minSteps), "features": param.Of(features),
	}}}
}

// Balanced reports that all classes weigh the same, see [classify.WeightsParam].
func (p *Parameters) Balanced() bool {
	settings := p.Constant
	if p.Declared != nil {
		settings = append(settings[:len(settings):len(settings)], *p.Declared)
	}
	return slices.ContainsFunc(settings, func(s Setting) bool {
		v, hasWeights := s.Values[classify.WeightsParam.Name]
		return hasWeights && v == param.Of("balanced")
	})
}

// Setting is the values of a declaration's parameters.
type Setting struct {
	Spec   *param.Spec
	Values param.Values
}

// text lists the values for messages.
func (s *Setting) text() string { return s.Spec.Text(s.Values) }

// MarshalJSON writes the parameters that belong to the kernel and the learner.
func (p Parameters) MarshalJSON() ([]byte, error) {
	values := param.Values{}
	if k := p.Kernel; k != nil {
		maps.Copy(values, k.Values)
		if p.onWalks() {
			values["min_steps"] = values["min-steps"]
			delete(values, "min-steps")
		} else {
			values["kernel"] = param.Of(k.Spec.Name)
		}
	}
	if p.Declared != nil {
		maps.Copy(values, p.Declared.Values)
	}
	for _, b := range p.Constant {
		maps.Copy(values, b.Values)
	}
	return json.Marshal(values)
}

// Chosen returns the values that may have been chosen, with their declarations: of the walk or the
// kernel, then of the learner.
func (p *Parameters) Chosen() (list []Setting) {
	for _, s := range []*Setting{p.Kernel, p.Declared} {
		if s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// String lists the parameters for messages.
func (p Parameters) String() string {
	declared := ""
	if p.Declared != nil {
		declared = p.Declared.text()
	}
	parts := []string{declared}
	switch k := p.Kernel; {
	case p.onWalks():
		steps := "steps"
		if p.steps() == 1 {
			steps = "step"
		}
		if p.minSteps() > 0 {
			steps += fmt.Sprintf(" from %d on", p.minSteps())
		}
		parts = []string{fmt.Sprintf("α = %v, %d %s", p.alpha(), p.steps(), steps), declared, p.features() + " features"}
	case k != nil:
		parts = []string{k.Spec.Name, k.text(), declared}
	}
	for _, b := range p.Constant {
		parts = append(parts, b.text())
	}
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), ", ")
}

// grid holds the settings of walks and of the learner on them: every combination of its values.
type grid struct {
	features []string
	alphas   []float64
	steps    []int // increasing, none below minSteps
	minSteps int

	spec     *param.Spec    // of the learner
	settings []param.Values // of the learner
	space    *choose.Space  // of these
}

// newGrid returns the settings to choose from for a learner on walks. The error is that of [param.Spec.Resolve], or a
// [*param.ParameterError] if no walk reaches its first step that counts.
func newGrid(s *Settings, l *classify.Learner) (*grid, error) {
	walks, err := split.Settings(s.trying(&walkSpec), walkSpec.Own(s.Given), nil)
	if err != nil {
		return nil, err
	}
	g := &grid{minSteps: walks[len(walks)-1].Int("min-steps"), spec: specOf(l)}
	last := 0
	for _, v := range walks {
		steps := v.Int("steps")
		if last = max(last, steps); steps >= g.minSteps && !slices.Contains(g.steps, steps) {
			g.steps = append(g.steps, steps)
		}
		if alpha := v.Number("alpha"); !slices.Contains(g.alphas, alpha) {
			g.alphas = append(g.alphas, alpha)
		}
		if kind := v.Word("features"); !slices.Contains(g.features, kind) {
			g.features = append(g.features, kind)
		}
	}
	slices.Sort(g.alphas)
	slices.Sort(g.steps)
	slices.SortFunc(g.features, func(a, b string) int { return strings.Compare(b, a) }) // the plain ones first
	if len(g.steps) == 0 {
		return nil, &param.ParameterError{
			Of: walkSpec.Name, Parameter: "min-steps",
			What: fmt.Sprintf("%d lies beyond the last step that is tried, %d; give steps that reach it", g.minSteps, last),
		}
	}
	return g, nil
}

// last returns the longest walk.
func (g *grid) last() int { return g.steps[len(g.steps)-1] }

// ofWalk returns the grid of all settings of the learner with the walk and the features of
// p alone.
func (g *grid) ofWalk(p *Parameters) *grid {
	one := *g
	one.alphas, one.steps, one.minSteps, one.features = []float64{p.alpha()}, []int{p.steps()}, p.minSteps(), []string{p.features()}
	return &one
}

// size returns the number of settings.
func (g *grid) size() int { return len(g.alphas) * len(g.steps) * len(g.settings) * len(g.features) }

// walks returns the space of the walks. Its usual candidate is nearest to the defaults.
func (g *grid) walks() *choose.Space {
	usual := func(name string) float64 { return param.Values{name: walkSpec.Param(name).Default}.Number(name) }
	features := max(0, slices.Index(g.features, Plain))
	return &choose.Space{
		Axes:  []choose.Axis{{Values: len(g.features)}, {Values: len(g.alphas), Ordered: true, Last: true}, {Values: len(g.steps), Ordered: true}},
		Order: []int{0, 2, 1},
		Usual: (features*len(g.alphas)+nearestOf(g.alphas, usual("alpha")))*len(g.steps) + nearestOf(g.steps, int(usual("steps"))),
	}
}

// usual returns the number of the setting that is nearest to the defaults.
func (g *grid) usual() int { return g.walks().Usual*len(g.settings) + g.space.Usual }

func nearestOf[T int | float64](values []T, x T) int {
	best := 0
	for i, v := range values {
		if math.Abs(float64(v-x)) < math.Abs(float64(values[best]-x)) {
			best = i
		}
	}
	return best
}

// at returns setting number i. Features vary slowest, then α, steps and settings of the
// learner: those of one walk and one kind of features lie together.
func (g *grid) at(i int) Parameters {
	declared := &Setting{g.spec, g.settings[i%len(g.settings)]}
	i /= len(g.settings)
	steps := g.steps[i%len(g.steps)]
	i /= len(g.steps)
	p := onWalk(g.alphas[i%len(g.alphas)], steps, g.minSteps, g.features[i/len(g.alphas)])
	p.Declared = declared
	return p
}

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
