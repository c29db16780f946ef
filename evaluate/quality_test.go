package evaluate

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestRankings(t *testing.T) {
	file, err := os.Open("../testdata/golden/metrics/ap_auc.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan()
	cases := 0
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		var positive []bool
		var scores []float64
		for _, w := range strings.Fields(f[0]) {
			positive = append(positive, w == "1")
		}
		for _, w := range strings.Fields(f[1]) {
			scores = append(scores, number(t, w))
		}
		precision, area := measureRanking(positive, scores)
		if want := number(t, f[2]); math.Abs(precision-want) > 1e-14 {
			t.Errorf("%s: AP %v, want %v", lines.Text(), precision, want)
		}
		if want := number(t, f[4]); math.Abs(area-want) > 1e-14 {
			t.Errorf("%s: AUC %v, want %v", lines.Text(), area, want)
		}
		cases++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if cases < 8 {
		t.Errorf("%d cases", cases)
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func slowQuality(truth, predicted []int, classes int, p [][]float32) (ap, auc, logLoss, brier, ece float64) {
	n := len(truth)
	present := 0
	for c := range classes {
		positives := 0
		for _, y := range truth {
			if y == c {
				positives++
			}
		}
		if positives == 0 || positives == n {
			continue
		}
		present++
		wins, ownAP := 0.0, 0.0
		for i := range truth {
			if truth[i] != c {
				continue
			}
			better, hits := 0, 0 // items that score no less than i
			for j := range truth {
				switch {
				case truth[j] == c:
				case p[i][c] > p[j][c]:
					wins++
				case p[i][c] == p[j][c]:
					wins += 0.5
				}
				if p[j][c] >= p[i][c] {
					better++
					if truth[j] == c {
						hits++
					}
				}
			}
			ownAP += float64(hits) / float64(better)
		}
		auc += wins / float64(positives*(n-positives))
		ap += ownAP / float64(positives)
	}
	for i, y := range truth {
		logLoss -= math.Log(math.Max(float64(p[i][y]), math.Exp2(-23))) / float64(n)
		for c := range classes {
			d := float64(p[i][c])
			if c == y {
				d -= 1
			}
			brier += d * d / float64(n)
		}
	}
	for b := range 15 {
		items, right, sum := 0, 0, 0.0
		for i, y := range predicted {
			q := float64(p[i][y])
			if in := q*15 > float64(b) && q*15 <= float64(b+1); in || b == 0 && q == 0 {
				items++
				sum += q
				if y == truth[i] {
					right++
				}
			}
		}
		if items > 0 {
			ece += float64(items) / float64(n) * math.Abs(float64(right)/float64(items)-sum/float64(items))
		}
	}
	return ap / float64(present), auc / float64(present), logLoss, brier, ece
}

func TestMeasureQuality(t *testing.T) {
	const seed = 11
	t.Logf("rng seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		n, classes := 2+rng.IntN(40), 2+rng.IntN(4)
		truth, predicted, p := make([]int, n), make([]int, n), make([][]float32, n)
		for i := range truth {
			truth[i], predicted[i] = rng.IntN(classes), rng.IntN(classes)
			p[i] = make([]float32, classes)
			for range 8 { // eighths are exact and often equal
				p[i][rng.IntN(classes)] += 0.125
			}
		}
		truth[0], truth[1] = 0, 1
		q := measureQuality(truth, predicted, classes, func(i int) []float32 { return p[i] })
		ap, auc, logLoss, brier, ece := slowQuality(truth, predicted, classes, p)
		for _, m := range []struct {
			name string
			got  *float64
			want float64
		}{{"AP", q.AveragePrecision, ap}, {"AUC", q.AUC, auc}, {"log-loss", q.LogLoss, logLoss}, {"Brier", q.Brier, brier}, {"ECE", q.CalibrationError, ece}} {
			if m.got == nil || math.Abs(*m.got-m.want) > 1e-12 {
				t.Errorf("%d items, %d classes: %s %v, want %v", n, classes, m.name, m.got, m.want)
			}
		}
	}
}

func TestNoQuality(t *testing.T) {
	rows := [][]float32{{2, -1}, {0.5, 0.5}}
	row := func(i int) []float32 { return rows[i] }
	q := measureQuality([]int{0, 1}, []int{0, 0}, 2, row)
	if q.LogLoss != nil || q.Brier != nil || q.CalibrationError != nil || q.AUC == nil || *q.AUC != 1 {
		t.Errorf("scores that are no probabilities: %+v", q)
	}
	rows[0] = []float32{0.5, 0.5}
	q = measureQuality([]int{0, 0}, []int{0, 0}, 2, row)
	if q.AUC != nil || q.AveragePrecision != nil || q.Brier == nil || *q.Brier != 0.5 {
		t.Errorf("one class: %+v", q)
	}
	if q := measureQuality(nil, nil, 2, row); q != (Quality{}) {
		t.Errorf("no items: %+v", q)
	}
}

func TestTies(t *testing.T) {
	for _, test := range []struct {
		probabilities []float64
		want          *Ties
	}{
		{nil, nil}, {[]float64{0.9, 0.5}, nil}, {[]float64{0.9, 0.9, 0.5, 0.5, 0.5, 0.1}, &Ties{3, 0.5}}, {[]float64{0.2, 0.2}, &Ties{2, 0.2}},
	} {
		var list []LikelyNode
		for _, p := range test.probabilities {
			list = append(list, LikelyNode{Probability: p})
		}
		if got := tiesOf(list); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: %v, want %v", test.probabilities, got, test.want)
		}
	}
}
