package cwk

import "github.com/heatwalk/heatwalk/spec"

// Spec declares K = Σ PₜPₜᵀ/(T − t₀ + 1), t from t₀ to T, of a walk with one absorption.
// Its usual grid loses nothing, on the graphs that it was made with, against that of
// Neumann, Garnett and Kersting.
var Spec = spec.Spec{
	Name: "cwk", Title: "Σ PₜPₜᵀ/(T − t₀ + 1)", Works: spec.Undirected | spec.Directed,
	Source: "Neumann, Garnett and Kersting, Coinciding walk kernels, ACML 2013, equation 4",
	Params: []spec.Param{
		{
			Name: "alpha", Symbol: "α", Meaning: "probability that a labelled node absorbs at a step",
			Range: spec.Range{Least: 0, Most: 1}, Default: spec.Of(0.9), Grid: spec.Grid(0.01, 0.1, 0.5, 0.8, 0.9, 0.99),
		},
		{
			Name: "steps", Symbol: "T", Meaning: "last step of the walk", Kind: spec.Whole,
			Range: spec.Range{Least: 0, Most: MaxSteps}, Default: spec.Of(40), Grid: spec.Grid(1, 2, 3, 5, 7, 10, 20, 40, 60, 100, 200),
		},
		{
			Name: "min-steps", Symbol: "t₀", Meaning: "first step that counts", Kind: spec.Whole,
			Range: spec.Range{Least: 0, Most: MaxSteps}, Default: spec.Of(0),
		},
	},
}

// PriorParam declares where a walk starts at nodes without a label: at a [Prior] by its
// name, or at distributions of their own, in place of which a file of them is named.
var PriorParam = spec.Param{
	Name: "prior", Meaning: "start of walks at nodes without a label",
	Kind: spec.Choice, Words: []string{"uniform", "empirical"}, Default: spec.Of("uniform"),
}

// MaxSteps bounds T: a walk mixes long before.
const MaxSteps = 1_000_000
