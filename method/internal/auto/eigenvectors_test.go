package auto

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/sparse"
)

// Spectral columns are eigenvectors of S times the sizes of their values, in rows of
// unit length.
func TestSpectralColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a second")
	}
	p, _ := problemtest.Blocks(t, 5, 600, 40, 3, 8, 2)
	out, err := eigenvectorColumns(t.Context(), inputOf(t, p, &Settings{}))
	if err != nil {
		t.Fatal(err)
	}
	if out == nil {
		t.Fatalf("no columns in %d components", len(p.Components.Sizes))
	}
	n, total := len(p.Degrees), 0.0
	for _, d := range p.Degrees {
		total += d
	}
	x, y := sparse.NewBlock[float64](n, spectralColumns), sparse.NewBlock[float64](n, spectralColumns)
	for v := range n {
		squares := 0.0
		for _, z := range out.Row(v) {
			squares += float64(z * z)
		}
		if p.Degrees[v] > 0 && math.Abs(squares-1) > 1e-5 {
			t.Fatalf("row %d has the length %v", v, math.Sqrt(squares))
		}
		// The first vector is D^½·1 on the largest component, which gives the length of
		// the row before it was divided by it.
		if first := float64(out.Row(v)[0]); first > 1e-6 {
			length := math.Sqrt(p.Degrees[v]/total) / first
			for j, z := range out.Row(v) {
				x.Row(v)[j] = length * float64(z)
			}
		}
	}
	if err := sparse.NewOperator[float64](sparse.NormalizedAdjacency, p.A, p.Degrees).ApplyTo(t.Context(), y, x); err != nil {
		t.Fatal(err)
	}
	for j := range spectralColumns {
		var dot, own, rest float64
		for v := range n {
			dot += x.Row(v)[j] * y.Row(v)[j]
			own += x.Row(v)[j] * x.Row(v)[j]
		}
		value := dot / own
		for v := range n {
			rest += math.Pow(y.Row(v)[j]-value*x.Row(v)[j], 2)
		}
		if residual := math.Sqrt(rest / own); residual > 0.02 {
			t.Errorf("column %d: residual %v of value %v", j, residual, value)
		}
		if math.Abs(math.Sqrt(own)-math.Abs(value)) > 0.02 || (value > 0) != (j < largestPairs) {
			t.Errorf("column %d has the length %v, and the value %v", j, math.Sqrt(own), value)
		}
	}
}

// Eigenvectors are the same for any number of workers and any memory; low effort has
// none.
func TestSpectralSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	p, _ := problemtest.Blocks(t, 5, 600, 40, 3, 8, 2)
	first := evident(t, p, &Settings{Workers: 1})
	for _, set := range []Settings{{Workers: 2}, {Workers: 7, Memory: 16 << 20}} {
		if got := evident(t, p, &set); !slices.Equal(got.Scores.Data, first.Scores.Data) || got.Estimate != first.Estimate {
			t.Errorf("%d workers, memory %d: other scores", set.Workers, set.Memory)
		}
	}
	low := evident(t, p, &Settings{LowEffort: true})
	if 2*low.Work.Sweeps > first.Work.Sweeps {
		t.Errorf("%d sweeps with low effort, %d with full", low.Work.Sweeps, first.Work.Sweeps)
	}
}
