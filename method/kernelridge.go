package method

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
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
var ridge = Regression{
	Spec: param.Spec{
		Name: "rls", Title: "kernel ridge regression with a constant",
		Works:  param.Undirected,
		Source: "Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, 1998",
		Params: []param.Param{{
			Name: "lambda", Symbol: "λ",
			Meaning: "ridge, relative to the mean kernel value of a node with itself", Range: param.Above(0), Default: param.Of(0.1), Grid: ratios,
		}},
	},
	OnKernel: true,
}

// ratios are usual ratios of the variance of noise to that of a function.
var ratios = param.Grid(1e-4, 1e-3, 0.01, 0.1, 1, 10)

// onKernel returns kernel ridge regression on a kernel, whose parameters come first.
func onKernel(f *kernel.Family) *Regression {
	m := &Regression{Spec: ridge.Spec, Ridge: true, OnKernel: true}
	m.Spec.Name = f.Name + "+" + ridge.Spec.Name
	m.Works = f.Works
	m.Params = slices.Concat(f.Params, ridge.Params)
	k := &kernelRidge{f, m.Spec.Name}
	m.Predict = k.predict
	m.HeldOut = k.heldOut
	m.Bytes = k.bytes
	return m
}

// kernelRidge is kernel ridge regression on a kernel.
type kernelRidge struct {
	family *kernel.Family
	name   string
}

// predict is the Predict of its model.
func (k *kernelRidge) predict(ctx context.Context, p *Problem, settings []param.Values,
	s *Settings) (list [][]float64, err error) {
	for _, v := range settings {
		ks, err := k.family.NewAll(ctx, p.Graph, []param.Values{k.family.Own(v)})
		if err != nil {
			return nil, err
		}
		predicted, err := predictKernel(ctx, p, ks[0], v.Number("lambda"), s)
		if err != nil {
			return nil, k.unsolved(err)
		}
		list = append(list, predicted)
	}
	return list, nil
}

// unsolved returns an error, which names the model if it is that of equations.
func (k *kernelRidge) unsolved(err error) error {
	if errors.Is(err, kernel.ErrUnsolved) || errors.Is(err, classify.ErrIndefinite) {
		return &problem.Error{Method: k.name, Err: err}
	}
	return err
}

// scaleOfKernel returns the mean of the diagonal, 1 if it is 0.
func scaleOfKernel(gram *mat.SymDense) float64 {
	if scale := mat.Trace(gram) / float64(gram.SymmetricDim()); scale > 0 {
		return scale
	}
	return 1
}

// fitKernel returns α and μ for the values of a kernel among known nodes, which it overwrites, and λ in its unit.
func fitKernel(gram *mat.SymDense, value []float64, ridge float64) (dual []float64, mean float64, err error) {
	for i := range value {
		gram.SetSym(i, i, gram.At(i, i)+ridge)
	}
	x := targetsOf(value)
	err = classify.SolveDefinite(gram, x)
	dual, mean = centre(x)
	return dual, mean, err
}

// targetsOf returns the columns y and 1.
func targetsOf(value []float64) *mat.Dense {
	x := mat.NewDense(len(value), 2, slices.Repeat([]float64{1}, 2*len(value)))
	x.SetCol(0, value)
	return x
}

// centre returns α and μ, given (K + λI)⁻¹·[y 1].
func centre(x mat.Matrix) (dual []float64, mean float64) {
	dual = mat.Col(nil, 0, x)
	ones := mat.Col(nil, 1, x)
	mean = floats.Sum(dual) / floats.Sum(ones)
	floats.AddScaled(dual, -mean, ones)
	return dual, mean
}

