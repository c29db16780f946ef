package cli

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"
)

const (
	peerNodes = 24
	seedNode  = 3
)

func peerGraphs() map[string]*mat.Dense {
	n := peerNodes
	g, u, d, h, h2 := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			w := 0.2 + math.Abs(math.Sin(float64((i+1)*(j+1)+i+j)))
			if lo, hi := min(i, j), max(i, j); hi == lo+1 || (lo*7+hi*5)%11 == 0 && lo != hi {
				g.Set(i, j, w)
				u.Set(i, j, 1)
			}
			if isSink := i%7 == 5; (i*3+j*4)%9 == 0 && i != j && !isSink {
				d.Set(i, j, w)
			}
		}
	}
	h.Copy(g)
	for _, i := range []int{0, 4, 9} {
		h.Set(i, i, 1.5+float64(i))
	}
	h2.Copy(h)
	for i := range n {
		h2.Set(i, i, 2*h.At(i, i))
	}
	return map[string]*mat.Dense{"G": g, "U": u, "D": d, "H": h, "H2": h2}
}

func peerInputs() (ones, b, weights *mat.Dense) {
	ones, b, weights = mat.NewDense(peerNodes, 1, nil), mat.NewDense(peerNodes, 2, nil), mat.NewDense(peerNodes, 1, nil)
	for i := range peerNodes {
		ones.Set(i, 0, 1)
		b.Set(i, 0, math.Sin(float64(i)))
		b.Set(i, 1, math.Cos(float64(i*i)))
	}
	weights.Set(seedNode, 0, 3)
	weights.Set(5, 0, 1)
	weights.Set(16, 0, 0.5)
	return ones, b, weights
}

func peerLabels() map[int]int {
	labels := map[int]int{}
	for v := 0; v < peerNodes; v += 5 {
		labels[v] = v / 5 % 3
	}
	return labels
}

func degreesOf(a *mat.Dense) []float64 {
	n, cols := a.Dims()
	degrees := make([]float64, n)
	for i := range n {
		degrees[i] = mat.Sum(a.Slice(i, i+1, 0, cols))
	}
	return degrees
}

// scaleRows returns diag(d^left)·A·diag(d^right). Rows and columns of degree 0 stay 0.
func scaleRows(a *mat.Dense, left, right float64) *mat.Dense {
	degrees := degreesOf(a)
	power := func(i int, p float64) float64 {
		if degrees[i] == 0 {
			return 0
		}
		return math.Pow(degrees[i], p)
	}
	var out mat.Dense
	out.Apply(func(i, j int, v float64) float64 { return power(i, left) * v * power(j, right) }, a)
	return &out
}

// laplacianOf returns D − A, or I − D^-½·A·D^-½ if normalized is set.
func laplacianOf(a *mat.Dense, normalized bool) *mat.Dense {
	degrees := degreesOf(a)
	if normalized {
		a = scaleRows(a, -0.5, -0.5)
	}
	var out mat.Dense
	out.Apply(func(i, j int, v float64) float64 {
		switch {
		case i != j:
			return -v
		case normalized:
			return 1 - v
		}
		return degrees[i] - v
	}, a)
	return &out
}

func times(scale float64, a mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Scale(scale, a)
	return &out
}

func exponentialTimes(a, b *mat.Dense) *mat.Dense {
	var e, out mat.Dense
	e.Exp(a)
	out.Mul(&e, b)
	return &out
}

// solveDense returns (shift·I + A)⁻¹·B.
func solveDense(t *testing.T, a *mat.Dense, shift float64, b *mat.Dense) *mat.Dense {
	t.Helper()
	system := mat.DenseCopyOf(a)
	n, _ := a.Dims()
	for i := range n {
		system.Set(i, i, system.At(i, i)+shift)
	}
	var x mat.Dense
	if err := x.Solve(system, b); err != nil {
		t.Fatal(err)
	}
	return &x
}

