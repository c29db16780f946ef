package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func symmetricArrays(rng *rand.Rand) (n int, ptr []int64, col []uint32, val []float64) {
	n = MaxRange + 2000
	var entries []Triplet
	add := func(i, j int) {
		v := 1 + rng.Float64()
		entries = append(entries, Triplet{uint32(i), uint32(j), v}, Triplet{uint32(j), uint32(i), v})
	}
	for j := 1; j < n; j++ {
		add(0, j)
	}
	for range 3000 {
		i := 1 + rng.IntN(n-2)
		add(i, i+1+rng.IntN(n-1-i))
	}
	m, err := FromTriplets(n, n, entries)
	if err != nil {
		panic(err)
	}
	return n, m.ptr, m.col, m.val
}

func TestNewSymmetric(t *testing.T) {
	n, ptr, col, val := symmetricArrays(rand.New(rand.NewPCG(1, 2)))
	ctx := context.Background()
	for _, workers := range []int{1, 2, 7} {
		s, err := NewSymmetric(ctx, n, ptr, col, val, workers)
		if err != nil || s.Loops != 0 || s.Averaged != 0 {
			t.Fatalf("%d workers: %v", workers, err)
		}
		if s, err := NewSymmetric(ctx, n, ptr, col, nil, workers); err != nil || s.NNZ() != int64(len(col)) {
			t.Fatalf("%d workers, without values: %v", workers, err)
		}
	}
	at := len(val) / 2
	old := val[at]
	val[at] *= 1 + 1e-14
	s, err := NewSymmetric(ctx, n, ptr, col, val, 2)
	if err != nil || s.Averaged != 1 || val[at] != old/2+old*(1+1e-14)/2 {
		t.Fatalf("rounded value: %v, %d averaged", err, s.Averaged)
	}
	if s, err = NewSymmetric(ctx, n, ptr, col, val, 2); err != nil || s.Averaged != 0 {
		t.Fatalf("averaged matrix: %v", err)
	}
	old = val[at]
	for _, v := range []float64{old * (1 + 1e-9), 0, -old, math.NaN(), math.Inf(1)} {
		val[at] = v
		if _, err := NewSymmetric(ctx, n, ptr, col, val, 2); !errors.Is(err, ErrStructure) {
			t.Errorf("value %v: %v", v, err)
		}
	}
	val[at] = old
	at = 5 // an entry of the long row
	oldCol := col[at]
	for _, c := range []uint32{col[at-1], uint32(n), col[at+1], math.MaxUint32} {
		col[at] = c
		if _, err := NewSymmetric(ctx, n, ptr, col, val, 2); !errors.Is(err, ErrStructure) {
			t.Errorf("column %d: %v", c, err)
		}
	}
	col[at] = oldCol
	// These columns are out of order between two pieces of the long row.
	first := int(ptr[0]) + MaxRange
	col[first], col[first-1] = col[first-1], col[first]
	if _, err := NewSymmetric(ctx, n, ptr, col, val, 2); !errors.Is(err, ErrStructure) {
		t.Errorf("pieces: %v", err)
	}
}

func TestNewSymmetricOneEntry(t *testing.T) {
	for _, c := range []struct {
		ptr []int64
		col []uint32
	}{
		{[]int64{0, 1, 1}, []uint32{1}},
		{[]int64{0, 0, 1}, []uint32{0}},
		{[]int64{0, 1, 2, 3}, []uint32{1, 2, 0}},
		{[]int64{0, 2, 3, 3}, []uint32{1, 2, 0}},
	} {
		if _, err := NewSymmetric(context.Background(), len(c.ptr)-1, c.ptr, c.col, nil, 1); !errors.Is(err, ErrStructure) {
			t.Errorf("%v: %v", c, err)
		}
	}
	s, err := NewSymmetric(context.Background(), 2, []int64{0, 2, 3}, []uint32{0, 1, 0}, nil, 1)
	if err != nil || s.Loops != 1 {
		t.Errorf("loop: %v", err)
	}
}
