package testgraph

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/sparse"
)

// TestMatrix checks that the matrix from open has the entries of want and keeps the contract of [sparse.Matrix]: the
// cut, the panels, one visit for each range, the numbering of workers, errors, cancellation and concurrent sweeps. open
// may return the same matrix each time.
func TestMatrix(t *testing.T, open func() sparse.Matrix, want *sparse.CSR) {
	for _, check := range []struct {
		name string
		test func(*testing.T, sparse.Matrix, *sparse.CSR)
	}{
		{"Shape", testShape},
		{"Panels", testPanels},
		{"Order", testOrder},
		{"Workers", testWorkers},
		{"FirstError", testFirstError},
		{"Cancel", testCancel},
		{"ConcurrentSweeps", testConcurrentSweeps},
		{"SweepRows", testSweepRows},
	} {
		t.Run(check.name, func(t *testing.T) {
			m := open()
			leaks := goleak.IgnoreCurrent()
			check.test(t, m, want)
			goleak.VerifyNone(t, leaks)
		})
	}
}

func testShape(t *testing.T, m sparse.Matrix, want *sparse.CSR) {
	rows, cols := m.Dims()
	wantRows, wantCols := want.Dims()
	if rows != wantRows || cols != wantCols || m.NNZ() != want.NNZ() {
		t.Fatalf("%d×%d with %d entries, want %d×%d with %d", rows, cols, m.NNZ(), wantRows, wantCols, want.NNZ())
	}
	cut := sparse.Cut(rows, func(i int) int64 {
		col, _ := want.Row(i)
		return int64(len(col))
	})
	if !slices.Equal(m.Ranges(), cut) {
		t.Errorf("ranges %v, want those of Cut: %v", m.Ranges(), cut)
	}
}

func checkPanel(t *testing.T, p sparse.Panel, ranges []sparse.Range, want *sparse.CSR) {
	t.Helper()
	if p.Index < 0 || p.Index >= len(ranges) || p.Range != ranges[p.Index] {
		t.Errorf("panel %d is of range %+v", p.Index, p.Range)
		return
	}
	if len(p.Ptr) != p.Hi-p.Lo+1 || len(p.Col) != p.Entries || p.Val != nil && len(p.Val) != p.Entries {
		t.Errorf("panel %d: %d pointers, %d columns, %d values for %+v", p.Index, len(p.Ptr), len(p.Col), len(p.Val), p.Range)
		return
	}
	if p.Ptr[len(p.Ptr)-1]-p.Ptr[0] != int64(p.Entries) {
		t.Errorf("panel %d: pointers span %d entries of %d", p.Index, p.Ptr[len(p.Ptr)-1]-p.Ptr[0], p.Entries)
		return
	}
	for i := p.Lo; i < p.Hi; i++ {
		col, val := want.Row(i)
		if p.Pieces > 1 {
			start := p.Piece * sparse.MaxRange
			col = col[start : start+p.Entries]
			if val != nil {
				val = val[start : start+p.Entries]
			}
		}
		gotCol, gotVal := p.Row(i - p.Lo)
		if !slices.Equal(gotCol, col) {
			t.Errorf("row %d, piece %d: other columns", i, p.Piece)
			return
		}
		for e := range col {
			v, w := 1.0, 1.0
			if gotVal != nil {
				v = gotVal[e]
			}
			if val != nil {
				w = val[e]
			}
			if v != w {
				t.Errorf("row %d, column %d: %v, want %v", i, col[e], v, w)
				return
			}
		}
	}
}

type visits []atomic.Int32

func (v visits) checkOnce(t *testing.T) {
	t.Helper()
	for i := range v {
		if n := v[i].Load(); n != 1 {
			t.Errorf("range %d was visited %d times", i, n)
		}
	}
}

