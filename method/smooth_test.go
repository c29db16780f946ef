package method

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestSmoothAgainstDense(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a second")
	}
	for _, name := range []string{"lp", "diffusion+gp", "cwk"} {
		p := contract.Golden(t, "wrand60")
		set := &engine.Settings{Fixed: true, Given: param.Values{"correct-alpha": param.Of(0.6), "smooth-alpha": param.Of(0.3), "variance": param.Of(3.0)}}
		base, got := predictBy(t, name, p, set), predictBy(t, name+"+cs", p, set)
		n, k := len(p.Degrees), len(p.Names)
		s := mat.NewDense(n, n, nil)
		err := sparse.Sweep(t.Context(), p.A, 1, func(_ int, panel sparse.Panel) error {
			for r := range panel.Hi - panel.Lo {
				cols, weights := panel.Row(r)
				for e, c := range cols {
					w := 1.0
					if weights != nil {
						w = weights[e]
					}
					i, j := panel.Lo+r, int(c)
					s.Set(i, j, w/math.Sqrt(p.Degrees[i]*p.Degrees[j]))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		spread := func(b *mat.Dense, alpha float64) *mat.Dense {
			system, x := mat.NewDense(n, n, nil), new(mat.Dense)
			system.Scale(-alpha, s)
			for i := range n {
				system.Set(i, i, 1+system.At(i, i))
			}
			if err := x.Solve(system, b); err != nil {
				t.Fatal(err)
			}
			x.Scale(1-alpha, x)
			return x
		}
		y, errors, sigma := make([]int, n), mat.NewDense(n, k, nil), 0.0
		for i := range y {
			y[i] = -1
		}
		for a, i := range p.Row {
			y[i] = p.Class[a]
			for c := range k {
				e := -float64(base.Scores.Row(i)[c])
				if c == y[i] {
					e++
				}
				errors.Set(i, c, e)
				sigma += math.Abs(e) / float64(len(p.Row))
			}
		}
		ahead, h := spread(errors, 0.6), mat.NewDense(n, k, nil)
		for i := range n {
			size := mat.Norm(ahead.RowView(i), 1)
			for c := range k {
				value := float64(base.Scores.Row(i)[c])
				if size > 0 {
					value += sigma * ahead.At(i, c) / size
				}
				if y[i] >= 0 {
					value = 0
					if c == y[i] {
						value = 1
					}
				}
				h.Set(i, c, value)
			}
		}
		want := spread(h, 0.3)
		for i := range n {
			for c := range k {
				if d := math.Abs(got.Raw.Row(i)[c] - want.At(i, c)); !(d <= 1e-9) {
					t.Fatalf("%s: node %d scores %v for class %d, want %v", name, i, got.Raw.Row(i)[c], c, want.At(i, c))
				}
			}
			best := 0
			for c := range k {
				if want.At(i, c) > want.At(i, best) {
					best = c
				}
			}
			if y[i] >= 0 {
				best = y[i]
			}
			if got.Reached.Contains(uint32(i)) && got.Class[i] != best {
				t.Errorf("%s: node %d has class %d, want %d", name, i, got.Class[i], best)
			}
		}
	}
}

func TestSmoothAgrees(t *testing.T) {
	p := contract.Golden(t, "sbm300")
	m, err := parseMethods("wvrn+cs")
	if err != nil {
		t.Fatal(err)
	}
	var first []float64
	for _, workers := range []int{1, 2, 7} {
		out, err := m[0].Predict(t.Context(), p, nil, &engine.Settings{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out.Raw.Data
			right := 0
			for i, c := range testgraph.Load(t, "sbm300").Labels {
				if out.Class[i] == c {
					right++
				}
			}
			if right < 240 {
				t.Errorf("%d of 300 right", right)
			}
		}
		if !slices.Equal(first, out.Raw.Data) {
			t.Errorf("other bits with %d workers", workers)
		}
	}
}
