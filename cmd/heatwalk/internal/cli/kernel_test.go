package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// goldenFlags maps the names of golden files to the flags that make them. The file of labels replaces TRAIN.
var goldenFlags = []struct {
	pattern *regexp.Regexp
	flags   string
}{
	{regexp.MustCompile(`^diffusion_L_b(.*)$`), "--kernel diffusion:laplacian=combinatorial:beta=$1"},
	{regexp.MustCompile(`^diffusion_Lnorm_b(.*)$`), "--kernel diffusion:laplacian=normalized:beta=$1"},
	{regexp.MustCompile(`^exponential_A_b(.*)$`), "--kernel exponential:matrix=adjacency:beta=$1"},
	{regexp.MustCompile(`^exponential_S_b(.*)$`), "--kernel exponential:matrix=normalized-adjacency:beta=$1"},
	{regexp.MustCompile(`^vonneumann_S_a(.*)$`), "--kernel von-neumann:matrix=normalized-adjacency:alpha=$1"},
	{regexp.MustCompile(`^karate/vonneumann_A_f0.5$`), "--kernel von-neumann:matrix=adjacency:alpha=0.0743417"},
	{regexp.MustCompile(`^karate/vonneumann_A_f0.9$`), "--kernel von-neumann:matrix=adjacency:alpha=0.133815"},
	{regexp.MustCompile(`^wrand60/vonneumann_A_f0.5$`), "--kernel von-neumann:matrix=adjacency:alpha=0.0629833"},
	{regexp.MustCompile(`^wrand60/vonneumann_A_f0.9$`), "--kernel von-neumann:matrix=adjacency:alpha=0.11337"},
	{regexp.MustCompile(`^sbm300/vonneumann_A_f0.9$`), "--kernel von-neumann:matrix=adjacency:alpha=0.136355"},
	{regexp.MustCompile(`^reglap_L_a(.*)$`), "--kernel regularized-laplacian:laplacian=combinatorial:alpha=$1"},
	{regexp.MustCompile(`^reglap_Lnorm_a(.*)$`), "--kernel regularized-laplacian:laplacian=normalized:alpha=$1"},
	{regexp.MustCompile(`^Lplus$`), "--kernel pseudo-inverse:laplacian=combinatorial"},
	{regexp.MustCompile(`^Lnormplus$`), "--kernel pseudo-inverse:laplacian=normalized"},
	{regexp.MustCompile(`^commute_time$`), "--kernel commute-time"},
	{regexp.MustCompile(`^regcommute_a(.*)$`), "--kernel regularized-commute-time:alpha=$1"},
	{regexp.MustCompile(`^pstep_a(.*)_p(.*)$`), "--kernel p-step:shift=$1:steps=$2"},
	{regexp.MustCompile(`^matern_L_nu(.*)_k(.*)$`), "--kernel matern:laplacian=combinatorial:nu=$1:kappa=$2"},
	{regexp.MustCompile(`^matern_Lnorm_nu(.*)_k(.*)$`), "--kernel matern:laplacian=normalized:nu=$1:kappa=$2"},
	{regexp.MustCompile(`^modularity_q(.*)$`), "--kernel modularity:rank=$1"},
	{regexp.MustCompile(`^ppr_a(.*)$`), "--kernel pagerank:alpha=$1"},
	{regexp.MustCompile(`^ppr_sym_a(.*)$`), "--kernel pagerank:alpha=$1:symmetric=true"},
	{regexp.MustCompile(`^heatpagerank_t(.*)$`), "--kernel heat-pagerank:beta=$1"},
	{regexp.MustCompile(`^heatpagerank_t(.*)$`), "--kernel diffusion:laplacian=random-walk:beta=$1"},
	{regexp.MustCompile(`^ppr_a0.5$`), "--kernel regularized-laplacian:laplacian=random-walk:alpha=1"}, // α/(1−α) with α of the file
	{regexp.MustCompile(`^cwk_K(?:train)?_a([^_]*)_([^_]*)_t(\d+)$`), "--labels TRAIN --prior $2 --kernel cwk:alpha=$1:steps=$3"},
	{regexp.MustCompile(`^cwk_K_a([^_]*)_([^_]*)_tmin(\d+)_t(\d+)$`), "--labels TRAIN --prior $2 --kernel cwk:alpha=$1:min-steps=$3:steps=$4"},
}

