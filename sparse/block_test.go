package sparse_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestStride(t *testing.T) {
	for cols, want := range map[int][2]int{ // float32, float64
		1: {1, 1}, 2: {2, 2}, 3: {4, 4}, 4: {4, 4}, 5: {8, 8}, 8: {8, 8}, 9: {16, 12}, 16: {16, 16}, 17: {24, 20}, 1000: {1000, 1000}, 1001: {1008, 1004},
	} {
		if got := [2]int{sparse.Stride[float32](cols), sparse.Stride[float64](cols)}; got != want {
			t.Errorf("%d columns lie %d apart, want %d", cols, got, want)
		}
	}
}

// TestPackedRows holds which blocks are not padded, and that a step over them
// gives the bits of padded ones.
func TestPackedRows(t *testing.T) {
	const few, many, most = 750_000, 1_000_000, 1_300_000
	for rows, want := range map[int]int{1: 8, few: 8, many: 5, most: 8} {
		if b := sparse.NewBlock[float32](rows, 5); b.Stride != want || len(b.Data) != rows*want {
			t.Errorf("%d rows of 5 numbers lie %d apart, want %d", rows, b.Stride, want)
		}
	}
	if b := sparse.NewBlock[float32](many, 6); b.Stride != 8 {
		t.Errorf("rows of 6 numbers lie %d apart", b.Stride)
	}
	entries := make([]sparse.Triplet, 0, many)
	for i := range uint32(many / 4) {
		for j := range i % 4 {
			entries = append(entries, sparse.Triplet{Row: 4 * i, Col: (i*7919 + j*104729) % many, Val: 1})
		}
	}
	a, err := sparse.FromTriplets(many, many, entries)
	if err != nil {
		t.Fatal(err)
	}
	x := sparse.NewBlock[float32](many, 5)
	padded := &sparse.Block[float32]{Rows: many, Cols: 5, Stride: 8, Data: make([]float32, 8*many)}
	for i := range x.Data {
		x.Data[i] = 1 / float32(i%1000+1)
	}
	for i := range many {
		copy(padded.Row(i), x.Row(i))
	}
	op := &sparse.Operator[float32]{A: a}
	got := sparse.NewBlock[float32](many, 5)
	want := &sparse.Block[float32]{Rows: many, Cols: 5, Stride: 8, Data: make([]float32, 8*many)}
	step := func(dst, x *sparse.Block[float32]) {
		if err := op.StepTo(context.Background(), dst, x, sparse.Step[float32]{Alpha: 0.3, Beta: 0.7}); err != nil {
			t.Fatal(err)
		}
	}
	step(got, x)
	step(want, padded)
	for i := range many {
		if !slices.Equal(got.Row(i), want.Row(i)) {
			t.Fatalf("row %d is %v, want %v", i, got.Row(i), want.Row(i))
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

// TestLargeBlock: a block of many huge pages is zero and its rows start at
// whole registers.
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
