package sparse_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestVisit(t *testing.T) { both(t, testVisit[float32], testVisit[float64]) }

func testVisit[T sparse.Float](t *testing.T) {
	rng := newRand(t, 6)
	for _, c := range []struct {
		pattern
		k int
	}{
		{pattern{rows: 16600, cols: 16600, mean: 1, hubs: []int{0, 9000, 9001, 16599}}, 1},
		{pattern{rows: 16600, cols: 16600, mean: 1, hubs: []int{0, 9000, 9001, 16599}}, 5},
		{pattern{rows: 100, cols: 100, mean: 4}, 300},
		{pattern{rows: 7, cols: 16600, mean: 4, hubs: []int{2, 6}}, 150},
	} {
		k, a := c.k, random(t, rng, c.pattern)
		rows, _ := a.Dims()
		o, x, s := build[T](rng, a, k, terms{left: true, diag: rows == c.cols})
		want := sparse.NewBlock[T](rows, k)
		if err := o.StepTo(t.Context(), want, x, s); err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 2, 7} {
			o.Workers = workers
			dst := fill(rng, sparse.NewBlock[T](rows, k))
			seen := make([]atomic.Int32, rows)
			busy := make([]atomic.Bool, workers)
			s.Visit = func(r sparse.Rows) {
				if !busy[r.Worker].CompareAndSwap(false, true) {
					t.Errorf("worker %d is in two visits", r.Worker)
				}
				if g := a.Ranges()[r.Range]; g.Lo != r.Lo || g.Hi != r.Hi || g.Piece != 0 {
					t.Errorf("rows %d to %d are not those of range %d: %+v", r.Lo, r.Hi, r.Range, g)
				}
				for i := r.Lo; i < r.Hi; i++ {
					seen[i].Add(1)
					if !slices.Equal(dst.Row(i), want.Row(i)) {
						t.Errorf("row %d was visited before it was finished", i)
					}
					dst.Row(i)[0] = 7
				}
				busy[r.Worker].Store(false)
			}
			if err := o.StepTo(t.Context(), dst, x, s); err != nil {
				t.Fatal(err)
			}
			for i := range seen {
				if seen[i].Load() != 1 || dst.Row(i)[0] != 7 {
					t.Fatalf("row %d was visited %d times and starts with %v", i, seen[i].Load(), dst.Row(i)[0])
				}
			}
		}
	}
}

func TestWorkersAgree(t *testing.T) { both(t, testWorkersAgree[float32], testWorkersAgree[float64]) }

func testWorkersAgree[T sparse.Float](t *testing.T) {
	rng := newRand(t, 7)
	for _, p := range []pattern{
		{rows: 20000, cols: 20000, mean: 3, hubs: []int{5, 6}, weighted: true},
		{rows: 80, cols: 80, mean: 5},
		{rows: 3, cols: 20000, mean: 5, hubs: []int{1}},
	} {
		a := random(t, rng, p)
		for _, k := range []int{1, 6, 333} {
			if p.rows*k > 1_000_000 || testing.Short() && k == 1 {
				continue
			}
			c := terms{left: true, right: true, delta: true}
			if p.rows == p.cols {
				c.diag, c.rankOne = true, true
			}
			o, x, s := build[T](rng, a, k, c)
			var first *sparse.Block[T]
			wide := k
			if p.cols > 1000 {
				wide = min(k, 6)
			}
			inside := sparse.NewBlock[T](p.cols, wide+4).Columns(3, wide+3)
			for i := range p.cols {
				copy(inside.Row(i), x.Row(i))
			}
			of := s
			of.Prev = s.Prev.Columns(0, wide)
			for _, workers := range append(testgraph.Workers(k), 0) {
				o.Workers = workers
				dst, part := sparse.NewBlock[T](p.rows, k), sparse.NewBlock[T](p.rows, wide+4).Columns(3, wide+3)
				if err := errors.Join(o.StepTo(t.Context(), dst, x, s), o.StepTo(t.Context(), part, inside, of)); err != nil {
					t.Fatal(err)
				}
				for i := range p.rows {
					if !slices.Equal(part.Row(i), dst.Row(i)[:wide]) {
						t.Fatalf("%d×%d, %d columns, %d workers: columns of wider blocks have other bits in row %d", p.rows, p.cols, k, workers, i)
					}
				}
				if first == nil {
					first = dst
				} else if !slices.Equal(dst.Data, first.Data) {
					t.Errorf("%d×%d, %d columns: %d workers give other bits than one", p.rows, p.cols, k, workers)
				}
			}
		}
	}
}

func TestStepVisits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	both(t, testStepVisits[float32], testStepVisits[float64])
}

