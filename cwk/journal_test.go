package cwk_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
)

// journal is what a killed run has kept: what some tells, up to most records, after which it
// is cancelled.
type journal struct {
	mu      sync.Mutex
	records map[string][]byte
	calls   int
	every   int // of the calls of Keep one keeps something
	most    int
	cancel  func()
}

func (j *journal) recall(name string) io.Reader {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.records[name] == nil {
		return nil
	}
	return bytes.NewReader(j.records[name])
}

func (j *journal) keep(t *testing.T, name string, size int64, write func(w io.Writer) error) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.calls++; len(j.records) == j.most || j.calls%j.every > 0 {
		return false
	}
	var b bytes.Buffer
	if err := write(&b); err != nil || int64(b.Len()) != size {
		t.Errorf("%s: %v, %d bytes, was to have %d", name, err, b.Len(), size)
	}
	if j.records[name] = b.Bytes(); len(j.records) == j.most {
		j.cancel()
	}
	return true
}

// sweptMatrix counts sweeps over a matrix.
type sweptMatrix struct {
	sparse.Matrix
	mu     sync.Mutex
	sweeps int
}

func (m *sweptMatrix) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	m.mu.Lock()
	m.sweeps++
	m.mu.Unlock()
	return m.Matrix.Sweep(ctx, workers, visit)
}

// Features and blocks of a walk that is cancelled after any of its records, and taken up by
// any number of workers and with another limit, are those of one that was not; what all was
// kept of takes no sweep.
func TestTakenUp(t *testing.T) {
	t.Run("float32", testTakenUp[float32])
	t.Run("float64", testTakenUp[float64])
}

func testTakenUp[T sparse.Float](t *testing.T) {
	w := randomWalk[T](t, 3)
	w.Steps = 9
	w.A = &sweptMatrix{Matrix: w.A}
	const from = 2
	var rows, cols []cwk.Pick
	for i := range 60 {
		rows = append(rows, cwk.Pick{Row: i * 7 % 40, Variant: i % 4})
	}
	cols = rows[5:17]
	features := func(ctx context.Context, w *cwk.Walk[T], sink func(lo int, panel *sparse.Block[T]) error) error {
		_, err := w.Features(ctx, from, rows, sink)
		return err
	}
	block := func(ctx context.Context, w *cwk.Walk[T], sink func(lo int, panel *sparse.Block[T]) error) error {
		return w.Gram(ctx, from, rows, cols, sink)
	}
	square := func(ctx context.Context, w *cwk.Walk[T], sink func(lo int, panel *sparse.Block[T]) error) error {
		return w.Gram(ctx, from, rows, rows, sink)
	}
	for i, run := range []func(context.Context, *cwk.Walk[T], func(int, *sparse.Block[T]) error) error{features, block, square} {
		for _, limits := range [][2]int64{{0, 30_000}, {15_000 << (2 * (i / 2)), 0}} {
			for _, every := range []int{1, 4} {
				// do runs it with what was kept, and returns all values by row.
				do := func(j *journal, workers int, memory int64) (values []T, err error) {
					own := *w
					own.Workers, own.Memory = workers, memory
					ctx, cancel := context.WithCancel(background)
					defer cancel()
					if j != nil {
						j.every, j.cancel = every, cancel
						own.Recall = j.recall
						own.Keep = func(name string, size int64, write func(w io.Writer) error) bool {
							return j.keep(t, name, size, write)
						}
						if j.most == 0 {
							cancel()
						}
					}
					err = run(ctx, &own, func(lo int, panel *sparse.Block[T]) error {
						if lo*panel.Cols != len(values) {
							t.Errorf("rows from %d on behind %d values", lo, len(values))
						}
						for i := range panel.Rows {
							values = append(values, panel.Row(i)...)
						}
						return ctx.Err()
					})
					return values, err
				}
				want, err := do(nil, 2, limits[0])
				if err != nil {
					t.Fatal(err)
				}
				all := &journal{records: map[string][]byte{}, most: -1}
				if _, err := do(all, 2, limits[0]); err != nil {
					t.Fatal(err)
				}
				for most := range len(all.records) + 1 {
					killed := &journal{records: map[string][]byte{}, most: most}
					_, err := do(killed, 2, limits[0])
					if len(killed.records) != most || err != nil && !errors.Is(err, context.Canceled) {
						t.Fatalf("%v after %d of %d records", err, len(killed.records), most)
					}
					for _, workers := range []int{1, 2, 7} {
						for _, memory := range limits {
							again := &journal{records: maps.Clone(killed.records), most: -1}
							counted := w.A.(*sweptMatrix)
							before := counted.sweeps
							got, err := do(again, workers, memory)
							if err != nil || !slices.Equal(got, want) {
								t.Fatalf("run %d with %d bytes, taken up after %d records by %d workers with %d bytes: %v, %v, want %v",
									i, limits[0], most, workers, memory, err, got, want)
							}
							if same := workers == 2 && memory == limits[0] && every == 1; same && most == len(all.records) && counted.sweeps > before {
								t.Errorf("run %d: %d sweeps for what was kept", i, counted.sweeps-before)
							}
						}
					}
				}
			}
		}
	}
}
