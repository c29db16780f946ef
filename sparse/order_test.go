package sparse

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestByLength(t *testing.T) {
	ptr := []int64{7, 9, 9, 10, 1000, 1001, 1003, 2000}
	order := make([]uint16, 7)
	byLength(order, ptr)
	// Lengths 2 0 1 990 1 2 997; what is longer than all others counts as equal.
	if want := []uint16{1, 2, 4, 0, 5, 3, 6}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// TestRowsByLengthGiveTheSameBits compares a matrix whose rows are gathered by
// their lengths with the same one without that order.
func TestRowsByLengthGiveTheSameBits(t *testing.T) {
	const rows, cols = 40000, 500
	rng := rand.New(rand.NewPCG(1, 9))
	var entries []Triplet
	for i := range rows {
		for range rng.IntN(9) {
			entries = append(entries, Triplet{Row: uint32(i), Col: rng.Uint32N(cols), Val: rng.Float64()})
		}
	}
	m, err := FromTriplets(rows, cols, entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, weighted := range []bool{true, false} {
		a := *m
		if !weighted {
			a.val = nil
		}
		if a.order == nil {
			t.Fatal("rows of 4 entries have no order")
		}
		plain := a
		plain.order = nil
		for _, k := range []int{1, 2, 3, 5, 8, 40} {
			x := NewBlock[float32](cols, k)
			for i := range x.Data {
				if i%x.Stride < k {
					x.Data[i] = float32(rng.NormFloat64())
				}
			}
			for _, delta := range []float64{0, 0.5} {
				got, want := NewBlock[float32](rows, k), NewBlock[float32](rows, k)
				step := Step[float32]{Alpha: 0.75, Delta: delta, Prev: NewBlock[float32](rows, k)}
				for i := range step.Prev.Data {
					if i%step.Prev.Stride < k {
						step.Prev.Data[i] = float32(i % 7)
					}
				}
				for _, run := range []struct {
					a   *CSR
					dst *Block[float32]
				}{{&a, got}, {&plain, want}} {
					op := &Operator[float32]{A: run.a, Workers: 2}
					if err := op.StepTo(context.Background(), run.dst, x, step); err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(got.Data, want.Data) {
					t.Errorf("weighted %v, %d columns, delta %v: other numbers", weighted, k, delta)
				}
			}
		}
	}
}
