package iterative

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// counting counts the steps of a map.
type counting struct {
	sparse.Applier[float64]
	steps int
}

func (c *counting) StepTo(ctx context.Context, dst, x *sparse.Block[float64], s sparse.Step[float64]) error {
	c.steps++
	return c.Applier.StepTo(ctx, dst, x, s)
}

// TestSingle checks that float64 makes only the sweeps that compute residuals, one for every
// four digits, and that the solution has the requested residuals.
func TestSingle(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := graphOf(t, testgraph.Random(6, 3000, 9000, true))
	n := len(g.Degrees)
	for name, system := range map[string]func() (*System, error){
		"I − αS":  func() (*System, error) { return VonNeumann(g, true, 0.9) },
		"I + αL":  func() (*System, error) { return ShiftedLaplacian(g, false, 1, 1) },
		"I + αL̃": func() (*System, error) { return ShiftedLaplacian(g, true, 10, 1) },
	} {
		for _, k := range []int{1, 3, 11, singleColumns, 2*singleColumns + 5} {
			for tolerance, sweeps := range map[float64]int{1e-3: 1, 1e-7: 2, 1e-11: 3} {
				s, err := system()
				if err != nil {
					t.Fatal(err)
				}
				s.prepare(1)
				double := &counting{Applier: s.cg.A}
				s.cg.A = double
				b, x := randomBlock(7, n, k), sparse.NewBlock[float64](n, k)
				res, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: tolerance})
				if err != nil {
					t.Fatal(name, err)
				}
				if double.steps != sweeps || res.Sweeps != res.Steps+sweeps || res.SampledCholesky {
					t.Errorf("%s, %d columns, %g: %d sweeps in float64, want %d; %d of %d steps", name, k, tolerance,
						double.steps, sweeps, res.Sweeps, res.Steps)
				}
				// The residual by its definition: what X misses of B.
				s.cg.single = nil
				y := sparse.NewBlock[float64](n, k)
				if err := s.mapTo(y, x); err != nil {
					t.Fatal(err)
				}
				for j := range k {
					var missing, norm float64
					for i := range n {
						missing = math.Hypot(missing, b.At(i, j)-y.At(i, j))
						norm = math.Hypot(norm, b.At(i, j))
					}
					if missing > tolerance*norm+1e-14*norm || math.Abs(missing-res.Residual[j]) > 1e-12*norm {
						t.Errorf("%s, %d columns: residual %g of column %d, reported %g, asked for %g", name, k, missing, j, res.Residual[j], tolerance*norm)
					}
				}
			}
		}
	}
}

// mapTo stores M·X in y.
func (s *System) mapTo(y, x *sparse.Block[float64]) error {
	scaled := sparse.NewBlock[float64](x.Rows, x.Cols)
	by := func(dst, src *sparse.Block[float64]) {
		for i := range src.Rows {
			for j, v := range src.Row(i) {
				if s.Scale != nil {
					v /= s.Scale[i]
				}
				dst.Row(i)[j] = v
			}
		}
	}
	by(scaled, x)
	err := s.cg.A.StepTo(ctx, y, scaled, sparse.Step[float64]{Alpha: 1})
	by(y, y)
	return err
}

// onDisk is a matrix that says that it is read in every sweep.
type onDisk struct{ *sparse.CSR }

func (onDisk) Resident() bool { return false }

// TestSingleOnDisk: a matrix that is read in every sweep is swept for all
// columns at once, to the same bits.
func TestSingleOnDisk(t *testing.T) {
	a := testgraph.Random(6, 3000, 9000, true)
	const k = 2 * singleColumns
	b := randomBlock(7, 3000, k)
	var results []*Result
	var want *sparse.Block[float64]
	for _, m := range []sparse.Matrix{a, onDisk{a}} {
		s, err := VonNeumann(graphOf(t, m), true, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		x := sparse.NewBlock[float64](3000, k)
		res, err := s.SolveTo(ctx, x, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = x
		}
		sameBits(t, "from disk", x, want)
		results = append(results, res)
	}
	inMemory, fromDisk := results[0], results[1]
	if !slices.Equal(inMemory.ColumnSteps, fromDisk.ColumnSteps) || fromDisk.Steps >= inMemory.Steps {
		t.Errorf("%d and %d steps, of columns %v and %v", inMemory.Steps, fromDisk.Steps, inMemory.ColumnSteps, fromDisk.ColumnSteps)
	}
}

// TestBeyondSingle: systems that float32 cannot hold, or cannot solve, are
// solved in float64.
func TestBeyondSingle(t *testing.T) {
	for _, c := range []struct {
		weight, alpha float64
		held          bool
	}{{1e30, 0.9, false}, {1e-30, 0.9, false}, {1, 1 - 1e-7, true}} {
		var e []sparse.Triplet
		const n = 400
		for i := range uint32(n - 1) {
			e = append(e, sparse.Triplet{Row: i, Col: i + 1, Val: c.weight}, sparse.Triplet{Row: i + 1, Col: i, Val: c.weight})
		}
		a, err := sparse.FromTriplets(n, n, e)
		if err != nil {
			t.Fatal(err)
		}
		s, err := VonNeumann(graphOf(t, a), true, c.alpha)
		if err != nil {
			t.Fatal(err)
		}
		s.Memory = 1000 // no factor
		b, x := randomBlock(7, n, 3), sparse.NewBlock[float64](n, 3)
		res, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-9})
		if err != nil || slices.Max(res.Relative) > 1e-9 {
			t.Errorf("%v: %v, residuals %v", c, err, res.Relative)
		}
		if held := s.cg.single != nil; held != c.held {
			t.Errorf("%v: solved in float32: %v", c, held)
		}
		if c.held && !slices.Contains(s.cg.single.left, true) {
			t.Errorf("%v: no column was left to float64", c)
		}
		if slices.Max(res.ColumnSteps) > singleSteps+2*n {
			t.Errorf("%v: %d steps", c, res.ColumnSteps)
		}
	}
}
