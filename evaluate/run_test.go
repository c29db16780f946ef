package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	p := planted(t, 9, 200, 150)
	methods, err := method.Parse("cwk,auto,cwk+centroid,cwk+rls,lp")
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	plan := &Plan{
		Methods: methods, Fractions: []float64{0.2, 0.4}, Splits: 4, TuningSplits: 2,
		Settings: &engine.Settings{Lists: tinyGrid, RNGSeed: 3, Workers: 1},
		Progress: func(method string, done, total int64) {
			if done > int64(steps) {
				steps++
			}
			if done != int64(steps) || total != 48 || method == "" {
				t.Errorf("progress %d of %d of %s after %d steps", done, total, method, steps)
			}
		},
	}
	r, err := Run(context.Background(), p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 12 || steps != 48 || len(r.Significance) != 30 {
		t.Fatalf("%d results, %d steps, %d tests", len(r.Results), steps, len(r.Significance))
	}
	for _, res := range r.Results {
		total := 0
		for _, row := range res.Confusion {
			for _, n := range row {
				total += n
			}
		}
		if want := 4 * (150 - int(math.Round(150*res.TrainFraction))); total != want {
			t.Errorf("%s: %d nodes in the confusion, want %d", res.Method, total, want)
		}
		if mean, stderr := meanStderr(res.Accuracies); mean != res.AccuracyMean || stderr != res.AccuracyStderr {
			t.Errorf("%s: %v ± %v", res.Method, res.AccuracyMean, res.AccuracyStderr)
		}
		if math.Abs(accuracyOf(res.Confusion)-res.AccuracyMean) > 1e-15 {
			t.Errorf("%s: the confusion gives %v, the splits %v", res.Method, accuracyOf(res.Confusion), res.AccuracyMean)
		}
		tuned := strings.HasPrefix(res.Method, "cwk")
		if want := map[bool]string{true: onSplits, false: map[string]string{"auto": inside}[res.Method]}[tuned]; res.Tuned != want {
			t.Errorf("%s: tuned %q, want %q", res.Method, res.Tuned, want)
		}
		if (res.Parameters != nil) != tuned || len(res.ParametersBySplit) != 0 {
			t.Errorf("%s: parameters %v, by split %v", res.Method, res.Parameters, res.ParametersBySplit)
		}
		if res.Method == "majority" && res.MacroF1 > 0.3 {
			t.Errorf("majority: macro-F1 %v", res.MacroF1)
		}
	}
	lp, base := r.result("lp", 0.4), r.result("majority", 0.4)
	if lp.AccuracyMean <= base.AccuracyMean {
		t.Errorf("lp %v, majority %v on a graph of blocks", lp.AccuracyMean, base.AccuracyMean)
	}
	plan.Progress = nil
	plan.Settings.Workers = 7 // predictions are made side by side
	again, err := Run(context.Background(), p, plan)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again.Results {
		r.Results[i].Seconds, again.Results[i].Seconds = 0, 0
		r.Results[i].SecondsPrediction, again.Results[i].SecondsPrediction = 0, 0
		r.Results[i].Phases, again.Results[i].Phases = problem.PhaseSeconds{}, problem.PhaseSeconds{}
		r.Results[i].MemoryBytes, again.Results[i].MemoryBytes = 0, 0 // more for several workers
		if diff := cmp.Diff(jsonOf(t, r.Results[i]), jsonOf(t, again.Results[i])); diff != "" {
			t.Error(diff)
		}
	}
}

