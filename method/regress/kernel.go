package regress

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/iterative"
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
		Name: ridgeName, Title: "kernel ridge regression with a constant", Works: param.Undirected,
		Source: "Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, 1998",
		Params: []param.Param{{
			Name: "lambda", Symbol: "λ", Meaning: "ridge, relative to the mean kernel value of a node with itself", Range: param.Above(0), Default: param.Of(0.1), Grid: ratios,
		}},
	},
	OnKernel: true,
	compare: func(ctx context.Context, c *comparison, m *Method) (*evidence, error) {
		return c.compareKernels(ctx, m, "lambda", false)
	},
	predict: func(ctx context.Context, r *run, m *Method, v Parameters) ([]float64, []float64, error) {
		k, err := r.kernelOf(ctx, m, v)
		if err != nil {
			return nil, nil, err
		}
		values, err := r.ridge(ctx, k, v.Model.Number("lambda"))
		return values, nil, err
	},
	bytes: func(p *Problem, compared []int, m *Method, s *Settings) (int64, error) {
		return kernelBytes(p, compared, m, s, false)
	},
}

const ridgeName = "rls"

// ratios are usual ratios of the variance of noise to that of a function.
var ratios = param.Grid(1e-4, 1e-3, 0.01, 0.1, 1, 10)

// mostSolved is the number of values up to which the Gram matrix is factored. Conjugate gradients on
// products with the kernel take no longer from there on.
const mostSolved = 2000

// kernelOf returns the kernel of a method.
func (r *run) kernelOf(ctx context.Context, m *Method, v Parameters) (kernel.Kernel, error) {
	ks, err := m.Kernel.NewAll(ctx, r.Graph, []param.Values{v.Kernel})
	if err != nil {
		return nil, err
	}
	return ks[0], nil
}

// compareKernels compares all settings of a method with a kernel and a ratio of noise, see
// [dual.heldOut].
func (c *comparison) compareKernels(ctx context.Context, m *Method, ratio string, likelihood bool) (*evidence, error) {
	ofKernels, ofModels, pairs, err := m.settings(kernel.On(ctx, c.Graph))
	if err != nil {
		return nil, err
	}
	ks, err := m.Kernel.NewAll(ctx, c.Graph, ofKernels)
	if err != nil {
		return nil, err
	}
	set := &kernel.Settings{Memory: c.set.Memory}
	set.Progress = func(_ string, done, total int64) {
		if c.set.Progress != nil {
			c.set.Progress(m.Name(), done, total*2)
		}
	}
	grams, _, err := kernel.Grams(ctx, ks, c.Row, nil, set)
	if err != nil {
		return nil, err
	}
	e := newEvidence(pairs, c.folds)
	if likelihood {
		e.scale = float64(len(c.Row))
	}
	err = sched.Run(ctx, c.set.Workers, len(ks), func(_, i int) error {
		d, err := newDual(ctx, grams[i], c.Value)
		if err != nil {
			return err
		}
		grams[i] = nil
		for j, v := range ofModels {
			d.heldOut(c, v.Number(ratio), likelihood, e, i*len(ofModels)+j)
		}
		return ctx.Err()
	})
	c.progress(m, 1, 1)
	return e, err
}

// dual is the eigendecomposition K = U·diag(Λ)·Uᵀ of a scaled Gram matrix, with Uᵀ[y 1].
type dual struct {
	values    []float64
	vectors   *mat.Dense
	projected *mat.Dense
}

// newDual scales the Gram matrix of values.
func newDual(ctx context.Context, gram *sparse.Block[float64], y []float64) (*dual, error) {
	m := len(y)
	scale := scaleOf(gram)
	k := mat.NewSymDense(m, nil)
	targets := mat.NewDense(m, 2, nil)
	for i := range m {
		for j := i; j < m; j++ {
			k.SetSym(i, j, gram.Row(i)[j]/scale)
		}
		targets.Set(i, 0, y[i])
		targets.Set(i, 1, 1)
	}
	d := &dual{projected: new(mat.Dense)}
	var err error
	if d.values, d.vectors, err = symmetric.Eigen(ctx, k, nil, 1); err != nil {
		return nil, err
	}
	for i, v := range d.values {
		d.values[i] = max(0, v)
	}
	d.projected.Mul(d.vectors.T(), targets)
	return d, nil
}

// scaleOf returns the mean of the diagonal, 1 if it is 0.
func scaleOf(gram *sparse.Block[float64]) float64 {
	sum := 0.0
	for i := range gram.Cols {
		sum += gram.Row(i)[i]
	}
	if sum <= 0 {
		return 1
	}
	return sum / float64(gram.Cols)
}