func testPanels(t *testing.T, m sparse.Matrix, want *sparse.CSR) {
	for _, workers := range []int{0, 1, 2, 7} {
		seen := make(visits, len(m.Ranges()))
		err := sparse.Sweep(t.Context(), m, workers, func(_ int, p sparse.Panel) error {
			seen[p.Index].Add(1)
			checkPanel(t, p, m.Ranges(), want)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		seen.checkOnce(t)
	}
}

func testOrder(t *testing.T, m sparse.Matrix, _ *sparse.CSR) {
	next := 0
	err := sparse.Sweep(t.Context(), m, 1, func(_ int, p sparse.Panel) error {
		if p.Index != next {
			t.Errorf("range %d started in place of %d", p.Index, next)
		}
		next++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testWorkers(t *testing.T, m sparse.Matrix, _ *sparse.CSR) {
	const workers = 3
	var busy [workers]atomic.Bool
	last := [workers]int{-1, -1, -1}
	err := sparse.Sweep(t.Context(), m, workers, func(worker int, p sparse.Panel) error {
		if worker < 0 || worker >= workers {
			t.Errorf("worker %d of %d", worker, workers)
			return nil
		}
		if !busy[worker].CompareAndSwap(false, true) {
			t.Errorf("worker %d is in two visits at once", worker)
		}
		if p.Index <= last[worker] {
			t.Errorf("range %d came to worker %d after range %d", p.Index, worker, last[worker])
		}
		last[worker] = p.Index
		busy[worker].Store(false)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testFirstError(t *testing.T, m sparse.Matrix, _ *sparse.CSR) {
	last := len(m.Ranges()) - 1
	if last < 0 {
		t.Skip("a matrix without ranges has no visits")
	}
	failure := errors.New("visit failed")
	for _, workers := range []int{1, 2, 7} {
		for _, failing := range []int{0, last / 2, last} {
			var later atomic.Int32
			var failed atomic.Bool
			err := sparse.Sweep(t.Context(), m, workers, func(_ int, p sparse.Panel) error {
				if failed.Load() {
					later.Add(1)
				}
				if p.Index == failing {
					failed.Store(true)
					return failure
				}
				return nil
			})
			if !errors.Is(err, failure) {
				t.Errorf("%d workers, range %d fails: error %v", workers, failing, err)
			}
			if workers == 1 && later.Load() > 0 {
				t.Errorf("%d ranges were visited after the first error", later.Load())
			}
		}
	}
}

func testCancel(t *testing.T, m sparse.Matrix, _ *sparse.CSR) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, workers := range []int{1, 2, 7} {
		err := sparse.Sweep(ctx, m, workers, func(_ int, p sparse.Panel) error {
			t.Errorf("range %d was visited under a context done before", p.Index)
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers, cancelled before the sweep: error %v", workers, err)
		}
	}
	if len(m.Ranges()) < 2 {
		return
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	visited := 0
	err := sparse.Sweep(ctx, m, 1, func(int, sparse.Panel) error {
		visited++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || visited != 1 {
		t.Errorf("cancelled in the first of %d ranges: %d visited, error %v", len(m.Ranges()), visited, err)
	}
}

func testConcurrentSweeps(t *testing.T, m sparse.Matrix, want *sparse.CSR) {
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			seen := make(visits, len(m.Ranges()))
			err := sparse.Sweep(t.Context(), m, 2, func(_ int, p sparse.Panel) error {
				seen[p.Index].Add(1)
				checkPanel(t, p, m.Ranges(), want)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			seen.checkOnce(t)
		})
	}
	group.Wait()
}

// testSweepRows checks which ranges [sparse.Matrix.SweepRows] visits.
func testSweepRows(t *testing.T, m sparse.Matrix, want *sparse.CSR) {
	n, _ := m.Dims()
	for _, rows := range [][2]int{{0, n}, {0, 0}, {n, n}, {n / 3, n / 2}, {n / 2, n/2 + 1}, {n - 1, n}} {
		lo, hi := max(0, rows[0]), min(n, rows[1])
		var got, expected []int
		for i, r := range m.Ranges() {
			if r.Hi > lo && r.Lo < hi {
				expected = append(expected, i)
			}
		}
		err := m.SweepRows(t.Context(), lo, hi, 1, func(_ int, p sparse.Panel) error {
			checkPanel(t, p, m.Ranges(), want)
			got = append(got, p.Index)
			return nil
		})
		if err != nil || !slices.Equal(got, expected) {
			t.Errorf("rows %d to %d: ranges %v, want %v; %v", lo, hi, got, expected, err)
		}
	}
}
