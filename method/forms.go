package method

import (
	"context"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// Explain returns the reasons for the predicted classes of some nodes of a problem, whose labels the prediction has learned
// from with [Settings].Explain. The error wraps [explain.ErrNoForm] for a method whose scores are no sums over labelled nodes.
func (p *Prediction) Explain(ctx context.Context, problem *Problem, nodes []int,
	s *explain.Settings) ([]explain.Explanation, error) {
	if p.Form == nil {
		return nil, explain.ErrNoForm
	}
	return explain.Nodes(ctx, problem, p.Form, p.Class, nodes, s)
}

// Explainable returns the names of the methods whose predictions have reasons, in one line.
func Explainable() string {
	names := []string{autoSpec.Name, propagationSpec.Name, beliefsSpec.Name, walkSpec.Name}
	for _, l := range propagate.Learners() {
		if propagate.IsLinear(l) {
			names = append(names, l.Name)
		}
	}
	for _, l := range learners() {
		if l.Dual {
			names = append(names, "KERNEL+"+l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// responseTolerance is the residual of the solves for responses, small because links of weights over many decades multiply
// the rest.
const responseTolerance = 1e-12

// form returns the form of the scores of all nodes, nil if they are no sums over labelled nodes.
func (m spreading) form(j *job, v param.Values,
	scores *sparse.Block[float64]) *explain.Form {
	if !j.set.Explain || !propagate.IsLinear(m.rule) {
		return nil
	}
	k := len(j.p.Names)
	respond := func(ctx context.Context, nodes []int) (*sparse.Block[float64], error) {
		return propagate.Response(ctx, m.rule, j.g, j.p.Seeds(), nodes, v,
			responseTolerance)
	}
	weights := sparse.NewBlock[float64](len(j.p.Row), k)
	for i, c := range j.p.Class {
		weights.Row(i)[c] = 1
	}
	f := explain.Linear(j.p.Row, weights, scores, make([]float64, k), respond)
	if m.rule.Normalized {
		f.Size = degreeOf(j.p)
	}
	return f
}

// degreeOf returns the degrees of nodes.
func degreeOf(p *Problem) func(node int) float64 {
	return func(node int) float64 { return p.Degrees[node] }
}

// byClass adds the value of a classifier to those of its classes: to that of Positive, and its negative to that of another
// class than [classify.Rest].
func byClass(dst []float64, pair classify.Pair, value float64) {
	dst[pair.Positive] += value
	if pair.Negative != classify.Rest {
		dst[pair.Negative] -= value
	}
}

// keepForm keeps the form of decisions that are linear in the kernel. Of classifiers for two classes the score of a class is the
// sum of the decisions for it less those against it. Cost: an application of the kernel.
func (r *kernelPredictor) keepForm(ctx context.Context) error {
	if !r.set.Explain || !r.learner.Dual {
		return nil
	}
	n := len(r.p.Degrees)
	k := len(r.p.Names)
	rows := r.p.Row
	weights := sparse.NewBlock[float64](len(rows), k)
	bias := make([]float64, k)
	for m, machine := range r.fitted.Machines {
		byClass(bias, r.fitted.Pairs[m], -machine.Rho)
		for s, i := range machine.Index {
			byClass(weights.Row(i), r.fitted.Pairs[m], r.scale*machine.Coef[s])
		}
	}
	apply := func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error) {
		y := sparse.NewBlock[float64](n, x.Cols)
		_, err := r.best.ApplyTo(ctx, y, x, r.settings("walk"))
		return y, err
	}
	x := sparse.NewBlock[float64](n, k)
	for i, row := range rows {
		copy(x.Row(row), weights.Row(i))
	}
	scores, err := apply(ctx, x)
	if err != nil {
		return err
	}
	for i := range n {
		for c, value := range bias {
			scores.Row(i)[c] += value
		}
	}
	r.out.Form = explain.Linear(rows, weights, scores, bias, func(ctx context.Context, nodes []int) (*sparse.Block[float64], error) {
		return apply(ctx, explain.UnitColumns(n, nodes, rows))
	})
	r.out.Form.Size = degreeOf(r.p)
	if set := r.out.Parameters.Kernel; !kernel.Families().Named(set.Spec.Name).IsNormalized(set.Values) {
		size := kernel.OnDegrees(r.p.Degrees).MeanDegree()
		r.out.Form.Size = func(int) float64 { return size }
	}
	return nil
}

// form keeps the form of decisions that are linear in the features of walks. Cost: a walk of all classes.
func (r *predictor) form(ctx context.Context) error {
	if !r.set.Explain || r.p.Directed || r.model == nil ||
		r.set.Prior.Given != nil {
		return nil
	}
	n := len(r.p.Degrees)
	k := len(r.p.Names)
	features := r.model.Features
	weights := sparse.NewBlock[float64](features, k)
	bias := make([]float64, k)
	for m, pair := range r.model.Pairs {
		byClass(bias, pair, r.model.Bias[m])
		for j := range features {
			byClass(weights.Row(j), pair, r.model.Weights[m*features+j])
		}
	}
	scores := sparse.NewBlock[float64](n, k)
	w := scoreWalk(r.p, r.set, r.par, true)
	if err := w.Scores(ctx, scores, r.par.minSteps(), weights, bias, nil); err != nil {
		return err
	}
	scale := r.par.scale()
	first := r.par.minSteps()
	// Shares are compared with a walk that meets no label: the score of that walk is part of the bias.
	prior := r.set.Prior.Distributions(r.p.Seeds())(0)
	for j := 0; j < features; j += k {
		for class := range k {
			mean := 0.0
			for b := range k {
				mean += prior[b] * weights.Row(j + b)[class]
			}
			bias[class] += scale * mean
			for b := range k {
				weights.Row(j + b)[class] -= mean
			}
		}
	}
	a := &explain.Absorbed{
		Walk: explain.Walk{P: r.p, Absorb: r.par.alpha(), Steps: r.par.steps(),
			Workers: r.set.Workers},
		Prior: prior, Bias: bias, Scores: scores.Row,
		Weight: func(t, source, class int) float64 {
			if t < first {
				return 0
			}
			return scale * weights.Row((t-first)*k + source)[class]
		},
	}
	r.out.Form = a.Form()
	return nil
}
