package nodefile

import (
	"slices"
	"strings"
	"testing"
)

func TestReadValues(t *testing.T) {
	for _, test := range []struct {
		name string
		c    LabelConfig
		file file
		miss int
	}{
		{"tabs", LabelConfig{}, file{"v.tsv", "n4\t-1\nn1\t2.5e3\nn2\t0\n"}, 0},
		{"repeated", LabelConfig{}, file{"v.tsv", "n4\t-1\nn1\t2.5e3\nn4\t-1\nn2\t0\n"}, 0},
		{"header", LabelConfig{}, file{"v.csv", "age,node,value\n1,n4,-1\n2,n1,2500\n3,n2,0\n"}, 0},
		{"predictions of regress", LabelConfig{}, file{"v.tsv", "node\tvalue\treached\tstddev\nn4\t-1\ttrue\t0.1\nn1\t2500\ttrue\t1\nn2\t0\tfalse\t2\n"}, 0},
		{"words", LabelConfig{Missing: []string{"-"}}, file{"v.csv", "id,target\nn4,-1\nn0,-\nn1,2500\nn3,NA\nn2,0\n"}, 2},
		{"missing", LabelConfig{}, file{"v.csv", "id,target\nn4,-1\nn0,\nn1,2500\nn3,NA\nn2,0\nn5,nan\nn6,NULL\n"}, 4},
	} {
		v, err := ReadValues(t.Context(), write(t, test.file)[0], names(t), &test.c)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !slices.Equal(v.Row, []int{1, 2, 4}) || !slices.Equal(v.Value, []float64{2500, 0, -1}) || v.Unlabelled != test.miss {
			t.Errorf("%s: rows %v, values %v, %d without", test.name, v.Row, v.Value, v.Unlabelled)
		}
	}
	for text, want := range map[string]string{
		"n1\t1\nn2\t5 kg\n":               ":2:4: number \"5 kg\" is not a number",
		"n1\t1\nn2\t-inf\n":               ":2:4: number \"-inf\" is infinite",
		"n1\t1\nn2\t1e101\n":              ":2:4: number \"1e101\" is beyond ±1e+100",
		"n1\t1\nn2\thigh\n":               ":2:4: number \"high\" is not a number",
		"n1\t1.5\nn2\t2,5\n":              ":2:4: number \"2,5\" is not a number; pass option decimal=,",
		"n1\tNA\n":                        "no numbers: 1 line without one (NA); write a line node<TAB>number ",
		"n1\t1\nn1\t2\n":                  "n1\" is 2 here, 1 on line 1",
		"id,age,income\nn1,1,2\nn2,3,4\n": "label-fields",
	} {
		path := write(t, file{"v.tsv", text})[0]
		if _, err := ReadValues(t.Context(), path, names(t), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}