func jsonOf(t *testing.T, x any) string {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRunPerClassAndGiven(t *testing.T) {
	p := planted(t, 9, 200, 150)
	methods, err := method.Parse("lp")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), p, &Plan{Methods: methods, PerClass: []int{4}, Splits: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Results[0]; got.TrainPerClass != 4 || got.TrainFraction != 12.0/150 || len(got.Accuracies) != 3 {
		t.Errorf("%+v", got)
	}
	s, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err = Run(context.Background(), p, &Plan{Methods: methods, Given: []choose.Split{s.At(0)}, TuningSplits: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r.Splits != 1 || r.TuningSplits != 0 || r.Results[0].TrainFraction != 0.5 {
		t.Errorf("%+v", r)
	}
	var few *choose.SplitError
	if _, err := Run(context.Background(), p, &Plan{Methods: methods, Fractions: []float64{0.5, 0.001}}); !errors.As(err, &few) {
		t.Errorf("%v", err)
	}
}

func TestQuality(t *testing.T) {
	p := planted(t, 9, 100, 80)
	methods, err := method.Parse("lp,lgc")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), p, &Plan{Methods: methods, Fractions: []float64{0.3}, Splits: 3})
	if err != nil {
		t.Fatal(err)
	}
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.3}, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	for at, m := range methods {
		var logs, squares, all, macro float64
		for i := range 3 {
			train, present := keepLabelledClasses(p.At(splits.At(i).Train))
			out, err := m.Method.Predict(context.Background(), train, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			table := newConfusion(len(p.Names))
			for _, x := range splits.At(i).Test {
				all++
				table[p.Class[x]][present[out.Class[p.Row[x]]]]++
				for c, q := range out.Scores.Row(p.Row[x]) {
					if present[c] == p.Class[x] {
						logs -= math.Log(max(float64(q), 0x1p-23))
						squares += (1 - float64(q)) * (1 - float64(q))
					} else {
						squares += float64(q) * float64(q)
					}
				}
			}
			macro += table.macroF1(len(table))
		}
		if got := r.Results[at].MacroF1; math.Abs(got-macro/3) > 1e-12 {
			t.Errorf("%s: macro-F1 %v, want %v", m.Name, got, macro/3)
		}
		q := r.Results[at].Quality
		if math.Abs(*q.LogLoss-logs/all) > 1e-12 || math.Abs(*q.Brier-squares/all) > 1e-12 {
			t.Errorf("%s: log-loss %v, want %v; Brier %v, want %v", m.Name, *q.LogLoss, logs/all, *q.Brier, squares/all)
		}
		if !(*q.AUC > 0.6) || !(*q.AveragePrecision > 0.4) || !(*q.CalibrationError < 0.5) {
			t.Errorf("%s: AUC %v, AP %v, ECE %v on a graph of three blocks", m.Name, *q.AUC, *q.AveragePrecision, *q.CalibrationError)
		}
	}
}

func sampleReport() *Report {
	r := &Report{Classes: []string{"a<b", "c"}, ClassReport: &ClassReport{TuningSplits: 2}, Sampling: Sampling{Nodes: 100, Labelled: 90, Splits: 3, RNGSeed: 7}}
	r.Protocol = r.drawn()
	cost := &engine.Setting{Spec: &classify.Learners().Named("svm").Spec, Values: param.Values{"cost": param.Of(0.5)}}
	chosen := onWalk(0.9, 40, cost)
	par, err := json.Marshal(chosen)
	if err != nil {
		panic(err)
	}
	add := func(method string, fraction float64, par json.RawMessage, accuracies ...float64) Result {
		res := Result{
			Measured: (&size{fraction: fraction}).newResult(method), F1: &F1{0.69}, ClassMeasures: &ClassMeasures{Accuracies: accuracies, Confusion: [][]int{{3, 1}, {2, 4}},
				Seconds: 1.25, NodesReached: 10, MemoryBytes: 3_000_000},
		}
		res.NodesTested, res.NodesTrained, res.Parameters = 10, 80, par
		if par != nil {
			res.Tuned, res.Text = onSplits, chosen.String()
		}
		res.AccuracyMean, res.AccuracyStderr = meanStderr(accuracies)
		return res
	}
	for _, results := range [][]Result{
		{add("cwk", 0.05, par, 0.7, 0.72, 0.74), add("majority", 0.05, nil, 0.3, 0.31, 0.32)},
		{add("cwk", 0.1, par, 0.7, 0.3, 0.5), add("majority", 0.1, nil, 0.3, 0.31, 0.32)},
	} {
		r.Significance = append(r.Significance, compare(results)...)
		r.Results = append(r.Results, results...)
	}
	share := func(x float64) *float64 { return &x }
	r.Results[0].Quality = Quality{
		AveragePrecision: share(0.8125), AUC: share(0.9), LogLoss: share(0.7), Brier: share(0.4),
	}
	r.describe()
	return r
}

func TestWriteText(t *testing.T) {
	const want = `accuracy %, mean of 3 splits (standard error)
           5 %          10 %
cwk      * 72.0 (1.2) * 50.0 (11.5)
majority   31.0 (0.6) ≈ 31.0 (0.6)
` + legend + `
parameters chosen once on 2 further splits of all labels: cwk
cwk at 5 %: alpha = 0.9, steps = 40, plain features, cost = 0.5
cwk at 10 %: alpha = 0.9, steps = 40, plain features, cost = 0.5

method     trained on   macro-F1 %   AP %   AUC %   log-loss   Brier
cwk        5 %          69.0         81.2   90.0    0.700      0.400
cwk        10 %         69.0         –      –       –          –
majority   5 %          69.0         –      –       –          –
majority   10 %         69.0         –      –       –          –
`
	var b strings.Builder
	if err := sampleReport().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestReportJSON(t *testing.T) {
	res := sampleReport().Results[0]
	res.AccuracyMean, res.AccuracyStderr = 0.72, 0.0115
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"method":"cwk","train_fraction":0.05,"trained_on":"5 %","mark":"*","standing":"best","nodes_trained":80,"nodes_tested":10,` +
		`"parameters":{"alpha":0.9,"cost":0.5,"features":"plain","min_steps":0,"steps":40},"parameters_text":"alpha = 0.9, steps = 40, plain features, cost = 0.5",` +
		`"accuracy_mean":0.72,"accuracy_stderr":0.0115,"accuracies":[0.7,0.72,0.74],"accuracy_reached":0,"nodes_reached":10,"average_precision":0.8125,"auc":0.9,` +
		`"log_loss":0.7,"brier":0.4,"calibration_error":null,"confusion":[[3,1],[2,4]],` +
		`"tuned":"splits","memory_bytes":3000000,"seconds":1.25,"seconds_prediction":0,"seconds_by_phase":{"choose":0,"walk":0,"classify":0},"macro_f1":0.69}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}

func (r *Report) result(method string, fraction float64) *Result {
	for i := range r.Results {
		if res := &r.Results[i]; res.Method == method && res.TrainFraction == fraction {
			return res
		}
	}
	return nil
}
