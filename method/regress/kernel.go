package regress

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	pathridge "github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// ridge is kernel ridge regression with a constant μ that is not penalized:
//
//	min Σ_i (f(i) + μ − y_i)² + λ‖f‖²
//
// over f = Σ_j α_j·K(·, j), where K is scaled so that its mean K(i, i) over the known values is 1.
var ridge = Model{
	Spec: param.Spec{
		Name: "rls", Title: "kernel ridge regression with a constant", Works: param.Undirected,
		Source: "Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, 1998",
		Params: []param.Param{{
			Name: "lambda", Symbol: "λ", Meaning: "ridge, relative to the mean kernel value of a node with itself", Range: param.Above(0), Default: param.Of(0.1), Grid: ratios,
		}},
	},
}

// ratios are usual ratios of the variance of noise to that of a function.
var ratios = param.Grid(1e-4, 1e-3, 0.01, 0.1, 1, 10)

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

func init() {
	ridge.on = func(f *kernel.Family) *Model { return onKernel(&ridge, f) }
	process.on = func(f *kernel.Family) *Model { return onKernel(&process, f) }
}

// onKernel returns a model on a kernel, whose parameters come first.
func onKernel(m *Model, f *kernel.Family) *Model {
	ratio, isProcess := m.Params[0].Name, m == &process
	composed := &Model{Spec: m.Spec, Ridge: true, kernel: f, on: m.on}
	composed.Name, composed.Works, composed.Params = f.Name+"+"+m.Name, f.Works, slices.Concat(f.Params, m.Params)
	composed.Predict = func(ctx context.Context, p *Problem, settings []param.Values, s *Settings) ([]Values, error) {
		var list []Values
		for _, v := range settings {
			ks, err := f.NewAll(ctx, p.Graph, []param.Values{f.Own(v)})
			if err != nil {
				return nil, err
			}
			predicted, err := predictKernel(ctx, p, composed, ks[0], v.Number(ratio), isProcess, s)
			if err != nil {
				return nil, err
			}
			list = append(list, predicted)
		}
		return list, nil
	}
	composed.heldOut = func(ctx context.Context, p *Problem, fold []int, settings []param.Values, s *Settings) (miss, likelihood [][]float64, err error) {
		if miss, likelihood, err = kernelHeldOut(ctx, p, composed, fold, settings, ratio, s); !isProcess {
			likelihood = nil
		}
		return miss, likelihood, err
	}
	composed.Bytes = func(p *Problem, settings []param.Values, s *Settings) (int64, error) {
		return kernelBytes(p, composed, settings, s, isProcess)
	}
	return composed
}

// mostSolved is the number of values up to which the Gram matrix is factored. Conjugate gradients on
// products with the kernel take no longer from there on.
const mostSolved = 2000

// kernelSettings returns the settings of a computation with a kernel.
func kernelSettings(s *Settings) *kernel.Settings {
	return &kernel.Settings{Tolerance: 1e-11, Lenient: true, Memory: s.Memory}
}

// kernelHeldOut returns the errors of predictions by models of the other folds, and the likelihoods of these, see [pathridge.Path.LeavePartsOut].
func kernelHeldOut(ctx context.Context, p *Problem, m *Model, fold []int, settings []param.Values, ratio string, s *Settings) (miss, likelihood [][]float64, err error) {
	values, first := m.kernels(settings)
	ks, err := m.kernel.NewAll(ctx, p.Graph, values)
	if err != nil {
		return nil, nil, err
	}
	grams, _, err := kernel.Grams(ctx, ks, p.Row, nil, &kernel.Settings{Memory: s.Memory, Progress: func(_ string, done, total int64) {
		if s.Progress != nil {
			s.Progress(m.Name, done, total)
		}
	}})
	if err != nil {
		return nil, nil, err
	}
	miss, likelihood = make([][]float64, len(settings)), make([][]float64, len(settings))
	folds := slices.Max(fold) + 1
	err = sched.Run(ctx, s.Workers, len(ks), func(_, k int) error {
		gram := symmetricOf(grams[k])
		grams[k] = nil
		path, err := pathridge.NewTargetGramPath(ctx, gram, mat.NewDense(len(p.Row), 1, slices.Clone(p.Value)), 1)
		if err != nil {
			return err
		}
		end := len(settings)
		if k+1 < len(first) {
			end = first[k+1]
		}
		for i := first[k]; i < end; i++ {
			miss[i] = make([]float64, len(p.Row))
			predicted, l, err := path.LeavePartsOut(settings[i].Number(ratio), fold, folds)
			if errors.Is(err, pathridge.ErrIndefinite) {
				l = slices.Repeat([]float64{math.Inf(-1)}, folds+1)
			} else if err != nil {
				return err
			}
			likelihood[i] = l
			for a, y := range p.Value {
				if miss[i][a] = math.Inf(1); err == nil {
					miss[i][a] = y - predicted.At(a, 0)
				}
			}
		}
		return ctx.Err()
	})
	return miss, likelihood, err
}

