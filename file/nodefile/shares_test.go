package nodefile

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestReadShares(t *testing.T) {
	names := []string{"b", "a"}
	for text, want := range map[string][]float64{
		"a\t0.25\nb\t0.75\n":                 {0.75, 0.25},
		"class,share\nb,0.2501\na,0.7503\n":  {0.25, 0.75},
		"node\ta\tb\nx\t0.5\t0.5\n":          nil,
		",class,share\n0,b,0.25\n1,a,0.75\n": {0.25, 0.75},
		",a,b\nx,0.5,0.5\n":                  nil, // ids in the index
	} {
		got, err := ReadShares(t.Context(), write(t, file{"p.csv", text})[0], names, nil)
		if err != nil || !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-4 }) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a\t0.25\n":                   `class "b" has no share; write a line class<TAB>share for each class`,
		"a\t0.5\nb\t0.6\n":            "the shares add up to 1.1, want 1; divide them by their sum",
		"a\t0.5\nc\t0.5\n":            `p.tsv:2:1: class "c" has no label; write a line class<TAB>share for each class, with shares that add up to 1`,
		"0.5\ta\n0.5\tb\n":            `p.tsv:1:1: class "0.5" has no label; write a line class<TAB>share for each class`,
		"a\t0\nb\t1\n":                `share "0" is not positive`,
		"a\t0.5\na\t0.5\nb\t0.1\n":    `class "a" has two lines`,
		"a\t0.2\nb\t0.5\t0.2\na\t1\n": "3 fields, but line 1 has 2",
		"class\tshare\na\tx\nb\t1\n":  `share "x" is not a number`,
	} {
		_, err := ReadShares(t.Context(), write(t, file{"p.tsv", text})[0], names, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
