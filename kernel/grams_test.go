package kernel

import (
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func mustNewAll(t testing.TB, g *graph.Graph, name string, given ...param.Values) []Kernel {
	t.Helper()
	f := Families().Named(name)
	vs := make([]param.Values, len(given))
	for i, v := range given {
		vs[i] = complete(t, f, v, On(background, g))
	}
	ks, err := f.NewAll(background, g, vs)
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

func complete(t testing.TB, f *Family, given param.Values, g param.Graph) param.Values {
	t.Helper()
	v, err := f.Resolve(given, g)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func numbersOf(name string, list ...float64) (vs []param.Values) {
	for _, x := range list {
		vs = append(vs, param.Values{name: param.Of(x)})
	}
	return vs
}

func TestGrams(t *testing.T) {
	g := newGraph(t, testgraph.Random(16, 200, 500, true), 2)
	nodes := []int{4, 199, 12, 12, 77, 0, 33, 60, 61, 62, 63}
	for name, ps := range map[string][]param.Values{
		"diffusion":             {{"beta": param.Of(0.1), "laplacian": param.Of(combinatorial)}, {"beta": param.Of(1.0), "laplacian": param.Of(combinatorial)}, {"beta": param.Of(1.0)}, {"beta": param.Of(10.0), "laplacian": param.Of(combinatorial)}, {"beta": param.Of(8.0), "laplacian": param.Of(normalized)}},
		"von-neumann":           {{"alpha": param.Of(0.1)}, {"alpha": param.Of(0.9)}},
		"matern":                {{"nu": param.Of(1.0), "kappa": param.Of(1.0)}, {"nu": param.Of(1.5), "kappa": param.Of(2.0)}},
		"regularized-laplacian": append(numbersOf("alpha", 0.5, 1, 2, 100), param.Values{"alpha": param.Of(2.0), "laplacian": param.Of(combinatorial)}),
		"modularity":            {{"rank": param.Of(2)}, {"rank": param.Of(5)}},
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
	if kept, block := inUse()-before, budget.Block[float64](n, len(nodes)); kept > 2*block {
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

func TestAsymmetric(t *testing.T) {
	g := newGraph(t, testgraph.Path(5), 1)
	for _, f := range Families() {
		forms := []param.Values{{}}
		for _, p := range f.Params {
			for _, word := range p.Words {
				forms = append(forms, param.Values{p.Name: param.Of(word)})
			}
			if p.Kind == param.Switch {
				forms = append(forms, param.Values{p.Name: param.Of(true)})
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

func TestGramsApart(t *testing.T) {
	g := newGraph(t, testgraph.Random(5, 500, 1500, true), 2)
	nodes := upTo(90)
	for _, name := range []string{"diffusion", "regularized-laplacian"} {
		parameter := map[string]string{"diffusion": "beta", "regularized-laplacian": "alpha"}[name]
		ks := mustNewAll(t, g, name, numbersOf(parameter, 0.25, 2, 128, 1000)...)
		grams, _, err := Grams(background, ks, nodes, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range ks {
			if want := name == "diffusion" && i < 3; IsApart(k) != want {
				t.Fatalf("%s, kernel %d: apart %t, want %t", name, i, !want, want)
			}
			alone, _, err := Grams(background, ks[i:i+1], nodes, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if IsApart(k) && !slices.Equal(alone[0].Data, grams[i].Data) {
				t.Errorf("%s, kernel %d: other bits with other kernels", name, i)
			}
		}
	}
}
