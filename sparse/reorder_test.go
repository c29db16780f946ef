package sparse_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
)

// reorder returns a reordered copy of a.
func reorder(t testing.TB, a *sparse.CSR, rowBytes int) sparse.Matrix {
	t.Helper()
	p, err := sparse.NewColumnOrder(t.Context(), a, 2)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sparse.Load(t.Context(), a, 2)
	if err != nil {
		t.Fatal(err)
	}
	return sparse.NewReordered(m, p, rowBytes, 2)
}

var reorderedPatterns = map[string]pattern{
	"square":      {rows: 90, cols: 90, mean: 4},
	"weighted":    {rows: 90, cols: 90, mean: 4, weighted: true},
	"many ranges": {rows: 17000, cols: 17000, mean: 2, hubs: []int{0, 16999}, weighted: true},
	"wide":        {rows: 7, cols: 16600, mean: 4, hubs: []int{2, 6}},
	"sparse":      {rows: 300, cols: 9000, mean: 1},
}

func TestPackedIsAMatrix(t *testing.T) {
	rng := newRand(t, 31)
	for name, p := range reorderedPatterns {
		t.Run(name, func(t *testing.T) {
			a := random(t, rng, p)
			m := reorder(t, a, 32)
			sparsetest.TestMatrix(t, func() sparse.Matrix { return m }, a)
		})
	}
}

// TestPackedStep: a packed matrix changes no bit of any step, in how many passes
// ever its copy takes the columns, and a visitor sees finished rows once.
func TestPackedStep(t *testing.T) { both(t, testPackedStep[float32], testPackedStep[float64]) }

func testPackedStep[T sparse.Float](t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rng := newRand(t, 32)
	for name, p := range reorderedPatterns {
		a := random(t, rng, p)
		narrow, wide := reorder(t, a, 1), reorder(t, a, 1<<10)
		for term, c := range cases {
			square := p.rows == p.cols
			if !square && (c.diag || c.beta || c.rankOne) || p.rows > 1000 && c.rankOne {
				continue
			}
			for _, k := range []int{1, 3, 8, 13, 70} {
				if large := max(p.rows, p.cols) > 1000; large && k != 13 && !(k == 3 && term == "all") {
					continue
				}
				o, x, s := build[T](rng, a, k, c)
				want := sparse.NewBlock[T](p.rows, k)
				if err := o.StepTo(t.Context(), want, x, s); err != nil {
					t.Fatal(err)
				}
				for i, m := range []sparse.Matrix{narrow, wide} {
					what := fmt.Sprintf("%s, %s, %d columns", name, term, k)
					testSameStep(t, what, rng, m, []int{1, 2, 7}[(k+i)%3], o, x, s, k%2 == 1, want)
				}
			}
		}
	}
}

// testSameStep checks that a step over m, another form of the matrix of o, gives the
// bits want, in place of Prev too, and that a visitor sees finished rows once.
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

// TestPackedStepsBesideEachOther: one step has the copy, others do without.
func TestPackedStepsBesideEachOther(t *testing.T) {
	rng := newRand(t, 33)
	a := random(t, rng, pattern{rows: 3000, cols: 3000, mean: 9})
	m := reorder(t, a, 32)
	o, x, _ := build[float32](rng, a, 9, terms{left: true, right: true})
	packed := &sparse.Operator[float32]{A: m, Left: o.Left, Right: o.Right, Workers: 1}
	check := func(x *sparse.Block[float32], visit func(sparse.Rows)) {
		want, dst := sparse.NewBlock[float32](3000, 9), sparse.NewBlock[float32](3000, 9)
		err := o.ApplyTo(t.Context(), want, x)
		if err == nil {
			err = packed.StepTo(t.Context(), dst, x, sparse.Step[float32]{Alpha: 1, Visit: visit})
		}
		if err != nil || !slices.Equal(dst.Data, want.Data) {
			t.Errorf("error %v, or other numbers", err)
		}
	}
	// The others begin when the first one visits the rows of its first range.
	var others sync.WaitGroup
	var once sync.Once
	check(x, func(sparse.Rows) {
		once.Do(func() {
			for range 3 {
				y := fill(rng, sparse.NewBlock[float32](3000, 9))
				others.Go(func() { check(y, nil) })
			}
			others.Wait()
		})
	})
}

// TestPackedStepEnds: a cancelled step gives the copy back.
func TestPackedStepEnds(t *testing.T) {
	rng := newRand(t, 34)
	a := random(t, rng, pattern{rows: 500, cols: 500, mean: 9})
	m := reorder(t, a, 32)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, dst := fill(rng, sparse.NewBlock[float64](500, 3)), sparse.NewBlock[float64](500, 3)
	o := &sparse.Operator[float64]{A: m}
	if err := o.ApplyTo(ctx, dst, x); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	step := func() {
		if err := o.ApplyTo(t.Context(), dst, x); err != nil {
			t.Fatal(err)
		}
	}
	step()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const steps = 10
	for range steps {
		step()
	}
	runtime.ReadMemStats(&after)
	// Without the copy there is a buffer for the ids of a panel.
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > steps*sparse.MaxRange {
		t.Errorf("%d steps allocate %d bytes", steps, bytes)
	}
}

