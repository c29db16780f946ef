package kernel

import (
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// Blocks that are computed together agree with those computed alone.
func TestGrams(t *testing.T) {
	g := newGraph(t, testgraph.Random(16, 200, 500, true), 2)
	nodes := []int{4, 199, 12, 12, 77, 0, 33, 60, 61, 62, 63}
	for name, ps := range map[string][]Parameters{
		"diffusion":             {{Beta: 0.1, Laplacian: Combinatorial}, {Beta: 1, Laplacian: Combinatorial}, {Beta: 1}, {Beta: 10, Laplacian: Combinatorial}, {Beta: 8, Laplacian: Normalized}},
		"von-neumann":           {{Alpha: 0.1}, {Alpha: 0.9}},
		"matern":                {{Nu: 1, Kappa: 1}, {Nu: 1.5, Kappa: 2}},
		"regularized-laplacian": {{Alpha: 1}, {Alpha: 2}},
		"modularity":            {{Rank: 2}, {Rank: 5}},
	} {
		ks, err := NewAll(background, g, name, ps)
		if err != nil {
			t.Fatal(err)
		}
		grams, sweeps, err := Grams(background, ks, nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		if sweeps <= 0 && name != "modularity" {
			t.Errorf("%s: %d sweeps", name, sweeps)
		}
		for i, p := range ps {
			want, r := mustMatrix(t, mustNew(t, g, name, p), nodes, nodes, nil)
			if e := worstError(t, grams[i], want); e > 1e-7*r.Largest {
				t.Errorf("%s %v: differs by %g of %g", name, p, e, r.Largest)
			}
			for a := range nodes {
				for b := range nodes {
					if grams[i].Row(a)[b] != grams[i].Row(b)[a] {
						t.Fatalf("%s %v is not symmetric", name, p)
					}
				}
			}
		}
		others := []int{150, 3, 5}
		beside, _, err := GramsBeside(background, ks, nodes, others, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range ps {
			want, r := mustMatrix(t, mustNew(t, g, name, p), slices.Concat(nodes, others), nodes, nil)
			if e := worstError(t, beside[i], want); e > 1e-7*r.Largest {
				t.Errorf("%s %v with further rows: differs by %g of %g", name, p, e, r.Largest)
			}
		}
	}
}

// Kernels that have been computed keep no blocks: many to choose from take as much
// memory as one, and can be used again.
func TestGramsLetGo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 20_000
	g := newGraph(t, testgraph.Random(5, n, 60_000, true), 2)
	ks, err := NewAll(background, g, "von-neumann", []Parameters{{Alpha: 0.2}, {Alpha: 0.3}, {Alpha: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	inUse := func() int64 {
		var m runtime.MemStats
		for range 2 { // pools keep what they have for one collection
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	nodes := upTo(40)
	before := inUse()
	grams, _, err := Grams(background, ks, nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept, block := inUse()-before, sparse.BlockBytes[float64](n, len(nodes)); kept > 2*block {
		t.Errorf("%d bytes are kept, a block has %d", kept, block)
	}
	again, _, err := Grams(background, ks, nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range grams {
		for j, v := range grams[i].Data {
			if again[i].Data[j] != v {
				t.Fatalf("kernel %d is another one the second time", i)
			}
		}
	}
	runtime.KeepAlive(ks)
}
