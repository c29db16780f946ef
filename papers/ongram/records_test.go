package ongram

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// recordTable reads records whose class is the first attribute, except for every tenth record. Records from labelled on have
// no class.
func recordTable(t *testing.T, n, labelled int) *nodefile.Attributes {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, "id,shape,colour,class")
	for i := range n {
		shape, class := i%2, i%2
		if i%10 == 3 {
			class = 1 - class
		}
		name := ""
		if i < labelled {
			name = string(rune('a' + class))
		}
		fmt.Fprintf(&text, "r%d,s%d,c%d,%s\n", i, shape, i/2%3, name)
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := nodefile.ReadAttributes(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The reference learns from the kernel matrix.
func TestRecords(t *testing.T) {
	a := recordTable(t, 60, 40)
	l := a.Classes
	a.Columns = a.Columns[:2]
	for _, calibrate := range []bool{false, true} {
		kernel, learner := RecordKernels().Named("categorical"), classify.Learners().Named("svm")
		table := collectionOf(a, func(int) {})
		s := table.Source(&kernel.Spec, learner)
		s.Calibrate = calibrate
		phases := map[string]float64{}
		got, err := s.Classify(t.Context(), problem.OfItems(s.Items, l.Row, l.Class, l.Names), &engine.Settings{
			Given: param.Values{"cost": param.Of(1.0)}, RNGSeed: 3,
			Progress: func(stage string, done, total int64) { phases[stage] = float64(done) / float64(total) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.Values.Number("cost") != 1 || got.Settings != len(kernel.Param("beta").Grid) || phases["scoring"] != 1 {
			t.Errorf("%v of %d settings, phases %v", got.Values, got.Settings, phases)
		}
		k, _, err := table.Gram(t.Context(), &kernel.Spec, kernel.Own(got.Values), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(a.IDs)
		dense := sparse.BlockOf(n, n, make([]float64, n*n))
		y := make([]int, n)
		for i := range n {
			y[i] = -1
			k.RowTo(dense.Row(i), i)
		}
		for i, row := range l.Row {
			y[row] = l.Class[i]
		}
		model, err := learner.Fit(t.Context(), classify.DenseGram(dense), y, 2, learner.Own(got.Values))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want := model.ScoresTo(nil, dense.Row(i), 1)
			for c, s := range got.Scores.Row(i) {
				if math.Abs(s-want[c]) > 1e-9*(1+math.Abs(want[c])) {
					t.Errorf("record %d: scores %v, want %v", i, got.Scores.Row(i), want)
				}
			}
			class := i % 2
			if y[i] >= 0 {
				class = y[i] // its own, right or not
			}
			if got.Class[i] != class {
				t.Errorf("record %d: class %d, want %d", i, got.Class[i], class)
			}
			shares := got.SharesTo(nil, i)
			if math.Abs(shares[0]+shares[1]-1) > 1e-12 || calibrate && (shares[i%2] < 0.6 || shares[i%2] > 0.98) {
				t.Errorf("record %d: shares %v; 9 of 10 records like it are of class %d", i, shares, i%2)
			}
		}
		if names := got.ScoreNames; len(names) != 1 || names[0] != "a vs b" && names[0] != "b vs a" {
			t.Errorf("scores are called %q", names)
		}
	}
}

// An error of the kernel names the record of the whole table.
func TestRecordsErrors(t *testing.T) {
	a := recordTable(t, 12, 12)
	l := a.Classes
	l.Row, l.Class = l.Row[4:], l.Class[4:]
	a.Columns = a.Columns[:1]
	a.Columns[0].Code[7] = -1
	classified := func(kernel string) error {
		s := collectionOf(a, func(int) {}).Source(&RecordKernels().Named(kernel).Spec, classify.Learners().Named("svm"))
		_, err := s.Classify(t.Context(), problem.OfItems(s.Items, l.Row, l.Class, l.Names), nil)
		return err
	}
	err := classified("strings")
	if wrong := new(nodefile.ParseError); !errors.As(err, &wrong) || wrong.Line != a.Line[7] {
		t.Errorf("%v, want an error about line %d", err, a.Line[7])
	}
	for i := range l.Class {
		l.Class[i] = 0
	}
	err = classified("hamming")
	if wrong := new(problem.Error); !errors.As(err, &wrong) || wrong.Method != "svm" || !errors.Is(err, classify.ErrOneClass) {
		t.Errorf("%v, want one about svm and one class", err)
	}
}

func TestRestrict(t *testing.T) {
	columns := []nodefile.Column{{Values: []string{"p", "q", "r"}, Code: []int32{0, 1, 2, 0}}, {Values: []string{"1", "2"}, Code: []int32{0, 1, -1, 1}}}
	got, unknown := restrict(columns, []int{0, 2})
	if x, y := got[0], got[1]; unknown != 3 || len(x.Values) != 2 || len(y.Values) != 1 || !slices.Equal(x.Code, []int32{0, -1, 1, 0}) || !slices.Equal(y.Code, []int32{0, -1, -1, -1}) {
		t.Errorf("%d unknown values in columns %+v", unknown, got)
	}
}