// heldOut notes the predictions for the values of every fold with the ratio λ, by the closed form of
// the package comment. With likelihood the loss is minus the logarithm of the restricted likelihood,
// where the variance is σ² = yᵀPy/(m − 1): of all values
//
//	½((m − 1)·log σ² + log|K + λI| + log(1ᵀG1))
//
// but for a constant, and of a fold given the others that of a normal density with the covariance
// σ²(P_FF)⁻¹. Otherwise it is the squared error.
func (d *dual) heldOut(c *comparison, lambda float64, likelihood bool, e *evidence, setting int) {
	m, rank := d.vectors.Dims()
	root := make([]float64, rank) // (Λ + λ)^-½
	determinant := 0.0            // log|K + λI|
	for q, v := range d.values {
		root[q] = 1 / math.Sqrt(v+lambda)
		determinant += math.Log(v + lambda)
	}
	var scaled, half, g mat.Dense
	scaled.Apply(func(q, _ int, v float64) float64 { return v * root[q] * root[q] }, d.projected)
	g.Mul(d.vectors, &scaled) // G·[y 1]
	half.Apply(func(_, q int, v float64) float64 { return v * root[q] }, d.vectors)
	alpha, mean := dualOf(sparse.BlockOf(m, 2, g.RawMatrix().Data))
	ones, variance := 0.0, 0.0
	for i, y := range c.Value {
		ones += g.At(i, 1)
		variance += float64((y - mean) * alpha[i])
	}
	variance /= float64(m - 1)
	for f := range c.folds {
		_, test := c.outside(f)
		rows := mat.NewDense(len(test), rank, nil)
		residual := mat.NewVecDense(len(test), nil)
		for a, i := range test {
			rows.SetRow(a, half.RawRowView(i))
			residual.SetVec(a, alpha[i])
		}
		p := new(mat.SymDense) // P_FF
		p.SymOuterK(1, rows)
		for a, i := range test {
			for b := a; b < len(test); b++ {
				p.SetSym(a, b, p.At(a, b)-float64(g.At(i, 1)*g.At(test[b], 1))/ones)
			}
		}
		var factor mat.Cholesky
		errs := mat.NewVecDense(len(test), nil)
		var condition mat.Condition
		if !factor.Factorize(p) || !(variance > 0) {
			e.addLoss(setting, f, math.Inf(1)) // it is never chosen
		} else if err := factor.SolveVecTo(errs, residual); err != nil && !errors.As(err, &condition) {
			e.addLoss(setting, f, math.Inf(1))
		} else if likelihood {
			e.loss[setting][f] = (float64(len(test))*math.Log(variance) - factor.LogDet() + mat.Dot(errs, residual)/variance) / 2
		}
		for a, i := range test {
			if predicted := c.Value[i] - errs.AtVec(a); likelihood {
				e.noteErrors(setting, f, c.Value[i], predicted)
			} else {
				e.note(setting, f, c.Value[i], predicted)
			}
		}
	}
	if likelihood {
		e.total[setting] += (float64(m-1)*math.Log(variance) + determinant + math.Log(ones)) / 2
	}
}

// ridge returns the predictions of kernel ridge regression.
func (r *run) ridge(ctx context.Context, k kernel.Kernel, lambda float64) ([]float64, error) {
	targets := sparse.NewBlock[float64](len(r.Row), 2)
	for i, y := range r.Value {
		targets.Row(i)[0], targets.Row(i)[1] = y, 1
	}
	var solved *sparse.Block[float64] // (K + λ)⁻¹·[y 1]
	var err error
	if len(r.Row) <= mostSolved {
		solved, err = r.factored(ctx, k, lambda, targets)
	} else {
		solved, err = r.iterated(ctx, k, lambda, targets)
	}
	if err != nil {
		return nil, err
	}
	alpha, mean := dualOf(solved)
	n := len(r.Degrees)
	x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	for i, row := range r.Row {
		x.Row(row)[0] = alpha[i]
	}
	if _, err := k.ApplyTo(ctx, y, x, r.kernelSettings()); err != nil {
		return nil, err
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = y.Row(i)[0] + mean
	}
	return values, nil
}

// dualOf returns α = (K + λ)⁻¹(y − μ1) and μ.
func dualOf(solved *sparse.Block[float64]) (alpha []float64, mean float64) {
	var ofY, ofOnes float64
	for i := range solved.Rows {
		ofY += solved.Row(i)[0]
		ofOnes += solved.Row(i)[1]
	}
	mean = ofY / ofOnes
	alpha = make([]float64, solved.Rows)
	for i := range alpha {
		alpha[i] = solved.Row(i)[0] - float64(mean*solved.Row(i)[1])
	}
	return alpha, mean
}

// gram returns the Gram matrix of the values and λ on its scale.
func (r *run) gram(ctx context.Context, k kernel.Kernel, lambda float64) (*sparse.Block[float64], float64, error) {
	grams, _, err := kernel.Grams(ctx, []kernel.Kernel{k}, r.Row, nil, r.kernelSettings())
	if err != nil {
		return nil, 0, err
	}
	return grams[0], lambda * scaleOf(grams[0]), nil
}

