package auto

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Scores of kernels are those of regularised least squares on exp(−βL̃) and on S² by dense
// algebra, and a label's own those of a solution without it.
func TestDiffusionScores(t *testing.T) {
	p := problemtest.Planted(t, 9, 60, 24)
	in := inputOf(t, p, &Settings{RNGSeed: 5})
	r := newKernelRegression(in, newSeeds(in).fold)
	if _, err := p.FindComponents(context.Background(), 1, new(problem.Work)); err != nil {
		t.Fatal(err)
	}
	if err := r.addDiffusion(context.Background()); err != nil {
		t.Fatal(err)
	}
	// Some sweeps were of a column for each label, the others of one for each class.
	m, k, work := int64(len(p.Row)), int64(len(p.Names)), *in.work
	if wide := work.EntryColumns/p.A.NNZ() - int64(work.Sweeps)*k; wide <= 0 || wide%(m-k) != 0 || wide/(m-k) >= int64(work.Sweeps) {
		t.Errorf("%d sweeps of %d entries count %d", work.Sweeps, p.A.NNZ(), work.EntryColumns)
	}
	if err := r.addCommonNeighbours(context.Background()); err != nil {
		t.Fatal(err)
	}
	n := len(p.Degrees)
	links, laplacian := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for u := range n {
		for v := range n {
			if p.Degrees[u] > 0 && p.Degrees[v] > 0 {
				links.Set(u, v, p.A.(*sparse.CSR).At(u, v)/math.Sqrt(p.Degrees[u]*p.Degrees[v]))
			}
			laplacian.Set(u, v, -links.At(u, v))
		}
		if p.Degrees[u] > 0 {
			laplacian.Set(u, u, 1+laplacian.At(u, u))
		}
	}
	var diffusions []*mat.Dense
	for _, beta := range []float64{2, 8, 32} {
		var scaled, k mat.Dense
		scaled.Scale(-beta, laplacian)
		k.Exp(&scaled)
		diffusions = append(diffusions, &k)
	}
	var square mat.Dense
	square.Mul(links, links)
	checkScores(t, r, diffusions, 0)
	checkScores(t, r, []*mat.Dense{&square}, len(p.Names))
}

// checkScores compares scores from a column on with least squares on the best of kernels.
func checkScores(t *testing.T, r *kernelRegression, kernels []*mat.Dense, from int) {
	t.Helper()
	d := r.scores
	p, n := r.p, len(r.p.Degrees)
	type solution struct {
		merit map[int]float64 // of labels outside a part
		full  [][]float64
		own   map[int][][]float64 // by part
	}
	solve := func(k *mat.Dense, items []int, lambda float64, v int) []float64 {
		system, y := mat.NewDense(len(items), len(items), nil), mat.NewDense(len(items), 3, nil)
		for a, i := range items {
			for b, j := range items {
				system.Set(a, b, k.At(p.Row[i], p.Row[j]))
			}
			system.Set(a, a, system.At(a, a)+lambda)
			y.Set(a, p.Class[i], 1)
		}
		var coef mat.Dense
		if err := coef.Solve(system, y); err != nil {
			t.Fatal(err)
		}
		out := make([]float64, 3)
		for a, i := range items {
			for c := range out {
				out[c] += k.At(v, p.Row[i]) * coef.At(a, c)
			}
		}
		return out
	}
	best := map[int]*solution{} // by labels outside a part
	for _, k := range kernels {
		trace := 0.0
		for _, row := range p.Row {
			trace += k.At(row, row)
		}
		k.Scale(float64(len(p.Row))/trace, k)
		for _, lambda := range []float64{0.001, 0.01, 0.1, 1} {
			s := &solution{merit: map[int]float64{}, own: map[int][][]float64{}}
			var all []int
			for i := range p.Row {
				all = append(all, i)
			}
			for v := range n {
				s.full = append(s.full, solve(k, all, lambda, v))
			}
			for _, part := range []int{-1, 0, 3} {
				for i, row := range p.Row {
					items := slices.DeleteFunc(slices.Clone(all), func(o int) bool { return o == i || r.fold[o] == part })
					s.own[part] = append(s.own[part], solve(k, items, lambda, row))
				}
			}
			for part := -1; part < r.in.folds; part++ {
				for i, own := range s.own[-1] {
					if r.fold[i] == part {
						continue
					}
					for c, x := range own {
						want := 0.0
						if c == p.Class[i] {
							want = 1
						}
						s.merit[part] -= (x - want) * (x - want) / 2
					}
					if classify.ArgMax(own) == p.Class[i] {
						s.merit[part]++
					}
				}
				if best[part] == nil || s.merit[part] > best[part].merit[part]+1e-9 {
					best[part] = s
				}
			}
		}
	}
	for v := range n {
		for c, want := range best[-1].full[v] {
			if got := d.full.Row(v)[from+c]; math.Abs(float64(got)-want) > 2e-4 {
				t.Errorf("class %d at node %d has %v, want %v", c, v, got, want)
			}
		}
	}
	for _, part := range []int{-1, 0, 3} {
		for i, row := range best[part].own[part] {
			if own := r.fold[i]; part < 0 || own == part {
				row = best[own].own[-1][i]
			}
			for c, want := range row {
				if got := d.of(i, r.fold[i], part)[from+c]; math.Abs(got-want) > 2e-4 {
					t.Errorf("class %d at label %d without part %d has %v, want %v", c, i, part, got, want)
				}
			}
		}
	}
}
