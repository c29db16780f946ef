package iterative

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func completeWithin(a sparse.Matrix, scale float64, ground []float64, limits fillLimits) (*cholesky, error) {
	columns, err := completeColumns(ctx, a, scale, ground, nil, func(int, int64) fillLimits { return limits }, 0)
	if err != nil {
		return nil, err
	}
	return newFactor(columns, 1), nil
}

// The reference is a dense elimination. All numbers are positive, so that the weights do not matter.
func TestCompleteFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		decades := rapid.Float64Range(0, 12).Draw(t, "decades")
		var links []link
		for range rapid.IntRange(0, 4*n).Draw(t, "links") {
			links = append(links, link{r.IntN(n), r.IntN(n), math.Pow(10, decades*r.Float64())})
		}
		for hub := range rapid.IntRange(0, min(n, 3)).Draw(t, "hubs") { // hubs have more edges than newMinimumDegree searches
			for i := range n {
				links = append(links, link{hub, i, 1 + r.Float64()})
			}
		}
		a := linked(t, n, links)
		ground := make([]float64, n)
		for i := range ground {
			ground[i] = math.Pow(10, decades*(r.Float64()-0.5))
		}
		matrix := sparse.Matrix(a)
		if rapid.Bool().Draw(t, "parallel") {
			matrix = twice{a}
		}
		f, err := completeWithin(matrix, 1, ground, noLimits(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		b := sparse.NewBlock[float64](n, 3)
		for i := range b.Data {
			b.Data[i] = r.Float64()
		}
		x := sparse.NewBlock[float64](n, 3)
		if err := f.ApplyTo(ctx, x, b); err != nil {
			t.Fatal(err)
		}
		for j := range 3 {
			for i, want := range denseElimination(a, ground, columnOf(b, j)) {
				if got := x.Row(i)[j]; math.Abs(got-want) > 1e-12*want {
					t.Fatalf("row %d, column %d is %v, want %v", i, j, got, want)
				}
			}
		}
	})
}

// The hubs are left out of the search for an order.
func TestVerticesOfLargeDegreeComeLast(t *testing.T) {
	const n = 3000
	var links []link
	for i := range n {
		links = append(links, link{i, (i + 1) % n, 1}, link{i, n, 2}, link{i, n + 1, 0.5})
	}
	a := linked(t, n+2, links)
	g := graphOf(t, a)
	s, err := ShiftedLaplacian(g, true, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := sparse.NewBlock[float64](n+2, 2)
	res, err := s.SolveTo(ctx, x, randomBlock(1, n+2, 2), nil)
	if err != nil || !res.CompleteCholesky || res.Steps != 1 || slices.Max(res.Relative) > 1e-12 {
		t.Errorf("%v: complete %t, %d steps, residuals %v", err, res.CompleteCholesky, res.Steps, res.Relative)
	}
	if last := s.factor.order[n+1]; last < n {
		t.Errorf("vertex %d of the ring comes last", last)
	}
}

func TestCompleteFill(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *sparse.CSR
		most float64 // entries for each vertex; 0: refused
	}{
		{"path", testgraph.Path(5000), 1},
		{"star", testgraph.Star(5000), 1},
		{"grid", grid(100), 20},
		{"torus of two dimensions", torus(100, 100), 40},
		{"torus of three dimensions", torus(30, 30, 30), 0},
		{"random", testgraph.Random(5, 4000, 12_000, false), 0},
	} {
		n, _ := c.a.Dims()
		f, err := completeWithin(c.a, 1, nil, limitsOf(n, c.a.NNZ()))
		switch {
		case c.most == 0 && !errors.Is(err, ErrFill):
			t.Errorf("%s: %v, want a refusal", c.name, err)
		case c.most > 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.most > 0 && float64(len(f.lower.col)) > c.most*float64(n):
			t.Errorf("%s: %.3g entries for each vertex, want at most %g", c.name, float64(len(f.lower.col))/float64(n), c.most)
		}
	}
}

// Dimensions of known graphs.
func TestIsSlow(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		entries int64
		isLean  bool
		isSlow  bool
	}{
		{"roads of Luxembourg", 114_599, 239_332, true, false},
		{"roads of California", 1_965_206, 5_533_214, true, false},
		{"a tree", 100_000_000, 199_999_998, true, false},
		{"a grid", 512 * 512, 4*512*512 - 4*512, true, false},
		{"a large grid", 1_000_000, 3_996_000, true, true},
		{"a social network", 1_000_000, 16_000_000, false, false},
	} {
		if isLean(c.n, c.entries) != c.isLean || IsSlow(c.n, c.entries) != c.isSlow {
			t.Errorf("%s: factor %t, slow %t", c.name, !c.isLean, !c.isSlow)
		}
	}
}

func TestTryFill(t *testing.T) {
	for _, c := range []struct {
		name  string
		a     *sparse.CSR
		fills bool
	}{
		{"grid", torus(520, 520), true},
		{"cube", torus(65, 65, 65), true},
		{"random", testgraph.Random(5, 270_000, 500_000, false), true},
		{"narrow grid", torus(90_000, 3), false},
		{"small grid", torus(100, 100), false},
	} {
		if err := tryFill(ctx, c.a); errors.Is(err, ErrFill) != c.fills {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCompleteBytes(t *testing.T) {
	a := grid(250)
	n, _ := a.Dims()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if _, err := completeWithin(a, 1, nil, limitsOf(n, a.NNZ())); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got, most := int64(after.TotalAlloc-before.TotalAlloc), completeBytes(n, a.NNZ(), completeLimit(n, a.NNZ())); got > most || got < most/5 {
		t.Errorf("making a factor allocates %d bytes, planned %d", got, most)
	}
}