// scattered returns an n×n matrix with so many entries a row, all but one in columns
// of which there is one every so many.
func scattered(t testing.TB, rng *rand.Rand, n, entries, every int) *sparse.CSR {
	t.Helper()
	ptr, col := []int64{0}, []uint32{}
	for range n {
		row := make([]uint32, entries)
		for e := range row {
			row[e] = rng.Uint32N(uint32(n))
			if e > 0 {
				row[e] -= row[e] % uint32(every)
			}
		}
		slices.Sort(row)
		col = append(col, slices.Compact(row)...)
		ptr = append(ptr, int64(len(col)))
	}
	a, err := sparse.NewCSR(n, n, ptr, col, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// band returns an n×n matrix whose rows name the columns around the diagonal, of
// which every tenth has twice as many entries.
func band(t testing.TB, n, width int) *sparse.CSR {
	t.Helper()
	ptr, col := []int64{0}, []uint32{}
	for i := range n {
		for c := max(0, i-width); c <= min(n-1, i+width); c++ {
			if c%10 == 0 || (i+c)%2 == 0 {
				col = append(col, uint32(c))
			}
		}
		ptr = append(ptr, int64(len(col)))
	}
	a, err := sparse.NewCSR(n, n, ptr, col, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestReorderingPays where hot columns are scattered among the others, and neither
// where they stand together nor where rows have neighbourhoods.
func TestReorderingPays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	rng := newRand(t, 35)
	const n = 1 << 16
	for _, c := range []struct {
		name string
		a    *sparse.CSR
		want bool
	}{
		{"scattered", scattered(t, rng, n, 18, 16), true},
		{"of equal weight", scattered(t, rng, n, 18, 1), false},
		{"neighbours", band(t, n, 20), false},
		{"few entries", scattered(t, rng, n, 13, 16), false},
		{"few columns", scattered(t, rng, n/2, 40, 16), false},
	} {
		for _, workers := range []int{1, 7} {
			p, err := sparse.FindColumnOrder(t.Context(), c.a, 64, n, workers)
			if err != nil {
				t.Fatal(err)
			}
			if got := p != nil; got != c.want {
				t.Errorf("%s: pays %v, want %v", c.name, got, c.want)
			}
			if p == nil {
				continue
			}
			// A reordered matrix has nothing to gain.
			m := reorder(t, c.a, 32)
			if p, err = sparse.FindColumnOrder(t.Context(), places{m}, 64, n, workers); p != nil || err != nil {
				t.Errorf("%s: reordering pays again; error %v", c.name, err)
			}
		}
	}
}

// TestReorderingOfSmallMatrix pays where several rows of a block that no core's own cache
// holds share a line.
func TestReorderingOfSmallMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("makes matrices with millions of entries")
	}
	rng := newRand(t, 37)
	const n = 1 << 17
	hot, even := scattered(t, rng, n, 18, 16), scattered(t, rng, n, 18, 1)
	for rowBytes, want := range map[int]bool{8: false, 16: false, 32: true, 64: false, 1 << 10: false} {
		p, err := sparse.FindColumnOrder(t.Context(), hot, rowBytes, sparse.ReorderedColumns, 2)
		if err != nil || (p != nil) != want {
			t.Errorf("rows of %d bytes: pays %v, want %v; error %v", rowBytes, p != nil, want, err)
		}
	}
	if p, err := sparse.FindColumnOrder(t.Context(), even, 32, sparse.ReorderedColumns, 2); p != nil || err != nil {
		t.Errorf("columns of equal weight: pays %v; error %v", p != nil, err)
	}
}

// places shows the columns of a matrix by how many entries they have.
type places struct{ sparse.Matrix }

func (m places) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	at, err := placesOf(ctx, m.Matrix)
	if err != nil {
		return err
	}
	return m.Matrix.Sweep(ctx, workers, func(worker int, p sparse.Panel) error {
		p.Col = slices.Clone(p.Col)
		for e, c := range p.Col {
			p.Col[e] = at[c]
		}
		return visit(worker, p)
	})
}

// placesOf sorts the columns by falling counts.
func placesOf(ctx context.Context, a sparse.Matrix) ([]uint32, error) {
	_, cols := a.Dims()
	count, order := make([]int, cols), make([]uint32, cols)
	err := a.Sweep(ctx, 1, func(_ int, p sparse.Panel) error {
		for _, c := range p.Col {
			count[c]++
		}
		return nil
	})
	for c := range order {
		order[c] = uint32(c)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return count[b] - count[a] })
	at := make([]uint32, cols)
	for place, c := range order {
		at[c] = uint32(place)
	}
	return at, err
}

// TestPackingBytes: what a packed matrix takes beside its entries is planned.
func TestPackingBytes(t *testing.T) {
	a := random(t, newRand(t, 36), pattern{rows: 10, cols: 1000, mean: 50})
	p, err := sparse.NewColumnOrder(t.Context(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[uint32]bool)
	for i := range 10 {
		col, _ := a.Row(i)
		for _, c := range col {
			used[c] = true
		}
	}
	n := int64(len(used))
	for rowBytes, each := range map[int]int64{0: 32, 4: 32, 32: 32, 64: 64, 128: 128, 1 << 20: 128} {
		if order, copies := p.Bytes(rowBytes); order != 4*n || copies != each*n {
			t.Errorf("rows of %d bytes: %d and %d bytes, want %d and %d", rowBytes, order, copies, 4*n, each*n)
		}
	}
}
