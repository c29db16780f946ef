package cli

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
)

// walking holds the flags of a walk. A value that was not given is NaN or −1.
type walking struct {
	labels   string
	alpha    float64
	steps    int
	minSteps int
	prior    string
}

// maxSteps bounds --steps; a walk mixes long before.
const maxSteps = 1_000_000

// walkFlags declares the flags of w. alpha and steps say what happens without
// --alpha and --steps.
func (in *invocation) walkFlags(flags *pflag.FlagSet, w *walking, alpha, steps string) {
	in.labelFlags(flags, &w.labels, "`FILE` of node<TAB>label lines")
	w.alpha = math.NaN()
	in.variable(flags, "alpha", "X", "", "probability that a labelled node absorbs at a step ("+alpha+")", func(s string) error {
		// Some kernels take more than walks do.
		if x, wrong := strconv.ParseFloat(s, 64); wrong == nil && x > 1 && !math.IsInf(x, 1) {
			w.alpha = x
			return nil
		}
		x, err := alphaOfWalks.parse(s)
		if err == nil {
			w.alpha = x
		}
		return err
	})
	w.steps = -1
	in.variable(flags, "steps", "T", "", "last step of the walk ("+steps+")", func(s string) error {
		var n int64
		err := parseInt(&n, s, 0, maxSteps)
		if err == nil {
			w.steps = int(n)
		}
		return err
	})
	in.intVar(flags, &w.minSteps, "min-steps", 0, 0, maxSteps, "first step that counts")
	flags.StringVar(&w.prior, "prior", "uniform", "start of walks at nodes without a label: uniform, empirical, or a `FILE` of distributions")
}

// defaultWalk returns the parameters of a walk that nothing is said about.
func defaultWalk() (alpha float64, steps int) {
	g := method.NoGrid()
	return g.Alpha[0], g.Steps[0]
}

// fixedWalkFlags declares the flags of a walk whose parameters are not chosen.
func (in *invocation) fixedWalkFlags(flags *pflag.FlagSet, w *walking) {
	alpha, steps := defaultWalk()
	in.walkFlags(flags, w, fmt.Sprintf("default %v", alpha), fmt.Sprintf("default %d", steps))
}

// fixed puts the defaults in place of what was not given.
func (w *walking) fixed() {
	alpha, steps := defaultWalk()
	if math.IsNaN(w.alpha) {
		w.alpha = alpha
	}
	if w.steps < 0 {
		w.steps = max(steps, w.minSteps)
	}
}

// alphaOfWalks is what absorption may be.
var alphaOfWalks = bounds{lo: 0, hi: 1, symbol: "α"}

// checkWalk notes what is wrong with the flags of w together, and with its
// alpha if that is the absorption of walks.
func (in *invocation) checkWalk(w *walking, walks bool) {
	if walks && (w.alpha < alphaOfWalks.lo || w.alpha > alphaOfWalks.hi) {
		in.problem("--alpha", "%v is out of range; want %v", w.alpha, alphaOfWalks)
	}
	if w.labels == "" {
		in.problem("--labels", "a walk needs labels; write --labels FILE with node<TAB>label lines")
	}
	if w.steps >= 0 && w.minSteps > w.steps {
		in.problem("--min-steps", "%d lies beyond the last step, %d; give at most that", w.minSteps, w.steps)
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
