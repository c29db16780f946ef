package kernel

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // kernels are short-lived
	goleak.VerifyTestMain(m)
}

// gammas are f/ρ(A) to six digits, as in the golden files.
var gammas = map[string]float64{
	"karate f0.5": 0.0743417, "karate f0.9": 0.133815,
	"wrand60 f0.5": 0.0629833, "wrand60 f0.9": 0.11337,
	"sbm300 f0.9": 0.136355,
}

type goldenCase struct {
	file  string // graph/name
	graph string
	name  string
	p     param.Values
}

// Golden files have names such as matern_Lnorm_nu0.5_k1.0.npy.
func goldenCases(t testing.TB) []goldenCase {
	var list []goldenCase
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		files, err := filepath.Glob(filepath.Join(testgraph.Root(t), "testdata", "golden", graph, "*.npy"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base := strings.TrimSuffix(filepath.Base(file), ".npy")
			c := goldenCase{file: graph + "/" + base + ".npy", graph: graph}
			parts := strings.Split(base, "_")
			isValue := func(part string) bool { return strings.Contains(part, "=") }
			if f := Families().Named(parts[0]); f != nil && !slices.ContainsFunc(parts[1:], func(part string) bool { return !isValue(part) }) {
				// NAME or NAME_PARAMETER=VALUE_…, as docs/architecture.md says
				c.name, c.p = parts[0], param.Values{}
				for _, part := range parts[1:] {
					parameter, text, _ := strings.Cut(part, "=")
					v, err := f.Param(parameter).Parse(text)
					if err != nil {
						t.Fatalf("%s: %v", base, err)
					}
					c.p[parameter] = v
				}
				list = append(list, c)
				continue
			}
			number := func(i int, prefix string) float64 {
				v, err := strconv.ParseFloat(strings.TrimPrefix(parts[i], prefix), 64)
				if err != nil {
					t.Fatalf("%s: %v", base, err)
				}
				return v
			}
			laplacian := combinatorial
			matrix := adjacency
			if len(parts) > 1 {
				switch parts[1] {
				case "Lnorm":
					laplacian = normalized
				case "S":
					matrix = normalizedAdjacency
				}
			}
			switch parts[0] {
			case "diffusion":
				c.name, c.p = "diffusion", param.Values{"laplacian": param.Of(laplacian), "beta": param.Of(number(2, "b"))}
			case "exponential":
				c.name, c.p = "exponential", param.Values{"matrix": param.Of(matrix), "beta": param.Of(number(2, "b"))}
			case "vonneumann":
				if parts[1] == "B" {
					continue
				}
				c.name, c.p = "von-neumann", param.Values{"matrix": param.Of(matrix)}
				if parts[1] == "A" {
					c.p["alpha"] = param.Of(gammas[graph+" "+parts[2]])
				} else {
					c.p["alpha"] = param.Of(number(2, "a"))
				}
			case "reglap":
				if parts[1] == "B" {
					continue
				}
				c.name, c.p = "regularized-laplacian", param.Values{"laplacian": param.Of(laplacian), "alpha": param.Of(number(2, "a"))}
			case "Lplus", "Lnormplus":
				if len(parts) > 1 {
					continue
				}
				c.name, c.p = "pseudo-inverse", param.Values{"laplacian": param.Of(normalized)}
				if parts[0] == "Lplus" {
					c.p["laplacian"] = param.Of(combinatorial)
				}
			case "commute":
				c.name = "commute-time"
			case "regcommute":
				c.name, c.p = "regularized-commute-time", param.Values{"alpha": param.Of(number(1, "a"))}
			case "pstep":
				c.name, c.p = "p-step", param.Values{"shift": param.Of(number(1, "a")), "steps": param.Of(int(number(2, "p")))}
			case "matern":
				c.name, c.p = "matern", param.Values{"laplacian": param.Of(laplacian), "nu": param.Of(number(2, "nu")), "kappa": param.Of(number(3, "k"))}
			case "modularity":
				c.name = "modularity"
				if len(parts) > 1 {
					c.p = param.Values{"rank": param.Of(int(number(1, "q")))}
				}
			case "ppr":
				c.name, c.p = "pagerank", param.Values{"symmetric": param.Of(parts[1] == "sym")}
				c.p["alpha"] = param.Of(number(len(parts)-1, "a"))
			case "heatpagerank":
				c.name, c.p = "heat-pagerank", param.Values{"beta": param.Of(number(1, "t"))}
			default:
				continue
			}
			list = append(list, c)
		}
	}
	return list
}

