package tablefile

import (
	"bytes"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/file/npy"
)

func TestWriteNumbers(t *testing.T) {
	score := []float64{0.5, 1e-7, 1234567}
	place := []int{3, 1234567, 1}
	columns := []Column[int]{
		{Title: "score", Number: func(i int) float64 { return score[i] }},
		{Title: "rank", Whole: func(i int) int { return place[i] }},
		{Title: "seed", Truth: func(i int) bool { return i == 1 }},
	}
	id := func(i int) string { return []string{"a", "b,c", "d"}[i] }
	for ending, want := range map[string]string{
		".tsv": "node\tscore\trank\tseed\nd\t1.234567e+06\t1\tfalse\na\t0.5\t3\tfalse\nb,c\t1e-07\t1234567\ttrue\n",
		".csv": "node,score,rank,seed\nd,1.234567e+06,1,false\na,0.5,3,false\n\"b,c\",1e-07,1234567,true\n",
	} {
		var file bytes.Buffer
		err := WriteNumbers(t.Context(), &file, ending, []int{2, 0, 1}, id, columns)
		if err != nil || file.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", ending, err, file.String(), want)
		}
	}
	var file bytes.Buffer
	if err := WriteNumbers(t.Context(), &file, ".npz", []int{2, 0, 1}, id, columns); err != nil {
		t.Fatal(err)
	}
	archive, err := npy.OpenArchive("x.npz", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"score": score, "rank": {3, 1234567, 1}, "seed": {0, 1, 0}} {
		got := make([]float64, len(want))
		array, err := archive.Open(name)
		if err == nil {
			err = array.Floats(got)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
}
