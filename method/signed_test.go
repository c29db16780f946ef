package method

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/spread"
)

// Edges have the wrong sign with probability 0.2. auto and lp must be at least as accurate as the dense solution of L·f = 0.
func TestTwoFactions(t *testing.T) {
	const n, noise = 120, 0.2
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		faction := func(i int) float64 { return float64(1 - i%2*2) }
		dense := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i {
				if j == i-1 || rng.Float64() < 5./n {
					w := faction(i) * faction(j)
					if rng.Float64() < noise {
						w = -w
					}
					dense.SetSym(i, j, w)
				}
			}
		}
		g, err := graph.FromMat(t.Context(), dense, &graph.Settings{Signed: true})
		if err != nil {
			t.Fatal(err)
		}
		l, b, f := mat.NewDense(n-2, n-2, nil), mat.NewVecDense(n-2, nil), mat.NewVecDense(n-2, nil)
		for i := 2; i < n; i++ {
			b.SetVec(i-2, dense.At(i, 0)-dense.At(i, 1))
			for j := 2; j < n; j++ {
				l.Set(i-2, j-2, -dense.At(i, j))
			}
			l.Set(i-2, i-2, g.Degrees[i])
		}
		if err := f.SolveVec(l, b); err != nil {
			t.Fatal(err)
		}
		p := &engine.Problem{Graph: g, Weighted: true, Row: []int{0, 1}, Class: []int{0, 1}, Names: []string{"a", "b"}}
		for _, m := range []*engine.Engine{auto.Engine, spread.Propagation} {
			out, err := m.Predict(t.Context(), p, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			right, want := 0, 0
			for i := 2; i < n; i++ {
				if out.Class[i] == i%2 {
					right++
				}
				if f.AtVec(i-2)*faction(i) > 0 {
					want++
				}
			}
			if right < want {
				t.Errorf("seed %d, %s: %d right of %d, dense %d", seed, m.Name, right, n-2, want)
			}
		}
		if _, err := (spread.Beliefs).Predict(t.Context(), p, nil, nil); err == nil {
			t.Error("beliefs on a signed graph: no error")
		}
	}
}
