package cli

import (
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
)

// walking holds what a walk is made of.
type walking struct {
	labels, prior string
	values        spec.Values // complete values of the parameters of cwk.Spec
}

func (w *walking) alpha() float64 { return w.values.Number("alpha") }
func (w *walking) steps() int     { return w.values.Int("steps") }
func (w *walking) minSteps() int  { return w.values.Int("min-steps") }

// walkFlags declares the flags of w but for those of parameters.
func (in *invocation) walkFlags(flags *pflag.FlagSet, w *walking, labels string) {
	in.labelFlags(flags, &w.labels, "`FILE` of node<TAB>label lines"+labels)
	flags.StringVar(&w.prior, "prior", "uniform", "start of walks at nodes without a label: uniform, empirical, or a `FILE` of distributions")
}

// walkParams returns the parameters of a walk.
func walkParams(otherwise func(p *spec.Param) string) (list declaredParams) {
	list.addAll(&cwk.Spec, cwk.Spec.Takes(), otherwise)
	return list
}

// checkWalk finds the values of a walk whose parameters are not chosen, and notes what is
// wrong with the flags of w together.
func (in *invocation) checkWalk(flags *pflag.FlagSet, w *walking) {
	_, w.values = in.given(flags, &cwk.Spec)
	in.checkSteps(w.values)
	in.checkLabels(w)
}

// checkLabels notes that there are no labels.
func (in *invocation) checkLabels(w *walking) {
	if w.labels == "" {
		in.problem("--labels", "a walk needs labels; write --labels FILE with node<TAB>label lines")
	}
}

// checkSteps notes a first step beyond the last one.
func (in *invocation) checkSteps(v spec.Values) {
	if !v.Has("steps") || !v.Has("min-steps") {
		return
	}
	if first, last := v.Number("min-steps"), v.Number("steps"); first > last {
		in.problem("--min-steps", "%v lies beyond the last step, %v; give at most that", first, last)
	}
}

// priorOf returns the prior that --prior names.
func (in *invocation) priorOf(w *walking, g *openGraph, l *nodefile.Labels) (cwk.Prior, error) {
	switch w.prior {
	case "uniform":
		return cwk.Uniform(), nil
	case "empirical":
		return cwk.Empirical(1), nil
	}
	p, err := nodefile.ReadPrior(in.ctx, w.prior, g.Nodes(), l.Names, in.stdin)
	if err != nil {
		return cwk.Prior{}, err
	}
	return cwk.Given(p), nil
}

// seedsOf returns the labelled nodes as the seeds of a walk.
func seedsOf(l *nodefile.Labels) cwk.Seeds {
	return cwk.Seeds{Row: l.Row, Class: l.Class, Classes: len(l.Names)}
}