// eigenOf returns the eigenvalues of a symmetric matrix in increasing order and the vectors.
func eigenOf(t *testing.T, a *mat.Dense) ([]float64, *mat.Dense) {
	t.Helper()
	n, _ := a.Dims()
	symmetric := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			symmetric.SetSym(i, j, a.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(symmetric, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v
}

// pageRankOf solves (I − αM)x = (1−α)p, where M leads from sinks to all nodes or to p.
func pageRankOf(t *testing.T, a, weights *mat.Dense, sinksToAll bool) *mat.Dense {
	t.Helper()
	const alpha = 0.85
	p := times((1-alpha)/mat.Sum(weights), weights)
	degrees := degreesOf(a)
	system := mat.NewDense(peerNodes, peerNodes, nil)
	system.Apply(func(j, i int, _ float64) float64 {
		share := a.At(i, j) / degrees[i]
		switch {
		case degrees[i] == 0 && sinksToAll:
			share = 1 / float64(peerNodes)
		case degrees[i] == 0:
			share = p.At(j, 0) / (1 - alpha)
		}
		return -alpha * share
	}, system)
	return solveDense(t, system, 1, p)
}

// withoutRows sets the rows of seeds, which are not compared, to NaN.
func withoutRows(x, weights *mat.Dense) *mat.Dense {
	for i := range peerNodes {
		if weights.At(i, 0) > 0 {
			x.Set(i, 0, math.NaN())
		}
	}
	return x
}

// harmonicOf returns the harmonic function of the labels, with rows of sum 1.
func harmonicOf(t *testing.T, a *mat.Dense) *mat.Dense {
	t.Helper()
	labels := peerLabels()
	system := laplacianOf(a, false)
	y := mat.NewDense(peerNodes, 3, nil)
	for v, class := range labels {
		y.Set(v, class, 1)
		for j := range peerNodes {
			system.Set(v, j, 0)
		}
		system.Set(v, v, 1)
	}
	return solveDense(t, system, 0, y)
}

// spreadOf returns (I − αS)⁻¹Y with rows of sum 1.
func spreadOf(t *testing.T, a *mat.Dense, alpha float64) *mat.Dense {
	t.Helper()
	y := mat.NewDense(peerNodes, 3, nil)
	for v, class := range peerLabels() {
		y.Set(v, class, 1)
	}
	x := solveDense(t, times(-alpha, scaleRows(a, -0.5, -0.5)), 1, y)
	sums := degreesOf(x)
	x.Apply(func(i, _ int, v float64) float64 { return v / sums[i] }, x)
	return x
}

// pairwiseMachines returns the decision values of support vector machines for pairs of classes, by exact
// steps for the worst pair of coefficients of the dual problem.
func pairwiseMachines(k *mat.Dense, labels map[int]int, cost float64) *mat.Dense {
	out := mat.NewDense(peerNodes, 3, nil)
	for column, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		var items []int
		var sign []float64
		for v := range peerNodes {
			class, known := labels[v]
			if known && (class == pair[0] || class == pair[1]) {
				items = append(items, v)
				sign = append(sign, map[bool]float64{true: 1, false: -1}[class == pair[0]])
			}
		}
		weight := make([]float64, len(items)) // sign·α, between 0 and sign·C
		gradient := func(i int) float64 {
			g := sign[i]
			for j, w := range weight {
				g -= w * k.At(items[i], items[j])
			}
			return g
		}
		bias := 0.0
		for range 100000 {
			up, down := -1, -1
			for i := range items {
				if weight[i] < max(0, sign[i]*cost) && (up < 0 || gradient(i) > gradient(up)) {
					up = i
				}
				if weight[i] > min(0, sign[i]*cost) && (down < 0 || gradient(i) < gradient(down)) {
					down = i
				}
			}
			gap := gradient(up) - gradient(down)
			bias = (gradient(up) + gradient(down)) / 2
			if gap < 1e-12 {
				break
			}
			i, j := items[up], items[down]
			step := gap / (k.At(i, i) + k.At(j, j) - 2*k.At(i, j))
			step = min(step, max(0, sign[up]*cost)-weight[up], weight[down]-min(0, sign[down]*cost))
			weight[up] += step
			weight[down] -= step
		}
		for v := range peerNodes {
			value := bias
			for j, w := range weight {
				value += w * k.At(v, items[j])
			}
			out.Set(v, column, value)
		}
	}
	return out
}

func peerReferences(t *testing.T) map[string]*mat.Dense {
	graphs := peerGraphs()
	g := graphs["G"]
	ones, b, weights := peerInputs()
	seed := mat.NewDense(peerNodes, 1, nil)
	seed.Set(seedNode, 0, 1)
	laplacian := laplacianOf(g, false)
	degrees := degreesOf(g)
	volume := mat.Sum(g)
	column := func(values ...float64) *mat.Dense { return mat.NewDense(len(values), 1, values) }

	uniform := mat.NewDense(peerNodes, peerNodes, nil) // 1/n
	uniform.Apply(func(_, _ int, _ float64) float64 { return 1 / float64(peerNodes) }, uniform)
	var lifted, inverse, resistance mat.Dense // L + J/n, L⁺ + J/n
	lifted.Add(laplacian, uniform)
	if err := inverse.Inverse(&lifted); err != nil {
		t.Fatal(err)
	}
	resistance.Apply(func(i, j int, _ float64) float64 {
		return volume * (inverse.At(i, i) + inverse.At(j, j) - 2*inverse.At(i, j))
	}, &inverse)
	var pseudo, product, modularity mat.Dense
	pseudo.Sub(&inverse, uniform)
	product.Mul(&pseudo, b)
	modularity.Apply(func(i, j int, v float64) float64 { return v - degrees[i]*degrees[j]/volume }, g)
	multiply := func(a, b *mat.Dense) *mat.Dense {
		var out mat.Dense
		out.Mul(a, b)
		return &out
	}
	var communicability mat.Dense
	communicability.Exp(graphs["U"])
	adjacent, _ := eigenOf(t, g)
	slow, _ := eigenOf(t, laplacian)
	modular, _ := eigenOf(t, &modularity)
	normal, _ := eigenOf(t, laplacianOf(g, true))
	walk := scaleRows(g, 0, -1) // AD⁻¹
	for i := range peerNodes {
		walk.Set(i, i, walk.At(i, i)-1)
	}
	gram := exponentialTimes(times(-1, laplacian), mat.DenseCopyOf(identityOf(peerNodes)))
	end := peerNodes - 1
	return map[string]*mat.Dense{
		"apply D.mtx --function personalized-pagerank:alpha=0.85 --block ones.npy":                    pageRankOf(t, graphs["D"], ones, false),
		"apply D.mtx --function personalized-pagerank:alpha=0.85 --block w.npy":                       pageRankOf(t, graphs["D"], weights, false),
		"apply D.mtx --function personalized-pagerank:alpha=0.85:sinks=all --block w.npy":             pageRankOf(t, graphs["D"], weights, true),
		"rank D.mtx --seed-weights w.tsv --kernel personalized-pagerank:alpha=0.85":                   withoutRows(pageRankOf(t, graphs["D"], weights, false), weights),
		"kernel G.mtx --kernel pagerank:alpha=0.85 --rows s.ids --dtype float64":                      mat.DenseCopyOf(pageRankOf(t, g, seed, false).T()),
		"apply H.mtx --self-loops keep --function personalized-pagerank:alpha=0.85 --block ones.npy":  pageRankOf(t, graphs["H"], ones, false),
		"apply H2.mtx --self-loops keep --function personalized-pagerank:alpha=0.85 --block ones.npy": pageRankOf(t, graphs["H2"], ones, false),
		"rank G.mtx --seeds s.ids --kernel heat-pagerank:beta=2":                                      exponentialTimes(times(2, walk), seed),
		"classify G.mtx --labels y.tsv --method lp":                                                   harmonicOf(t, g),
		"classify G.mtx --labels y.tsv --method lgc:alpha=0.2":                                        spreadOf(t, g, 0.2),
		"gram classify K.npy --labels y.tsv --learner svm:cost=1 --dtype float64":                     pairwiseMachines(gram, peerLabels(), 1),
		"apply G.mtx --function exp:t=-2:matrix=laplacian --block b.npy":                              exponentialTimes(times(-2, laplacian), b),
		"apply G.mtx --function exp:t=-2:matrix=normalized-laplacian --block b.npy":                   exponentialTimes(times(-2, laplacianOf(g, true)), b),
		"apply G.mtx --function exp:t=1:matrix=adjacency --block b.npy":                               exponentialTimes(g, b),
		"kernel U.mtx --kernel exponential:beta=1 --dtype float64":                                    &communicability,
		"apply G.mtx --function solve:shift=0:matrix=laplacian --block b.npy":                         &product,
		"apply G.mtx --function solve:shift=1:matrix=laplacian --block b.npy":                         solveDense(t, laplacian, 1, b),
		"apply G.mtx --function von-neumann:matrix=adjacency:alpha=0.05 --block ones.npy":             solveDense(t, times(-0.05, g), 1, ones),
		"kernel G.mtx --kernel commute-time --dtype float64":                                          &resistance,
		"apply H.mtx --function normalized-laplacian --block b.npy":                                   multiply(laplacianOf(g, true), b),
		"apply H.mtx --self-loops keep --function normalized-laplacian --block b.npy":                 multiply(laplacianOf(graphs["H"], true), b),
		"eigen G.mtx --matrix laplacian --which smallest --k 3":                                       column(slow[:3]...),
		"eigen G.mtx --matrix adjacency --which largest --k 3":                                        column(adjacent[end], adjacent[end-1], adjacent[end-2]),
		"eigen G.mtx --matrix modularity --which largest --k 2":                                       column(modular[end], modular[end-1]),
		"eigen G.mtx --matrix normalized-laplacian --which smallest --k 4":                            column(normal[:4]...),
	}
}

func identityOf(n int) mat.Matrix {
	d := mat.NewDiagDense(n, nil)
	for i := range n {
		d.SetDiag(i, 1)
	}
	return d
}

func writePeerFiles(t *testing.T) {
	t.Helper()
	for name, a := range peerGraphs() {
		kind, text, count := "symmetric", new(strings.Builder), 0
		if name == "D" {
			kind = "general"
		}
		for i := range peerNodes {
			for j := range peerNodes {
				if w := a.At(i, j); w != 0 && (name == "D" || j <= i) {
					fmt.Fprintf(text, "%d %d %v\n", i+1, j+1, w)
					count++
				}
			}
		}
		head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real %s\n%d %d %d\n", kind, peerNodes, peerNodes, count)
		writePeerFile(t, name+".mtx", head+text.String())
	}
	ones, b, weights := peerInputs()
	gram := exponentialTimes(times(-1, laplacianOf(peerGraphs()["G"], false)), mat.DenseCopyOf(identityOf(peerNodes)))
	for name, block := range map[string]*mat.Dense{"ones": ones, "b": b, "w": weights, "K": gram} {
		var file bytes.Buffer
		if err := npyio.Write(&file, block); err != nil {
			t.Fatal(err)
		}
		writePeerFile(t, name+".npy", file.String())
	}
	var lines, labels, ids strings.Builder
	for v := range peerNodes {
		fmt.Fprintf(&ids, "%d\n", v+1)
		if w := weights.At(v, 0); w > 0 {
			fmt.Fprintf(&lines, "%d\t%v\n", v+1, w)
		}
		if class, known := peerLabels()[v]; known {
			fmt.Fprintf(&labels, "%d\tc%d\n", v+1, class)
		}
	}
	for name, text := range map[string]string{"w.tsv": lines.String(), "y.tsv": labels.String(), "s.ids": strconv.Itoa(seedNode+1) + "\n", "K.rows.ids": ids.String(), "K.cols.ids": ids.String()} {
		writePeerFile(t, name, text)
	}
}

func writePeerFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readColumns(t *testing.T, path string) *mat.Dense {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := npyio.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	if err := r.Read(&values); err != nil {
		t.Fatal(err)
	}
	shape := append(slices.Clone(r.Header.Descr.Shape), 1)
	return mat.NewDense(shape[0], shape[1], values)
}

func readScores(t *testing.T, path string) *mat.Dense {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var columns []int
	for j, title := range rows[0] {
		if title == "score" || strings.HasPrefix(title, "c") {
			columns = append(columns, j)
		}
	}
	out := mat.NewDense(peerNodes, len(columns), nil)
	for _, row := range rows[1:] {
		node, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range columns {
			value, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			out.Set(node-1, k, value)
		}
	}
	return out
}

// The tests of the Python package compare the rows with a call in Python.
func TestPeersPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/peers.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", "") // scripts set TMPDIR
	t.Chdir(t.TempDir())
	writePeerFiles(t)
	references := peerReferences(t)
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| tool") {
			continue
		}
		if len(cells) != 6 || strings.Trim(cells[2]+cells[3], " ") == "" {
			t.Fatalf("this row has no call: %s", line)
		}
		command, out, _ := strings.Cut(strings.Trim(cells[2], "` "), " -o ")
		if command == "" {
			continue
		}
		want, ok := references[command]
		if !ok {
			t.Errorf("no formula for %s", command)
			continue
		}
		delete(references, command)
		var notes bytes.Buffer
		if code := Main(append(strings.Fields(command), "-o", out), strings.NewReader(""), io.Discard, &notes); code != 0 {
			t.Errorf("%s: exit code %d: %s", command, code, &notes)
			continue
		}
		tolerance := 1e-6
		var got *mat.Dense
		switch {
		case strings.HasPrefix(command, "eigen"):
			got = readColumns(t, "x.values.npy")
		case strings.HasSuffix(out, ".tsv"):
			got = readScores(t, out)
			tolerance = 1e-5 // numbers in the table have six digits
		default:
			got = readColumns(t, out)
		}
		rows, cols := want.Dims()
		if r, c := got.Dims(); r != rows || c != cols {
			t.Errorf("%s: %d × %d values, want %d × %d", command, r, c, rows, cols)
			continue
		}
		for i := range rows {
			for j := range cols {
				if limit := tolerance * max(1e-2, math.Abs(want.At(i, j))); !math.IsNaN(want.At(i, j)) && !(math.Abs(got.At(i, j)-want.At(i, j)) <= limit) {
					t.Errorf("%s: (%d, %d) is %v, want %v", command, i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
	}
	for command := range references {
		t.Errorf("the page does not have %s", command)
	}
}
