package method

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// CorrectAndSmooth declares what [ParseMethods] puts around any method whose name ends in
// +cs: with the scores Z of that method, one-hot labels Y, S = D^-½AD^-½ and the mean σ of
// ‖Y_i − Z_i‖₁ over the labelled nodes i,
//
//	Ê = (1 − α₁)·(I − α₁S)⁻¹·E,  E_i = Y_i − Z_i at labelled nodes and 0 elsewhere,
//	H_i = Z_i + σ·Ê_i/‖Ê_i‖₁,  or Y_i at labelled nodes,
//	G = (1 − α₂)·(I − α₂S)⁻¹·H.
//
// Scores are G, probabilities their shares. Huang, He, Singh, Lim and Benson 2021,
// sections 2.2 and 2.3, with the errors scaled as by Autoscale.
//
// Cost: that of the method, and two block solves.
var CorrectAndSmooth = spec.Spec{
	Name: "cs", Title: "correct and smooth: errors at labels, and then scores, spread along edges", Works: spec.Undirected,
	Params: []spec.Param{
		{Name: "correct-alpha", Symbol: "α₁", Meaning: "share of errors that spreads at a step", Range: spec.Between(0, 1), Default: spec.Number(0.8)},
		{Name: "smooth-alpha", Symbol: "α₂", Meaning: "share of scores that spreads at a step", Range: spec.Between(0, 1), Default: spec.Number(0.8)},
	},
}

// smoothed is a method with [CorrectAndSmooth] around it.
type smoothed struct{ Method }

const smoothSuffix = "+cs"

// smoothedOf returns the method within a name that ends in +cs.
func smoothedOf(name string) (Method, bool) {
	base, found := strings.CutSuffix(name, smoothSuffix)
	i := slices.IndexFunc(methods, func(m Method) bool { return called(m, base) })
	if !found || i < 0 {
		return nil, false
	}
	return smoothed{methods[i]}, true
}

// Within returns the method that [CorrectAndSmooth] is around, or nil.
func Within(m Method) Method {
	if s, ok := m.(smoothed); ok {
		return s.Method
	}
	return nil
}

// Name implements [Method].
func (m smoothed) Name() string { return m.Method.Name() + smoothSuffix }

// Takes implements [Method].
func (m smoothed) Takes() []string { return append(m.Method.Takes(), CorrectAndSmooth.Takes()...) }

// Declarations implements [Declared]: those of the method within, and [CorrectAndSmooth].
func (m smoothed) Declarations() (list []*spec.Spec) {
	if d, ok := m.Method.(Declared); ok {
		list = d.Declarations()
	}
	return append(list, &CorrectAndSmooth)
}

// Predict implements [Method].
func (m smoothed) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	if p.Directed {
		return nil, &DirectedError{m.Name()}
	}
	set := s.WithDefaults()
	v, err := CorrectAndSmooth.Resolve(CorrectAndSmooth.Own(set.Given), nil)
	if err != nil {
		return nil, err
	}
	set.Raw = false
	out, err := m.Method.Predict(ctx, p, par, &set)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	on, err := graph.NewOf(ctx, p.A, p.Parts, set.Workers)
	if err != nil {
		return nil, err
	}
	out.Estimate, out.Blank = Estimate{}, Estimate{} // measured without what follows
	g := &smoother{p: p, g: on, out: out, memory: set.Memory}
	if err := g.smooth(ctx, v); err != nil {
		return nil, err
	}
	out.Seconds.Walk += time.Since(start).Seconds()
	return out, nil
}

// smoother makes one prediction smooth.
type smoother struct {
	p      *Problem
	g      *graph.Graph
	out    *Prediction
	memory int64
}

func (r *smoother) smooth(ctx context.Context, v spec.Values) error {
	n, k := len(r.p.Degrees), len(r.p.Names)
	b, x := sparse.NewBlock[float64](n, k), sparse.NewBlock[float64](n, k)
	sigma := 0.0
	for i, row := range r.p.Row {
		for c, z := range r.out.Scores.Row(row) {
			b.Row(row)[c] = -float64(z)
		}
		b.Row(row)[r.p.Class[i]]++
		for _, e := range b.Row(row) {
			sigma += math.Abs(e) / float64(len(r.p.Row))
		}
	}
	if err := r.spread(ctx, x, b, v.Number("correct-alpha")); err != nil {
		return err
	}
	for i := range n {
		size := 0.0
		for _, e := range x.Row(i) {
			size += math.Abs(e)
		}
		for c, z := range r.out.Scores.Row(i) {
			if b.Row(i)[c] = float64(z); size > 0 {
				b.Row(i)[c] += sigma * x.Row(i)[c] / size
			}
		}
	}
	for i, row := range r.p.Row {
		clear(b.Row(row))
		b.Row(row)[r.p.Class[i]] = 1
	}
	for i := range n {
		clear(x.Row(i))
	}
	if err := r.spread(ctx, x, b, v.Number("smooth-alpha")); err != nil {
		return err
	}
	r.out.Raw = x
	for i := range n {
		if r.out.Reached.Contains(uint32(i)) {
			r.share(i)
		}
	}
	for i, row := range r.p.Row {
		r.out.Class[row] = r.p.Class[i]
	}
	return nil
}

// spread stores (1 − α)(I − αS)⁻¹·B in x.
func (r *smoother) spread(ctx context.Context, x, b *sparse.Block[float64], alpha float64) error {
	sys, err := iterative.VonNeumann(r.g, alpha)
	if err != nil {
		return err
	}
	sys.Memory = r.memory
	res, err := sys.SolveTo(ctx, x, b, &iterative.Settings{Tolerance: 1e-12})
	if err != nil && !errors.Is(err, iterative.ErrStagnation) {
		return err
	}
	r.out.Work.Add(Work{Sweeps: res.Sweeps, EntryColumns: r.p.A.NNZ() * int64(res.Sweeps) * int64(x.Cols)})
	for i := range x.Rows {
		for c := range x.Row(i) {
			x.Row(i)[c] *= 1 - alpha
		}
	}
	return nil
}

// share makes the scores of a node of its row of Raw, whose negative entries count as 0,
// and takes its class from them.
func (r *smoother) share(i int) {
	sum := 0.0
	for _, v := range r.out.Raw.Row(i) {
		sum += max(v, 0)
	}
	if sum > 0 {
		for c, v := range r.out.Raw.Row(i) {
			r.out.Scores.Row(i)[c] = float32(max(v, 0) / sum)
		}
	}
	r.out.Class[i] = classify.ArgMax(r.out.Raw.Row(i))
}

// reckon implements [reckoning]: what the method within holds, and then what is around it.
func (m smoothed) reckon(a *account, par *Parameters) error {
	if within, ok := m.Method.(reckoning); ok {
		if err := within.reckon(a, par); err != nil {
			return err
		}
	}
	n, k := len(a.P.Degrees), len(a.P.Names)
	a.Sweeps = UnknownSweeps
	a.Row = max(a.Row, 8*sparse.Stride[float64](k))
	least := sparse.BlockBytes[float32](n, k) + 7*sparse.BlockBytes[float64](n, k) + (graphVectors+7)*8*int64(n)
	return a.PhaseUpTo(least+iterative.SolveFactorBytes(n, a.P.A.NNZ(), k), least, "errors and scores that spread")
}
