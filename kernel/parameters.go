package kernel

import (
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Matrices as users name them.
const (
	normalized    = "normalized"    // L̃ = J − S
	combinatorial = "combinatorial" // L = D − A
	randomWalk    = "random-walk"   // I − T

	adjacency           = string(sparse.Adjacency)           // A
	normalizedAdjacency = string(sparse.NormalizedAdjacency) // S
)

// usualTime is the time of the default diffusion, about four steps of a walk: it has left the nearest neighbours but
// not forgotten its start. Resolvents (I + αL̃)⁻¹ average diffusions over exponential times of mean α, and (2ν/κ²·I +
// L̃)^−ν over gamma times of mean κ²/2.
const usualTime = 4

// usualShare is the α for which (I − αS)⁻¹ has the mean time α/(1−α) = usualTime.
const usualShare = usualTime / (1.0 + usualTime)

// maxLog is the logarithm of the largest value of a kernel, whose square must be finite.
const maxLog = 350

// leastRest is the smallest 1 − α of kernels with α < 1. The condition number of the system is then 1/(16ε).
const leastRest = 32 * epsilon

func laplacianParam(words ...string) param.Param {
	return param.Param{
		Name: "laplacian", Symbol: "L", Meaning: "L̃ = J − S, L = D − A or I − T",
		Kind:  param.Choice,
		Words: words, Default: param.Of(normalized),
	}
}

func ofRandomWalk(v param.Values) (parameter, what string) {
	if v["laplacian"] != param.Of(randomWalk) {
		return "", ""
	}
	return "laplacian", "functions of I − T are not symmetric, and learners need them to be; give combinatorial or normalized"
}

func matrixParam(usual string) param.Param {
	return param.Param{
		Name: "matrix", Symbol: "A", Meaning: "A or S", Kind: param.Choice,
		Words: []string{adjacency, normalizedAdjacency}, Default: param.Of(usual),
		Grid: []param.Value{param.Of(normalizedAdjacency)},
	}
}

func betaParam(scale func(x float64, v param.Values, g param.Graph) (float64, error)) param.Param {
	return param.Param{
		Name: "beta", Symbol: "β", Meaning: "time of the diffusion",
		Range: param.Above(0), Default: param.Of(float64(usualTime)),
		Grid: powersOfTwo(), On: scale,
	}
}

func shareParam(usual float64) param.Param {
	return param.Param{
		Name: "alpha", Symbol: "α",
		Meaning: "share of a walk that goes on at a step",
		Range:   param.Range{Least: 0, Most: 1, AboveLeast: true, BelowMost: true},
		Default: param.Of(usual), Grid: shares(),
	}
}

func symmetricParam() param.Param {
	return param.Param{
		Name: "symmetric", Meaning: "the symmetric kernel D^½·K·D^−½",
		Kind:    param.Switch,
		Default: param.Of(false), Grid: []param.Value{param.Of(true)},
	}
}

func unlessSymmetric(v param.Values) (parameter, what string) {
	if v["symmetric"] != param.Of(false) {
		return "", ""
	}
	return "symmetric", "the kernel of a walk is not symmetric, and learners need it to be; give true"
}

func powersOfTwo() []param.Value {
	var list []param.Value
	for e := -7; e <= 7; e++ {
		list = append(list, param.Of(math.Ldexp(1, e)))
	}
	return list
}

func shares() []param.Value {
	return param.Grid(0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.999)
}

// overDegree converts a time on L̃ to a time on L, which is shorter by the mean degree.
func overDegree(x float64, v param.Values, g param.Graph) (float64, error) {
	if v.Word("laplacian") == combinatorial {
		x /= g.MeanDegree()
	}
	return x, nil
}

func withRest(p param.Param, title string) param.Param {
	p.Check = func(v param.Values) error { return checkRest(v.Number(p.Name), title) }
	return p
}

func checkRest(alpha float64, title string) error {
	if 1-alpha < leastRest {
		return fmt.Errorf("%v is too near to 1; %s takes α up to 1 − %.2g, beyond which the system is singular but for rounding", alpha, title, leastRest)
	}
	return nil
}

func titleOf(name, matrix string) string {
	if matrix == adjacency {
		return name + " of the adjacency"
	}
	return name + " of the normalised adjacency"
}
