package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// learning holds the flags of methods: kernels, learners, and those of their parameters
// that are not to be chosen.
type learning struct {
	reading
	walking
	attributes attributeFlags
	several    bool   // labels a node
	listed     string // the methods, by their names
	features   string
	effort     string

	entries []method.Entry
	stated  spec.Values     // parameters of declared methods that were given
	base    method.Settings // of all methods: the grid and what was given
}

// methods returns those that are named.
func (f *learning) methods() (list []method.Method) {
	for _, e := range f.entries {
		list = append(list, e.Method)
	}
	return list
}

// learningFlags declares the flags of f but for the methods; otherwise says what counts
// without a parameter.
func (in *invocation) learningFlags(flags *pflag.FlagSet, f *learning, otherwise func(*spec.Param) string) {
	in.walkFlags(flags, &f.walking, "")
	in.choiceVar(flags, &f.features, "features", "auto", []string{"auto", "honest", "plain"},
		"rows of labelled nodes: from a walk in which their own fold is unlabelled, or not; auto chooses")
	in.choiceVar(flags, &f.effort, "effort", "full", []string{"full", "low"},
		"what auto spends: low for walks alone, without eigenvectors and a diffusion kernel")
	ofMethods(otherwise).flags(in, flags, "")
	in.attributeFlags(flags, &f.attributes)
	flags.BoolVar(&f.several, "multi-label", false, "a node may have several labels, each on a line of its own")
	in.readingFlags(flags, &f.reading)
}

// checkLearning finds the methods, whose names stand at place, and notes what is wrong with
// the flags of f together.
func (in *invocation) checkLearning(flags *pflag.FlagSet, f *learning, place string) {
	entries, err := method.Parse(f.listed)
	if f.entries = entries; err != nil {
		in.problem(place, "%s", withoutUsage(err))
	}
	var declared specs
	for _, m := range f.methods() {
		declared = append(declared, m.Declarations()...)
	}
	f.stated = in.stated(flags, declared)
	in.checkForm(f.entries, f.stated)
	in.checkSteps(f.stated)
	in.require(flags, "labels")
}

// settle finds what the methods try of a grid, and notes what is wrong with that.
func (in *invocation) settle(f *learning, grid string) {
	var features []method.Features
	if f.features != "auto" {
		features = []method.Features{method.Features(f.features)}
	}
	base, err := method.Settle(in.ctx, f.entries, grid, f.stated, features)
	f.base = *base
	if all, several := err.(interface{ Unwrap() []error }); several {
		for _, err := range all.Unwrap() {
			in.checkGrid(grid, err)
		}
	}
}

// checkGrid notes what is wrong with a grid, the file of one, or a method's own values.
func (in *invocation) checkGrid(name string, err error) {
	wrong, parameter := new(nodefile.ParseError), new(spec.ParameterError)
	switch {
	case errors.As(err, &parameter):
		in.problem("--"+parameter.Parameter, "%s", parameter.What)
	case errors.As(err, &wrong):
		in.problem(fmt.Sprintf("%s:%d", name, wrong.Line), "%s; correct the file", wrong.Msg)
	case errors.Is(err, fs.ErrNotExist):
		in.problem("--grid", "%s is neither paper, small or none nor a file (%s); give one of them", quoted(name), cause(err))
	case errors.Is(err, validate.ErrUsage):
		in.problem("--method", "%s", withoutUsage(err))
	default:
		in.problem("--grid", "%s cannot be read (%s); give another file", name, cause(err))
	}
}

// ofMethods returns the parameters of all learners and methods.
func ofMethods(otherwise func(*spec.Param) string) declaredParams {
	list := append(learners(), &propagate.CorrectAndSmooth).params(otherwise)
	for _, m := range method.All() {
		for _, s := range m.Declarations() {
			list.addAll(s, m.Takes(), otherwise)
		}
	}
	return list
}

// checkForm notes a form of a kernel that no learner takes.
func (in *invocation) checkForm(entries []method.Entry, given spec.Values) {
	for _, e := range entries {
		for _, d := range e.Method.Declarations() {
			wrong := new(spec.ParameterError)
			if f := kernel.Families().Named(d.Name); f != nil && errors.As(refusal(f, e, given), &wrong) {
				in.problem("--"+wrong.Parameter, "%s", wrong.What)
				return
			}
		}
	}
}

// refusal returns the first error of [kernel.Family.Asymmetric] for the values that were given
// for a kernel, to its method or to all.
func refusal(f *kernel.Family, e method.Entry, given spec.Values) error {
	for _, p := range f.Params {
		var values []spec.Value
		for _, text := range e.Own[p.Name] {
			if v, err := p.Parse(text); err == nil {
				values = append(values, v)
			}
		}
		if v, is := given[p.Name]; is && slices.Contains(e.Method.Takes(), p.Name) {
			values = append(values, v)
		}
		for _, v := range values {
			if err := f.Asymmetric(spec.Values{p.Name: v}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfinishedAdvice is what to do about an iteration that ended at its limit.
func unfinishedAdvice(m method.Method) string {
	advice, next := "; longer ones do not count", "; give a "
	for _, p := range specs(m.Declarations()).params(byDefault) {
		if p.Sooner != "" {
			advice = next + p.Sooner + " --" + p.Name
			next = advice + " or a "
		}
	}
	return advice
}

// choosesWalks reports whether a parameter was given that only walks with absorption take.
func choosesWalks(flags *pflag.FlagSet) bool {
	walks, err := method.Parse(cwk.Spec.Name)
	if err != nil {
		panic(err) // the name is right
	}
	return slices.ContainsFunc(flagsOf(walks[0].Method), func(name string) bool {
		return name != "unreached" && flags.Changed(name)
	})
}

// withoutUsage returns what an error of usage says.
func withoutUsage(err error) string {
	return strings.TrimPrefix(err.Error(), validate.ErrUsage.Error()+": ")
}

// settings completes settings that say what is tried: with what there is to work with.
func (d *graphRun) settings(tried *method.Settings, f *learning, progress func(phase string, done float64)) (*method.Settings, error) {
	prior, err := d.in.priorOf(&f.walking, d.g, d.l)
	s := *tried
	s.Prior, s.RNGSeed, s.LowEffort = prior, uint64(d.in.seed), f.effort == "low"
	s.Workers, s.Progress = d.in.threads, progress
	return &s, err
}
