package sparse_test

import (
	"fmt"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
)

// byLength returns a copy of a by the lengths of its rows.
func byLength(t *testing.T, a sparse.Matrix) sparse.Matrix {
	t.Helper()
	m, err := sparse.Load(t.Context(), a, 2)
	if err != nil {
		t.Fatal(err)
	}
	return sparse.SortByLength(m, 2)
}

var byLengthPatterns = map[string]pattern{
	"one batch":   {rows: 90, cols: 90, mean: 4},
	"batches":     {rows: 700, cols: 700, mean: 3},
	"many ranges": {rows: 17000, cols: 17000, mean: 2, hubs: []int{0, 300, 16999}},
	"wide":        {rows: 7, cols: 16600, mean: 4, hubs: []int{2, 6}},
}

func TestByLengthIsAMatrix(t *testing.T) {
	rng := newRand(t, 51)
	for name, p := range byLengthPatterns {
		t.Run(name, func(t *testing.T) {
			a := random(t, rng, p)
			m := byLength(t, a)
			sparsetest.TestMatrix(t, func() sparse.Matrix { return m }, a)
		})
	}
}

// TestByLengthStep: the order in which rows lie changes no bit of any step, and a
// visitor sees finished rows once.
func TestByLengthStep(t *testing.T) { both(t, testByLengthStep[float32], testByLengthStep[float64]) }

func testByLengthStep[T sparse.Float](t *testing.T) {
	rng := newRand(t, 52)
	for name, p := range byLengthPatterns {
		a := random(t, rng, p)
		m := byLength(t, a)
		for term, c := range cases {
			square := p.rows == p.cols
			if !square && (c.diag || c.beta || c.rankOne) || p.rows > 1000 && c.rankOne {
				continue
			}
			for _, k := range []int{1, 3, 8, 13, 70} {
				if large := max(p.rows, p.cols) > 1000; large && k != 13 && term != "all" {
					continue
				}
				o, x, s := build[T](rng, a, k, c)
				want := sparse.NewBlock[T](p.rows, k)
				if err := o.StepTo(t.Context(), want, x, s); err != nil {
					t.Fatal(err)
				}
				testSameStep(t, fmt.Sprintf("%s, %s, %d columns", name, term, k), rng, m, 1+k%3, o, x, s, k%2 == 1, want)
			}
		}
	}
}

// TestShortRows: rows are short up to twelve entries on average, and only those of
// ones are sorted, where the rows of a block are soon in a cache.
func TestShortRows(t *testing.T) {
	rng := newRand(t, 53)
	for _, c := range []struct {
		pattern
		want bool
	}{
		{pattern{rows: 500, cols: 5000, mean: 10}, true},
		{pattern{rows: 500, cols: 5000, mean: 14}, false},
		{pattern{rows: 500, cols: 1 << 19, mean: 4}, false},
		{pattern{rows: 500, cols: 5000, mean: 4, weighted: true}, false},
	} {
		if got := random(t, rng, c.pattern).ShortRows(); got != c.want {
			t.Errorf("%+v: %v", c.pattern, got)
		}
	}
}
