package bench

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/lanczos/spectral"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
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
	made := func(a sparse.Matrix, order []uint32) *Target {
		degrees, err := sparse.Degrees(t.Context(), a, 1)
		if err != nil {
			t.Fatal(err)
		}
		return &Target{A: a, Degrees: degrees, Order: order}
	}
	g, turned := made(a, nil), made(testgraph.Permute(a, order), back)
	run := func(g *Target, normalized bool, betas ...float64) float64 {
		t.Helper()
		v, err := Workloads.Named("exponential").Run(t.Context(), g, &Settings{
			Normalized: normalized, Betas: betas, Columns: 5, Tolerance: 1e-9, Repeat: 1,
		})
		if err != nil || !(*v.Bound <= 1e-9) || v.Sweeps == 0 {
			t.Fatalf("%+v, error %v", v, err)
		}
		return *v.Checksum
	}
	for _, normalized := range []bool{true, false} {
		want := run(g, normalized, 4)
		for name, got := range map[string]float64{
			"two times": run(g, normalized, 1, 4),
			"permuted":  run(turned, normalized, 4),
		} {
			if math.Abs(got-want) > 1e-6*math.Abs(want) {
				t.Errorf("%s: checksum %v, want %v", name, got, want)
			}
		}
	}
	v, err := Workloads.Named("solve").Run(t.Context(), g, &Settings{
		System: "von-neumann", Alpha: 1e-12, Columns: 5, Tolerance: 1e-8, Repeat: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := noise(400, 5, nil)
	if want := *sum(b, nil, signs); math.Abs(*v.Checksum-want) > 1e-6*math.Abs(want) {
		t.Errorf("checksum %v, want %v", *v.Checksum, want)
	}
	for _, row := range b.Data {
		if row < -1 || row >= 1 {
			t.Fatalf("noise %v", row)
		}
	}
	v, err = Workloads.Named("eigen").Run(t.Context(), g, &Settings{
		Problem: spectral.Problem{Matrix: sparse.Laplacian, Which: lanczos.Smallest}, Columns: 3, Repeat: 1,
	})
	if err != nil || len(v.Values) != 3 || math.Abs(v.Values[0]) > 1e-9 || !(*v.Bound < 1e-8) {
		t.Errorf("%+v, error %v", v, err)
	}
}
