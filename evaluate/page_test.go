package evaluate

import (
	"html"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/test/contract"
)

func pageOf(t *testing.T, r *Report) string {
	t.Helper()
	r.describe()
	page, err := report.Build("evaluate", r)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := page.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	r := sampleReport()
	r.Results[0].Calibration = &Calibration{9: {Nodes: 40, Right: 30, Probability: 25}}
	test := r.Significance[0]
	if test.PHolm > Level || test.Difference < 0.4 {
		t.Fatalf("%+v", test)
	}
	contract.CheckPage(t, pageOf(t, r),
		"90 of 100 nodes, 2 classes", "mean of 3 splits (standard error)", "parameters chosen once on 2 further splits of all labels: cwk",
		"Trained on 5 % of the labels, cwk is the most accurate method: 72.0 ± 1.2 %. The next one is majority, with a difference of 41.0 points.",
		"the difference is significant (p value "+html.EscapeString(report.PValue(test.PDraws)), "For other nodes it is significant (p value "+html.EscapeString(report.PValue(test.PHolm)),
		`<span class="mark">*</span><b>72.0 (1.2)</b>`, `<span class="mark">≈</span>31.0 (0.6)`, "alpha = 0.9, steps = 40, plain features, cost = 0.5",
		"a&lt;b",
		`<td>4</td><td>60.0</td><td>75.0</td><td>66.7</td><td style="--shade:15%">25</td><td style="--shade:45%">75</td>`, // precision 3/5, recall 3/4, F1 2·3/9
		`<td>0.625</td><td>0.750</td>`, "Not drawn: the largest class.",
	)
	for i := range r.Results {
		r.Results[i].NodesTested = r.Results[i].NodesTrained / 2
	}
	r.Significance = compare(r.Results[:2])
	page := pageOf(t, r)
	contract.CheckPage(t, page, "is significant (p value", "Other nodes are not tested, because test sets are larger than 40 % of the training sets.")
	if strings.Contains(page, "NaN") || strings.Contains(page, ">p (nodes)<") {
		t.Error("the page has a test that was not made")
	}
	r.Splits = 1
	for i := range r.Results {
		r.Results[i].Accuracies = r.Results[i].Accuracies[:1]
	}
	contract.CheckPage(t, pageOf(t, r), "A single split does not show whether the difference is chance.")
}

func TestPageSize(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, r := range []*Report{wideReport(10, 10, 20), wideReport(2, 1, 1), wideReport(1, 3, 2)} {
		text := pageOf(t, r)
		contract.CheckPage(t, text)
		t.Logf("%d results, %d classes: %d bytes", len(r.Results), len(r.Classes), len(text))
	}
}

func wideReport(methods, sizes, classes int) *Report {
	const seed, splits = 3, 20
	rng := rand.New(rand.NewPCG(seed, 0))
	r := &Report{ClassReport: &ClassReport{TuningSplits: 10}, Sampling: Sampling{Nodes: 19717, Labelled: 19717, Splits: splits, RNGSeed: 1}}
	for i := range classes {
		r.Classes = append(r.Classes, []string{"Theory", "Neural_Networks", "Case_Based", "Genetic_Algorithms"}[i%4]+strconv.Itoa(i))
	}
	names := []string{"cwk", "diffusion+svm", "lgc", "lp", "auto", "beliefs", "cwk:alpha=0.5:steps=5+perceptron", "poisson", "wvrn", "harmonic", "regularized-laplacian+rls", "pagerank+svm"}
	for i := range sizes {
		var results []Result
		f := 0.01 * math.Pow(1.55, float64(i))
		for m := range methods {
			name, base := names[m], 0.6+0.05*float64(i)/2+0.02*float64(m)/2
			if m == methods-1 {
				name, base = "majority", 0.3
			}
			res := Result{
				Measured: (&size{fraction: f}).newResult(name), F1: &F1{rng.Float64()}, ClassMeasures: &ClassMeasures{Confusion: newConfusion(classes),
					MemoryBytes: rng.Int64N(1e8), Seconds: 100 * rng.Float64(), Phases: problem.PhaseSeconds{Classify: math.Exp(10 * rng.Float64())},
					Tuned: onSplits, TuningAccuracy: 0.7},
			}
			res.NodesTested, res.NodesTrained, res.Parameters = 1-f, f, []byte("{}")
			res.Text = "alpha = 0.8, steps = 100, plain features, cost = 2, class-weights equal, strategy one-vs-one, tolerance = 0.001"
			res.Calibration = new(Calibration)
			for b := range res.Calibration {
				n := 100 + rng.IntN(2000)
				p := (float64(b) + 0.5) / calibrationBins
				res.Calibration[b] = Bin{n, int(float64(n) * p * (0.8 + 0.4*rng.Float64())), p * float64(n)}
			}
			for a := range res.Confusion {
				for b := range res.Confusion {
					res.Confusion[a][b] = rng.IntN(100)
				}
				res.Confusion[a][a] += 700
			}
			for range splits {
				res.Accuracies = append(res.Accuracies, base+0.02*rng.NormFloat64())
			}
			res.AccuracyMean, res.AccuracyStderr = meanStderr(res.Accuracies)
			results = append(results, res)
		}
		r.Significance = append(r.Significance, compare(results)...)
		r.Results = append(r.Results, results...)
	}
	return r
}
