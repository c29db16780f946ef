package lanczos

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// There may be fewer positive eigenvalues than requested.
func TestPositive(t *testing.T) {
	for _, c := range []struct {
		name       string
		a          sparse.Matrix
		k, want    int
		laplacian  bool
		least, top float64
	}{
		{"path", testgraph.Path(41), 41, 20, false, 2 * math.Cos(20*math.Pi/42), 2 * math.Cos(math.Pi/42)},
		{"path, a few", testgraph.Path(41), 3, 3, false, 2 * math.Cos(3*math.Pi/42), 2 * math.Cos(math.Pi/42)},
		{"complete", testgraph.Complete(400), 2, 1, false, 399, 399},
		{"none", testgraph.Path(41), 41, 0, true, 0, 0},
	} {
		op := &sparse.Operator[float64]{A: c.a}
		if c.laplacian {
			op.Diag = make([]float64, 41)
			for i := range op.Diag {
				op.Diag[i] = -3
			}
		}
		p := Problem{A: op, Positive: true}
		got, err := p.Solve(ctx, c.k, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if len(got.Values) != c.want || len(got.Residuals) != c.want || got.Converged != c.want {
			t.Fatalf("%s: %d values, %d residuals, %d converged, want %d", c.name, len(got.Values), len(got.Residuals), got.Converged, c.want)
		}
		if c.want == 0 {
			if got.Vectors != nil {
				t.Errorf("%s: a block of vectors", c.name)
			}
			continue
		}
		if got.Vectors.Cols != c.want {
			t.Errorf("%s: %d vectors", c.name, got.Vectors.Cols)
		}
		if e := math.Abs(got.Values[0] - c.top); e > 1e-6 {
			t.Errorf("%s: the first value is %g", c.name, got.Values[0])
		}
		if e := math.Abs(got.Values[c.want-1] - c.least); e > 1e-6 {
			t.Errorf("%s: the last value is %g, want %g", c.name, got.Values[c.want-1], c.least)
		}
	}
}

// forest joins each node to a random earlier node among the first hubs. matched, the size of a largest matching, is the number
// of positive eigenvalues.
func forest(t *testing.T, seed uint64, n, hubs int) (a *sparse.CSR, matched int) {
	draw := rand.New(rand.NewPCG(seed, 1))
	parent := make([]int, n)
	rowptr, lists := make([]int64, n+1), make([][]uint32, n)
	for i := 1; i < n; i++ {
		parent[i] = draw.IntN(min(i, hubs))
		lists[i] = append(lists[i], uint32(parent[i]))
		lists[parent[i]] = append(lists[parent[i]], uint32(i))
	}
	taken := make([]bool, n)
	for i := n - 1; i > 0; i-- { // leaves first
		if p := parent[i]; !taken[i] && !taken[p] {
			taken[p] = true
			matched++
		}
	}
	var col []uint32
	for i, list := range lists {
		col = append(col, list...)
		rowptr[i+1] = int64(len(col))
	}
	a, err := sparse.NewCSR(n, n, rowptr, col, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a, matched
}

// Rounding makes some copies of the eigenvalue 0 positive.
func TestPositiveBeyondRounding(t *testing.T) {
	for _, c := range []struct {
		n, hubs, k int
		method     string
	}{
		{5, 5, 5, "dense"}, {20, 20, 20, "dense"}, {60, 60, 60, "dense"}, {100, 1, 50, "dense"}, {200, 200, 200, "dense"},
		{2000, 8, 40, "lanczos"},
	} {
		seeds := uint64(5)
		if testing.Short() {
			seeds = 1
		}
		for seed := range seeds {
			a, matched := forest(t, seed, c.n, c.hubs)
			deg := degreesOf(t, a)
			for _, known := range []*Known{nil, {Components: componentsOf(t, a), Weights: roots(deg), Value: 1}} {
				p := Problem{A: &sparse.Operator[float64]{A: a}, Known: known, Beyond: known != nil, Positive: true}
				want := matched
				if known != nil {
					p.A = sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, deg)
					want--
				}
				got, err := p.Solve(ctx, c.k, &Settings{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				many, err := p.Solve(ctx, c.k, &Settings{Workers: []int{2, 7}[seed%2]})
				if err != nil || many.Omitted != got.Omitted || !slices.Equal(many.Values, got.Values) {
					t.Errorf("rng seed %d, %d nodes: %v with more workers, %v with one", seed, c.n, many.Values, got.Values)
				}
				if len(got.Values) != want || got.Method != c.method || got.Omitted < 0 || got.Omitted > 1e-11*got.Norm {
					t.Errorf("rng seed %d, %d nodes by %s: %d values, want %d; %g counts as 0", seed, c.n, got.Method, len(got.Values), want, got.Omitted)
				}
			}
		}
	}
}

func TestOmittedIsTold(t *testing.T) {
	a, err := sparse.FromTriplets(10, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	diag := []float64{1, 1e-15, 5e-15, 0, -1, 0, 0, 0, 0, 0} // 4n·ε = 8.9e-15
	got, err := (&Problem{A: &sparse.Operator[float64]{A: a, Diag: diag}, Positive: true}).Solve(ctx, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Values) != 1 || math.Abs(got.Omitted-5e-15) > 1e-15 {
		t.Errorf("values %v, %g counts as 0", got.Values, got.Omitted)
	}
}
