package regress

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// process is regression with a Gaussian process: values are y = μ + f + ε, where f has the
// covariance σ²K, K is scaled as in ridge, ε has the variance νσ², and μ has a flat prior. With
// G = (K + νI)⁻¹ the value at a node x has the mean of ridge with λ = ν, and the variance
//
//	σ²(K_xx − k_xᵀGk_x + (1 − 1ᵀGk_x)²/(1ᵀG1) + ν),  σ² = mean (Py)_i²/P_ii
//
// where k_x are its kernel values with the m known nodes and P = G − G11ᵀG/(1ᵀG1): each known value has the error
// (Py)_i/P_ii and the variance σ²/P_ii without itself, so that σ² makes these agree in the mean.
var process = Model{
	Spec: param.Spec{
		Name: "gp", Title: "Gaussian process, with the standard deviation of each prediction", Works: param.Undirected,
		Source: "Rasmussen and Williams, Gaussian processes for machine learning, 2006, equations 2.25, 2.26, 2.42 and 5.12",
		Params: []param.Param{{
			Name: "noise", Symbol: "ν", Meaning: "variance of the noise, relative to the mean variance of the process", Range: param.Above(0), Default: param.Of(0.1), Grid: ratios,
		}},
	},
}

const (
	// mostDeviations bounds the nodes of a graph with deviations, because each is a column of the
	// kernel.
	mostDeviations = 20_000

	// deviationNodes is the number of nodes whose deviations are computed together.
	deviationNodes = 64
)

// checkProcess returns an error if the graph has too many nodes, or too many have values, or if several processes
// share the nodes, because each is a column of the kernel.
func checkProcess(p *Problem, m *Model) error {
	if sparse.TeamOf(p.A) != nil {
		return &problem.Error{Method: m.Name, Err: sparse.ErrDivided}
	}
	if n := len(p.Degrees); n > mostDeviations {
		return &TooManyError{m.Name, "nodes", n, mostDeviations}
	}
	if n := len(p.Row); n > mostSolved {
		return &TooManyError{m.Name, "values", n, mostSolved}
	}
	return nil
}

// gaussianProcess returns the means and the standard deviations of values at the other nodes. noise is relative to the scale of K.
func gaussianProcess(ctx context.Context, p *Problem, m *Model, k kernel.Kernel, noise float64, s *Settings) (out Values, err error) {
	if err := checkProcess(p, m); err != nil {
		return out, err
	}
	f, noise, err := factored(ctx, p, k, noise, s)
	if err != nil {
		return out, err
	}
	n, count := len(p.Degrees), len(p.Row)
	targets := mat.NewDense(count, 2, nil)
	for i, y := range p.Value {
		targets.SetRow(i, []float64{y, 1})
	}
	var solved mat.Dense // G·[y 1]
	if err := solveTo(&solved, f, targets); err != nil {
		return out, err
	}
	alpha, mean := dualOf(&solved)
	var inverse mat.SymDense
	if err := f.InverseTo(&inverse); err != nil && !errors.As(err, new(mat.Condition)) {
		return out, err
	}
	variance, ofOnes := 0.0, mat.Sum(solved.ColView(1))
	for i, a := range alpha {
		one := solved.At(i, 1)
		variance += float64(a*a) / (inverse.At(i, i) - float64(one*one)/ofOnes) / float64(count)
	}
	out.Value, out.Stddev = make([]float64, n), make([]float64, n)
	isKnown := make([]bool, n)
	for _, row := range p.Row {
		isKnown[row] = true
	}
	unknown := slices.DeleteFunc(sched.UpTo(n), func(v int) bool { return isKnown[v] })
	done := 0
	for nodes := range slices.Chunk(unknown, deviationNodes) {
		block, _, err := kernel.Matrix(ctx, k, slices.Concat(nodes, p.Row), nodes, &kernel.Settings{Tolerance: 1e-9, Lenient: true, Memory: s.Memory})
		if err != nil {
			return out, err
		}
		cross := mat.NewDense(count, len(nodes), nil)
		for i := range count {
			cross.SetRow(i, block.Row(len(nodes)+i))
		}
		var image mat.Dense // G·k_x for each x
		if err := solveTo(&image, f, cross); err != nil {
			return out, err
		}
		for a, x := range nodes {
			value, explained, ones := mean, 0.0, 0.0
			for i := range count {
				kx := cross.At(i, a)
				value += float64(kx * alpha[i])
				explained += float64(kx * image.At(i, a))
				ones += image.At(i, a)
			}
			residual := 1 - ones
			v := block.Row(a)[a] - explained + float64(residual*residual)/ofOnes + noise
			out.Value[x], out.Stddev[x] = value, math.Sqrt(variance*max(v, 0))
		}
		done += len(nodes)
		if s.Progress != nil {
			s.Progress(m.Name, int64(done), int64(len(unknown)))
		}
	}
	return out, nil
}
