package evaluate

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// On a path the harmonic function is linear between known numbers.
func TestRunOnNumbers(t *testing.T) {
	g, err := graph.New(t.Context(), testgraph.Path(9), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &engine.Problem{Graph: g}
	for i := range 9 {
		p.Row, p.Value = append(p.Row, i), append(p.Value, float64(i))
	}
	p.Value[1] = 3
	methods, err := method.ParseList("harmonic", engine.Numbers)
	if err != nil {
		t.Fatal(err)
	}
	plan := &Plan{Methods: methods, Given: []choose.Split{{Train: []int{0, 4, 8}, Test: []int{1, 2, 3, 6}}}}
	r, err := Run(t.Context(), p, plan)
	if err != nil {
		t.Fatal(err)
	}
	// Known are 0, 4 and 8; test nodes have 3, 2, 3 and 6, with mean 3.5 and variance 9/4.
	for i, want := range []struct {
		method   string
		sum, abs float64 // sums of squared and absolute errors
	}{
		{"mean", 1 + 4 + 1 + 4, 1 + 2 + 1 + 2},               // 4
		{"mean of neighbours", 9 + 4 + 1 + 4, 3 + 2 + 1 + 2}, // 0, 4 (no known neighbour), 4, 4
		{"harmonic", 4, 2},                                   // 1, 2, 3, 6
	} {
		got := r.Results[i]
		if got.Method != want.method || math.Abs(got.RMSE-math.Sqrt(want.sum/4)) > 1e-9 || math.Abs(got.MAE-want.abs/4) > 1e-9 || math.Abs(got.R2-(1-want.sum/9)) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", got.Method, got.Errors, want)
		}
	}
	if r.Results[2].Standing != first || r.Results[2].NodesTrained != 3 || r.Results[2].NodesTested != 4 {
		t.Errorf("%+v", r.Results[2])
	}
}

func TestValuesReports(t *testing.T) {
	g, err := graph.New(t.Context(), testgraph.Path(60), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &engine.Problem{Graph: g}
	for i := range 60 {
		p.Row, p.Value = append(p.Row, i), append(p.Value, math.Cos(float64(i)/9))
	}
	methods, err := method.ParseList("harmonic,hops", engine.Numbers)
	if err != nil {
		t.Fatal(err)
	}
	plan := &Plan{Methods: methods, Fractions: []float64{0.3, 0.6}, Splits: 3}
	var texts []string
	for _, workers := range []int{1, 3} {
		plan.Settings = &engine.Settings{Workers: workers, RNGSeed: 2}
		r, err := Run(t.Context(), p, plan)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"trained on   method", "\n60 %       ", "* least RMSE, ≈ not significantly larger"} {
			if !strings.Contains(text.String(), part) {
				t.Errorf("the text lacks %q:\n%s", part, text.String())
			}
		}
		if !strings.Contains(r.Summary, "Trained on 60 % of the numbers, harmonic has the least RMSE") {
			t.Errorf("summary %q", r.Summary)
		}
		texts = append(texts, text.String())
	}
	if texts[0] != texts[1] {
		t.Errorf("workers change the report:\n%s\n%s", texts[0], texts[1])
	}
}
