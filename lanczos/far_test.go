package lanczos

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// TestDegreeOfEntries looks at the filter for one spectrum of two maps: where rows
// have many entries products take longest, and a lower degree makes fewer.
func TestDegreeOfEntries(t *testing.T) {
	const n, want = 400, 4
	degree := func(edges int) int {
		w := &solve{known: new(known), p: &Problem{A: &sparse.Operator[float64]{A: testgraph.Random(1, n, edges, false)}}, n: n, norm: 1}
		w.s = (*Settings)(nil).withDefaults()
		w.stage = &stage{lowest: -1, spectrum: []ranked{{1, 0}, {-1, n}}, ahead: 2}
		w.krylov.f, w.krylov.theta = filter{sign: 1, degree: 1}, []float64{1}
		return w.plan(want).degree
	}
	few, many := degree(n), degree(40*n)
	if few <= many || many < leastDegree {
		t.Errorf("degree %d with few entries, %d with many", few, many)
	}
}

// Eigenvalues far below the rest must neither be found nor hurt: a filter that
// keeps their vectors out needs not many more products than where there are
// none, and one whose interval reaches to them two or three times as many.
func TestFarEigenvalues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n, k = 3000, 12
	diagonal := func(lowest ...float64) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = 10 * math.Sin(math.Pi/2*(2*float64(i*7%n)/n-1)) // as dense at both ends as a path's
		}
		copy(d, lowest)
		return d
	}
	empty := testgraph.Random(1, n, 0, false)
	products := map[int]int{}
	for _, lowest := range [][]float64{nil, {-400}, {-400, -390, -200}} {
		d := diagonal(lowest...)
		for _, which := range []Which{Largest, Smallest} {
			signed := slices.Clone(d)
			if which == Smallest {
				for i := range signed {
					signed[i] = -signed[i]
				}
			}
			p := &Problem{A: &sparse.Operator[float64]{A: empty, Diag: signed}, Which: which}
			pairs, err := p.Solve(t.Context(), k, &Settings{Tolerance: 1e-9, Basis: 48})
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Sorted(slices.Values(signed))
			if which == Largest {
				slices.Reverse(want)
			}
			for i, v := range pairs.Values {
				if pairs.Residuals[i] > 1e-9*pairs.Norm || math.Abs(v-want[i]) > pairs.Residuals[i]+1e-12*pairs.Norm {
					t.Errorf("%d far: eigenvalue %d is %.12g with residual %g, must be %.12g", len(lowest), i, v, pairs.Residuals[i], want[i])
				}
			}
			if pairs.Degree < 3 {
				t.Errorf("%d far: no filter", len(lowest))
			}
			products[len(lowest)] = pairs.Products
			t.Logf("%d far: %d products, degree %d", len(lowest), pairs.Products, pairs.Degree)
		}
	}
	for far, count := range products {
		if count > 3200 {
			t.Errorf("%d products with %d far eigenvalues: filters grow more than pays", count, far)
		}
		if count > products[0]*3/2 {
			t.Errorf("%d products with %d far eigenvalues, %d with none", count, far, products[0])
		}
	}
}
