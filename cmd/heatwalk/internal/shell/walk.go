package shell

import (
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/param"
)

type WalkFlags struct {
	Labels, Prior string
	Parameters    WalkParameters
}

func (w *WalkFlags) Declare(in *Inputs, flags *FlagSet, labels string) {
	in.DeclareLabels(flags, &w.Labels, "of node and label, one pair a line"+labels)
	p := &cwk.PriorParam
	w.DeclarePrior(flags, p.Words, p.Meaning+": "+strings.Join(p.Words, ", ")+", or a `FILE` of distributions")
}

// DeclarePrior declares the flag of the prior, one of the accepted words or a file.
func (w *WalkFlags) DeclarePrior(flags *FlagSet, accepted []string, usage string) {
	flags.AddInputOrWord(&w.Prior, cwk.PriorParam.Name, cwk.PriorParam.Default.String(), accepted, usage)
}

// Check stores the parameters of the walk, given in n or default, in w. It records problems of the
// flags.
func (w *WalkFlags) Check(line *CommandLine, n param.Term) {
	p := &w.Parameters
	if _, v := line.ParseGiven("--kernel", n.Texts, &cwk.Spec); v != nil {
		*p = WalkParameters{Alpha: v.Number("alpha"), Steps: v.Int("steps"),
			MinSteps: v.Int("min-steps"), Prior: w.Prior}
	}
	if p.MinSteps > p.Steps {
		line.Problem("--kernel",
			"cwk: min-steps: %v lies beyond the last step, %v; give at most that",
			p.MinSteps, p.Steps)
	}
	line.Require("labels")
}

func (w *WalkFlags) ReadPrior(run *Session, in *Inputs, g *OpenGraph,
	l *nodefile.Labels) (cwk.Prior, error) {
	switch w.Prior {
	case "uniform":
		return cwk.Prior{}, nil
	case "empirical":
		return cwk.Prior{Empirical: true, Pseudo: 1}, nil
	}
	config := run.Console.ListConfig(in, w.Prior)
	config.Skip = tablefile.PredictionTitles
	p, err := nodefile.ReadPrior(run.Context, w.Prior, g.Nodes, l.Names, config)
	if err != nil {
		return cwk.Prior{}, err
	}
	return cwk.Prior{Given: p}, nil
}

type WalkParameters struct {
	Kernel   string  `json:"kernel,omitempty"`
	Alpha    float64 `json:"alpha"`
	Steps    int     `json:"steps"`
	MinSteps int     `json:"min_steps"`
	Prior    string  `json:"prior"`
	Features string  `json:"features,omitempty"`
	Folds    int     `json:"folds,omitempty"` // folds of honest features
	Seed     int64   `json:"seed,omitempty"`  // seed of the folds
}