// kernels returns the distinct values of the kernel in settings, and the first setting with each.
func (m *Model) kernels(settings []param.Values) (values []param.Values, first []int) {
	for i, v := range settings {
		parameters := m.kernel.Own(v)
		if i == 0 || !maps.Equal(parameters, values[len(values)-1]) {
			values, first = append(values, parameters), append(first, i)
		}
	}
	return values, first
}

// predictKernel returns the values of all nodes with a ratio λ of noise, and their standard deviations if they are asked for.
func predictKernel(ctx context.Context, p *Problem, m *Model, k kernel.Kernel, lambda float64, deviates bool, s *Settings) (out Values, err error) {
	if deviates {
		if err := checkProcess(p, m); err != nil {
			return out, err
		}
	}
	targets := mat.NewDense(len(p.Row), 2, nil)
	for i, y := range p.Value {
		targets.SetRow(i, []float64{y, 1})
	}
	solved := new(mat.Dense) // G·[y 1]
	var f *mat.Cholesky
	if len(p.Row) > mostSolved {
		solved, err = iterated(ctx, p, m, k, lambda, targets, s)
	} else if f, lambda, err = factored(ctx, p, k, lambda, s); err == nil {
		err = solveTo(solved, f, targets)
	}
	if err != nil {
		return out, err
	}
	alpha, mean := dualOf(solved)
	n := len(p.Degrees)
	x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	for i, row := range p.Row {
		x.Row(row)[0] = alpha[i]
	}
	if _, err := k.ApplyTo(ctx, y, x, kernelSettings(s)); err != nil {
		return out, err
	}
	out.Value = make([]float64, n)
	for i := range out.Value {
		out.Value[i] = y.Row(i)[0] + mean
	}
	if deviates {
		out.Stddev, err = deviationsOf(ctx, p, m, k, f, mat.Col(nil, 1, solved), alpha, lambda, s)
	}
	return out, err
}

// deviationsOf returns the standard deviations of the values at the other nodes, given the factor of G⁻¹ and the vectors
// g = G1 and α.
func deviationsOf(ctx context.Context, p *Problem, m *Model, k kernel.Kernel, f *mat.Cholesky, g, alpha []float64, noise float64, s *Settings) ([]float64, error) {
	var inverse mat.SymDense
	if err := f.InverseTo(&inverse); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, err
	}
	variance, sumOfG, count := 0.0, floats.Sum(g), len(p.Row)
	for i, a := range alpha {
		variance += float64(a*a) / (inverse.At(i, i) - float64(g[i]*g[i])/sumOfG) / float64(count)
	}
	deviations, isKnown := make([]float64, len(p.Degrees)), make([]bool, len(p.Degrees))
	for _, row := range p.Row {
		isKnown[row] = true
	}
	unknown := slices.DeleteFunc(sched.UpTo(len(p.Degrees)), func(v int) bool { return isKnown[v] })
	done := 0
	for nodes := range slices.Chunk(unknown, deviationNodes) {
		block, _, err := kernel.Matrix(ctx, k, slices.Concat(nodes, p.Row), nodes, &kernel.Settings{Tolerance: 1e-9, Lenient: true, Memory: s.Memory})
		if err != nil {
			return nil, err
		}
		cross := mat.NewDense(count, len(nodes), nil)
		for i := range count {
			cross.SetRow(i, block.Row(len(nodes)+i))
		}
		var image mat.Dense // G·k_x for each x
		if err := solveTo(&image, f, cross); err != nil {
			return nil, err
		}
		for a, x := range nodes {
			residual := 1 - mat.Sum(image.ColView(a))
			v := block.Row(a)[a] - mat.Dot(cross.ColView(a), image.ColView(a)) + float64(residual*residual)/sumOfG + noise
			deviations[x] = math.Sqrt(variance * max(v, 0))
		}
		if done += len(nodes); s.Progress != nil {
			s.Progress(m.Name, int64(done), int64(len(unknown)))
		}
	}
	return deviations, nil
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
		return tooMany(m, "nodes", n, mostDeviations)
	}
	if n := len(p.Row); n > mostSolved {
		return tooMany(m, "values", n, mostSolved)
	}
	return nil
}

// dualOf returns α = (K + λ)⁻¹(y − μ1) and μ.
func dualOf(solved *mat.Dense) (alpha []float64, mean float64) {
	mean = mat.Sum(solved.ColView(0)) / mat.Sum(solved.ColView(1))
	for i := range solved.RawMatrix().Rows {
		alpha = append(alpha, solved.At(i, 0)-float64(mean*solved.At(i, 1)))
	}
	return alpha, mean
}

