package sparse_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func tiledMatrix(t testing.TB, a *sparse.CSR, columns, row int) sparse.Matrix {
	t.Helper()
	pay := sparse.TilesPay(1, row, 1, 0)
	tiling, err := sparse.NewTiling(t.Context(), a, columns, 2, pay)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sparse.NewTiled(t.Context(), a, tiling, 2)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var tiledPatterns = map[string]pattern{
	"square":      {rows: 90, cols: 90, mean: 4},
	"many ranges": {rows: 40000, cols: 40000, mean: 2, hubs: []int{0, 17, 39999}},
	"wide":        {rows: 7, cols: 70000, mean: 4, hubs: []int{2, 6}},
	"sparse":      {rows: 300, cols: 9000, mean: 1},
	"empty":       {rows: 30, cols: 30},
	"mixed":       {rows: 9000, cols: 9000, mean: 2, hubs: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5001, 5002, 5003, 5004, 5005, 5006, 5007, 5008}},
}

var weightings = map[int]func(e int) float64{
	0: func(int) float64 { return 1 },
	1: func(e int) float64 { return float64(e % 256) },
	4: func(e int) float64 { return float64(e % 1000) },
	8: func(e int) float64 { return 1 / float64(e+3) },
}

func weighed(t testing.TB, a *sparse.CSR, weight func(e int) float64) *sparse.CSR {
	t.Helper()
	rows, cols := a.Dims()
	ptr, col, val := make([]int64, rows+1), []uint32(nil), make([]float64, a.NNZ())
	for i := range rows {
		c, _ := a.Row(i)
		col = append(col, c...)
		ptr[i+1] = int64(len(col))
	}
	for e := range val {
		val[e] = weight(e)
	}
	m, err := sparse.NewCSR(rows, cols, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTiledIsAMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rng := newRand(t, 41)
	for name, p := range tiledPatterns {
		for bytes, weight := range weightings {
			a := weighed(t, random(t, rng, p), weight)
			tiles := []int{20}
			if bytes == 0 {
				tiles = append(tiles, testgraph.Sample(t, 1, []int{0, 1, p.cols / 2, min(p.cols, 1<<16)})...)
			}
			for _, columns := range tiles {
				t.Run(fmt.Sprintf("%s, tiles of %d, values of %d bytes", name, columns, bytes), func(t *testing.T) {
					m := tiledMatrix(t, a, columns, columns%2*100)
					testgraph.TestMatrix(t, func() sparse.Matrix { return m }, a)
				})
			}
		}
	}
}

type untold struct{ *sparse.CSR }

func (m untold) SweepRows(ctx context.Context, lo, hi, workers int, visit func(worker int, p sparse.Panel) error) error {
	return m.CSR.SweepRows(ctx, lo, hi, workers, func(worker int, p sparse.Panel) error {
		if !slices.ContainsFunc(p.Val, func(v float64) bool { return v != 1 }) {
			p.Val = nil
		}
		return visit(worker, p)
	})
}

func TestTiledWhereSomeAreOnes(t *testing.T) {
	pay := sparse.TilesPay(1, 2, 1, 0)
	p := random(t, newRand(t, 45), tiledPatterns["many ranges"])
	a := weighed(t, p, func(e int) float64 { return float64(1 + e/100_000) })
	tiling, err := sparse.NewTiling(t.Context(), untold{a}, 5000, 2, pay)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sparse.NewTiled(t.Context(), untold{a}, tiling, 2)
	if err != nil {
		t.Fatal(err)
	}
	testgraph.TestMatrix(t, func() sparse.Matrix { return m }, a)
}

func TestTiledKeepsSigns(t *testing.T) {
	a := weighed(t, random(t, newRand(t, 46), tiledPatterns["square"]), func(e int) float64 {
		return math.Copysign(0, float64(e%2)-0.5)
	})
	m := tiledMatrix(t, a, 20, 2)
	err := sparse.Sweep(t.Context(), m, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			_, got := p.Row(i)
			_, want := a.Row(p.Lo + i)
			for e, v := range want {
				if math.Signbit(got[e]) != math.Signbit(v) {
					t.Fatalf("entry %d of row %d is %v, want %v", e, p.Lo+i, got[e], v)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTilingBytes(t *testing.T) {
	pay := sparse.TilesPay(1000, 4, 1, 0)
	p := random(t, newRand(t, 43), pattern{rows: 3000, cols: 3000, mean: 30})
	for bytes, weight := range weightings {
		a := weighed(t, p, weight)
		tiling, err := sparse.NewTiling(t.Context(), a, 500, 2, pay)
		if err != nil {
			t.Fatal(err)
		}
		narrow, wide := tiling.Bytes(8, 3), tiling.Bytes(16, 3)
		m, err := sparse.NewTiled(t.Context(), a, tiling, 2)
		if err != nil {
			t.Fatal(err)
		}
		matrix, rows := sparse.TiledBytes(m)
		matrix += int64(bytes) * a.NNZ()
		if sums := int64(3 * rows * 8); rows == 0 || wide-narrow != sums || narrow-sums < matrix-64 || narrow-sums > matrix+64 {
			t.Errorf("%d bytes, %d for blocks twice as wide; the matrix has %d, sums %d", narrow, wide, matrix, sums)
		}
	}
}

func TestTiledStep(t *testing.T) { both(t, testTiledStep[float32], testTiledStep[float64]) }

func testTiledStep[T sparse.Float](t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rng := newRand(t, 42)
	for name, p := range tiledPatterns {
		a := random(t, rng, p)
		if values := []int{0, 1, 4, 8}[rng.IntN(4)]; values > 0 {
			name, a = fmt.Sprintf("%s, values of %d bytes", name, values), weighed(t, a, weightings[values])
		}
		tiles := []sparse.Matrix{tiledMatrix(t, a, 1, 0), tiledMatrix(t, a, p.cols/9, 3), tiledMatrix(t, a, p.cols/2, 100), tiledMatrix(t, a, min(p.cols, 1<<16), 0)}
		for term, c := range cases {
			square := p.rows == p.cols
			if !square && (c.diag || c.beta || c.rankOne) || p.rows > 1000 && c.rankOne {
				continue
			}
			for _, k := range []int{1, 3, 8, 13, 100} {
				if large := max(p.rows, p.cols) > 1000; large && k != 13 && !(k == 3 && term == "all") {
					continue
				}
				o, x, s := build[T](rng, a, k, c)
				want := sparse.NewBlock[T](p.rows, k)
				if err := o.StepTo(t.Context(), want, x, s); err != nil {
					t.Fatal(err)
				}
				for _, i := range testgraph.SampleOf(t, 1, len(tiles)) {
					m := tiles[i]
					what := fmt.Sprintf("%s, %s, %d columns", name, term, k)
					testSameStep(t, what, rng, m, []int{1, 2, 7}[(k+i)%3], o, x, s, k%2 == 1, want)
				}
			}
		}
	}
}

// Tiles are used if the first columns are frequent and have a third of the entries of long rows, or if they save memory
// for values.
func TestFindTiling(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	pay := sparse.TilesPay(100_000, 24, 2, 1)
	const rows = 70_000
	matrix := func(columns []uint32, weight float64) *sparse.CSR {
		ptr, col := make([]int64, rows+1), []uint32(nil)
		for i := range rows {
			col = append(col, columns...)
			ptr[i+1] = int64(len(col))
		}
		var val []float64
		if weight != 1 {
			val = make([]float64, len(col))
			for e := range val {
				val[e] = weight
			}
		}
		a, err := sparse.NewCSR(rows, 70_000, ptr, col, val)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	columns := func(first uint32, n int) (col []uint32) {
		for i := range n {
			col = append(col, first+uint32(i))
		}
		return col
	}
	firsts, third := columns(5, 24), append(columns(0, 8), columns(69_000, 16)...)
	for _, c := range []struct {
		name     string
		columns  []uint32
		weight   float64
		rowBytes int
		pays     bool
		inTiles  bool
	}{
		{"first columns", firsts, 1, 32, true, true},
		{"a third of them", third, 1, 32, true, true},
		{"less than a third", append(third[1:], 69_500), 1, 32, false, false},
		{"last columns", columns(69_000, 24), 1, 32, false, false},
		{"short rows", firsts[1:], 1, 32, false, false},
		{"one column", firsts, 1, 4, true, true},
		{"wide block", firsts, 1, 4096, true, true},
		{"values", firsts, 1.0 / 3, 32, true, true},
		{"few values", firsts[:1], 1.0 / 3, 32, false, false},
		{"few values of one byte", firsts[:1], 2, 32, true, false},
		{"short rows, values of one byte", firsts[1:], 2, 32, true, false},
		{"short rows, values of four", firsts[1:], 0.5, 32, true, false},
		{"short rows, values of eight", firsts[1:], 1.0 / 3, 32, false, false},
	} {
		tiling, err := sparse.FindTiling(t.Context(), matrix(c.columns, c.weight), c.weight != 1, c.rowBytes, 2, pay)
		if err != nil || (tiling != nil) != c.pays || tiling != nil && (tiling.InTiles() > 0) != c.inTiles {
			t.Errorf("%s: found %v, error %v", c.name, tiling != nil, err)
		}
	}
	pay = sparse.TilesPay(1000, 24, 2, 100)
	if tiling, err := sparse.FindTiling(t.Context(), matrix(firsts, 1), false, 32, 2, pay); err != nil || tiling != nil {
		t.Errorf("columns that are named less than a hundred times each: found %v, error %v", tiling != nil, err)
	}
}

func testSameStep[T sparse.Float](t *testing.T, what string, rng *rand.Rand, m sparse.Matrix, workers int,
	o *sparse.Operator[T], x *sparse.Block[T], s sparse.Step[T], inPlace bool, want *sparse.Block[T]) {
	t.Helper()
	other := &sparse.Operator[T]{A: m, Scale: o.Scale, Left: o.Left, Right: o.Right, Diag: o.Diag, Gamma: o.Gamma, U: o.U, V: o.V, Workers: workers}
	dst := fill(rng, sparse.NewBlock[T](want.Rows, want.Cols))
	if inPlace && s.Delta != 0 {
		dst = clone(s.Prev)
		s.Prev = dst
	}
	seen := make([]atomic.Int32, want.Rows)
	s.Visit = func(r sparse.Rows) {
		for i := r.Lo; i < r.Hi; i++ {
			if seen[i].Add(1); !slices.Equal(dst.Row(i), want.Row(i)) {
				t.Errorf("%s: row %d was visited before it was finished", what, i)
			}
		}
	}
	if err := other.StepTo(t.Context(), dst, x, s); err != nil {
		t.Fatal(err)
	}
	for i := range want.Rows {
		if !slices.Equal(dst.Row(i), want.Row(i)) {
			t.Fatalf("%s: row %d is %v, want %v", what, i, dst.Row(i), want.Row(i))
		}
		if n := seen[i].Load(); n != 1 {
			t.Fatalf("%s: row %d was visited %d times", what, i, n)
		}
	}
}
