package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// learningFlags holds the flags of commands that learn from labels of nodes.
type learningFlags struct {
	graph      graphInputs
	walk       walkFlags
	attributes attributeFlags
	several    bool   // nodes have several labels
	listed     string // value of --method
	effort     string
	weight     string // of edges; "": chosen

	entries []method.Entry
	base    method.Settings // settings of all methods
}

// methodsOf returns the named methods.
func methodsOf(f *learningFlags) (list []method.Method) {
	for _, e := range f.entries {
		list = append(list, e.Method)
	}
	return list
}

// learningFlagSet declares the flags of f except those of labels and method.
func learningFlagSet(run *session, f *learningFlags, flags *pflag.FlagSet) {
	f.walk.priorFlag(flags)
	flags.Lookup("prior").Usage = "known class shares: `FILE`, balanced; starts of walks: uniform, empirical, FILE of distributions"
	choiceVar(run, flags, &f.effort, "effort", "full", []string{"full", "low"},
		"features of auto: all, or random walks alone, which are faster")
	f.attributes.declare(run, flags)
	graphFlags(run, &f.graph, flags)
}

// labelsFlag declares the flag of the labels.
func labelsFlag(run *session, f *learningFlags, flags *pflag.FlagSet) {
	labelFlags(run, &f.graph.tables, flags, &f.walk.labels, "`FILE` of node and label, one pair a line")
}

// severalFlag declares the flag of nodes with several labels.
func severalFlag(f *learningFlags, flags *pflag.FlagSet) {
	flags.BoolVar(&f.several, "multi-label", false, "a node may have several labels, each on a line of its own")
}

// checkLearning parses the methods and records problems of the flags.
func checkLearning(run *session, f *learningFlags, flags *pflag.FlagSet) {
	entries, err := method.Parse(f.listed)
	if f.entries = entries; err != nil {
		run.problem("--method", "%s", withoutUsage(err))
	}
	checkForm(run, f.entries)
	run.require(flags, "labels")
	checkEffect(run, flags, methodsOf(f))
}

// settleMethods reads the grid, sets the candidates of all methods, and records problems.
func settleMethods(run *session, f *learningFlags, grid string) {
	base, err := method.Settle(run.ctx, f.entries, grid)
	f.base = *base
	if list, several := err.(interface{ Unwrap() []error }); several {
		for _, err := range list.Unwrap() {
			checkGrid(run, grid, err)
		}
	}
}

// checkGrid records a problem of a grid, of a grid file, or of the values of a method.
func checkGrid(run *session, name string, err error) {
	wrong, parameter := new(nodefile.ParseError), new(param.ParameterError)
	switch {
	case errors.As(err, &parameter):
		run.problem("--method", "%s", parameter.Error())
	case errors.As(err, &wrong):
		run.problem(fmt.Sprintf("%s:%d", name, wrong.Line), "%s; correct the file", wrong.Msg)
	case errors.Is(err, fs.ErrNotExist):
		run.problem("--grid", "%s is neither paper, small or none nor a file (%s); give one of them", quoted(name), cause(err))
	case errors.Is(err, split.ErrUsage):
		run.problem("--method", "%s", withoutUsage(err))
	default:
		run.problem("--grid", "%s cannot be read (%s); give another file", name, cause(err))
	}
}

// checkForm records a problem if the kernel of a method is not symmetric, because learners require it.
func checkForm(run *session, entries []method.Entry) {
	for _, e := range entries {
		for _, d := range e.Method.Declarations() {
			wrong := new(param.ParameterError)
			if f := kernel.Families().Named(d.Name); f != nil && errors.As(refusal(f, e), &wrong) {
				run.problem("--method", "%s", wrong.Error())
				return
			}
		}
	}
}

// refusal returns the first error of [kernel.Family.Asymmetric] for the values that a method
// has for a kernel.
func refusal(f *kernel.Family, e method.Entry) error {
	for _, p := range f.Params {
		for _, text := range e.Own[p.Name] {
			v, err := p.Parse(text)
			if err != nil {
				continue // which is noted already
			}
			if err := f.Asymmetric(param.Values{p.Name: v}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfinishedAdvice is the remedy for an iteration that ended at its limit.
func unfinishedAdvice(m method.Method) string {
	advice, next := "; longer ones do not count", "; give a "
	for _, s := range m.Declarations() {
		for _, p := range s.Params {
			if p.Sooner != "" {
				advice = next + p.Sooner + " " + p.Name
				next = advice + " or a "
			}
		}
	}
	return advice
}

// withoutUsage returns the message of an error of usage.
func withoutUsage(err error) string {
	if wrong := new(split.UsageError); errors.As(err, &wrong) {
		return wrong.Problem()
	}
	return err.Error()
}

// balanced is the value of --prior for equal shares of all classes: rare classes are predicted as readily as
// others, as with balanced weights of classes, and accuracies are those of a graph with such shares.
const balanced = "balanced"

// readPriorOrShares reads the prior of walks or the shares of the classes among all nodes.
func readPriorOrShares(run *session, f *learningFlags, in *inputs, d *graphRun) (cwk.Prior, error) {
	if f.walk.prior == balanced {
		d.shares = slices.Repeat([]float64{1 / float64(len(d.l.Names))}, len(d.l.Names))
		return cwk.Prior{}, nil
	}
	if f.walk.prior != "-" && !slices.Contains(cwk.PriorParam.Words, f.walk.prior) {
		shares, err := nodefile.ReadShares(run.ctx, f.walk.prior, d.l.Names, listConfig(run, in, f.walk.prior))
		if d.shares = shares; shares != nil || err != nil {
			return cwk.Prior{}, err
		}
		for _, m := range methodsOf(f) {
			if !slices.Contains(flagsOf(m), "prior") {
				return cwk.Prior{}, fault.Usage("--prior", "%s has no distribution for each node; give lines class<TAB>share", m.Name())
			}
		}
	}
	return f.walk.readPrior(run, in, d.g, d.l)
}

// settings completes the settings of a method with workers, memory, attributes and progress.
func (d *graphRun) settings(run *session, tried *method.Settings, f *learningFlags, progress func(stage string, done, total int64)) (*method.Settings, error) {
	prior, err := readPriorOrShares(run, f, &f.graph.tables, d)
	s := *tried
	s.Prior, s.RNGSeed, s.LowEffort = prior, uint64(run.seed), f.effort == "low"
	s.Weights = f.weight
	s.Workers, s.Progress = run.threads, progress
	return &s, err
}
