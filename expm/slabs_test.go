package expm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The reference computes each slab separately.
func TestSlabs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n, cols = 70_000, 20
	width := slabColumns(n)
	if width >= cols {
		t.Fatalf("%d rows are computed in slabs of %d columns", n, width)
	}
	a := testgraph.Random(7, n, 2*n, true)
	fs := []Function{Exp(-0.5), Exp(-3), Inverse(3, 2)}
	for turn, name := range testgraph.Sample(t, 1, []string{"L̃", "S"}) {
		var first []*sparse.Block[float64]
		for _, workers := range testgraph.Workers(turn) {
			g := graphOf(t, a, workers)
			m := mapOf(t, g, name)
			b, y := randomBlock(8, n, cols), newBlocks(n, cols, len(fs))
			done, last := 0, 0
			r, err := m.ApplyTo(ctx, y, b, fs, &Settings{Tolerance: 1e-7, Progress: func(_ string, d, total int64) { done, last = max(done, int(d)), int(total) }})
			if err != nil {
				t.Fatal(err)
			}
			if done > last || done == 0 {
				t.Errorf("progress %d of %d", done, last)
			}
			if first == nil {
				first = y
			}
			for i := range fs {
				if !slices.Equal(y[i].Data, first[i].Data) {
					t.Errorf("%s, function %d: other bits with %d workers", name, i, workers)
				}
			}
			if workers != 1 {
				continue
			}
			squares, sweeps := make([]float64, len(fs)), 0
			for lo := 0; lo < cols; lo += width {
				hi := min(lo+width, cols)
				part, z := sparse.NewBlock[float64](n, hi-lo), newBlocks(n, hi-lo, len(fs))
				for i := range n {
					copy(part.Row(i), b.Row(i)[lo:hi])
				}
				alone, err := m.ApplyTo(ctx, z, part, fs, &Settings{Tolerance: 1e-7})
				if err != nil {
					t.Fatal(err)
				}
				sweeps = max(sweeps, alone.Sweeps)
				for i := range fs {
					squares[i] += alone.Functions[i].ErrorBound * alone.Functions[i].ErrorBound
					where := fmt.Sprintf("%s, function %d, columns from %d", name, i, lo)
					if !slices.Equal(r.Functions[i].ColumnBound[lo:hi], alone.Functions[i].ColumnBound) {
						t.Errorf("%s: other bounds", where)
					}
					for row := range n {
						if !slices.Equal(y[i].Row(row)[lo:hi], z[i].Row(row)) {
							t.Fatalf("%s: row %d differs", where, row)
						}
					}
				}
			}
			for i, o := range r.Functions {
				if want := math.Sqrt(squares[i]); math.Abs(o.ErrorBound-want) > 1e-14*want || !(o.Relative <= 1e-7) {
					t.Errorf("%s, function %d: bound %g of %g, relative %g", name, i, o.ErrorBound, want, o.Relative)
				}
			}
			if r.Sweeps != sweeps {
				t.Errorf("%s: %d sweeps, %d by slabs", name, r.Sweeps, sweeps)
			}
		}
	}
}
