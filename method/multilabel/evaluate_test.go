package multilabel

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// TestEvaluate compares each split with a model of its training nodes, and with the most frequent
// labels of these.
func TestEvaluate(t *testing.T) {
	g := testgraph.Planted(t, 7, 80, 40)
	p := &method.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Names: g.Names}
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
	columns, err := newColumns(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	const splits, fraction = 3, 0.6
	run := func(workers int) *Report {
		r, err := Evaluate(t.Context(), p, []float64{fraction}, splits, &method.Settings{RNGSeed: 5, Workers: workers}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	got := run(1)
	if diff := cmp.Diff(got, run(7), cmp.AllowUnexported(Result{}, param.Value{})); diff != "" {
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
	draw, err := split.Draw(make([]int, len(sets)), split.Design{Fraction: fraction}, splits, 5)
	if err != nil {
		t.Fatal(err)
	}
	var micro, macro, frequentMicro, thresholdMicro float64
	for s := range splits {
		split := draw.At(s)
		var node []int
		var own, truth [][]int
		count := make([]float64, labels)
		for _, i := range split.Train {
			node, own = append(node, g.Row[i]), append(own, sets[i])
			for _, c := range sets[i] {
				count[c]++
			}
		}
		model, err := fit(t.Context(), columns, node, own, labels, nil)
		if err != nil {
			t.Fatal(err)
		}
		var scores, frequent [][]float64
		for _, i := range split.Test {
			truth, frequent = append(truth, sets[i]), append(frequent, count)
			scores = append(scores, model.probabilitiesTo(make([]float64, labels), g.Row[i]))
		}
		a, b := labelF1(truth, labels, func(i int) []float64 { return scores[i] })
		c, _ := labelF1(truth, labels, func(i int) []float64 { return frequent[i] })
		d, _ := setF1(truth, labels, func(i int) []int { return above(scores[i], model.Threshold) })
		thresholdMicro += d / splits
		micro, macro, frequentMicro = micro+a/splits, macro+b/splits, frequentMicro+c/splits
	}
	learned, majority := got.Results[0], got.Results[1]
	if math.Abs(learned.MicroF1-micro) > 1e-12 || math.Abs(learned.MacroF1-macro) > 1e-12 || math.Abs(majority.MicroF1-frequentMicro) > 1e-12 {
		t.Errorf("%v, %v and %v, want %v, %v and %v", learned.MicroF1, learned.MacroF1, majority.MicroF1, micro, macro, frequentMicro)
	}
	if math.Abs(learned.ThresholdMicroF1-thresholdMicro) > 1e-12 {
		t.Errorf("%v above a threshold, want %v", learned.ThresholdMicroF1, thresholdMicro)
	}
}
