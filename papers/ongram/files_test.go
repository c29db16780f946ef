package ongram

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Expected scores are (K+λI)⁻¹y, solved by hand for two labelled nodes.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	k := [3][2]float64{{2, 0.5}, {0.25, 0.75}, {0.5, 3}} // rows a, m, z; columns a, z
	var text strings.Builder
	for r, row := range k {
		fmt.Fprintf(&text, "0 0:%d 1:%v 2:%v\n", r+1, row[0], row[1])
	}
	path, labels := write("K.svm", text.String()), write("labels.tsv", "z\tright\na\tleft\nq\tleft\n")
	write("K.rows.ids", "a\nm\nz\n")
	write("K.cols.ids", "a\nz\n")
	learner := classify.Learners().Named("rls")
	v, err := learner.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := &items.Input{Paths: []string{path}, LabelFile: labels, Labelling: &nodefile.LabelConfig{}, Learners: []*classify.Learner{learner}}
	if _, err := openFiles(t.Context(), in); err == nil || !strings.Contains(err.Error(), `"q"`) {
		t.Fatal(err)
	}
	in.Labelling.SkipUnknown = true
	f, err := openFiles(t.Context(), in)
	if err != nil || f.Labels.Unknown != 1 {
		t.Fatal(err)
	}
	set := new(engine.Settings).WithDefaults()
	c, err := f.Classify(t.Context(), &set)
	if err != nil {
		t.Fatal(err)
	}
	lambda := v.Number("lambda")
	a, b, d := k[0][0]+lambda, k[0][1], k[2][1]+lambda
	weight := [2]float64{(d + b) / (a*d - b*b), -(a + b) / (a*d - b*b)} // coefficients of y = (1, −1): left
	for r, row := range k {
		scores := c.Scores.Row(r)
		if got, want := f.Labels.Names[c.Class[r]], []string{"left", c.ScoreNames[classify.ArgMax(scores)], "right"}[r]; got != want {
			t.Errorf("row %d: class %s with scores %v, want %s", r, got, scores, want)
		}
		want := row[0]*weight[0] + row[1]*weight[1]
		if c.ScoreNames[0] != "left" || math.Abs(scores[0]-want) > 1e-12 {
			t.Errorf("row %d: %v of %v, want %v of left", r, scores, c.ScoreNames, want)
		}
	}
	in.Paths = []string{write("other.svm", "0 0:1 1:1\n")}
	if _, err := openFiles(t.Context(), in); err == nil {
		t.Error("a file without ids is taken")
	}
}

func TestUnevenOf(t *testing.T) {
	k := []float64{4, 1, 1 + 3e-5, 2}
	if i, j := unevenOf(k, 2); i != 0 || j != 0 {
		t.Errorf("what is left of single precision: %d, %d", i, j)
	}
	k[2] = 1 + 5e-5
	if i, j := unevenOf(k, 2); i != 1 || j != 0 {
		t.Errorf("the values of %d and %d differ", i, j)
	}
}

func diffusion(n int, beta float64) *mat.Dense {
	l := mat.NewDense(n, n, nil)
	for i := range n - 1 {
		for _, e := range [][3]int{{i, i, 1}, {i + 1, i + 1, 1}, {i, i + 1, -1}, {i + 1, i, -1}} {
			l.Set(e[0], e[1], l.At(e[0], e[1])-beta*float64(e[2]))
		}
	}
	l.Exp(l)
	return l
}

// The diffusion kernel of a grid, exp(−β(L₁ ⊗ 1 + 1 ⊗ L₂)), is the product of K₁ ⊗ 1 and 1 ⊗ K₂ of
// two paths.
func TestSeveralFiles(t *testing.T) {
	const rows, cols, beta = 3, 4, 0.7
	dir := t.TempDir()
	save := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write := func(name string, value func(i, j int) float64) string {
		var text, ids strings.Builder
		for i := range rows * cols {
			text.WriteString("0 0:" + fmt.Sprint(i+1))
			for j := range rows * cols {
				fmt.Fprintf(&text, " %d:%v", j+1, value(i, j))
			}
			text.WriteString("\n")
			fmt.Fprintf(&ids, "n%d\n", i)
		}
		save(name+".rows.ids", ids.String())
		save(name+".cols.ids", ids.String())
		return save(name+".svm", text.String())
	}
	labels := save("labels.tsv", "n0\tleft\nn5\tright\nn6\tleft\nn11\tright\n")
	in := &items.Input{LabelFile: labels, Labelling: &nodefile.LabelConfig{}, Learners: []*classify.Learner{classify.Learners().Named("rls")}}
	scores := func(product bool, paths ...string) *sparse.Block[float64] {
		t.Helper()
		in.Paths, in.Flags = paths, map[string]string{"product": fmt.Sprint(product)}
		f, err := openFiles(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		set := new(engine.Settings).WithDefaults()
		c, err := f.Classify(t.Context(), &set)
		if err != nil {
			t.Fatal(err)
		}
		return c.Scores
	}
	first, second := diffusion(rows, beta), diffusion(cols, beta)
	grid := mat.NewDense(rows*cols, rows*cols, nil)
	for i := range rows * cols {
		for j := range rows * cols {
			if steps := max(i/cols, j/cols) - min(i/cols, j/cols) + max(i%cols, j%cols) - min(i%cols, j%cols); steps == 1 {
				grid.Set(i, j, beta)
				grid.Set(i, i, grid.At(i, i)-beta)
			}
		}
	}
	grid.Exp(grid)
	a := write("A", func(i, j int) float64 { return first.At(i/cols, j/cols) })
	b := write("B", func(i, j int) float64 { return second.At(i%cols, j%cols) })
	sum := write("S", func(i, j int) float64 { return first.At(i/cols, j/cols) + second.At(i%cols, j%cols) })
	for _, c := range []struct {
		product bool
		want    string
	}{{true, write("G", grid.At)}, {false, sum}} {
		want, got := scores(false, c.want), scores(c.product, a, b)
		testgraph.Close(t, got, want, 1e-12, 1e-12)
	}
	save("B.cols.ids", strings.Join([]string{"n1", "n0", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11"}, "\n"))
	in.Paths = []string{a, b}
	_, err := openFiles(t.Context(), in)
	if want := `number 1 of its cols is "n1", and that of ` + a + ` is "n0"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
