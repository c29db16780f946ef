package cli

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// TestEigenAgainstDense compares every problem's pairs with a matrix written
// down by its definition, on graphs with weights, self loops, components and
// isolated nodes, and those of transition with T itself.
func TestEigenAgainstDense(t *testing.T) {
	const n, k = 60, 25
	a := testgraph.Random(5, n, 70, true)
	g, err := iterative.NewGraph(t.Context(), a, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := g.Degrees
	var vol float64
	for _, v := range d {
		vol += v
	}
	half := func(i int) float64 {
		if d[i] == 0 {
			return 0
		}
		return 1 / math.Sqrt(d[i])
	}
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	entries := map[string]func(i, j int) float64{
		ofAdjacency:           func(i, j int) float64 { return a.At(i, j) },
		ofNormalizedAdjacency: func(i, j int) float64 { return half(i) * a.At(i, j) * half(j) },
		ofLaplacian:           func(i, j int) float64 { return is(i == j)*d[i] - a.At(i, j) },
		ofLaplacianNormalized: func(i, j int) float64 { return half(i) * (is(i == j)*d[i] - a.At(i, j)) * half(j) },
		ofModularity:          func(i, j int) float64 { return a.At(i, j) - 0.7*d[i]*d[j]/vol },
		ofTransition: func(i, j int) float64 {
			if d[i] == 0 {
				return is(i == j)
			}
			return a.At(i, j) / d[i]
		},
	}
	for _, matrix := range eigenMatrices {
		for _, which := range spectrumParts {
			near := 0.3
			e := newEigenproblem(g, &eigenParameters{Matrix: matrix, Which: which, Near: &near, Resolution: 0.7})
			pairs, err := e.Solve(t.Context(), k, &lanczos.Settings{Tolerance: 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			e.finish(pairs.Vectors)
			rises := slices.IsSorted(pairs.Values)
			slices.Reverse(pairs.Values)
			falls := slices.IsSorted(pairs.Values)
			slices.Reverse(pairs.Values)
			for j, v := range pairs.Values {
				if which == interior && j > 0 && math.Abs(v-near) < math.Abs(pairs.Values[j-1]-near) {
					t.Errorf("interior of %s: values %v", matrix, pairs.Values)
				}
			}
			if which == "largest" && !falls || which == "smallest" && !rises {
				t.Errorf("%s, %s: values %v", which, matrix, pairs.Values)
			}
			checkEigen(t, which+" of "+matrix, entries[matrix], pairs, e)
		}
	}
}

func checkEigen(t *testing.T, name string, entry func(i, j int) float64, pairs *lanczos.Pairs, e *eigenproblem) {
	t.Helper()
	x := pairs.Vectors
	for j, value := range pairs.Values {
		var off, length, top float64
		for i := range x.Rows {
			weight, sum := 1.0, 0.0
			if e.root != nil {
				weight = e.root[i]
			}
			for l := range x.Rows {
				sum += entry(i, l) * x.At(l, j)
			}
			off = math.Hypot(off, weight*(sum-value*x.At(i, j)))
			length = math.Hypot(length, weight*x.At(i, j))
			if v := x.At(i, j); math.Abs(v) > math.Abs(top)*(1+1e-9) {
				top = v
			}
		}
		if off > pairs.Residuals[j]+e.rounding || math.Abs(length-1) > 1e-13 || top < 0 {
			t.Errorf("%s, pair %d: off by %g, said %g; length %g; largest entry %g", name, j, off, pairs.Residuals[j]+e.rounding, length, top)
		}
	}
}

// TestEigenGolden makes the golden eigenvalues by the command.
func TestEigenGolden(t *testing.T) {
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		store := ingested(t, goldenFolder(t, graph))
		for file, matrix := range map[string]string{
			"A_largest": ofAdjacency, "S_largest": ofNormalizedAdjacency, "L_smallest": ofLaplacian, "Lnorm_smallest": ofLaplacianNormalized,
			"M_largest": ofModularity, "M_smallest": ofModularity,
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

// A small eigenvalue of a matrix with a large norm may be less than its error.
func TestVagueEigenvalues(t *testing.T) {
	r := &eigenReport{
		Parameters: eigenParameters{Matrix: ofLaplacian, Which: lowerEnd, Tolerance: 1e-8},
		Values:     []float64{0, 2.3e-4, 4.7e-4}, ErrorBounds: []float64{1e-12, 1.3e-4, 1.2e-4}, Known: 1, Norm: 18000,
	}
	want := "eigenvalue 2 is 0.00023 ± 0.0001: residuals are relative to the norm of the matrix, 1.8e+04; --tolerance 1e-11 tells more of it"
	if got := r.vague(); got != want {
		t.Errorf("%s", got)
	}
	for _, change := range []func(r *eigenReport){
		func(r *eigenReport) { r.ErrorBounds = []float64{1e-12, 1e-5, 1e-5} },
		func(r *eigenReport) { r.Parameters.Tolerance = 1e-11 },
		func(r *eigenReport) { r.Parameters.Which = upperEnd },
		func(r *eigenReport) { r.Parameters.Matrix = ofAdjacency },
		func(r *eigenReport) { r.Known = 3 },
	} {
		other := *r
		change(&other)
		if got := other.vague(); got != "" {
			t.Errorf("%+v: %s", other, got)
		}
	}
}

// TestInteriorWithoutLimit: pairs that need a larger basis than is planned for where no
// limit was given ask for one.
func TestInteriorWithoutLimit(t *testing.T) {
	growth, least := interiorGrowth, interiorLeast
	t.Cleanup(func() { interiorGrowth, interiorLeast = growth, least })
	interiorGrowth, interiorLeast = 1, 0
	t.Chdir(t.TempDir())
	succeed(t, nil, io.Discard, "generate", "er", "--nodes", "4000", "--edges", "20000", "-o", "er/", "--quiet")
	args := []string{"eigen", "er", "--matrix", "normalized-adjacency", "--which", "interior", "--near", "0.3", "--k", "2", "-o", "E.npy", "--max-products", "1000000", "--quiet"}
	var stderr bytes.Buffer
	if code := Main(args, nil, io.Discard, &stderr); code != exitLimit || !strings.Contains(stderr.String(), "--max-memory: it is not given") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if _, err := os.Stat("E.npy"); err == nil {
		t.Error("there is a file of no pairs")
	}
}