func testStepVisits[T sparse.Float](t *testing.T) {
	rng := newRand(t, 10)
	for _, p := range []pattern{
		{rows: 70000, cols: 70000, mean: 3},
		{rows: 70000, cols: 70000, mean: 2, hubs: []int{0, 20000, 20001, 41000, 69999}, weighted: true},
		{rows: 1500, cols: 16000, mean: 90, hubs: []int{700, 701, 702}},
	} {
		a := random(t, rng, p)
		for _, k := range []int{1, 5, 16} {
			o, x, s := build[T](rng, a, k, terms{left: true, right: true})
			alone := &sparse.Operator[T]{A: oneByOne{a}, Left: o.Left, Right: o.Right}
			want := sparse.NewBlock[T](p.rows, k)
			if err := alone.StepTo(t.Context(), want, x, s); err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{1, 2, 3} {
				o.Workers = workers
				dst := fill(rng, sparse.NewBlock[T](p.rows, k))
				seen := make([]atomic.Int32, len(a.Ranges()))
				s.Visit = func(r sparse.Rows) {
					if g := a.Ranges()[r.Range]; g.Lo != r.Lo || g.Hi != r.Hi || g.Piece != 0 {
						t.Errorf("rows %d to %d are not those of range %d: %+v", r.Lo, r.Hi, r.Range, g)
					}
					seen[r.Range].Add(1)
				}
				if err := o.StepTo(t.Context(), dst, x, s); err != nil {
					t.Fatal(err)
				}
				for i, r := range a.Ranges() {
					if n := seen[i].Load(); n != 1 && r.Piece == 0 {
						t.Errorf("range %d was visited %d times", i, n)
					}
				}
				if !slices.Equal(dst.Data, want.Data) {
					t.Errorf("%d×%d, %d columns, %d workers: other bits than with another type", p.rows, p.cols, k, workers)
				}
			}
		}
	}
}

type oneByOne struct{ sparse.Matrix }

func TestConcurrentSteps(t *testing.T) {
	rng := newRand(t, 8)
	a := random(t, rng, pattern{rows: 20000, cols: 20000, mean: 2, hubs: []int{77}})
	o, _, _ := build[float64](rng, a, 1, terms{left: true, right: true, diag: true, rankOne: true})
	var group sync.WaitGroup
	for _, k := range []int{1, 3, 8} {
		x := fill(rng, sparse.NewBlock[float64](20000, k))
		want := sparse.NewBlock[float64](20000, k)
		if err := o.ApplyTo(t.Context(), want, x); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			dst := sparse.NewBlock[float64](20000, k)
			for range 3 {
				if err := o.ApplyTo(t.Context(), dst, x); err != nil || !slices.Equal(dst.Data, want.Data) {
					t.Errorf("%d columns: other bits than alone, error %v", k, err)
				}
			}
		})
	}
	group.Wait()
}

func TestStepCancel(t *testing.T) {
	rng := newRand(t, 9)
	a := random(t, rng, pattern{rows: 60000, cols: 60000, mean: 2})
	o, x, s := build[float64](rng, a, 2, terms{left: true})
	o.Workers = 1
	dst := sparse.NewBlock[float64](60000, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	visited := 0
	s.Visit = func(sparse.Rows) { visited++; cancel() }
	if err := o.StepTo(ctx, dst, x, s); !errors.Is(err, context.Canceled) || visited != 1 {
		t.Errorf("%d of %d ranges after the cancel, error %v", visited, len(a.Ranges()), err)
	}
	o.Gamma, o.U, o.V = 1, vector(rng, 60000), vector(rng, 60000)
	if err := o.StepTo(ctx, dst, x, s); !errors.Is(err, context.Canceled) || visited != 1 {
		t.Errorf("a step under a context done before: %d ranges, error %v", visited, err)
	}
}

func TestStepAllocates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	rng := newRand(t, 10)
	a := random(t, rng, pattern{rows: 20000, cols: 20000, mean: 3, hubs: []int{5}, weighted: true})
	sweep := testing.AllocsPerRun(20, func() {
		_ = sparse.Sweep(t.Context(), a, 1, func(int, sparse.Panel) error { return nil })
	})
	for name, c := range cases {
		for _, k := range []int{1, 8} {
			o, x, s := build[float64](rng, a, k, c)
			o.Workers = 1
			dst := sparse.NewBlock[float64](20000, k)
			most := sweep + 1
			if c.rankOne {
				most += sweep
			}
			if c.right {
				most += sweep
			}
			n := testing.AllocsPerRun(20, func() { _ = o.StepTo(t.Context(), dst, x, s) })
			if n > most {
				t.Errorf("%s: a step with %d columns allocates %v times, want %v", name, k, n, most)
			}
		}
	}
}
