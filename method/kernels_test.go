package method

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Predictions from kept values of a kernel are those that compute it, but for tolerances,
// and have the same bits for any number of workers.
func TestKernelsAreKept(t *testing.T) {
	g := testgraph.Planted(t, 5, 101, 80)
	p := &Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
	splits, err := split.Draw(p.Class, split.Design{Fraction: 0.4}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	methods, err := parseMethods("diffusion,von-neumann+rls,pseudo-inverse,regularized-laplacian+logistic,pseudo-inverse+dkm,diffusion+svm+cs")
	if err != nil {
		t.Fatal(err)
	}
	kept, narrow := newKernelCache(p, 1), newKernelCache(p, 2)
	for row := range splits.Len {
		if testing.Short() && row > 0 {
			break
		}
		for _, m := range methods {
			c, err := m.Tune(t.Context(), p, &split.Splits{Len: 1, At: func(int) split.Split { return splits.At(row) }}, &Settings{Fixed: true})
			if err != nil {
				t.Fatal(m.Name(), err)
			}
			var found [3]*Prediction
			err = sched.Run(t.Context(), 3, 3, func(_, i int) (err error) {
				found[i], err = m.Predict(t.Context(), p.At(splits.At(row).Train), &c.Parameters, &Settings{kernels: []*kernelCache{nil, kept, narrow}[i], Given: param.Values{"svm-tolerance": param.Of(1e-6)}})
				return err
			})
			if err != nil {
				t.Fatal(m.Name(), err)
			}
			for v := range p.Degrees {
				plain, once := found[0].Scores.Row(v), found[1].Scores.Row(v)
				if !slices.Equal(once, found[2].Scores.Row(v)) {
					t.Fatalf("%s: node %d depends on workers", m.Name(), v)
				}
				for c := range plain {
					if d := math.Abs(float64(plain[c] - once[c])); !(d <= 1e-3) {
						t.Fatalf("%s: node %d has class %d with %v, and %v from kept values", m.Name(), v, c, plain[c], once[c])
					}
				}
			}
		}
	}
	if newKernelCache(&Problem{Graph: &graph.Graph{Degrees: make([]float64, 3000)}, Row: make([]int, 3000)}, 1) != nil {
		t.Error("values beyond the bound are kept")
	}
}
