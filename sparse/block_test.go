package sparse_test

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestStride(t *testing.T) {
	for cols, want := range map[int][2]int{ // float32, float64
		1: {1, 1}, 2: {2, 2}, 3: {4, 4}, 4: {4, 4}, 5: {8, 8}, 8: {8, 8}, 9: {16, 12}, 16: {16, 16}, 17: {24, 20}, 1000: {1000, 1000}, 1001: {1008, 1004},
	} {
		if got := [2]int{sparse.Stride[float32](cols), sparse.Stride[float64](cols)}; got != want {
			t.Errorf("%d columns lie %d apart, want %d", cols, got, want)
		}
		if b := sparse.NewBlock[float32](3, cols); b.Stride != want[0] || len(b.Data) != 3*want[0] {
			t.Errorf("%d numbers for rows %d apart in a block of 3 rows of %d", len(b.Data), b.Stride, cols)
		}
	}
}

func TestBlock(t *testing.T) {
	b := sparse.NewBlock[float32](3, 5)
	if b.Stride != 8 || len(b.Data) != 24 || len(b.Row(2)) != 5 || cap(b.Row(2)) != 5 {
		t.Fatalf("a 3×5 block has stride %d, %d numbers, a last row of %d", b.Stride, len(b.Data), len(b.Row(2)))
	}
	b.Row(1)[4] = 7
	v := b.Columns(3, 5)
	if v.At(1, 1) != 7 || b.At(1, 4) != 7 || len(v.Row(2)) != 2 {
		t.Errorf("columns 3 and 4 are %v", mat.Formatted(v))
	}
	v.Row(2)[0] = 9
	if b.At(2, 3) != 9 || v.T().At(0, 2) != 9 {
		t.Error("a view shares its memory")
	}
	if empty := sparse.NewBlock[float64](0, 3).Columns(1, 2); empty.Rows != 0 || empty.Cols != 1 {
		t.Errorf("a view of no rows is %+v", empty)
	}
	data := []float64{1, 2, 3, 4, 5, 6}
	if o := sparse.BlockOf(3, 2, data); o.At(2, 0) != 5 || &o.Data[0] != &data[0] {
		t.Error("BlockOf shares its data")
	}
}

func TestBlockRefusals(t *testing.T) {
	b := sparse.NewBlock[float64](3, 5)
	panics(t, mismatch, func() { sparse.NewBlock[float64](-1, 1) })
	panics(t, mismatch, func() { sparse.NewBlock[float64](1, 0) })
	panics(t, mismatch, func() { sparse.BlockOf(2, 2, make([]float64, 3)) })
	for _, c := range [][2]int{{-1, 2}, {2, 2}, {3, 2}, {0, 6}} {
		panics(t, mismatch, func() { b.Columns(c[0], c[1]) })
	}
	for _, p := range [][2]int{{-1, 0}, {3, 0}, {0, -1}, {0, 5}} {
		panics(t, outside, func() { b.At(p[0], p[1]) })
	}
}

func TestLargeBlock(t *testing.T) {
	b := sparse.NewBlock[float64](1<<20, 5)
	var sum float64
	for _, v := range b.Data {
		sum += math.Abs(v)
	}
	if sum != 0 || len(b.Data) != 8<<20 || uintptr(unsafe.Pointer(&b.Data[0]))%32 != 0 {
		t.Errorf("%d numbers of sum %v at %p", len(b.Data), sum, &b.Data[0])
	}
}

func TestBlockSize(t *testing.T) {
	for _, rows := range []int{10, 3 << 17, 1<<20 - 8, 1 << 20, 5<<19 + 1} {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		b := sparse.NewBlock[float64](rows, 1)
		metrics.Read(sample)
		runtime.KeepAlive(b)
		const slack = 1 << 20 // rounding to pages, and allocations of other goroutines
		if took, counted := int64(sample[0].Value.Uint64()-before), budget.Block[float64](rows, 1); took > counted+slack {
			t.Errorf("%d rows take %d bytes, counted are %d", rows, took, counted)
		}
	}
}
