package kernel

import (
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// The matrices that a kernel is a function of, as users name them.
const (
	normalized    = "normalized"    // L̃ = J − S
	combinatorial = "combinatorial" // L = D − A
	randomWalk    = "random-walk"   // I − T

	adjacency           = string(sparse.Adjacency)           // A
	normalizedAdjacency = string(sparse.NormalizedAdjacency) // S
)

// usualTime is the time of the diffusion that defaults make, about four steps of a walk. After
// these a walk has left its nearest neighbours but not yet forgotten its start. Resolvents
// (I + αL̃)⁻¹ average diffusions over exponential times of mean α, and (2ν/κ²·I + L̃)^−ν over
// gamma times of mean κ²/2.
const usualTime = 4

// usualShare is α of the resolvent (I − αS)⁻¹ of that mean time: α/(1−α) = 4.
const usualShare = usualTime / (1.0 + usualTime)

// maxLog is the logarithm of the largest value that a kernel may have: the squares of
// values are added up to norms.
const maxLog = 350

// leastRest is the least 1 − α of kernels that take α < 1: that of a system whose
// condition is 1/(16ε).
const leastRest = 32 * epsilon

// laplacianParam is the Laplacian that a kernel is a function of.
func laplacianParam(words ...string) spec.Param {
	return spec.Param{
		Name: "laplacian", Symbol: "L", Meaning: "L̃ = J − S, L = D − A or I − T", Kind: spec.Choice,
		Words: words, Default: spec.Of(normalized),
	}
}

// ofRandomWalk returns the advice for I − T, functions of which are not symmetric.
func ofRandomWalk(v spec.Values) (parameter, what string) {
	if v["laplacian"] != spec.Of(randomWalk) {
		return "", ""
	}
	return "laplacian", "functions of I − T are not symmetric, and learners need them to be; give combinatorial or normalized"
}

// matrixParam is the adjacency matrix that a kernel is a function of; learners take S.
func matrixParam(usual string) spec.Param {
	return spec.Param{
		Name: "matrix", Symbol: "A", Meaning: "A or S", Kind: spec.Choice,
		Words: []string{adjacency, normalizedAdjacency}, Default: spec.Of(usual), Grid: []spec.Value{spec.Of(normalizedAdjacency)},
	}
}

// betaParam is the time of an exponential.
func betaParam(on func(x float64, v spec.Values, g spec.Graph) (float64, error)) spec.Param {
	return spec.Param{
		Name: "beta", Symbol: "β", Meaning: "time of the diffusion",
		Range: spec.Above(0), Default: spec.Of(float64(usualTime)), Grid: powersOfTwo(), On: on,
	}
}

// shareParam is the share α < 1 of a walk that goes on at a step.
func shareParam(usual float64) spec.Param {
	return spec.Param{
		Name: "alpha", Symbol: "α", Meaning: "share of a walk that goes on at a step",
		Range: spec.Range{Least: 0, Most: 1, AboveLeast: true, BelowMost: true}, Default: spec.Of(usual), Grid: shares(),
	}
}

// symmetricParam asks for the symmetric kernel that the kernel of a walk is similar to,
// which is what learners take.
func symmetricParam() spec.Param {
	return spec.Param{
		Name: "symmetric", Meaning: "the symmetric kernel D^½·K·D^−½", Kind: spec.Switch,
		Default: spec.Of(false), Grid: []spec.Value{spec.Of(true)},
	}
}

// unlessSymmetric returns the advice for the kernel of a walk itself, which is not symmetric.
func unlessSymmetric(v spec.Values) (parameter, what string) {
	if v["symmetric"] != spec.Of(false) {
		return "", ""
	}
	return "symmetric", "the kernel of a walk is not symmetric, and learners need it to be; give true"
}

// powersOfTwo returns the grid of a time.
func powersOfTwo() []spec.Value {
	var list []spec.Value
	for e := -7; e <= 7; e++ {
		list = append(list, spec.Of(math.Ldexp(1, e)))
	}
	return list
}

// shares returns the grid of a share.
func shares() []spec.Value {
	return spec.Grid(0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.999)
}

// overDegree converts a time on L̃ to one on L, which is relative to the mean degree.
func overDegree(x float64, v spec.Values, g spec.Graph) (float64, error) {
	if v.Word("laplacian") == combinatorial {
		x /= g.MeanDegree()
	}
	return x, nil
}

// withRest returns a share of the named kernel that must leave rest enough.
func withRest(p spec.Param, of string) spec.Param {
	p.Check = func(v spec.Values) error { return checkRest(v.Number(p.Name), of) }
	return p
}

// checkRest refuses a share that is too near to 1 for a system to be solved.
func checkRest(alpha float64, of string) error {
	if 1-alpha < leastRest {
		return fmt.Errorf("%v is too near to 1; %s takes α up to 1 − %.2g, beyond which the system is singular but for rounding", alpha, of, leastRest)
	}
	return nil
}

// titled is the name of a kernel and of the matrix that it is a function of.
func titled(name, matrix string) string {
	if matrix == adjacency {
		return name + " of the adjacency"
	}
	return name + " of the normalised adjacency"
}
