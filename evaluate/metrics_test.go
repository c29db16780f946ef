package evaluate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const eps = 0x1p-52

func near(got, want float64) bool { return math.Abs(got-want) <= 16*eps*math.Max(1, math.Abs(want)) }

// By hand: 6 of 10 right; precision and recall of class 0 are 3/4 and 3/5, of class 1 2/4 and 2/3,
// of class 2 1/2 and 1/2.
var (
	truth     = []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2}
	predicted = []int{0, 0, 0, 1, 1, 1, 1, 2, 0, 2}
)

func TestConfusion(t *testing.T) {
	c := newConfusion(4)
	c.Count(truth, predicted)
	want := Confusion{{3, 2, 0, 0}, {0, 2, 1, 0}, {1, 0, 1, 0}, {0, 0, 0, 0}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if got := accuracyOf(c); got != 0.6 {
		t.Errorf("accuracy %v", got)
	}
	// 2PR/(P+R): 2/3, 4/7, 1/2; the class that never occurs does not count.
	if got, want := c.macroF1(len(c)), (2.0/3+4.0/7+1.0/2)/3; !near(got, want) {
		t.Errorf("macro-F1 %v, want %v", got, want)
	}
	if empty := newConfusion(2); empty.macroF1(2) != 0 {
		t.Error("without nodes a score is not 0")
	}
}

func TestMeanStderr(t *testing.T) {
	// Deviations −2, −1, 0, 3: variance 14/3.
	mean, stderr := meanStderr([]float64{1, 2, 3, 6})
	if !near(mean, 3) || !near(stderr, math.Sqrt(14.0/3/4)) {
		t.Errorf("%v ± %v", mean, stderr)
	}
	if mean, stderr := meanStderr([]float64{0.25}); mean != 0.25 || stderr != 0 {
		t.Errorf("%v ± %v", mean, stderr)
	}
}

func accuracyOf(c Confusion) float64 {
	right, all := 0, 0
	for i, row := range c {
		right += row[i]
		for _, n := range row {
			all += n
		}
	}
	return float64(right) / float64(all)
}
