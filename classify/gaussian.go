package classify

import (
	"context"

	"github.com/heatwalk/heatwalk/param"
)

// gpLearner is induction with Gaussian processes of several classes: Gärtner, Le,
// Smola, A short tour of kernel methods for graphs (2006), section 1.3.3. The latent
// values of each class have the covariance σ²K, a label the softmax of those at its
// item; the posterior is replaced by its mode, where α minimises
//
//	Σ_i log Σ_c exp (Kα)_ic − tr YᵀKα + tr αᵀKα/(2σ²)
//
// over the items with a class, Y their one-hot classes. Scores are the latent values
// Σ_i α_ic·K(x, i), probabilities their softmax. There is no bias.
var gpLearner = Learner{
	Spec: param.Spec{
		Name: "gp", Title: "Gaussian processes of several classes, at the mode of their posterior",
		Source: "Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006, section 1.3.3, equation 1.8",
		Params: []param.Param{{
			Name: "variance", Symbol: "σ²", Meaning: "variance of Gaussian processes in addition to the kernel's", Range: param.Above(0), Default: param.Of(1.0),
			Grid: param.Grid(0.01, 0.1, 1, 10, 100, 1000),
		}, WeightsParam},
	},
	Fit: func(ctx context.Context, k Gram, y []int, classes int, v param.Values) (*Model, error) {
		return fitKernelSoftmax(ctx, k, y, classes, 1/v.Number("variance"), weightsOf(v, y, classes), false)
	},
	Dual:          true,
	Probabilities: Softmax,
	Bytes:         kernelSoftmaxBytes,
}
