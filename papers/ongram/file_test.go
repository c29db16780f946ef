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

// Scores are those of ridge regression (K+λI)⁻¹y, here solved by hand for two labelled nodes.
func TestFile(t *testing.T) {
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
	f := &File{Path: path, LabelFile: labels, Labelling: &nodefile.LabelConfig{}, Learner: learner, Values: v}
	if err := f.Open(t.Context()); err == nil || !strings.Contains(err.Error(), `"q"`) {
		t.Fatal(err)
	}
	*f = File{Path: path, LabelFile: labels, Labelling: &nodefile.LabelConfig{SkipUnknown: true}, Learner: learner, Values: v}
	if err := f.Open(t.Context()); err != nil || f.Labels.Unknown != 1 {
		t.Fatal(err)
	}
	c, err := f.Classify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lambda := v.Number("lambda")
	a, b, d := k[0][0]+lambda, k[0][1], k[2][1]+lambda
	weight := [2]float64{(d + b) / (a*d - b*b), -(a + b) / (a*d - b*b)} // of y = (1, −1): left
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
	if err := (&File{Path: write("other.svm", "0 0:1 1:1\n")}).Open(t.Context()); err == nil {
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
