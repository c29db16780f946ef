package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestRefusals(t *testing.T) {
	a := testgraph.Path(10)
	p := &Problem{A: &sparse.Operator[float64]{A: a}}
	for _, k := range []int{-1, 0, 11} {
		if _, err := p.Solve(ctx, k, nil); err == nil || err.Error() != fmt.Sprintf("lanczos: %d eigenpairs of a map with 10 rows; ask for 1 to 10", k) {
			t.Errorf("k = %d: error %v", k, err)
		}
	}
	if _, err := (&Problem{A: p.A, Which: 77}).Solve(ctx, 1, nil); err == nil {
		t.Error("no error for an unknown end of the spectrum")
	}
	err := (&Settings{Tolerance: 2, Relative: -1, MaxProducts: -1, Basis: -1, Memory: -1}).validate()
	for _, part := range []string{"tolerance", "relative", "product limit", "basis", "memory"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

// Estimated residuals fall below such a tolerance.
func TestUnreachableTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a second")
	}
	a := randomGraph(1000)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degreesOf(t, a))}
	out, err := p.Solve(ctx, 5, &Settings{Tolerance: 1e-17})
	if !errors.Is(err, ErrIterationLimit) || out == nil || out.Converged == 5 || out.Products > 1000 {
		t.Fatalf("error %v", err)
	}
	checkPairs(t, p.A, out, out.Values, 0)
	for _, r := range out.Residuals {
		if r > 1e-13 {
			t.Errorf("residual %g", r)
		}
	}
}

func TestLimits(t *testing.T) {
	a := randomGraph(2000)
	deg := degreesOf(t, a)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, deg)}
	for _, m := range methods[1:] {
		out, err := m.solve(p, 10, &Settings{MaxProducts: 8})
		if !errors.Is(err, ErrIterationLimit) || out == nil {
			t.Fatalf("%s: error %v, result %v", m.name, err, out != nil)
		}
		if out.Converged == 10 {
			t.Errorf("%s: all converged", m.name)
		}
		checkPairs(t, p.A, out, out.Values, 0)
	}
	if _, err := p.Solve(ctx, 10, &Settings{Memory: 1 << 16}); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("error %v", err)
	}
	if _, err := p.Solve(ctx, 10, &Settings{Preconditioned: true, Memory: 1 << 16}); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("error %v", err)
	}
	isolated := testgraph.Random(1, 300, 0, false)
	for _, c := range []struct {
		a sparse.Matrix
		k int
	}{{a, 10}, {isolated, 10}} {
		n, _ := c.a.Dims()
		known := &Known{Components: componentsOf(t, c.a)}
		l := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, c.a, degreesOf(t, c.a)), Which: Smallest, Known: known}
		bytes := iteration(n, c.k, known.Count(nil)).Required(0)
		_, err := l.Solve(ctx, c.k, &Settings{Memory: bytes / 2, MaxProducts: 1})
		if known.Count(nil) < c.k && !errors.Is(err, sparse.ErrMemory) {
			t.Errorf("a byte less: error %v", err)
		}
		if _, err = l.Solve(ctx, c.k, &Settings{Memory: bytes, MaxProducts: 1}); errors.Is(err, sparse.ErrMemory) {
			t.Errorf("error %v", err)
		}
	}
	// A limit never changes a result.
	need := Workspace(2000, 10, 0).Required(0)
	if _, err := p.Solve(ctx, 10, &Settings{Memory: need - 1}); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("error %v", err)
	}
	free, err := p.Solve(ctx, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	limited, err := p.Solve(ctx, 10, &Settings{Memory: need})
	if err != nil || !slices.Equal(limited.Vectors.Data, free.Vectors.Data) {
		t.Errorf("other bits with a limit, error %v", err)
	}
}

func TestCancel(t *testing.T) {
	a := randomGraph(5000)
	deg := degreesOf(t, a)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, deg)}
	for _, m := range []func(ctx context.Context) error{
		func(ctx context.Context) error {
			stop, cancel := context.WithCancel(ctx)
			_, err := p.Solve(stop, 20, &Settings{Progress: func(string, int64, int64) { cancel() }})
			cancel()
			return err
		},
		func(ctx context.Context) error {
			stop, cancel := context.WithCancel(ctx)
			_, err := p.Solve(stop, 20, &Settings{Preconditioned: true, Progress: func(string, int64, int64) { cancel() }})
			cancel()
			return err
		},
	} {
		if err := m(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

// The eigenproblem of a basis cannot be interrupted; it is abandoned.
func TestCancelSmallEigenproblem(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 2))
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			h.SetSym(i, j, rng.NormFloat64())
		}
	}
	stop, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, _, err := fallingEigen(stop, h, nil, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestNotFinite(t *testing.T) {
	for _, n := range []int{50, 3000} {
		a := testgraph.Path(n)
		p := &Problem{A: &sparse.Operator[float64]{A: a, Scale: math.Inf(1)}}
		if _, err := p.Solve(ctx, 3, nil); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%d rows: error %v", n, err)
		}
		if _, err := p.Solve(ctx, 3, &Settings{Preconditioned: true}); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%d rows, LOBPCG: error %v", n, err)
		}
	}
}