// factor returns the Cholesky factor of K + λI.
func factor(ctx context.Context, gram *sparse.Block[float64], lambda float64) (*mat.Cholesky, error) {
	sym := mat.NewSymDense(gram.Cols, nil)
	for i := range gram.Cols {
		for j := i; j < gram.Cols; j++ {
			sym.SetSym(i, j, gram.Row(i)[j])
		}
		sym.SetSym(i, i, sym.At(i, i)+lambda)
	}
	var f mat.Cholesky
	definite := false
	if err := sched.Abandon(ctx, func() { definite = f.Factorize(sym) }); err != nil {
		return nil, err
	}
	if !definite {
		return nil, errIndefinite
	}
	return &f, nil
}

var errIndefinite = errors.New("regress: the kernel matrix is not positive definite; give a larger lambda or noise")

// factored returns (K + λ)⁻¹·T by a Cholesky factor.
func (r *run) factored(ctx context.Context, k kernel.Kernel, lambda float64, t *sparse.Block[float64]) (*sparse.Block[float64], error) {
	gram, lambda, err := r.gram(ctx, k, lambda)
	if err != nil {
		return nil, err
	}
	f, err := factor(ctx, gram, lambda)
	if err != nil {
		return nil, err
	}
	var x mat.Dense
	var condition mat.Condition
	if err := f.SolveTo(&x, sparse.DenseOf(t)); err != nil && !errors.As(err, &condition) {
		return nil, err
	}
	return sparse.BlockOf(t.Rows, t.Cols, x.RawMatrix().Data), nil
}

// iterated returns (K + λ)⁻¹·T by conjugate gradients on products with the kernel of all nodes. Its
// scale is that of a sample.
func (r *run) iterated(ctx context.Context, k kernel.Kernel, lambda float64, t *sparse.Block[float64]) (*sparse.Block[float64], error) {
	sample := *r
	sample.Problem = r.Problem.At(sampleOf(len(r.Row), mostCompared, r.set.RNGSeed))
	_, lambda, err := sample.gram(ctx, k, lambda)
	if err != nil {
		return nil, err
	}
	x := sparse.NewBlock[float64](t.Rows, t.Cols)
	operator := kernel.NewAmong(k, r.Row, 1, slices.Repeat([]float64{lambda}, len(r.Row)), t.Cols, r.kernelSettings())
	cg := &iterative.CG{A: operator, Workers: r.set.Workers}
	_, err = cg.SolveTo(ctx, x, t, &iterative.Settings{Tolerance: 1e-9, MaxIterations: 1000})
	if errors.Is(err, iterative.ErrIterationLimit) || errors.Is(err, iterative.ErrStagnation) || errors.Is(err, iterative.ErrIndefinite) {
		return nil, &problem.Error{Method: ridgeName, Err: err}
	}
	return x, err
}

// kernelBytes returns the memory of a method with a kernel, with deviations or without.
func kernelBytes(p *Problem, compared []int, m *Method, s *Settings, deviations bool) (int64, error) {
	ofKernels, _, _, err := m.settings(kernel.OnDegrees(p.Degrees))
	if err != nil {
		return 0, err
	}
	n, c, values := len(p.Degrees), int64(len(compared)), int64(len(p.Row))
	workers := int64(min(sched.Workers(s.Workers), len(ofKernels)))
	grams := m.Kernel.GramsBytes(ofKernels, p.Degrees, p.A.NNZ(), compared, s.Memory)
	bytes := max(grams, 8*c*c*(int64(len(ofKernels))+6*workers))
	fixed := 2*blocks.BlockBytes[float64](n, 1) + 16*int64(n)
	for i := range ofKernels {
		v := ofKernels[i : i+1]
		apply := fixed + m.Kernel.ApplyBytes(v[0], p.Degrees, 1)
		switch {
		case len(p.Row) > mostSolved:
			apply = max(apply, m.Kernel.GramsBytes(v, p.Degrees, p.A.NNZ(), compared, s.Memory))
			apply = max(apply, 2*blocks.BlockBytes[float64](n, 2)+8*2*8*values+m.Kernel.ApplyBytes(v[0], p.Degrees, 2))
		default:
			apply = max(apply, m.Kernel.GramsBytes(v, p.Degrees, p.A.NNZ(), p.Row, s.Memory), 4*8*values*values)
		}
		if deviations {
			rows := p.Row
			chunk := upTo(min(n, deviationNodes))
			block := 8 * int64(len(chunk)) * (int64(len(chunk)) + 3*values)
			need := m.Kernel.Bytes(v[0], p.Degrees, p.A.NNZ(), false, append(upTo(len(chunk)), rows...), chunk, &kernel.Settings{Memory: budget.Remaining(s.Memory, block)})
			apply = max(apply, 3*8*values*values+block+need)
		}
		bytes = max(bytes, apply)
	}
	return bytes, nil
}

// upTo returns 0 … n−1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
