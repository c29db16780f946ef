package evaluate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestRunOnLabels(t *testing.T) {
	g := testgraph.Planted(t, 7, 80, 40)
	p := &engine.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Names: g.Names}
	labels := len(g.Names)
	sets := make([][]int, len(g.Row))
	for i, c := range g.Class {
		if sets[i] = []int{c}; i%3 == 0 {
			sets[i] = append(sets[i], (c+1)%labels)
		}
		for _, c := range sets[i] {
			p.Row, p.Class = append(p.Row, g.Row[i]), append(p.Class, c)
		}
	}
	learner := regression.NewLabelLearner(p, nil)
	const splits, fraction = 3, 0.6
	run := func(workers int) *Report {
		r, err := Run(t.Context(), p, &Plan{Several: true, Fractions: []float64{fraction}, Splits: splits, Settings: &engine.Settings{RNGSeed: 5, Workers: workers}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	got := run(1)
	if diff := cmp.Diff(got, run(7), cmp.AllowUnexported(Report{}, Result{})); diff != "" {
		t.Errorf("seven workers measure otherwise:\n%s", diff)
	}
	var page strings.Builder
	if err := got.WriteText(&page); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"micro-F1, threshold", fmt.Sprintf("%.1f", 100*got.Results[0].MicroF1), "mean of 3 splits (standard error)"} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("the report lacks %q:\n%s", part, page.String())
		}
	}
	draw, err := choose.Draw(make([]int, len(sets)), choose.Design{Fraction: fraction}, splits, 5)
	if err != nil {
		t.Fatal(err)
	}
	var want, frequent [4]float64
	for s := range splits {
		split := draw.At(s)
		model, err := learner.Fit(t.Context(), split.Train)
		if err != nil {
			t.Fatal(err)
		}
		counts, limit := learner.Frequent(split.Train)
		a, b := learner.F1(split.Test, model.Threshold, model.Probabilities), learner.F1(split.Test, limit, func(int) []float64 { return counts })
		for k := range want {
			want[k], frequent[k] = want[k]+a[k]/splits, frequent[k]+b[k]/splits
		}
	}
	learned, majority := got.Results[0], got.Results[1]
	for _, r := range []struct {
		got  Result
		want [4]float64
	}{{learned, want}, {majority, frequent}} {
		for k, got := range []float64{r.got.MicroF1, r.got.MacroF1, r.got.ThresholdMicroF1, r.got.ThresholdMacroF1} {
			if math.Abs(got-r.want[k]) > 1e-12 {
				t.Errorf("%s: measure %d is %v, want %v", r.got.Method, k, got, r.want[k])
			}
		}
	}
}
