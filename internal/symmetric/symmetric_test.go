package symmetric

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustEigen(t testing.TB, h *mat.SymDense, workers int) ([]float64, *mat.Dense) {
	t.Helper()
	values, v, err := Eigen(context.Background(), h, nil, workers)
	if err != nil {
		t.Fatal(err)
	}
	return values, v
}

// The squares of these sizes overflow or underflow.
var units = map[string]float64{"tiny": 0x1p-600, "huge": 0x1p600}

func problems(n int) map[string]*mat.SymDense {
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	all := map[string]*mat.SymDense{
		"random": mat.NewSymDense(n, nil), "zero": mat.NewSymDense(n, nil), "ones": mat.NewSymDense(n, nil),
		"path": mat.NewSymDense(n, nil), "graded": mat.NewSymDense(n, nil), "low rank": mat.NewSymDense(n, nil),
		// Glued Wilkinson matrices: pairs of eigenvalues as close as rounding allows.
		"clusters": mat.NewSymDense(n, nil), "edges": mat.NewSymDense(n, nil), "tiny": mat.NewSymDense(n, nil), "huge": mat.NewSymDense(n, nil),
	}
	u := make([]float64, n)
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	for i := range n {
		for j := i; j < n; j++ {
			all["random"].SetSym(i, j, rng.NormFloat64())
			all["ones"].SetSym(i, j, 1)
			all["graded"].SetSym(i, j, rng.NormFloat64()*math.Pow(10, -float64(i+j)/4))
			all["low rank"].SetSym(i, j, u[i]*u[j])
			all["tiny"].SetSym(i, j, rng.NormFloat64()*units["tiny"])
			all["huge"].SetSym(i, j, rng.NormFloat64()*units["huge"])
		}
		all["clusters"].SetSym(i, i, math.Abs(float64(i%21-10)))
		all["path"].SetSym(i, i, 2)
		if i > 0 {
			all["path"].SetSym(i-1, i, -1)
			all["clusters"].SetSym(i-1, i, 1)
			if i%21 == 0 {
				all["clusters"].SetSym(i-1, i, 1e-8)
			}
			all["edges"].SetSym(i-1, i, float64(i%2))
		}
	}
	return all
}

func TestEigen(t *testing.T) {
	sizes := []int{1, 2, 3, 16, 33, 70}
	if !testing.Short() {
		sizes = append(sizes, 131, 200)
	}
	for _, n := range sizes {
		for name, h := range problems(n) {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				before := mat.NewSymDense(n, nil)
				before.CopySym(h)
				values, v := mustEigen(t, h, 1)
				if !mat.Equal(before, h) {
					t.Fatal("the matrix has changed")
				}
				for _, workers := range []int{2, 7} {
					same, w := mustEigen(t, h, workers)
					if !slices.Equal(same, values) || !mat.Equal(v, w) {
						t.Errorf("other bits with %d workers", workers)
					}
				}
				if unit := units[name]; unit != 0 {
					before.ScaleSym(1/unit, h) // squares of norms are taken
					h = before
					floats.Scale(1/unit, values)
				}
				var reference mat.EigenSym
				if !reference.Factorize(h, false) {
					t.Fatal("no reference")
				}
				size := mat.Norm(h, 2)
				bound := 30 * float64(n) * 0x1p-52 * size
				for i, want := range reference.Values(nil) {
					if math.Abs(values[i]-want) > bound {
						t.Errorf("value %d is %g, want %g", i, values[i], want)
					}
				}
				if !slices.IsSorted(values) {
					t.Error("values do not rise")
				}
				var gram, image, residual mat.Dense
				gram.Mul(v.T(), v)
				for i := range n {
					gram.Set(i, i, gram.At(i, i)-1)
				}
				if e := mat.Norm(&gram, 2); e > 30*float64(n)*0x1p-52 {
					t.Errorf("vectors are orthonormal to %g", e)
				}
				image.Mul(h, v)
				residual.Mul(v, mat.NewDiagDense(n, values))
				residual.Sub(&image, &residual)
				if e := mat.Norm(&residual, 2); e > bound {
					t.Errorf("residual %g of %g", e, size)
				}
			})
		}
	}
}

func TestLargest(t *testing.T) {
	for _, n := range []int{1, 20, 80} {
		for name, h := range problems(n) {
			all, v := mustEigen(t, h, 1)
			for _, count := range []int{0, 1, n/2 + 1, n} {
				values, some, err := Eigen(context.Background(), h, func(values []float64) int {
					if !slices.Equal(values, all) {
						t.Errorf("%s of %d: other values are shown", name, n)
					}
					return count
				}, 2)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(values, all) {
					t.Errorf("%s of %d: other values with %d vectors", name, n, count)
				}
				_, cols := some.Dims()
				if cols != count || count > 0 && !mat.Equal(some, v.Slice(0, n, n-count, n)) {
					t.Errorf("%s of %d: other vectors where %d are wanted", name, n, count)
				}
			}
		}
	}
}

// A pair that changes by at most the tolerance, 8ε times the largest eigenvalue or element of z, stays as it is.
func TestDeflate(t *testing.T) {
	const epsilon = 0x1p-52
	for _, test := range []struct {
		values, z []float64
		rho       float64 // puts the second element of z at the tolerance
	}{
		{[]float64{-8, 1}, []float64{.5, .25}, 8 * 8 * epsilon / .25},
		{[]float64{0, 1}, []float64{2, .25}, 8 * 2 * epsilon / .25},
		{[]float64{0, 1}, []float64{-2, -.25}, 8 * 2 * epsilon / .25},
	} {
		m := &merge{division: &division{values: test.values}, mid: 1, hi: 2, z: test.z, spread: make([]bool, 2), rho: test.rho}
		m.deflate()
		if !slices.Equal(m.live, []int{0}) || !slices.Equal(m.still, []int{1}) {
			t.Errorf("values %v, z %v: %v change and %v do not", test.values, test.z, m.live, m.still)
		}
	}
}

func TestLarge(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 200
	}
	for _, name := range []string{"random", "clusters"} {
		h := problems(n)[name]
		values, v := mustEigen(t, h, 0)
		var gram, image, residual mat.Dense
		gram.Mul(v.T(), v)
		for i := range n {
			gram.Set(i, i, gram.At(i, i)-1)
		}
		if e := mat.Norm(&gram, 2); e > 1e-12 {
			t.Errorf("%s: vectors are orthonormal to %g", name, e)
		}
		image.Mul(h, v)
		residual.Mul(v, mat.NewDiagDense(n, values))
		residual.Sub(&image, &residual)
		if e := mat.Norm(&residual, 2); e > 1e-12*mat.Norm(h, 2) {
			t.Errorf("%s: residual %g", name, e)
		}
	}
}

func TestNothing(t *testing.T) {
	values, v := mustEigen(t, new(mat.SymDense), 0)
	if r, c := v.Dims(); len(values) != 0 || r != 0 || c != 0 {
		t.Errorf("%d values, %d×%d vectors of an empty matrix", len(values), r, c)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	start := time.Now()
	if _, _, err := Eigen(ctx, problems(600)["random"], nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after %v", err, time.Since(start))
	}
	if _, _, err := Eigen(ctx, problems(3)["random"], nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkEigen(b *testing.B) {
	for _, n := range []int{100, 500, 1500} {
		h := problems(n)["random"]
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				mustEigen(b, h, 0)
			}
		})
		b.Run(fmt.Sprint("gonum/", n), func(b *testing.B) {
			for b.Loop() {
				var eigen mat.EigenSym
				eigen.Factorize(h, true)
			}
		})
	}
}
