package evaluate

import (
	"context"
	"testing"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// A coarse grid reaches the accuracies of the paper (72.1 and 76.0 % for plain features).
func TestCoraAccuracy(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of walks")
	}
	p := problemOf(testgraph.Cora(t))
	methods, err := method.Parse("cwk")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range testgraph.Sample(t, 1, []struct {
		grid map[string][]param.Value
		want [2]float64 // accuracies at 5 and 10 %
	}{
		{contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.8, 0.99), "steps": param.Grid(40, 100), "cost": param.Grid(0.5, 2)}, walks.Plain), [2]float64{0.721, 0.76}},
		{contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.8, 0.99), "steps": param.Grid(200), "cost": param.Grid(32, 128)}, walks.Honest), [2]float64{0.73, 0.766}},
	}) {
		fractions := []float64{0.05, 0.1}
		if test.grid["features"][0] == param.Of(walks.Honest) && !testgraph.Hunt { // the cost is 128
			fractions = fractions[:1]
		}
		r, err := Run(context.Background(), p, &Plan{
			Methods: methods, Fractions: fractions, Splits: 4, TuningSplits: 3,
			Settings: &engine.Settings{Lists: test.grid, RNGSeed: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range fractions {
			res, base := r.result("cwk", f), r.result("majority", f)
			t.Logf("%v %%, %v: %.4f (%.4f), rng seed 1", 100*f, res.Text, res.AccuracyMean, res.AccuracyStderr)
			if res.AccuracyMean < test.want[i] || base.AccuracyMean > 0.31 {
				t.Errorf("accuracy %v, majority %v", res.AccuracyMean, base.AccuracyMean)
			}
		}
	}
}
