package cli

import (
	"bytes"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// TestEigenGolden makes the golden eigenvalues by the command.
func TestEigenGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		store := ingested(t, goldenFolder(t, graph))
		for file, matrix := range map[string]string{
			"A_largest": string(sparse.Adjacency), "S_largest": string(sparse.NormalizedAdjacency), "L_smallest": string(sparse.Laplacian), "Lnorm_smallest": string(sparse.NormalizedLaplacian),
			"M_largest": string(sparse.Modularity), "M_smallest": string(sparse.Modularity),
		} {
			want := testgraph.Golden(t, graph+"/eigval_"+file+".npy")
			_, which, _ := strings.Cut(file, "_")
			dir := t.TempDir()
			run(t, "eigen", store, "--matrix", matrix, "--which", which, "--k", strconv.Itoa(want.Rows),
				"--tolerance", "1e-12", "--quiet", "-o", filepath.Join(dir, "E.npy"))
			got := slices.Sorted(slices.Values(valuesOf(readNPY(t, filepath.Join(dir, "E.values.npy"), want.Rows, 1))))
			expected := slices.Sorted(slices.Values(valuesOf(want)))
			for j, v := range expected {
				if math.Abs(got[j]-v) > 1e-10+1e-9*math.Abs(expected[len(expected)-1]) {
					t.Errorf("%s, %s: value %d is %v, want %v", graph, file, j, got[j], v)
				}
			}
		}
	}
}

// valuesOf returns the numbers of a block, row by row.
func valuesOf(b *sparse.Block[float64]) (all []float64) {
	for i := range b.Rows {
		all = append(all, b.Row(i)...)
	}
	return all
}

// TestEigenAdvisedLimit takes the limit that a refusal advises: with it the run is
// not refused later, when the solver for a grid needs a factorization or a larger basis.
func TestEigenAdvisedLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	run(t, "generate", "grid", "--rows", "260", "--columns", "260", "-o", "g.tsv", "--quiet")
	run(t, "ingest", "g.tsv", "-o", "g", "--quiet")
	// The normalized matrix needs the factorization, the other one a larger basis.
	for _, c := range testgraph.Sample(t, 1, [][2]string{{string(sparse.NormalizedAdjacency), "500"}, {string(sparse.Adjacency), "100"}}) {
		args := []string{"eigen", "g", "--matrix", c[0], "--which", "largest", "--k", "4", "--max-products", c[1], "--quiet", "-o", "E.npy"}
		var stderr bytes.Buffer
		if code := Main(append(args, "--max-memory", "64MiB"), nil, io.Discard, &stderr); code != shell.OverLimit {
			t.Fatalf("exit code %d, stderr: %s", code, stderr.String())
		}
		_, advised, _ := strings.Cut(stderr.String(), "allow ")
		advised, _, _ = strings.Cut(advised, " or more")
		stderr.Reset()
		code := Main(append(args, "--max-memory", strings.ReplaceAll(advised, " ", "")), nil, io.Discard, &stderr)
		if code != shell.Done && code != shell.MachineFailed { // the products may be at their end
			t.Errorf("%s with %s: exit code %d, stderr: %s", c[0], advised, code, stderr.String())
		}
	}
}
