package evaluate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const eps = 0x1p-52

func near(got, want float64) bool { return math.Abs(got-want) <= 16*eps*math.Max(1, math.Abs(want)) }

// truth and predicted of ten nodes; by hand: 6 right; precision and recall of
// class 0 are 3/4 and 3/5, of class 1 2/4 and 2/3, of class 2 1/2 and 1/2.
var (
	truth     = []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2}
	predicted = []int{0, 0, 0, 1, 1, 1, 1, 2, 0, 2}
)

func TestConfusion(t *testing.T) {
	c := newConfusion(4)
	c.Count(truth, predicted)
	want := confusion{{3, 2, 0, 0}, {0, 2, 1, 0}, {1, 0, 1, 0}, {0, 0, 0, 0}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if got := accuracyOf(c); got != 0.6 {
		t.Errorf("accuracy %v", got)
	}
	// 2PR/(P+R): 2/3, 4/7, 1/2; the class that never occurs does not count.
	if got, want := c.MacroF1(), (2.0/3+4.0/7+1.0/2)/3; !near(got, want) {
		t.Errorf("macro-F1 %v, want %v", got, want)
	}
	if empty := newConfusion(2); empty.MacroF1() != 0 {
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

func TestPairedT(t *testing.T) {
	// Differences 1, 2, 3: t = 2·√3. With 2 degrees of freedom the distribution
	// has the closed form p = 1 − t/√(2 + t²).
	p := pairedT([]float64{2, 4, 6}, []float64{1, 2, 3})
	if stat := 2 * math.Sqrt(3); math.Abs(p-(1-stat/math.Sqrt(2+stat*stat))) > 1e-12 {
		t.Errorf("p %v", p)
	}
	if same := pairedT([]float64{1, 2, 3}, []float64{2, 4, 6}); same != p {
		t.Errorf("exchanged: p %v", same)
	}
	// One degree of freedom and t = 2: a Cauchy distribution, p = 1 − 2·atan(t)/π.
	if p = pairedT([]float64{1, 3}, []float64{0, 0}); math.Abs(p-(1-2*math.Atan(2)/math.Pi)) > 1e-12 {
		t.Errorf("p %v", p)
	}
	for _, test := range []struct {
		a, b []float64
		p    float64
	}{
		{[]float64{1, 2}, []float64{1, 2}, 1},
		{[]float64{2, 3}, []float64{1, 2}, 0},
		{[]float64{2}, []float64{1}, 1},
	} {
		if p := pairedT(test.a, test.b); p != test.p {
			t.Errorf("%v, %v: p %v, want %v", test.a, test.b, p, test.p)
		}
	}
}

// accuracyOf returns the share of nodes on the diagonal.
func accuracyOf(c confusion) float64 {
	right, all := 0, 0
	for i, row := range c {
		right += row[i]
		for _, n := range row {
			all += n
		}
	}
	return float64(right) / float64(all)
}
