package auto

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestKernelScores(t *testing.T) {
	p := contract.Planted(t, 9, 60, 24)
	f := &features{in: inputOf(t, p, &settings{Settings: engine.Settings{RNGSeed: 5}})}
	f.fold, f.hasOthers = newSeeds(f.in).fold, make([]bool, len(p.Row))
	for i := range f.hasOthers {
		f.hasOthers[i] = true
	}
	if _, err := p.FindComponents(context.Background(), 1, new(graph.Work)); err != nil {
		t.Fatal(err)
	}
	if err := f.addKernels(context.Background()); err != nil {
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
	for i, kernels := range [][]*mat.Dense{diffusions, {&square}} {
		nearest := math.Inf(1)
		for _, k := range kernels {
			for _, lambda := range []float64{0.001, 0.01, 0.1, 1} {
				nearest = min(nearest, distanceOf(t, p, f.ridges[i], k, lambda))
			}
		}
		if nearest > 2e-4 {
			t.Errorf("kernel %d: scores differ by %v from the nearest solution", i, nearest)
		}
	}
}

func distanceOf(t *testing.T, p *problem.Problem, r *ridgeScores, kernel *mat.Dense, lambda float64) (distance float64) {
	t.Helper()
	trace := 0.0
	for _, row := range p.Row {
		trace += kernel.At(row, row) / float64(len(p.Row))
	}
	compare := func(v, without int, got []float64) {
		system, y := mat.NewDense(len(p.Row), len(p.Row), nil), mat.NewDense(len(p.Row), len(p.Names), nil)
		for a, i := range p.Row {
			for b, j := range p.Row {
				system.Set(a, b, kernel.At(i, j))
			}
			system.Set(a, a, system.At(a, a)+lambda*trace)
			if a == without {
				system.Set(a, a, 1e12)
			} else {
				y.Set(a, p.Class[a], 1)
			}
		}
		var coefficients mat.Dense
		if err := coefficients.Solve(system, y); err != nil {
			t.Fatal(err)
		}
		want := make([]float64, len(p.Names))
		for a, row := range p.Row {
			for c := range want {
				want[c] += kernel.At(v, row) * coefficients.At(a, c)
			}
		}
		if without >= 0 {
			r.columnsOf(want)
		}
		for c, x := range want {
			distance = max(distance, math.Abs(x-got[c]))
		}
	}
	for v := range p.Degrees {
		compare(v, -1, r.nodes.of(v, len(p.Names)))
	}
	for i, row := range p.Row {
		compare(row, i, r.leftOut[i])
	}
	return distance
}
