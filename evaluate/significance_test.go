package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// With 1 and 2 degrees of freedom Student's distribution has closed forms.
func TestCorrectedT(t *testing.T) {
	// Differences 1, 2, 3 have mean 2 and variance 1: t = 2/√(1/3 + ratio), and with 2 degrees of freedom
	// p = 1 − t/√(2 + t²). The 95 % quantile is q = 0.95·√(2/(1 − 0.95²)).
	for _, ratio := range []float64{0, 1.0 / 9, 19} {
		stderr := math.Sqrt(1.0/3 + ratio)
		want := 1 - 2/stderr/math.Sqrt(2+4/stderr/stderr)
		p, margin := correctedT([]float64{2, 4, 6}, []float64{1, 2, 3}, ratio, 100)
		if math.Abs(p-want) > 1e-12 {
			t.Errorf("ratio %v: p %v, want %v", ratio, p, want)
		}
		if want := stderr * 0.95 * math.Sqrt(2/(1-0.95*0.95)); math.Abs(margin-want) > 1e-9 {
			t.Errorf("ratio %v: margin %v, want %v", ratio, margin, want)
		}
		if same, _ := correctedT([]float64{1, 2, 3}, []float64{2, 4, 6}, ratio, 100); same != p {
			t.Errorf("exchanged: p %v, want %v", same, p)
		}
	}
	// One degree of freedom, mean 2, variance 2 and ratio 3/2: t = 1, a Cauchy distribution, p = 1/2.
	if p, _ := correctedT([]float64{1, 3}, []float64{0, 0}, 1.5, 100); math.Abs(p-0.5) > 1e-12 {
		t.Errorf("p %v, want 0.5", p)
	}
	// Two differences of 2 of 100 nodes: the variance is (0.01)²/12 from rounding, so that t =
	// 2·√(2·12) and p = 2·arctan(1/t)/π.
	if p, _ := correctedT([]float64{0.77, 0.79}, []float64{0.75, 0.77}, 0, 100); math.Abs(p-2*math.Atan(1/math.Sqrt(96))/math.Pi) > 1e-12 {
		t.Errorf("equal differences: p %v", p)
	}
	for _, test := range []struct {
		a, b []float64
		p    float64
	}{
		{[]float64{1, 2}, []float64{1, 2}, 1},
		{[]float64{2}, []float64{1}, 1},
	} {
		if p, _ := correctedT(test.a, test.b, 1, 100); p != test.p {
			t.Errorf("%v, %v: p %v, want %v", test.a, test.b, p, test.p)
		}
	}
}

// Two equal methods differ significantly in at most 5 % of experiments; without correction in three times as many.
func TestCorrectedTOfEqualMethods(t *testing.T) {
	const seed, experiments, items, splits, tested = 5, 400, 200, 15, 20
	t.Logf("rng seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var corrected, plain int
	for range experiments {
		right := [2][]float64{make([]float64, items), make([]float64, items)}
		for i := range items {
			for m := range right {
				right[m][i] = float64(rng.IntN(2))
			}
		}
		accuracies := [2][]float64{make([]float64, splits), make([]float64, splits)}
		for s := range splits {
			for _, i := range rng.Perm(items)[:tested] {
				for m := range right {
					accuracies[m][s] += right[m][i] / tested
				}
			}
		}
		if p, _ := correctedT(accuracies[0], accuracies[1], tested/float64(items-tested), tested); p < 0.05 {
			corrected++
		}
		if p, _ := correctedT(accuracies[0], accuracies[1], 0, tested); p < 0.05 {
			plain++
		}
	}
	t.Logf("of %d experiments corrected %d, uncorrected %d", experiments, corrected, plain)
	if corrected > 28 || plain < 3*corrected { // 20 are expected; 28 is two standard deviations more
		t.Errorf("of %d experiments corrected %d, uncorrected %d", experiments, corrected, plain)
	}
}

func TestHolm(t *testing.T) {
	// Sorted values times 4, 3, 2, 1: 0.04, 0.06, 0.06 (not below its predecessor), 0.2.
	got := holm([]float64{0.03, 0.01, 0.2, 0.02})
	if diff := cmp.Diff([]float64{0.06, 0.04, 0.2, 0.06}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{1, 1}, holm([]float64{0.7, 0.6})); diff != "" {
		t.Error(diff)
	}
}

// The last two methods are worse than the best by a single test, but not among six tests.
func TestCompareCorrectsForPairs(t *testing.T) {
	results := make([]Result, 4)
	for i, accuracies := range [][]float64{{0.80, 0.82, 0.84, 0.85}, {0.3, 0.31, 0.3, 0.32}, {0.76, 0.81, 0.79, 0.82}, {0.77, 0.77, 0.835, 0.81}} {
		results[i] = Result{Measured: Measured{Method: string(rune('a' + i)), TrainFraction: 0.5, NodesTested: 100, NodesTrained: 10_000}, ClassMeasures: &ClassMeasures{Accuracies: accuracies}}
	}
	tests := compare(results)
	for i, want := range []string{"best", "worse", "not worse", "not worse"} {
		if results[i].Standing != want {
			t.Errorf("%s: %s, want %s", results[i].Method, results[i].Standing, want)
		}
	}
	own := tests[1]
	if own.A != "a" || own.B != "c" || own.P >= Level || own.PHolm < Level || own.Higher != 4 || own.Lower != 0 {
		t.Errorf("%+v", own)
	}
}
