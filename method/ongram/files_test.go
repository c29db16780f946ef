package ongram

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
)

// Scores from two files are those of ridge regression (K+λI)⁻¹y on the sum, or the
// product, of their kernels, here solved by hand for two labelled nodes.
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
	k := [2][3][2]float64{{{2, 0.5}, {0.25, 0.75}, {0.5, 3}}, {{1, 0.25}, {0.5, 0.125}, {0.25, 2}}} // rows a, m, z; columns a, z
	var paths []string
	for i, rows := range k {
		var text strings.Builder
		for r, row := range rows {
			fmt.Fprintf(&text, "0 0:%d 1:%v 2:%v\n", r+1, row[0], row[1])
		}
		paths = append(paths, write(fmt.Sprintf("K%d.svm", i), text.String()))
		write(fmt.Sprintf("K%d.rows.ids", i), "a\nm\nz\n")
		write(fmt.Sprintf("K%d.cols.ids", i), "a\nz\n")
	}
	labels := write("labels.tsv", "z\tright\na\tleft\nq\tleft\n")
	learner := classify.Learners().Named("rls")
	v, err := learner.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, product := range []bool{false, true} {
		f := &Files{Paths: paths, Product: product, LabelFile: labels, Labelling: &nodefile.LabelConfig{}, Learner: learner, Values: v}
		if err := f.Open(t.Context()); err == nil || !strings.Contains(err.Error(), `has 1 id of no column of `+paths[0]+`, such as "q"`) {
			t.Fatal(err)
		}
		*f = Files{Paths: paths, Product: product, LabelFile: labels, Labelling: &nodefile.LabelConfig{SkipUnknown: true}, Learner: learner, Values: v}
		if err := f.Open(t.Context()); err != nil || f.Labels.Unknown != 1 {
			t.Fatal(err)
		}
		names, next, stop, err := f.Scores(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		var sum [3][2]float64
		for r := range sum {
			for c := range sum[r] {
				if sum[r][c] = k[0][r][c] + k[1][r][c]; product {
					sum[r][c] = k[0][r][c] * k[1][r][c]
				}
			}
		}
		lambda := v.Number("lambda")
		a, b, d := sum[0][0]+lambda, sum[0][1], sum[2][1]+lambda
		weight := [2]float64{(d + b) / (a*d - b*b), -(a + b) / (a*d - b*b)} // of y = (1, −1): left
		for r, row := range sum {
			scores := make([]float64, len(names))
			class, err := next(scores)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := f.Labels.Names[class], []string{"left", names[classify.ArgMax(scores)], "right"}[r]; got != want {
				t.Errorf("product %v, row %d: class %s with scores %v, want %s", product, r, got, scores, want)
			}
			want := row[0]*weight[0] + row[1]*weight[1]
			if names[0] != "left" || math.Abs(scores[0]-want) > 1e-12 {
				t.Errorf("product %v, row %d: %v of %v, want %v of left", product, r, scores, names, want)
			}
		}
	}
	if err := (&Files{Paths: []string{paths[0], write("other.svm", "0 0:1 1:1\n")}}).Open(t.Context()); err == nil {
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
