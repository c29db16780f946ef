package regression

import (
	"cmp"
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
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// RidgeSpec declares kernel ridge regression with a constant μ that is not penalized:
//
//	min Σ_i (f(i) + μ − y_i)² + λ‖f‖²
//
// over f = Σ_j α_j·K(·, j), with K scaled to a mean K(i, i) of 1 over the known values.
var RidgeSpec = param.Spec{
	Name: "rls", Title: "kernel ridge regression with a constant",
	Works:  param.Undirected,
	Source: "Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, 1998",
	Params: []param.Param{{
		Name: "lambda", Symbol: "λ",
		Meaning: "ridge, relative to the mean kernel value of a node with itself", Range: param.Above(0), Default: param.Of(0.1), Grid: engine.Ratios,
	}},
}

type kernelRidge struct{ family *kernel.Family }

// OnKernel returns ridge regression on the kernels f. The parameters of the kernel come before the parameters of the
// ridge.
func OnKernel(f *kernel.Family) *engine.Engine {
	k := kernelRidge{f}
	spec := RidgeSpec
	spec.Name = k.family.Name + "+" + spec.Name
	spec.Works = k.family.Works
	spec.Params = slices.Concat(k.family.Params, spec.Params)
	m := engine.GraphMethod{Spec: &spec, Target: engine.Numbers, Ridge: true, IsSampled: true, Predictions: k.predictions,
		Scores: engine.OneByOne(k.predict).Scores, Workspace: k.workspace}
	e := m.Engine()
	e.Specs = []*param.Spec{&k.family.Spec, &RidgeSpec}
	e.Check = func(s *engine.Settings) error { return k.family.Asymmetric(k.family.Own(s.Given)) }
	return e
}

func (k kernelRidge) workspace(p *engine.Problem, settings []param.Values, _ *engine.Settings) (budget.Workspace, error) {
	n := len(p.Degrees)
	entries := p.A.NNZ()
	compared := min(len(p.Row), engine.MostCompared)
	w := iterative.FactorWorkspace(n, entries, false).AndHeld((5*int64(kernel.SlabColumns(n)) + 20) * 8 * int64(n))
	return w.Or(k.family.GramsWorkspace(k.kernels(groupRidges(settings)), p.Degrees, entries, compared)).And(
		budget.Held(budget.Times(5, budget.Block[float64](compared, compared)), 200*int64(len(p.Row)))), nil
}

// unsolved returns err. If err says that equations were not solved, unsolved adds the name of the model.
func (k kernelRidge) unsolved(err error) error {
	if errors.Is(err, kernel.ErrUnsolved) || errors.Is(err, classify.ErrIndefinite) {
		return &problem.Error{Method: k.family.Name + "+" + RidgeSpec.Name, Err: err}
	}
	return err
}

// predictions is the Predictions of [engine.GraphMethod]. With at most [engine.MostCompared] values it decomposes a Gram
// matrix for each kernel. Otherwise it solves for each setting and group.
func (k kernelRidge) predictions(ctx context.Context, j *engine.Job, settings []param.Values, list []engine.Group, visit engine.FoldVisitor) error {
	p := j.Problem
	if len(p.Row) > engine.MostCompared {
		return engine.OneByOne(k.predict).Predictions(ctx, j, settings, list, visit)
	}
	groups := groupRidges(settings)
	ks, err := k.family.NewAll(ctx, p.Graph, k.kernels(groups))
	if err != nil {
		return err
	}
	grams, _, err := kernel.Grams(ctx, ks, p.Row, nil, &kernel.Settings{Lenient: true, Memory: j.Settings.Memory, Progress: func(_ string, done, total int64) {
		j.Settings.Progress(j.Declared.Name, done, total)
	}})
	if err != nil {
		return err
	}
	fold := foldsOf(p, list)
	first := make([]int, len(groups))
	for number := 1; number < len(groups); number++ {
		first[number] = first[number-1] + len(groups[number-1])
	}
	return sched.Run(ctx, j.Settings.Workers, len(ks), func(_, number int) error {
		gram := symmetricOf(grams[number])
		grams[number] = nil
		path, err := classify.NewGramRidgePath(ctx, gram,
			mat.NewDense(len(p.Row), 1, slices.Clone(p.Value)), 1)
		var lambdas []float64
		for _, v := range groups[number] {
			lambdas = append(lambdas, v.Number("lambda"))
		}
		if err == nil {
			err = leaveFoldsOut(path, lambdas, p.Row, fold, len(list), nil, first[number], visit)
		}
		return cmp.Or(err, sched.Cause(ctx))
	})
}

func (k kernelRidge) kernels(groups [][]param.Values) (values []param.Values) {
	for _, group := range groups {
		values = append(values, k.family.Own(group[0]))
	}
	return values
}

// symmetricOf returns x as a symmetric matrix in the same memory.
func symmetricOf(x *sparse.Block[float64]) *mat.SymDense {
	sym := new(mat.SymDense)
	sym.SetRawSymmetric(blas64.Symmetric{N: x.Rows, Stride: x.Stride, Data: x.Data,
		Uplo: blas.Upper})
	return sym
}

// predict returns the predicted value of every node, by conjugate gradients on products with the kernel. If there are many
// values, a sample of their nodes gives the mean K(i, i).
func (k kernelRidge) predict(ctx context.Context, p *engine.Problem, v param.Values, s *engine.Settings) ([]float64, error) {
	ks, err := k.family.NewAll(ctx, p.Graph, []param.Values{k.family.Own(v)})
	if err != nil {
		return nil, err
	}
	set := &kernel.Settings{Tolerance: 1e-11, Lenient: true, Memory: s.Memory}
	grams, _, err := kernel.Grams(ctx, ks, p.At(engine.SampleOf(len(p.Row), engine.MostCompared, s.RNGSeed)).Row, nil, set)
	if err != nil {
		return nil, k.unsolved(err)
	}
	scale := cmp.Or(mat.Trace(symmetricOf(grams[0]))/float64(grams[0].Rows), 1)
	tolerance := 1e-10 // relative error of known values
	if s.Rough {
		tolerance = 1e-5
	}
	targets := mat.NewDense(len(p.Row), 2, slices.Repeat([]float64{1}, 2*len(p.Row))) // y and 1
	targets.SetCol(0, p.Value)
	ridges := slices.Repeat([]float64{v.Number("lambda") * scale}, len(p.Row))
	x, err := kernel.NewAmong(ks[0], p.Row, 1, ridges, 2, set).Solve(ctx, sparse.BlockOfDense(targets), tolerance, s.Workers)
	if err != nil {
		return nil, k.unsolved(err)
	}
	// α = (K + λI)⁻¹·(y − μ1) with 1ᵀα = 0
	dual := mat.Col(nil, 0, sparse.DenseOf(x))
	ones := mat.Col(nil, 1, sparse.DenseOf(x))
	mean := floats.Sum(dual) / floats.Sum(ones)
	floats.AddScaled(dual, -mean, ones)
	n := len(p.Degrees)
	coefficients, products := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	for i, row := range p.Row {
		coefficients.Row(row)[0] = dual[i]
	}
	if _, err := ks[0].ApplyTo(ctx, products, coefficients, set); err != nil {
		return nil, k.unsolved(err)
	}
	values := mat.Col(nil, 0, sparse.DenseOf(products))
	floats.AddConst(mean, values)
	return values, nil
}