// The graph wrand60 has self loops and nodes without edges. Some files of sbm300 have the rows of training
// nodes only.
func TestGoldenKernels(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seen := map[string]bool{}
	patterns := slices.Clone(goldenFlags)
	for _, name := range shell.NodeKernels().Names() { // NAME or NAME_PARAMETER=VALUE_…, as docs/architecture.md says
		patterns = append(patterns, struct {
			pattern *regexp.Regexp
			flags   string
		}{regexp.MustCompile("^" + name + "((?:_[a-z-]+=[^_]+)*)$"), "--kernel " + name + "$1"})
	}
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		folder := goldenFolder(t, graph)
		store := ingested(t, folder)
		files, err := filepath.Glob(filepath.Join(folder, "*.npy"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base := strings.TrimSuffix(filepath.Base(file), ".npy")
			for _, g := range patterns {
				name := base
				if strings.Contains(g.pattern.String(), "/") {
					name = graph + "/" + base
				}
				if !g.pattern.MatchString(name) {
					continue
				}
				train := filepath.Join(folder, "train.tsv")
				flags := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(g.pattern.ReplaceAllString(name, g.flags), "_", ":"), "TRAIN", train))
				named, _, _ := strings.Cut(flags[slices.Index(flags, "--kernel")+1], ":")
				seen[named] = true
				t.Run(graph+"/"+base, func(t *testing.T) {
					want := testgraph.Golden(t, graph+"/"+base+".npy")
					if want.Rows < want.Cols {
						flags = append(flags, "--rows", idsOf(t, train))
					}
					if base == "modularity" { // the file has all positive eigenvalues
						flags = append(flags, "--kernel", fmt.Sprintf("modularity:rank=%d", want.Cols))
					}
					abs, rel := 1e-10, 1e-9
					if strings.HasPrefix(base, "modularity") {
						abs, rel = 1e-8, 1e-8
					}
					testgraph.Close(t, commanded(t, "kernel", store, flags, want), want, abs, rel)
				})
			}
		}
	}
	for _, name := range shell.NodeKernels().Names() {
		if !seen[name] && name != "vertex" { // vertex has other graphs
			t.Errorf("no golden file for %s; docs/architecture.md says how one is made", name)
		}
	}
}

func TestGoldenVertexKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	digraph := ingested(t, goldenFolder(t, "digraph"), "--directed", "--duplicates", "sum")
	hypergraph := ingested(t, goldenFolder(t, "hypergraph"), "--hyperedges")
	shared := ingested(t, goldenFolder(t, "hypergraph"), "--hyperedges", "--coupling")
	for _, c := range []struct{ file, store, flags string }{
		{"digraph/vertex_kernel_geometric_n1", digraph, "--kernel vertex:weights=geometric:beta=0.15:steps=1"},
		{"digraph/vertex_kernel_geometric_n5", digraph, "--kernel vertex:weights=geometric:beta=0.15:steps=5"},
		{"digraph/vertex_kernel_geometric_limit", digraph, "--kernel vertex:weights=geometric:beta=0.15"},
		{"digraph/vertex_kernel_exponential_n2", digraph, "--kernel vertex:beta=0.5:steps=2"},
		{"digraph/vertex_kernel_exponential_limit", digraph, "--kernel vertex:beta=0.5"},
		{"hypergraph/vertex_kernel_geometric", hypergraph, "--kernel vertex:weights=geometric:beta=0.104"},
		{"hypergraph/vertex_kernel_exponential", hypergraph, "--kernel vertex:beta=0.4"},
		{"hypergraph/diffusion_b0.5", shared, "--kernel diffusion:laplacian=combinatorial:beta=0.5"},
	} {
		want := testgraph.Golden(t, c.file+".npy")
		testgraph.Close(t, commanded(t, "kernel", c.store, strings.Fields(c.flags), want), want, 1e-10, 1e-9)
	}
}

func ingested(t *testing.T, folder string, flags ...string) string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "g")
	run(t, append([]string{"ingest", filepath.Join(folder, "edges.tsv"), "--nodes", filepath.Join(folder, "nodes.tsv"), "--self-loops", "keep", "--quiet", "-o", store}, flags...)...)
	return store
}

