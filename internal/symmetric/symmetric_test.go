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
	"gonum.org/v1/gonum/mat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustEigen(t testing.TB, h *mat.SymDense, workers int) ([]float64, *mat.Dense) {
	t.Helper()
	values, v, err := Eigen(context.Background(), h, workers)
	if err != nil {
		t.Fatal(err)
	}
	return values, v
}

// problems are matrices with all that makes eigenproblems hard.
func problems(n int) map[string]*mat.SymDense {
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	all := map[string]*mat.SymDense{
		"random": mat.NewSymDense(n, nil), "zero": mat.NewSymDense(n, nil), "ones": mat.NewSymDense(n, nil),
		"path": mat.NewSymDense(n, nil), "graded": mat.NewSymDense(n, nil), "low rank": mat.NewSymDense(n, nil),
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
		}
		all["path"].SetSym(i, i, 2)
		if i > 0 {
			all["path"].SetSym(i-1, i, -1)
		}
	}
	return all
}

func TestEigen(t *testing.T) {
	for _, n := range []int{1, 2, 3, 15, 16, 17, 60, 131, 162} {
		for name, h := range problems(n) {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				before := mat.NewSymDense(n, nil)
				before.CopySym(h)
				values, v := mustEigen(t, h, 1)
				if !mat.Equal(before, h) {
					t.Fatal("the matrix has changed")
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
				for _, workers := range []int{2, 7} {
					same, w := mustEigen(t, h, workers)
					if !slices.Equal(same, values) || !mat.Equal(v, w) {
						t.Errorf("other bits with %d workers", workers)
					}
				}
			})
		}
	}
}

// Rotations that fill several batches are applied in turn.
func TestManyRotations(t *testing.T) {
	h := problems(700)["random"]
	values, v := mustEigen(t, h, 0)
	var image, residual mat.Dense
	image.Mul(h, v)
	residual.Mul(v, mat.NewDiagDense(700, values))
	residual.Sub(&image, &residual)
	if e := mat.Norm(&residual, 2); e > 1e-10*mat.Norm(h, 2) {
		t.Errorf("residual %g", e)
	}
}

func TestNothing(t *testing.T) {
	values, v := mustEigen(t, new(mat.SymDense), 0)
	if r, c := v.Dims(); len(values) != 0 || r != 0 || c != 0 {
		t.Errorf("%d values, %d×%d vectors of an empty matrix", len(values), r, c)
	}
}

// Who waits no longer is told at once.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	start := time.Now()
	if _, _, err := Eigen(ctx, problems(600)["random"], 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after %v", err, time.Since(start))
	}
	if _, _, err := Eigen(ctx, problems(3)["random"], 0); !errors.Is(err, context.Canceled) {
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
