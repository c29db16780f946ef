package propagation

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Form returns the form of the scores that the last ScoresTo stored in Raw. For directed graphs, and for a prior that
// differs between nodes, it returns nil.
//
// The share of a labelled node u in the harmonic function at v is the probability that the walk from v meets u first,
//
//	h(v, u) = (A·x)_u,  L_UU·x = e_v
//
// where U are the nodes without a label. If labels absorb only part of a walk, or walks have a given length, the form is
// [explain.Absorbed.Form].
func (l *Propagation) Form() *explain.Form {
	p := l.P
	k := len(p.Names)
	prior := l.Prior.Distributions(p.Seeds())
	switch {
	case p.Directed || l.Prior.Given != nil:
		return nil
	case walks(l):
		last := l.Steps
		if last == 0 {
			last = mostSteps
		}
		a := &explain.Absorbed{
			Walk: explain.Walk{P: p, Absorb: l.Alpha, Steps: last,
				Workers: l.Workers},
			Prior: prior(0), Bias: make([]float64, k), Scores: l.Raw.Row,
			Weight: func(t, source, class int) float64 {
				if t == last && source == class {
					return 1
				}
				return 0
			},
		}
		return a.Form()
	}
	var h *iterative.System
	f := &explain.Form{Right: func(node, class int) float64 { return l.Raw.Row(node)[class] }}
	f.Terms = func(ctx context.Context, nodes, class []int) ([]explain.Terms, *sparse.Block[float32], error) {
		if h == nil {
			var err error
			if h, err = harmonicSystem(ctx, l); err != nil {
				return nil, nil, err
			}
		}
		return harmonicTerms(ctx, l, h, nodes, class)
	}
	return f
}

// responseTolerance is small, because weights over many decades multiply residuals.
const responseTolerance = 1e-12

func harmonicTerms(ctx context.Context, l *Propagation, h *iterative.System,
	nodes, class []int) ([]explain.Terms, *sparse.Block[float32], error) {
	p := l.P
	n := len(p.Degrees)
	isLabelled := problem.MarkLabels(p)
	b := sparse.NewBlock[float64](n, len(nodes))
	x := sparse.NewBlock[float64](n, len(nodes))
	y := sparse.NewBlock[float64](n, len(nodes))
	for j, v := range nodes {
		if !isLabelled[v] && l.reached.Contains(uint32(v)) {
			b.Row(v)[j] = 1 / h.Scale[v]
		}
	}
	if _, err := h.SolveTo(ctx, x, b,
		&iterative.Settings{Tolerance: responseTolerance,
			Eliminate: true}); err != nil &&
		!errors.Is(err, iterative.ErrStagnation) {
		return nil, nil, err
	}
	left := sparse.NewBlock[float32](n, len(nodes))
	for i := range n {
		for j := range nodes {
			x.Row(i)[j] /= h.Scale[i]
			left.Row(i)[j] = float32(x.Row(i)[j])
		}
	}
	op := &sparse.Operator[float64]{A: p.A, Workers: l.Workers}
	if err := op.ApplyTo(ctx, y, x); err != nil {
		return nil, nil, err
	}
	terms := make([]explain.Terms, len(nodes))
	for j, v := range nodes {
		t := &terms[j]
		*t = explain.Terms{Score: l.Raw.Row(v), Share: make([]float64, len(p.Row))}
		if !l.reached.Contains(uint32(v)) {
			t.Rest = t.Score[class[j]]
			continue
		}
		if l.Center {
			t.Rest = 1/float64(len(p.Names)) - l.centeredBy[class[j]]
		}
		for u, row := range p.Row {
			switch {
			case p.Class[u] != class[j]:
			case isLabelled[v] && row == v:
				t.Share[u] = 1
			default:
				t.Share[u] = y.Row(row)[j]
			}
		}
	}
	return terms, left, nil
}
