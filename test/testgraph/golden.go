package testgraph

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sbinet/npyio/npy"

	"github.com/heatwalk/heatwalk/sparse"
)

// TB is implemented by testing.TB, and by the T of a property test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// Graph is one of the graphs of testdata/golden.
type Graph struct {
	A          *sparse.CSR
	Degrees    []float64
	Nodes      []string // id of each row
	Labels     []int    // true class of each row
	Train      []int    // training rows, in training order
	TrainClass []int    // class of each training row
	Classes    []string // class names, sorted
}

// Load reads a graph from nodes.tsv, edges.tsv, labels.tsv and train.tsv.
func Load(t TB, name string) Graph {
	t.Helper()
	g, find := load(t, name)

	labels := table(t, name, "labels.tsv", 2)
	for _, f := range labels {
		if !slices.Contains(g.Classes, f[1]) {
			g.Classes = append(g.Classes, f[1])
		}
	}
	slices.Sort(g.Classes)
	g.Labels = make([]int, len(g.Nodes))
	for _, f := range labels {
		g.Labels[find(f[0])] = slices.Index(g.Classes, f[1])
	}
	for _, f := range table(t, name, "train.tsv", 2) {
		g.Train = append(g.Train, find(f[0]))
		g.TrainClass = append(g.TrainClass, slices.Index(g.Classes, f[1]))
	}
	return g
}

// LoadUnlabelled reads a graph from nodes.tsv and edges.tsv.
func LoadUnlabelled(t TB, name string) Graph {
	t.Helper()
	g, _ := load(t, name)
	return g
}

func load(t TB, name string) (g Graph, find func(id string) int) {
	t.Helper()
	row := map[string]int{}
	for i, f := range table(t, name, "nodes.tsv", 1) {
		g.Nodes = append(g.Nodes, f[0])
		row[f[0]] = i
	}
	find = func(id string) int {
		i, known := row[id]
		if !known {
			t.Fatalf("%s: no node %q", name, id)
		}
		return i
	}

	b := builder{nodes: len(g.Nodes)}
	for _, f := range table(t, name, "edges.tsv", 3) {
		weight, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b.edge(find(f[0]), find(f[1]), weight)
	}
	g.A = b.csr()
	g.Degrees = Degrees(t, g.A)
	return g, find
}

// table reads a file of the graph: lines of tab-separated fields.
func table(t TB, graph, file string, fields int) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), "testdata", "golden", graph, file))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(f) != fields {
			t.Fatalf("%s/%s:%d: %d fields, want %d", graph, file, len(rows)+1, len(f), fields)
		}
		rows = append(rows, f)
	}
	return rows
}

// Golden reads an array such as "karate/cwk_F_a0.5_uniform_t10.npy". A vector becomes n×1. An array with more than two
// dimensions is stacked, so that [t, i, c] is in row t·n + i and column c. Integers become float64.
func Golden(t TB, name string) *sparse.Block[float64] {
	t.Helper()
	f, err := os.Open(filepath.Join(Root(t), "testdata", "golden", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := npy.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var data []float64
	if strings.HasSuffix(r.Header.Descr.Type, "i8") {
		var ints []int64
		err = r.Read(&ints)
		for _, v := range ints {
			data = append(data, float64(v))
		}
	} else {
		err = r.Read(&data)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	rows, cols := len(data), 1
	if shape := r.Header.Descr.Shape; len(shape) > 1 {
		cols = shape[len(shape)-1]
		rows = len(data) / cols
	}
	return sparse.BlockOf(rows, cols, data)
}

// Root returns the folder with go.mod: the folder in which the test runs or one of its parents.
func Root(t TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}

// Close fails the test if got and want have different shapes, or if not everywhere
//
//	|got − want| ≤ abs + rel·max|want|
//
// where the maximum is over all finite elements of want. Equal infinities are close.
func Close[T sparse.Float](t TB, got *sparse.Block[T], want *sparse.Block[float64], abs, rel float64) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%d×%d, want %d×%d", got.Rows, got.Cols, want.Rows, want.Cols)
	}
	var largest float64
	for i := range want.Rows {
		for _, v := range want.Row(i) {
			if size := math.Abs(v); size > largest && !math.IsInf(v, 0) {
				largest = size
			}
		}
	}
	bound := abs + float64(rel*largest)
	wrong, worst, place := 0, 0.0, ""
	for i := range want.Rows {
		for j, w := range want.Row(i) {
			g := float64(got.Row(i)[j])
			if g == w {
				continue
			}
			// If g or w is NaN, d is NaN.
			if d := math.Abs(g - w); !(d <= bound) {
				wrong++
				if wrong == 1 || d > worst {
					worst = d
					place = "(" + strconv.Itoa(i) + ", " + strconv.Itoa(j) + "): " +
						strconv.FormatFloat(g, 'g', -1, 64) + ", want " + strconv.FormatFloat(w, 'g', -1, 64)
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d elements off by more than %.3g; the worst at %s", wrong, want.Rows*want.Cols, bound, place)
	}
}
