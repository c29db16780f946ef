package cli

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

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

func valuesOf(b *sparse.Block[float64]) (all []float64) {
	for i := range b.Rows {
		all = append(all, b.Row(i)...)
	}
	return all
}
