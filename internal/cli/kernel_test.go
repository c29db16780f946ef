package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sbinet/npyio"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
)

// goldenFlags turns the name of a golden file into the flags that make it.
// TRAIN stands for the file of labels.
var goldenFlags = []struct{ pattern, flags string }{
	{`^diffusion_L_b(.*)$`, "--kernel diffusion --laplacian combinatorial --beta $1"},
	{`^diffusion_Lnorm_b(.*)$`, "--kernel diffusion --laplacian normalized --beta $1"},
	{`^exponential_A_b(.*)$`, "--kernel exponential --matrix adjacency --beta $1"},
	{`^exponential_S_b(.*)$`, "--kernel exponential --matrix normalized-adjacency --beta $1"},
	{`^vonneumann_S_a(.*)$`, "--kernel von-neumann --matrix normalized-adjacency --alpha $1"},
	{`^karate/vonneumann_A_f0.5$`, "--kernel von-neumann --matrix adjacency --alpha 0.0743417"},
	{`^karate/vonneumann_A_f0.9$`, "--kernel von-neumann --matrix adjacency --alpha 0.133815"},
	{`^wrand60/vonneumann_A_f0.5$`, "--kernel von-neumann --matrix adjacency --alpha 0.0629833"},
	{`^wrand60/vonneumann_A_f0.9$`, "--kernel von-neumann --matrix adjacency --alpha 0.11337"},
	{`^sbm300/vonneumann_A_f0.9$`, "--kernel von-neumann --matrix adjacency --alpha 0.136355"},
	{`^reglap_L_a(.*)$`, "--kernel regularized-laplacian --laplacian combinatorial --alpha $1"},
	{`^reglap_Lnorm_a(.*)$`, "--kernel regularized-laplacian --laplacian normalized --alpha $1"},
	{`^Lplus$`, "--kernel pseudo-inverse --laplacian combinatorial"},
	{`^Lnormplus$`, "--kernel pseudo-inverse --laplacian normalized"},
	{`^commute_time$`, "--kernel commute-time"},
	{`^regcommute_a(.*)$`, "--kernel regularized-commute-time --alpha $1"},
	{`^pstep_a(.*)_p(.*)$`, "--kernel p-step --shift $1 --steps $2"},
	{`^matern_L_nu(.*)_k(.*)$`, "--kernel matern --laplacian combinatorial --nu $1 --kappa $2"},
	{`^matern_Lnorm_nu(.*)_k(.*)$`, "--kernel matern --laplacian normalized --nu $1 --kappa $2"},
	{`^modularity$`, "--kernel modularity"},
	{`^modularity_q(.*)$`, "--kernel modularity --rank $1"},
	{`^ppr_a(.*)$`, "--kernel pagerank --alpha $1"},
	{`^ppr_sym_a(.*)$`, "--kernel pagerank --alpha $1 --symmetric"},
	{`^heatpagerank_t(.*)$`, "--kernel heat-pagerank --beta $1"},
	{`^cwk_K(?:train)?_a([^_]*)_([^_]*)_t(\d+)$`, "--kernel cwk --labels TRAIN --alpha $1 --prior $2 --steps $3"},
	{`^cwk_K_a([^_]*)_([^_]*)_tmin(\d+)_t(\d+)$`, "--kernel cwk --labels TRAIN --alpha $1 --prior $2 --min-steps $3 --steps $4"},
}

// TestGoldenKernels makes the golden files of every kernel by the command. In
// the graph of wrand60 are self loops and nodes without edges; of sbm300 some
// files hold the rows of training nodes only.
func TestGoldenKernels(t *testing.T) {
	seen := map[string]bool{}
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		folder := filepath.Join(testgraph.Root(t), "testdata", "golden", graph)
		files, err := filepath.Glob(filepath.Join(folder, "*.npy"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base := strings.TrimSuffix(filepath.Base(file), ".npy")
			for _, g := range goldenFlags {
				pattern := regexp.MustCompile(g.pattern)
				name := base
				if strings.Contains(g.pattern, "/") {
					name = graph + "/" + base
				}
				if !pattern.MatchString(name) {
					continue
				}
				train := filepath.Join(folder, "train.tsv")
				flags := strings.Fields(strings.ReplaceAll(pattern.ReplaceAllString(name, g.flags), "TRAIN", train))
				seen[flags[1]] = true
				t.Run(graph+"/"+base, func(t *testing.T) {
					want := testgraph.Golden(t, graph+"/"+base+".npy")
					out := filepath.Join(t.TempDir(), "K.npy")
					args := append([]string{"kernel", filepath.Join(folder, "edges.tsv"), "--nodes", filepath.Join(folder, "nodes.tsv"),
						"--self-loops", "keep", "--dtype", "float64", "--quiet", "-o", out}, flags...)
					if want.Rows < want.Cols {
						args = append(args, "--rows", idsOf(t, train))
					}
					var stdout, stderr bytes.Buffer
					if code := Main(args, strings.NewReader(""), &stdout, &stderr); code != 0 {
						t.Fatalf("exit code %d: %s", code, &stderr)
					}
					abs, rel := 1e-10, 1e-9
					if strings.HasPrefix(base, "modularity") {
						abs, rel = 1e-8, 1e-8
					}
					testgraph.Close(t, readNPY(t, out, want.Rows, want.Cols), want, abs, rel)
				})
			}
		}
	}
	for _, name := range append(kernel.Names(), "cwk") {
		if !seen[name] {
			t.Errorf("no golden file for %s", name)
		}
	}
}

// idsOf writes the nodes of a file of labels to a file of its own.
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
