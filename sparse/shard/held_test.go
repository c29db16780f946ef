package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// byDegreeLike returns a matrix whose first columns have most of the entries: a row of
// two pieces, long rows, some of which have nothing in the first columns, and short ones.
func byDegreeLike() *sparse.CSR {
	const rows, long = 30000, 4000
	rng := rand.New(rand.NewPCG(71, 1))
	ptr, col := make([]int64, rows+1), []uint32(nil)
	for i := range rows {
		var row []uint32
		switch {
		case i == 3:
			for j := range rows {
				row = append(row, uint32(j))
			}
		case i < long:
			for range 70 + rng.IntN(200) {
				place := math.Pow(rng.Float64(), 5)
				if i%97 == 0 {
					place = .9 + place/10
				}
				row = append(row, uint32(place*rows))
			}
		case i%3 == 0:
			row = append(row, uint32(rng.IntN(rows)))
		}
		slices.Sort(row)
		col = append(col, slices.Compact(row)...)
		ptr[i+1] = int64(len(col))
	}
	return must(sparse.NewCSR(rows, rows, ptr, col, nil))
}

// tileable opens a store of byDegreeLike whose steps may be cut into tiles.
func tileable(t *testing.T, o Options) (*Store, *sparse.CSR) {
	t.Helper()
	before := leastTiled
	leastTiled = 1
	defer func() { leastTiled = before }()
	a := byDegreeLike()
	mem := durabletest.NewMem()
	write(t, "g", a, transposed(a), nil, WriteOptions{fs: mem, Directed: true, Identity: 7})
	o.fs = mem
	s := must(Open(bg, "g", &o))
	t.Cleanup(func() { _ = s.Close() })
	return s, a
}

// TestHeldBits compares steps that cut frames into tiles with those over the matrix in
// memory, to the bit, and that they show each row once.
func TestHeldBits(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		s, a := tileable(t, Options{Workers: workers})
		for _, k := range []int{24, 40, 100} {
			testHeldBits[float32](t, s, a, k, workers)
			testHeldBits[float64](t, s, a, k, workers)
		}
	}
}

func testHeldBits[T sparse.Float](t *testing.T, s *Store, a *sparse.CSR, k, workers int) {
	t.Helper()
	n, _ := a.Dims()
	x, seen := sparse.NewBlock[T](n, k), make([]int, n)
	for i := range x.Data {
		x.Data[i] = T((i*31)%1013) / 7
	}
	left := make([]float64, n)
	for i := range left {
		left[i] = 1 / float64(i%7+1)
	}
	step := func(m sparse.Matrix, visit func(sparse.Rows)) []T {
		y := sparse.NewBlock[T](n, k)
		copy(y.Data, x.Data[5:])
		op := &sparse.Operator[T]{A: m, Left: left, Workers: workers}
		must(0, op.StepTo(bg, y, x, sparse.Step[T]{Alpha: 2, Beta: .5, Delta: -1, Prev: y, Visit: visit}))
		return y.Data
	}
	want := step(a, nil)
	for range 2 {
		clear(seen)
		got := step(s, func(r sparse.Rows) {
			for i := r.Lo; i < r.Hi; i++ {
				seen[i]++
			}
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%T, %d columns, %d workers: another product", T(0), k, workers)
		}
		if i := slices.IndexFunc(seen, func(n int) bool { return n != 1 }); i >= 0 {
			t.Fatalf("%T, %d columns, %d workers: row %d shown %d times", T(0), k, workers, i, seen[i])
		}
	}
}

// late counts the panels that are not computed when the visitor returns.
type late struct {
	*view
	y    *sparse.Block[float32]
	late int
	err  error // of the sweep
}

func (l *late) SweepNear(ctx context.Context, workers int, near simd.Near, visit func(worker int, p sparse.Panel, ahead *simd.Decoding) error) error {
	err := l.view.SweepNear(ctx, workers, near, func(worker int, p sparse.Panel, ahead *simd.Decoding) error {
		if p.Pieces > 1 {
			return visit(worker, p, ahead)
		}
		l.y.Row(p.Lo)[0] = -1
		err := visit(worker, p, ahead)
		if l.y.Row(p.Lo)[0] == -1 {
			l.late++
		}
		return err
	})
	return errors.Join(err, l.err)
}

// TestHeldLate: panels of wide blocks are held, by one step at a time, and not those of
// narrow ones. What a sweep that failed had held does not come back.
func TestHeldLate(t *testing.T) {
	s, a := tileable(t, Options{Workers: 1})
	n, _ := a.Dims()
	step := func(k int, err error, visit func(sparse.Rows)) (*sparse.Block[float32], int) {
		x, l := sparse.NewBlock[float32](n, k), &late{view: s.out, y: sparse.NewBlock[float32](n, k), err: err}
		for i := range x.Data {
			x.Data[i] = float32(i % 19)
		}
		op := &sparse.Operator[float32]{A: l, Workers: 1}
		if got := op.StepTo(bg, l.y, x, sparse.Step[float32]{Alpha: 1, Visit: visit}); !errors.Is(got, err) {
			t.Fatal(got)
		}
		return l.y, l.late
	}
	if _, late := step(16, nil, nil); late > 0 {
		t.Errorf("%d panels held for 16 columns", late)
	}
	failed := fmt.Errorf("failed")
	if _, late := step(40, failed, nil); late < 10 {
		t.Errorf("%d panels held for 40 columns", late)
	}
	var inner *sparse.Block[float32]
	shown := 0
	outer, _ := step(40, nil, func(r sparse.Rows) {
		shown += r.Hi - r.Lo
		if inner == nil {
			var late int
			if inner, late = step(40, nil, nil); late > 0 {
				t.Errorf("%d panels held beside another step", late)
			}
		}
	})
	if !slices.Equal(inner.Data, outer.Data) {
		t.Error("two steps side by side differ")
	}
	if shown != n {
		t.Errorf("%d rows shown of %d", shown, n)
	}
}

// TestHeldPlan: the room for tiles is part of the plan, where it takes little of the
// memory, and for stores that are read in every sweep only with a limit.
func TestHeldPlan(t *testing.T) {
	room := sparse.TileRoomBytes(2)
	for _, c := range []struct {
		memory int64
		stream bool
		want   bool
	}{{0, false, true}, {0, true, false}, {40 * room, true, true}, {40 * room, false, true}, {30 * room, true, false}} {
		s, _ := tileable(t, Options{Workers: 2, Memory: c.memory, Stream: c.stream})
		_, items := s.plan.Peak()
		planned := slices.ContainsFunc(items, func(item budget.Item) bool { return item.Bytes == room })
		if planned != c.want || (s.tiles != nil) != c.want {
			t.Errorf("%+v: planned %t, room %t", c, planned, s.tiles != nil)
		}
	}
}
