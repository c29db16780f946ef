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
	Name: cwk.Spec.Name, Title: cwk.Spec.Title, Source: cwk.Spec.Source,
	Works: cwk.Spec.Works,
	Params: append(slices.Clone(cwk.Spec.Params), param.Param{
		Name: "features", Meaning: "features of labelled nodes: from walks with all labels, or without those of the node's fold",
		Kind: param.Choice, Words: []string{Plain, Honest},
		Default: param.Of(Plain),
		Grid:    []param.Value{param.Of(Plain), param.Of(Honest)},
	}),
}

func init() { param.Claim("kernel", &walkSpec) }

// Parameters are the values of the parameters of a method. Walks are a kernel, K = Σ PₜPₜᵀ/(steps − min-steps + 1) with t
// from min-steps to steps. Learners on another kernel learn from it divided by its mean value between a labelled node and
// itself.
type Parameters struct {
	// Kernel has the values of the kernel or walk that the learner is on, nil without one. Declared has those of
	// the learner, or of a method without a kernel, nil without parameters.
	Kernel   *Setting
	Declared *Setting
	Smoothed *Setting // of Correct & Smooth; nil without it
}

// onWalks reports whether the learner is on walks.
func (p *Parameters) onWalks() bool {
	return p.Kernel != nil && p.Kernel.Spec.Name == walkSpec.Name
}

// Parameters of walks.
func (p *Parameters) alpha() float64 {
	return p.Kernel.Values.Number("alpha")
}

func (p *Parameters) steps() int {
	return p.Kernel.Values.Int("steps")
}

func (p *Parameters) minSteps() int {
	return p.Kernel.Values.Int("min-steps")
}

func (p *Parameters) features() string {
	return p.Kernel.Values.Word("features")
}

// terms returns the number of steps that count.
func (p *Parameters) terms() int {
	return p.steps() - p.minSteps() + 1
}

// scale returns the factor of features, because the kernel is a mean over steps.
func (p *Parameters) scale() float64 {
	return 1 / math.Sqrt(float64(p.terms()))
}

// Setting is the values of a declaration's parameters.
type Setting struct {
	Spec   *param.Spec
	Values param.Values
}

// text lists the values for messages.
func (s *Setting) text() string { return s.Spec.Text(s.Values) }

// values returns the values of all parameters by name.
func (p *Parameters) values() param.Values {
	values := param.Values{}
	for _, s := range []*Setting{p.Kernel, p.Declared, p.Smoothed} {
		if s != nil {
			maps.Copy(values, s.Values)
		}
	}
	return values
}

// MarshalJSON writes the parameters that belong to the kernel and the learner.
func (p Parameters) MarshalJSON() ([]byte, error) {
	values := p.values()
	if p.onWalks() {
		values["min_steps"] = values["min-steps"]
		delete(values, "min-steps")
	} else if p.Kernel != nil {
		values["kernel"] = param.Of(p.Kernel.Spec.Name)
	}
	return json.Marshal(values)
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
		parts = []string{fmt.Sprintf("α = %v, %d %s", p.alpha(), p.steps(), steps),
			p.features() + " features", declared}
	case k != nil:
		parts = []string{k.Spec.Name, k.text(), declared}
	}
	if p.Smoothed != nil {
		parts = append(parts, p.Smoothed.text())
	}
	return strings.Join(slices.DeleteFunc(parts,
		func(text string) bool { return text == "" }), ", ")
}

// walkSettings returns the settings of walks to choose from: those with plain features first, then by increasing α and steps.
// The error is that of [param.Spec.Resolve], or a [*param.ParameterError] if no walk reaches its first step that counts.
func walkSettings(s *Settings) ([]param.Values, error) {
	walks, err := choose.Combinations(orderedWalks(s), walkSpec.Own(s.Given), nil)
	if err != nil {
		return nil, err
	}
	first, last := walks[0].Int("min-steps"), 0
	for _, v := range walks {
		last = max(last, v.Int("steps"))
	}
	if last < first {
		return nil, param.Refuse(walkSpec.Name, "min-steps",
			"%d lies beyond the last step that is tried, %d; give steps that reach it", first, last)
	}
	return slices.DeleteFunc(walks,
		func(v param.Values) bool { return v.Int("steps") < first }), nil
}

// orderedWalks returns the declaration of walks with the grids of the settings, and the features first.
func orderedWalks(s *Settings) *param.Spec {
	spec := s.withGrids(&walkSpec)
	last := len(spec.Params) - 1
	spec.Params = slices.Concat(spec.Params[last:], spec.Params[:last])
	return spec
}

// walkSpace returns the space of settings of walks, in which α breaks ties last.
func walkSpace(s *Settings, walks []param.Values) *choose.Space {
	usual, _ := walkSpec.Resolve(nil, nil)
	space := choose.SpaceOf(orderedWalks(s), walks, usual)
	const alpha = 1
	if len(space.Axes) > alpha {
		space.Axes[alpha].Last = true
	}
	return space
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
	return slices.ContainsFunc(learners(),
		func(l *classify.Learner) bool { return l.Path != nil && spec == &l.Path.Spec })
}

// pairwise reports whether there is a machine for every two classes.
func pairwise(l *classify.Learner, v param.Values) bool {
	return l.Path != nil && l.Path.Pairwise != nil && l.Path.Pairwise(v)
}

// mostPairwise is the largest number of classes whose votes fit into bytes.
const mostPairwise = 256

// learnerSettings returns the settings of a learner to choose from, complete, and their space. Values that a path has for the
// number of classes replace its defaults: a thousand classes have half a million pairs. The error is that of
// [param.Spec.Resolve], or a [choose.UsageError] for classifiers for every two of very many classes.
func learnerSettings(s *Settings, l *classify.Learner,
	classes int) ([]param.Values, *choose.Space, error) {
	spec := specOf(l)
	fixed := param.Values{}
	if l.Path != nil && l.Path.For != nil {
		maps.Copy(fixed, l.Path.For(classes))
	}
	maps.Copy(fixed, spec.Own(s.Given))
	settings, space, err := s.grid(spec, fixed, nil)
	if err != nil {
		return nil, nil, err
	}
	if classes > mostPairwise && pairwise(l, settings[0]) {
		return nil, nil, choose.Usage("machines for every two of %d classes are too many; take one-vs-rest", classes)
	}
	for i := range space.Axes {
		space.Axes[i].Falling = l.Path != nil && l.Path.Ridge
	}
	return settings, space, nil
}

// limitMessage is the message for a learner that ended at its iteration limit.
func limitMessage(l *classify.Learner) string {
	noun := "learning"
	if l.Path != nil {
		noun = cmp.Or(l.Path.Noun, noun)
	}
	return noun + " ended at the limit of its steps, before its tolerance"
}
