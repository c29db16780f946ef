package lanczos

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMeasureNorm(t *testing.T) {
	for seed := range uint64(3) {
		for _, a := range []*sparse.CSR{
			testgraph.Random(seed, 200, 350, true),
			testgraph.Random(seed, 200, 1200, false),
			testgraph.Star(100), testgraph.Path(150), testgraph.TwoCliques(20), hypercube(t, 7),
		} {
			deg := degreesOf(t, a)
			for _, kd := range kinds {
				p := &Problem{A: kd.op(a, deg)}
				all := exactValues(denseOf(t, p.A), Smallest)
				w, err := p.prepare(1, &Settings{RNGSeed: seed})
				if err == nil {
					err = w.measureNorm(ctx)
				}
				if err != nil {
					t.Fatal(err)
				}
				if norm := max(math.Abs(all[0]), math.Abs(all[len(all)-1])); w.norm > norm*(1+1e-12) || w.norm < norm/2 {
					t.Errorf("%s: norm %g, at least %g", kd.name, norm, w.norm)
				}
			}
		}
		if testing.Short() {
			break
		}
	}
}

func TestTridiagonal(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 2, 3, 10, 60} {
		for range 5 {
			tri := symmetric.Tridiagonal{Diag: make([]float64, n), Off: make([]float64, n-1)}
			m := mat.NewSymDense(n, nil)
			for i := range n {
				tri.Diag[i] = rng.NormFloat64()
				m.SetSym(i, i, tri.Diag[i])
				if i+1 < n {
					if rng.IntN(5) > 0 {
						tri.Off[i] = math.Exp(4 * rng.NormFloat64())
					}
					m.SetSym(i, i+1, tri.Off[i])
				}
			}
			var want mat.EigenSym
			want.Factorize(m, false)
			got := tri.Eigenvalues()
			slices.Sort(got)
			for k, v := range want.Values(nil) {
				if math.Abs(got[k]-v) > 1e-13*(1+tri.Norm())*math.Sqrt(float64(n)) {
					t.Fatalf("n = %d: eigenvalue %d is %g, must be %g", n, k, got[k], v)
				}
			}
		}
	}
}

func TestCancelProbe(t *testing.T) {
	a := testgraph.Random(8, 2000, 6000, true)
	w, err := (&Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a))}).prepare(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancel(ctx)
	cancel()
	if err := w.measureNorm(stop); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
