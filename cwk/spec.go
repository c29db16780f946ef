package cwk

import "github.com/heatwalk/heatwalk/param"

// Spec declares K = Σ PₜPₜᵀ/(T − t₀ + 1), t from t₀ to T, of a walk with a single absorption rate.
var Spec = param.Spec{
	Name: "cwk", Title: "Σ PₜPₜᵀ/(T − t₀ + 1)",
	Works: param.Undirected | param.Directed, Arcs: param.AlongArcs,
	Source: "Neumann, Garnett and Kersting, Coinciding walk kernels, ACML 2013, equation 4",
	Params: []param.Param{
		{
			Name: "alpha", Symbol: "α",
			Meaning: "probability that a labelled node absorbs at a step",
			Range:   param.Range{Least: 0, Most: 1}, Default: param.Of(0.9),
			Grid: param.Grid(0.01, 0.1, 0.5, 0.8, 0.9, 0.99),
		},
		{
			Name: "steps", Symbol: "T", Meaning: "last step of the walk",
			Kind:  param.Whole,
			Range: param.Range{Least: 0, Most: MaxSteps}, Default: param.Of(40),
			Grid: param.Grid(1, 2, 3, 5, 7, 10, 20, 40, 60, 100, 200),
		},
		{
			Name: "min-steps", Symbol: "t₀", Meaning: "first step that counts",
			Kind:  param.Whole,
			Range: param.Range{Least: 0, Most: MaxSteps}, Default: param.Of(0),
		},
	},
}

// PriorParam declares where a walk starts at nodes without a label. Its value is the name of a [Prior], or the name of a file
// with distributions.
var PriorParam = param.Param{
	Name: "prior", Meaning: "start of walks at nodes without a label",
	Kind: param.Choice, Words: []string{"uniform", "empirical"},
	Default: param.Of("uniform"),
}

// MaxSteps bounds T. A walk mixes long before.
const MaxSteps = 1_000_000
