package iterative

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

// TestFactorBytes compares the allocations of a factor and its solves with their estimates: a solve
// uses the block of the result.
func TestFactorBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	a := grid(250)
	n, _ := a.Dims()
	allocated := func(do func()) int64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	var f *cholesky
	// All that is ever allocated: the records, the columns and two triangles.
	most := 24*a.NNZ() + 3*12*factorLimit(n, a.NNZ()) + 200*int64(n)
	if got := allocated(func() {
		var err error
		if f, err = newCholesky(ctx, a, 1, nil, 0, 1); err != nil {
			t.Fatal(err)
		}
	}); got > most {
		t.Errorf("making a factor allocates %d bytes, want at most %d", got, most)
	}
	if kept := int64(12*(len(f.lower.col)+len(f.upper.col)) + 28*n + 8*len(f.levels)); kept > SampledBytes(n, a.NNZ(), math.MaxInt32) || kept > SampledBytes(n, a.NNZ(), 0) {
		t.Errorf("%d bytes are kept, planned %d", kept, SampledBytes(n, a.NNZ(), math.MaxInt32))
	}
	const cols = 16
	x, y := randomBlock(1, n, cols), sparse.NewBlock[float64](n, cols)
	if got := allocated(func() {
		if err := f.ApplyTo(ctx, y, x); err != nil {
			t.Fatal(err)
		}
	}); got > 2*int64(n)+4*batchBytes {
		t.Errorf("solving for a block of %d bytes allocates %d", 8*n*cols, got)
	}
}

// The last columns, which are fewer, are solved in the memory of those before them, with
// the bits of a solve of their own.
func TestFewerColumnsTakeNoMoreMemory(t *testing.T) {
	a := grid(100)
	n, _ := a.Dims()
	system := func() *System {
		s, err := ShiftedLaplacian(graphOf(t, a), false, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	solve := func(s *System, x, b *sparse.Block[float64]) {
		if _, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-6}); err != nil {
			t.Fatal(err)
		}
	}
	b, x, alone := randomBlock(1, n, 16), sparse.NewBlock[float64](n, 16), sparse.NewBlock[float64](n, 12)
	s := system()
	solve(s, x, b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	solve(s, x.Columns(0, 12), b.Columns(0, 12))
	runtime.ReadMemStats(&after)
	if got, block := int64(after.TotalAlloc-before.TotalAlloc), budget.Block[float64](n, 12); got > block {
		t.Errorf("%d bytes are allocated, and a block has %d", got, block)
	}
	solve(system(), alone, b.Columns(0, 12))
	for i := range n {
		if !slices.Equal(x.Row(i)[:12], alone.Row(i)) {
			t.Fatalf("row %d: %v, alone %v", i, x.Row(i)[:12], alone.Row(i))
		}
	}
}

// TestHarmonicBytes checks that the allocations of a harmonic system and its solve without a factor
// are those of the estimate within a tenth. Vectors that are garbage soon count here.
func TestHarmonicBytes(t *testing.T) {
	const cols, clamped = 16, 100
	a := grid(150)
	n, _ := a.Dims()
	g := graphOf(t, a)
	g.Memory = 1 // without room for a factor
	rows, f := make([]int, clamped), sparse.NewBlock[float64](n, cols)
	for i := range rows {
		rows[i] = i * n / clamped
		f.Row(rows[i])[i%cols] = 1
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := Harmonic(ctx, g, rows)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.SolveTo(ctx, f, nil, &Settings{Tolerance: 1e-2}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	taken, said := int64(after.TotalAlloc-before.TotalAlloc), HarmonicBytes(g, cols)
	if taken > said/10*11 || taken < said/10*9 {
		t.Errorf("%d bytes are allocated, %d are listed", taken, said)
	}
}