// heldOut is the HeldOut of its model, by an eigendecomposition of each Gram matrix.
func (k *kernelRidge) heldOut(ctx context.Context, p *Problem, fold []int,
	settings []param.Values, s *Settings) ([][]float64, error) {
	groups := groupRidges(settings)
	ks, err := k.family.NewAll(ctx, p.Graph, k.kernels(groups))
	if err != nil {
		return nil, err
	}
	grams, _, err := kernel.Grams(ctx, ks, p.Row, nil, &kernel.Settings{Lenient: true, Memory: s.Memory, Progress: func(_ string, done, total int64) {
		s.Progress(k.name, done, total)
	}})
	if err != nil {
		return nil, err
	}
	list := make([][][]float64, len(groups))
	err = sched.Run(ctx, s.Workers, len(ks), func(_, number int) error {
		gram := symmetricOf(grams[number])
		grams[number] = nil
		path, err := classify.NewGramRidgePath(ctx, gram,
			mat.NewDense(len(p.Row), 1, slices.Clone(p.Value)), 1)
		if err != nil {
			return err
		}
		for _, v := range groups[number] {
			miss, err := leaveFoldsOut(path, v.Number("lambda"), fold, slices.Max(fold)+1, nil, p.Value)
			if err != nil {
				return err
			}
			list[number] = append(list[number], miss)
		}
		return sched.Cause(ctx)
	})
	return slices.Concat(list...), err
}

// kernels returns the values of the kernel of each group of settings.
func (k *kernelRidge) kernels(groups [][]param.Values) (values []param.Values) {
	for _, group := range groups {
		values = append(values, k.family.Own(group[0]))
	}
	return values
}

// bytes is the Bytes of its model.
func (k *kernelRidge) bytes(p *Problem, settings []param.Values, s *Settings) (int64, error) {
	f := k.family
	grid := k.kernels(groupRidges(settings))
	compared := p.At(sampleOf(len(p.Row), mostCompared, s.RNGSeed)).Row
	n := len(p.Degrees)
	c := int64(len(compared))
	grams := f.GramsWorkspace(grid, p.Degrees, p.A.NNZ(), len(compared)).Most(s.Memory)
	applied := 3*budget.Block[float64](n, 2) + 16*int64(n) +
		8*2*8*int64(len(p.Row)) + f.ApplyWorkspace(grid[0], p.Degrees, p.A.NNZ(), 2).Required(0)
	return max(grams, 8*c*c*int64(len(grid)+
		6*min(sched.Workers(s.Workers), len(grid))), applied), nil
}

// symmetricOf returns a block as a symmetric matrix in the same memory.
func symmetricOf(x *sparse.Block[float64]) *mat.SymDense {
	sym := new(mat.SymDense)
	sym.SetRawSymmetric(blas64.Symmetric{N: x.Rows, Stride: x.Stride, Data: x.Data,
		Uplo: blas.Upper})
	return sym
}

// predictKernel returns the values of all nodes. More than mostCompared values are fitted by conjugate gradients on products with
// the kernel, whose scale is that of a sample: a factor of 2,430 values on a lattice takes as long, and grows with their cube.
func predictKernel(ctx context.Context, p *Problem, k kernel.Kernel, lambda float64,
	s *Settings) ([]float64, error) {
	set := &kernel.Settings{Tolerance: 1e-11, Lenient: true, Memory: s.Memory}
	sample := p.Row
	if len(p.Row) > mostCompared {
		sample = p.At(sampleOf(len(p.Row), mostCompared, s.RNGSeed)).Row
	}
	grams, _, err := kernel.Grams(ctx, []kernel.Kernel{k}, sample, nil, set)
	if err != nil {
		return nil, err
	}
	gram := symmetricOf(grams[0])
	ridge := lambda * scaleOfKernel(gram)
	var dual []float64
	var mean float64
	if len(sample) == len(p.Row) {
		dual, mean, err = fitKernel(gram, p.Value, ridge)
	} else {
		tolerance := 1e-8 // bounds the error of known values, relative to the largest
		if s.Rough {
			tolerance = 1e-5
		}
		var solved *sparse.Block[float64]
		solved, err = kernel.NewAmong(k, p.Row, 1, slices.Repeat([]float64{ridge}, len(p.Row)), 2, set).Solve(ctx,
			sparse.BlockOfDense(targetsOf(p.Value)), tolerance, s.Workers)
		if err == nil {
			dual, mean = centre(sparse.DenseOf(solved))
		}
	}
	if err != nil {
		return nil, err
	}
	n := len(p.Degrees)
	x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	for i, row := range p.Row {
		x.Row(row)[0] = dual[i]
	}
	if _, err := k.ApplyTo(ctx, y, x, set); err != nil {
		return nil, err
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = y.Row(i)[0] + mean
	}
	return values, nil
}