func newGraph(t testing.TB, a sparse.Matrix, workers int) *graph.Graph {
	t.Helper()
	g, err := graph.New(context.Background(), a, &graph.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func worstError(t testing.TB, got, want *sparse.Block[float64]) (worst float64) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("got %d×%d, want %d×%d", got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i := range got.Rows {
		for j, v := range got.Row(i) {
			w := want.Row(i)[j]
			if math.IsInf(w, 1) && math.IsInf(v, 1) {
				continue
			}
			worst = max(worst, math.Abs(v-w))
			if math.IsNaN(v) {
				t.Fatalf("(%d, %d) is not a number", i, j)
			}
		}
	}
	return worst
}

func TestGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seen := map[string]int{}
	for _, c := range goldenCases(t) {
		seen[c.name]++
		t.Run(c.file, func(t *testing.T) {
			loaded := testgraph.Load(t, c.graph)
			want := testgraph.Golden(t, c.file)
			n := len(loaded.Nodes)
			rows := upTo(n)
			if want.Rows < n {
				rows = loaded.Train
			}
			if c.name == "modularity" && len(c.p) == 0 { // the golden file has all positive eigenvalues
				c.p = param.Values{"rank": param.Of(n)}
			}
			k, err := New(context.Background(), newGraph(t, loaded.A, 2), c.name, c.p)
			if err != nil {
				t.Fatal(err)
			}
			got, r, err := Matrix(context.Background(), k, rows, upTo(n), nil)
			if err != nil {
				t.Fatal(err)
			}
			abs, rel := 1e-10, 1e-9
			if c.name == "modularity" {
				abs, rel = 1e-8, 1e-8
			}
			testgraph.Close(t, got, want, abs, rel)
			if want.Rows == n { // no half steps, and columns for the rows
				few, fewWant := loaded.Train, sparse.NewBlock[float64](len(loaded.Train), n)
				for i, row := range few {
					copy(fewWant.Row(i), want.Row(row))
				}
				part, _, err := Matrix(context.Background(), k, few, upTo(n), nil)
				if err != nil {
					t.Fatal(err)
				}
				testgraph.Close(t, part, fewWant, abs, rel)
			}
			// The reference is exact to about 4e-11 of its largest value.
			if e := worstError(t, got, want); e > r.ErrorBound+4e-11*r.Largest {
				t.Errorf("the error is %g, the bound %g", e, r.ErrorBound)
			}
			if relative(r) > 1e-9 && c.name != "modularity" {
				t.Errorf("the bound is %g of the largest value", relative(r))
			}
			if c.name == "commute-time" {
				return
			}
			checkMap(t, k, want, rows)
		})
	}
	for _, name := range Families().Names() {
		if seen[name] == 0 {
			t.Errorf("no golden file for %s; docs/architecture.md says how one is made", name)
		}
	}
}

func checkMap(t *testing.T, k Kernel, want *sparse.Block[float64], rows []int) {
	t.Helper()
	const cols = 3
	n := k.Len()
	x, y := sparse.NewBlock[float64](n, cols), sparse.NewBlock[float64](n, cols)
	for i := range n {
		for j := range cols {
			x.Row(i)[j] = math.Sin(float64(1 + i*cols + j))
		}
	}
	r, err := k.ApplyTo(context.Background(), y, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, product := sparse.NewBlock[float64](len(rows), cols), sparse.NewBlock[float64](len(rows), cols)
	for i, row := range rows {
		copy(got.Row(i), y.Row(row))
		for q := range n {
			for j := range cols {
				product.Row(i)[j] += want.Row(i)[q] * x.Row(q)[j]
			}
		}
	}
	largest := blocks.Largest(nil, want)
	for j := range cols {
		var squares float64
		for i := range rows {
			d := got.Row(i)[j] - product.Row(i)[j]
			squares += d * d
		}
		if e := math.Sqrt(squares); e > r.ColumnBound[j]+1e-9*largest*float64(n) {
			t.Errorf("column %d: the error is %g, the bound %g", j, e, r.ColumnBound[j])
		}
		if r.ColumnBound[j] > 1e-7*(largest*float64(n)+1) {
			t.Errorf("column %d: the bound is %g", j, r.ColumnBound[j])
		}
	}
}

func TestGoldenCases(t *testing.T) {
	for _, c := range goldenCases(t) {
		if c.file == "wrand60/matern_Lnorm_nu2.5_k3.0.npy" {
			if got := c.name + " " + Families().Named(c.name).Text(c.p); got != "matern normalized, nu = 2.5, kappa = 3" {
				t.Error(got)
			}
			return
		}
	}
	t.Error("a file is missing")
}

// E_uv counts the hyperedges of u and v, loops included; diag(E·1) − E is the Laplacian of the walk.
func TestGoldenHypergraph(t *testing.T) {
	e := testgraph.Golden(t, "hypergraph/E.npy")
	var entries []sparse.Triplet
	for i := range e.Rows {
		for j, w := range e.Row(i) {
			if w != 0 {
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w})
			}
		}
	}
	a, err := sparse.FromTriplets(e.Rows, e.Rows, entries)
	if err != nil {
		t.Fatal(err)
	}
	const gamma = 0.104 // below 1/ρ(E)
	for file, c := range map[string]struct {
		name string
		p    param.Values
	}{
		"diffusion_b0.5":            {"diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(0.5)}},
		"vertex_kernel_exponential": {"exponential", param.Values{"beta": param.Of(0.4)}},
		"vertex_kernel_geometric":   {"von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(gamma)}},
		"vonneumann":                {"von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(gamma)}},
	} {
		k := mustNew(t, newGraph(t, a, 1), c.name, c.p)
		got, _, err := gramOf(background, k, upTo(e.Rows), &Settings{Tolerance: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		if file == "vonneumann" { // E(I − γE)⁻¹ is ((I − γE)⁻¹ − I)/γ
			for i := range got.Rows {
				got.Row(i)[i]--
			}
			blocks.Scale(got, 1/gamma)
		}
		t.Run(file, func(t *testing.T) {
			testgraph.Close(t, got, testgraph.Golden(t, "hypergraph/"+file+".npy"), 1e-10, 1e-9)
		})
	}
}

func TestGoldenClosedForms(t *testing.T) {
	for file, graph := range map[string]string{
		"complete_n7": "complete7", "chain_n9": "cycle9", "path_n8": "path8", "hypercube_m4": "hypercube4",
	} {
		a := testgraph.LoadUnlabelled(t, graph).A
		for _, beta := range []float64{0.1, 1, 4} {
			name := fmt.Sprintf("closed/%s_b%.1f.npy", file, beta)
			t.Run(name, func(t *testing.T) {
				k := mustNew(t, newGraph(t, a, 1), "diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(beta)})
				got, _, err := Matrix(background, k, upTo(k.Len()), upTo(k.Len()), nil)
				if err != nil {
					t.Fatal(err)
				}
				testgraph.Close(t, got, testgraph.Golden(t, name), 1e-10, 1e-9)
			})
		}
	}
}

func relative(r *Report) float64 {
	if r.ErrorBound == 0 {
		return 0
	}
	return r.ErrorBound / r.Largest
}
