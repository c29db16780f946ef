package regress

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// process is regression with a Gaussian process: values are y = μ + f + ε, where f has the
// covariance σ²K, K is scaled as in ridge, ε has the variance νσ², and μ has a flat prior. With
// G = (K + νI)⁻¹ the value at a node x has the mean of ridge with λ = ν, and the variance
//
//	σ²(K_xx − k_xᵀGk_x + (1 − 1ᵀGk_x)²/(1ᵀG1) + ν),  σ² = yᵀPy/(m − 1)
//
// where k_x are its kernel values with the m known nodes.
var process = Model{
	Spec: param.Spec{
		Name: "gp", Title: "Gaussian process, with the standard deviation of each prediction", Works: param.Undirected,
		Source: "Rasmussen and Williams, Gaussian processes for machine learning, 2006, equations 2.25, 2.26 and 2.42",
		Params: []param.Param{{
			Name: "noise", Symbol: "ν", Meaning: "variance of the noise, relative to the mean variance of the process", Range: param.Above(0), Default: param.Of(0.1), Grid: ratios,
		}},
	},
	OnKernel: true,
	compare: func(ctx context.Context, c *comparison, m *Method) (*evidence, error) {
		return c.compareKernels(ctx, m, "noise", true)
	},
	predict: func(ctx context.Context, r *run, m *Method, v Parameters) ([]float64, []float64, error) {
		k, err := r.kernelOf(ctx, m, v)
		if err != nil {
			return nil, nil, err
		}
		return r.process(ctx, m, k, v.Model.Number("noise"))
	},
	bytes: func(p *Problem, compared []int, m *Method, s *Settings) (int64, error) {
		if err := checkProcess(p, m); err != nil {
			return 0, err
		}
		return kernelBytes(p, compared, m, s, true)
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
func checkProcess(p *Problem, m *Method) error {
	if sparse.TeamOf(p.A) != nil {
		return &problem.Error{Method: m.Name(), Err: sparse.ErrDivided}
	}
	if n := len(p.Degrees); n > mostDeviations {
		return &TooManyError{m.Name(), "nodes", n, mostDeviations}
	}
	if n := len(p.Row); n > mostSolved {
		return &TooManyError{m.Name(), "values", n, mostSolved}
	}
	return nil
}

// process returns the means and the standard deviations of values at the other nodes. noise is relative to the scale of K.
func (r *run) process(ctx context.Context, m *Method, k kernel.Kernel, noise float64) (values, deviations []float64, err error) {
	if err := checkProcess(r.Problem, m); err != nil {
		return nil, nil, err
	}
	gram, noise, err := r.gram(ctx, k, noise)
	if err != nil {
		return nil, nil, err
	}
	f, err := factor(ctx, gram, noise)
	if err != nil {
		return nil, nil, err
	}
	n, count := len(r.Degrees), len(r.Row)
	targets := mat.NewDense(count, 2, nil)
	for i, y := range r.Value {
		targets.SetRow(i, []float64{y, 1})
	}
	var solved mat.Dense // G·[y 1]
	var condition mat.Condition
	if err := f.SolveTo(&solved, targets); err != nil && !errors.As(err, &condition) {
		return nil, nil, err
	}
	alpha, mean := dualOf(sparse.BlockOf(count, 2, solved.RawMatrix().Data))
	variance, ofOnes := 0.0, 0.0
	for i, y := range r.Value {
		variance += float64(y * alpha[i])
		ofOnes += solved.At(i, 1)
	}
	variance /= float64(count - 1)
	values, deviations = make([]float64, n), make([]float64, n)
	isKnown := make([]bool, n)
	for _, row := range r.Row {
		isKnown[row] = true
	}
	unknown := slices.DeleteFunc(upTo(n), func(v int) bool { return isKnown[v] })
	done := 0
	for nodes := range slices.Chunk(unknown, deviationNodes) {
		block, err := columns(ctx, k, r.Row, nodes, &kernel.Settings{Tolerance: 1e-9, Lenient: true, Memory: r.set.Memory})
		if err != nil {
			return nil, nil, err
		}
		cross := mat.NewDense(count, len(nodes), nil)
		for i := range count {
			cross.SetRow(i, block.Row(len(nodes)+i))
		}
		var image mat.Dense // G·k_x for each x
		if err := f.SolveTo(&image, cross); err != nil && !errors.As(err, &condition) {
			return nil, nil, err
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
			values[x], deviations[x] = value, math.Sqrt(variance*max(v, 0))
		}
		done += len(nodes)
		r.progress(m, done, len(unknown))
	}
	return values, deviations, nil
}

// columns returns the kernel values of nodes with each other and, in the rows below, with the known
// nodes.
func columns(ctx context.Context, k kernel.Kernel, rows, nodes []int, s *kernel.Settings) (*sparse.Block[float64], error) {
	block, _, err := kernel.Matrix(ctx, k, slices.Concat(nodes, rows), nodes, s)
	return block, err
}
