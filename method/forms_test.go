package method

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func explained(t *testing.T, p *engine.Problem, name string) []explain.Explanation {
	t.Helper()
	entries, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Settle(t.Context(), entries, "small")
	if err != nil {
		t.Fatal(err)
	}
	if s := entries[0].Settings; s != nil {
		set = s
	}
	set.Raw, set.Explain = true, true
	out, err := entries[0].Method.Predict(t.Context(), p, nil, set)
	if err != nil {
		t.Fatal(name, err)
	}
	list, err := out.Explain(t.Context(), p, sched.UpTo(len(p.Degrees)), &explain.Settings{Number: len(p.Row)})
	if err != nil {
		t.Fatal(name, err)
	}
	return list
}

// What kernels of auto have in common for all labels is in the rest.
func TestSharesAddUp(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 60, 20, 3, 8, 1)
	for _, e := range explained(t, p, "auto") {
		if e.Error > 1e-4 || !(e.Covered > 0.3) {
			t.Errorf("auto: the sum of shares differs from the score by %v, and they cover %v of it: %+v", e.Error, e.Covered, e)
		}
	}
	for _, name := range testgraph.Sample(t, 4, []string{
		"trees", "lp", "lp:alpha=0.5", "lp:steps=7", "lp:center=true", "lgc", "poisson", "diffusion", "diffusion+rls", "diffusion+centroid", "von-neumann+rls",
		"regularized-laplacian+centroid", "pagerank+rls", "p-step+rls", "cwk", "cwk+rls", "cwk:alpha=0.3+logistic", "cwk+centroid",
	}) {
		for _, e := range explained(t, p, name) {
			if e.Error > 1e-6*(1+math.Abs(e.Score)) {
				t.Errorf("%s: the sum of shares differs from the score by %v: %+v", name, e.Error, e)
			}
		}
	}
}

func TestSharesOfIsolatedLabels(t *testing.T) {
	p, class := contract.Blocks(t, 5, 80, 24, 3, 2, 0.5)
	isolated := slices.Index(p.Degrees, 0)
	if isolated < 0 {
		t.Fatal("no node without edges")
	}
	if !slices.Contains(p.Row, isolated) {
		p.Row = append(p.Row, isolated)
		p.Class = append(p.Class, class[isolated])
	}
	for _, name := range testgraph.Sample(t, 3, []string{"lp", "lgc", "poisson", "diffusion+rls", "diffusion:laplacian=combinatorial+gp", "von-neumann+rls",
		"diffusion+svm", "diffusion+logistic", "pagerank+rls", "cwk", "cwk+rls", "cwk+svm", "cwk+logistic"}) {
		e := explained(t, p, name)[isolated]
		for _, l := range e.Labels {
			if size := math.Abs(l.Share); p.Row[l.Position] != isolated && size > 1e-6*math.Abs(e.Score) {
				t.Errorf("%s: label %d has the share %v of the score %v of node %d without edges", name, p.Row[l.Position], l.Share, e.Score, isolated)
			}
		}
		if e.Error > 1e-6 {
			t.Errorf("%s: error %v", name, e.Error)
		}
	}
}

// TestSharesDense compares with rows of (D − A)_UU⁻¹·A_UL for label propagation, with (I − αS)⁻¹ for lgc, and with powers of
// the matrix of walks.
func TestSharesDense(t *testing.T) {
	for seed := range uint64(20) {
		p, _ := contract.Blocks(t, seed, 40, 12, 3, 6, 1)
		n := len(p.Degrees)
		labelled := make([]bool, n)
		for _, row := range p.Row {
			labelled[row] = true
		}
		harmonic, consistent, walk := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				a, unit := p.A.(mat.Matrix).At(i, j), 0.0
				if i == j {
					unit = 1
				}
				d, e := math.Max(p.Degrees[i], 1), math.Max(p.Degrees[j], 1)
				consistent.Set(i, j, unit-0.8*a/math.Sqrt(d*e))
				if p.Degrees[i] == 0 {
					a = unit
				}
				walk.Set(i, j, a/d)
				if labelled[i] {
					a, d = 0, 1
				}
				harmonic.Set(i, j, unit-a/d)
				if labelled[i] {
					walk.Set(i, j, unit)
				}
			}
		}
		for i := range n { // components without a label are singular
			harmonic.Set(i, i, harmonic.At(i, i)+1e-12)
		}
		steps := mat.DenseCopyOf(walk)
		for range 4 {
			steps.Mul(steps, walk)
		}
		for name, m := range map[string]*mat.Dense{"lp": harmonic, "lgc:alpha=0.8": consistent, "lp:steps=5": steps} {
			responses := m
			if name != "lp:steps=5" {
				responses = new(mat.Dense)
				if err := responses.Inverse(m); err != nil {
					t.Logf("seed %d: %v", seed, err)
				}
			}
			for _, e := range explained(t, p, name) {
				for _, l := range e.Labels {
					if want := responses.At(e.Row, p.Row[l.Position]); p.Class[l.Position] != e.Class || math.Abs(l.Share-want) > 1e-6 {
						t.Errorf("seed %d, %s, node %d, label %d: %v, want %v", seed, name, e.Row, l.Position, l.Share, want)
					}
				}
			}
		}
	}
}
