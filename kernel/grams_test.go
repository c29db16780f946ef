package kernel

import (
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/spec"
)

// mustNewAll returns kernels of one family on a graph, with defaults.
func mustNewAll(t testing.TB, g *graph.Graph, name string, given ...spec.Values) []Kernel {
	t.Helper()
	f := Families().Named(name)
	vs := make([]spec.Values, len(given))
	for i, v := range given {
		vs[i] = complete(t, f, v, On(background, g))
	}
	ks, err := f.NewAll(background, g, vs)
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

// complete returns the given values with defaults.
func complete(t testing.TB, f *Family, given spec.Values, g spec.Graph) spec.Values {
	t.Helper()
	v, err := f.Resolve(given, g)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// numbersOf returns values of one parameter.
func numbersOf(name string, list ...float64) (vs []spec.Values) {
	for _, x := range list {
		vs = append(vs, spec.Values{name: spec.Of(x)})
	}
	return vs
}

// Blocks that are computed together agree with those computed alone.
func TestGrams(t *testing.T) {
	g := newGraph(t, testgraph.Random(16, 200, 500, true), 2)
	nodes := []int{4, 199, 12, 12, 77, 0, 33, 60, 61, 62, 63}
	for name, ps := range map[string][]spec.Values{
		"diffusion":             {{"beta": spec.Of(0.1), "laplacian": spec.Of(combinatorial)}, {"beta": spec.Of(1.0), "laplacian": spec.Of(combinatorial)}, {"beta": spec.Of(1.0)}, {"beta": spec.Of(10.0), "laplacian": spec.Of(combinatorial)}, {"beta": spec.Of(8.0), "laplacian": spec.Of(normalized)}},
		"von-neumann":           {{"alpha": spec.Of(0.1)}, {"alpha": spec.Of(0.9)}},
		"matern":                {{"nu": spec.Of(1.0), "kappa": spec.Of(1.0)}, {"nu": spec.Of(1.5), "kappa": spec.Of(2.0)}},
		"regularized-laplacian": {{"alpha": spec.Of(1.0)}, {"alpha": spec.Of(2.0)}},
		"modularity":            {{"rank": spec.Of(2)}, {"rank": spec.Of(5)}},
	} {
		ks := mustNewAll(t, g, name, ps...)
		grams, sweeps, err := Grams(background, ks, nodes, nil, nil)
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
		beside, _, err := Grams(background, ks, nodes, others, nil)
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
	ks := mustNewAll(t, g, "von-neumann", numbersOf("alpha", 0.2, 0.3, 0.5)...)
	inUse := func() int64 {
		var m runtime.MemStats
		for range 2 { // pools keep their content for one collection
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	nodes := upTo(40)
	before := inUse()
	grams, _, err := Grams(background, ks, nodes, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept, block := inUse()-before, tall.BlockBytes[float64](n, len(nodes)); kept > 2*block {
		t.Errorf("%d bytes are kept, a block has %d", kept, block)
	}
	again, _, err := Grams(background, ks, nodes, nil, nil)
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

// TestAsymmetric checks of each form of every kernel, on a graph of several degrees, that it is
// symmetric to the bit exactly where it is declared to be.
func TestAsymmetric(t *testing.T) {
	g := newGraph(t, testgraph.Path(5), 1)
	for _, f := range Families() {
		forms := []spec.Values{{}}
		for _, p := range f.Params {
			for _, word := range p.Words {
				forms = append(forms, spec.Values{p.Name: spec.Of(word)})
			}
			if p.Kind == spec.Switch {
				forms = append(forms, spec.Values{p.Name: spec.Of(true)})
			}
		}
		for _, given := range forms {
			v, err := f.Resolve(given, On(t.Context(), g))
			if err != nil {
				t.Fatal(err)
			}
			k, err := New(t.Context(), g, f.Name, v)
			if err != nil {
				t.Fatal(err)
			}
			all := []int{0, 1, 2, 3, 4}
			block, _, err := Matrix(t.Context(), k, all, all, nil)
			if err != nil {
				t.Fatal(err)
			}
			symmetric := true
			for i := range all {
				for j := range all {
					symmetric = symmetric && block.Row(i)[j] == block.Row(j)[i]
				}
			}
			if err := f.Asymmetric(v); f.Distance == "" && symmetric != (err == nil) {
				t.Errorf("%s, %s: symmetric %t, and %v", f.Name, f.Text(v), symmetric, err)
			}
		}
	}
}
