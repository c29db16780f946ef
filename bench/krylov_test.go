package bench

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spectral"
)

// TestKrylov: two times in one run end where the longer one does by itself, a
// system with α near 0 has B for its solution, and a permuted graph with its
// order gives the same checksum.
func TestKrylov(t *testing.T) {
	a := testgraph.Random(3, 400, 900, false)
	order := make([]int, 400)
	back := make([]uint32, 400)
	for i := range order {
		order[i] = (i*7 + 3) % 400
		back[order[i]] = uint32(i)
	}
	made := func(a sparse.Matrix) *graph.Graph {
		g, err := graph.New(t.Context(), a, 1)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g, turned := made(a), made(testgraph.Permute(a, order))
	run := func(g *graph.Graph, order []uint32, normalized bool, betas ...float64) Krylov {
		t.Helper()
		v, err := (&KrylovSettings{
			Workload: "exponential", Normalized: normalized, Betas: betas, Columns: 5, Tolerance: 1e-9, Repeat: 1,
		}).Run(t.Context(), g, order)
		if err != nil || !(v.Bound <= 1e-9) || v.Sweeps == 0 {
			t.Fatalf("%+v, error %v", v, err)
		}
		return v
	}
	for _, normalized := range []bool{true, false} {
		want := run(g, nil, normalized, 4).Checksum
		for name, got := range map[string]float64{
			"two times": run(g, nil, normalized, 1, 4).Checksum,
			"permuted":  run(turned, back, normalized, 4).Checksum,
		} {
			if math.Abs(got-want) > 1e-6*math.Abs(want) {
				t.Errorf("%s: checksum %v, want %v", name, got, want)
			}
		}
	}
	v, err := (&KrylovSettings{
		Workload: "solve", System: "von-neumann", Alpha: 1e-12, Columns: 5, Tolerance: 1e-8, Repeat: 1,
	}).Run(t.Context(), g, nil)
	b := noise(400, 5, nil)
	if want := sum(b, nil, signs); err != nil || math.Abs(v.Checksum-want) > 1e-6*math.Abs(want) {
		t.Errorf("checksum %v, want %v, error %v", v.Checksum, want, err)
	}
	for _, row := range b.Data {
		if row < -1 || row >= 1 {
			t.Fatalf("noise %v", row)
		}
	}
	v, err = (&KrylovSettings{
		Workload: "eigen", Problem: spectral.Problem{Matrix: spectral.Laplacian, Which: lanczos.Smallest}, Columns: 3, Repeat: 1,
	}).Run(t.Context(), g, nil)
	if err != nil || len(v.Values) != 3 || math.Abs(v.Values[0]) > 1e-9 || !(v.Bound < 1e-8) {
		t.Errorf("%+v, error %v", v, err)
	}
}
