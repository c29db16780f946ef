package bench

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
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
		v, err := Exponential(t.Context(), g, order, normalized, betas, 5, 1e-9, 0, 1)
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
	s, err := iterative.VonNeumann(g, 1e-12)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Solve(t.Context(), s, nil, 5, 1e-8, 1)
	b := noise(400, 5, nil)
	if want := sum(b, nil, signs); err != nil || math.Abs(v.Checksum-want) > 1e-6*math.Abs(want) {
		t.Errorf("checksum %v, want %v, error %v", v.Checksum, want, err)
	}
	for _, row := range b.Data {
		if row < -1 || row >= 1 {
			t.Fatalf("noise %v", row)
		}
	}
	p := &lanczos.Problem{A: sparse.NewLaplacian[float64](a, g.Degrees), Which: lanczos.Smallest}
	v, err = Eigen(t.Context(), p, 3, &lanczos.Settings{}, 1)
	if err != nil || len(v.Values) != 3 || math.Abs(v.Values[0]) > 1e-9 || !(v.Bound < 1e-8) {
		t.Errorf("%+v, error %v", v, err)
	}
}