func run(t *testing.T, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Main(args, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
}

func commanded(t *testing.T, command, store string, flags []string, want *sparse.Block[float64]) *sparse.Block[float64] {
	t.Helper()
	out := filepath.Join(t.TempDir(), "K.npy")
	run(t, append([]string{command, store, "--dtype", "float64", "--quiet", "-o", out}, flags...)...)
	return readNPY(t, out, want.Rows, want.Cols)
}

func TestGoldenFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, graph := range []string{"karate", "wrand60"} {
		folder := goldenFolder(t, graph)
		want := testgraph.Golden(t, graph+"/cwk_F_a0.5_uniform_t10.npy")
		flags := []string{"--labels", filepath.Join(folder, "train.tsv"), "--kernel", "cwk:alpha=0.5:steps=10"}
		testgraph.Close(t, commanded(t, "features", ingested(t, folder), flags, want), want, 1e-10, 1e-9)
	}
}

func TestGoldenClosedForms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for file, graph := range map[string]string{
		"complete_n7": "complete7", "chain_n9": "cycle9", "path_n8": "path8", "hypercube_m4": "hypercube4",
	} {
		store := ingested(t, goldenFolder(t, graph))
		for _, beta := range []string{"0.1", "1.0", "4.0"} {
			want := testgraph.Golden(t, "closed/"+file+"_b"+beta+".npy")
			got := commanded(t, "kernel", store, []string{"--kernel", "diffusion:laplacian=combinatorial:beta=" + beta}, want)
			t.Run(file+"_b"+beta, func(t *testing.T) { testgraph.Close(t, got, want, 1e-10, 1e-9) })
		}
	}
}

// A hypergraph is read as the weighted graph that counts the common hyperedges of two vertices, with loops.
// Some vertex is in no hyperedge.
func TestGoldenHypergraph(t *testing.T) {
	e := testgraph.Golden(t, "hypergraph/E.npy")
	folder := t.TempDir()
	var nodes, edges strings.Builder
	for i := range e.Rows {
		fmt.Fprintln(&nodes, i)
		for j, w := range e.Row(i)[:i+1] {
			if w != 0 {
				fmt.Fprintf(&edges, "%d\t%d\t%v\n", i, j, w)
			}
		}
	}
	for file, text := range map[string]*strings.Builder{"nodes.tsv": &nodes, "edges.tsv": &edges} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := ingested(t, folder)
	const inverse = "--kernel von-neumann:matrix=adjacency:alpha=0.104"
	for file, flags := range map[string]string{
		"diffusion_b0.5":            "--kernel diffusion:laplacian=combinatorial:beta=0.5",
		"vertex_kernel_exponential": "--kernel exponential:beta=0.4",
		"vertex_kernel_geometric":   inverse,
		"vonneumann":                inverse,
	} {
		want := testgraph.Golden(t, "hypergraph/"+file+".npy")
		got := commanded(t, "kernel", store, strings.Fields(flags), want)
		if file == "vonneumann" { // E(I − γE)⁻¹ is ((I − γE)⁻¹ − I)/γ
			for i := range got.Rows {
				got.Row(i)[i]--
				for j := range got.Row(i) {
					got.Row(i)[j] /= 0.104
				}
			}
		}
		t.Run(file, func(t *testing.T) { testgraph.Close(t, got, want, 1e-10, 1e-9) })
	}
}

func goldenFolder(t *testing.T, graph string) string {
	t.Helper()
	return filepath.Join(testgraph.Root(t), "testdata", "golden", graph)
}

func idsOf(t *testing.T, labels string) string {
	t.Helper()
	text, err := os.ReadFile(labels)
	if err != nil {
		t.Fatal(err)
	}
	var ids strings.Builder
	for line := range strings.Lines(string(text)) {
		id, _, _ := strings.Cut(line, "\t")
		ids.WriteString(id + "\n")
	}
	path := filepath.Join(t.TempDir(), "train.ids")
	if err := os.WriteFile(path, []byte(ids.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readNPY(t *testing.T, path string, rows, cols int) *sparse.Block[float64] {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	values := make([]float64, rows*cols)
	if err := npyio.Read(f, &values); err != nil {
		t.Fatal(err)
	}
	if len(values) != rows*cols {
		t.Fatalf("%d values, want %d×%d", len(values), rows, cols)
	}
	return sparse.BlockOf(rows, cols, values)
}