// symmetricOf returns the upper triangle of a block as a symmetric matrix.
func symmetricOf(x *sparse.Block[float64]) *mat.SymDense {
	sym := mat.NewSymDense(x.Cols, nil)
	for i := range x.Cols {
		for j := i; j < x.Cols; j++ {
			sym.SetSym(i, j, x.Row(i)[j])
		}
	}
	return sym
}

// gramOf returns the Gram matrix of the values of p, and the mean of its diagonal, 1 if it is 0.
func gramOf(ctx context.Context, p *Problem, k kernel.Kernel, s *Settings) (*sparse.Block[float64], float64, error) {
	grams, _, err := kernel.Grams(ctx, []kernel.Kernel{k}, p.Row, nil, kernelSettings(s))
	if err != nil {
		return nil, 0, err
	}
	sum := 0.0
	for i := range p.Row {
		sum += grams[0].Row(i)[i] / float64(len(p.Row))
	}
	if sum <= 0 {
		sum = 1
	}
	return grams[0], sum, nil
}

// factored returns the Cholesky factor of K + λI, and λ on the scale of K.
func factored(ctx context.Context, p *Problem, k kernel.Kernel, lambda float64, s *Settings) (*mat.Cholesky, float64, error) {
	gram, scale, err := gramOf(ctx, p, k, s)
	if err != nil {
		return nil, 0, err
	}
	lambda *= scale
	sym := symmetricOf(gram)
	for i := range gram.Cols {
		sym.SetSym(i, i, sym.At(i, i)+lambda)
	}
	f, definite := new(mat.Cholesky), false
	if err := sched.Abandon(ctx, func() { definite = f.Factorize(sym) }); err != nil {
		return nil, 0, err
	}
	if !definite {
		return nil, 0, errIndefinite
	}
	return f, lambda, nil
}

var errIndefinite = errors.New("regress: the kernel matrix is not positive definite; give a larger lambda or noise")

// solveTo stores the solution for t in dst; a large condition number is no error.
func solveTo(dst *mat.Dense, f *mat.Cholesky, t mat.Matrix) error {
	if err := f.SolveTo(dst, t); err != nil && !errors.As(err, new(mat.Condition)) {
		return err
	}
	return nil
}

// iterated returns (K + λ)⁻¹·T by conjugate gradients on products with the kernel of all nodes. Its
// scale is that of a sample.
func iterated(ctx context.Context, p *Problem, m *Model, k kernel.Kernel, lambda float64, t *mat.Dense, s *Settings) (*mat.Dense, error) {
	_, scale, err := gramOf(ctx, p.At(sampleOf(len(p.Row), mostCompared, s.RNGSeed)), k, s)
	if err != nil {
		return nil, err
	}
	shift := slices.Repeat([]float64{lambda * scale}, len(p.Row))
	x, err := kernel.NewAmong(k, p.Row, 1, shift, 2, kernelSettings(s)).Solve(ctx, sparse.BlockOf(len(p.Row), 2, t.RawMatrix().Data), 1e-9, s.Workers)
	if errors.Is(err, kernel.ErrUnsolved) {
		return nil, &problem.Error{Method: m.Name, Err: err}
	} else if err != nil {
		return nil, err
	}
	return sparse.DenseOf(x), nil
}

// kernelBytes returns the memory of a method with a kernel, with deviations or without.
func kernelBytes(p *Problem, m *Model, settings []param.Values, s *Settings, deviations bool) (int64, error) {
	if deviations {
		if err := checkProcess(p, m); err != nil {
			return 0, err
		}
	}
	grid, _ := m.kernels(settings)
	compared := p.At(sampleOf(len(p.Row), mostCompared, s.RNGSeed)).Row
	n, c, values, entries := len(p.Degrees), int64(len(compared)), int64(len(p.Row)), p.A.NNZ()
	bytes := max(m.kernel.GramsBytes(grid, p.Degrees, entries, compared, s.Memory), 8*c*c*int64(len(grid)+6*min(sched.Workers(s.Workers), len(grid))))
	factored := 4 * 8 * values * values
	if values > mostSolved {
		factored = 2*blocks.BlockBytes[float64](n, 2) + 8*2*8*values + m.kernel.ApplyBytes(grid[0], p.Degrees, 2)
	}
	items := p.Row[:min(len(p.Row), mostSolved)]
	bytes = max(bytes, m.kernel.GramsBytes(grid[:1], p.Degrees, entries, items, s.Memory), factored,
		2*blocks.BlockBytes[float64](n, 1)+16*int64(n)+m.kernel.ApplyBytes(grid[0], p.Degrees, 1))
	if deviations {
		chunk := sched.UpTo(min(n, deviationNodes))
		block := 8 * int64(len(chunk)) * (int64(len(chunk)) + 3*values)
		bytes = max(bytes, 4*8*values*values+block+
			m.kernel.Bytes(grid[0], p.Degrees, entries, false, append(slices.Clone(chunk), p.Row...), chunk, &kernel.Settings{Memory: budget.Remaining(s.Memory, block)}))
	}
	return bytes, nil
}
