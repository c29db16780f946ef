package method_test

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestShares(t *testing.T) {
	all, class := contract.Blocks(t, 3, 2000, 300, 2, 6, 3)
	p := &engine.Problem{Graph: all.Graph, Names: all.Names}
	seen := 0
	for i, c := range all.Class { // every fifth of class 1
		if seen += c; c == 0 || seen%5 == 0 {
			p.Row, p.Class = append(p.Row, all.Row[i]), append(p.Class, c)
		}
	}
	for _, name := range testgraph.Sample(t, 2, []string{"auto", "beliefs", "cwk:alpha=0.5:steps=5+rls:lambda=1"}) {
		entries, err := method.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := method.Settle(t.Context(), entries, "small")
		if err != nil {
			t.Fatal(err)
		}
		if own := entries[0].Settings; own != nil {
			set = own
		}
		set.Workers = 1
		predict := func(p *engine.Problem) (*engine.Prediction, float64) {
			out, err := entries[0].Method.Predict(t.Context(), p, nil, set)
			if err == nil {
				err = entries[0].Method.AdaptToShares(t.Context(), p, out, set)
			}
			if err != nil {
				t.Fatal(name, err)
			}
			return out, contract.Accuracy(p, out.Class, class)
		}
		_, before := predict(p)
		known := *p
		known.Shares = []float64{0.5, 0.5}
		out, after := predict(&known)
		t.Logf("%s: %.3f, with shares %.3f, reported %.3f ± %.3f", name, before, after, out.Accuracy, out.Stderr)
		if after < before+0.02 || math.Abs(out.Accuracy-after) > 3*out.Stderr {
			t.Errorf("%s: %.3f, with shares %.3f, reported %.3f ± %.3f", name, before, after, out.Accuracy, out.Stderr)
		}
		for v := range class {
			if row := out.Scores.Row(v); math.Abs(float64(row[0]+row[1])-1) > 1e-6 {
				t.Fatalf("%s: probabilities %v", name, row)
			}
		}
	}
}

func TestBalancedClasses(t *testing.T) {
	p, class := contract.Blocks(t, 4, 1500, 300, 10, 4, 0.6)
	for _, list := range [][]int{class, p.Class} {
		for i, c := range list {
			list[i] = c / 9
		}
	}
	p.Names = []string{"frequent", "rare"}
	for _, name := range testgraph.Sample(t, 2, []string{"auto", "cwk:alpha=0.5:steps=5+rls:lambda=1", "diffusion:beta=3+rls:lambda=1"}) {
		recall, reported, accuracy := map[string]float64{}, engine.Prediction{}, 0.0
		for _, weights := range []string{"equal", "balanced"} {
			entries, err := method.Parse(name + ":class-weights=" + weights)
			if err == nil {
				_, err = method.Settle(t.Context(), entries, "small")
			}
			if err != nil {
				t.Fatal(err)
			}
			out, err := entries[0].Method.Predict(t.Context(), p, nil, entries[0].Settings)
			if err != nil {
				t.Fatal(err)
			}
			var right, of float64
			for v, c := range class {
				if of += float64(c); c == 1 && out.Class[v] == c {
					right++
				}
			}
			recall[weights], reported, accuracy = right/of, *out, contract.Accuracy(p, out.Class, class)
			declared := out.Parameters.Declared
			isBalanced := declared != nil && declared.Values.Word(classify.WeightsParam.Name) == "balanced"
			if isBalanced != (weights == "balanced") {
				t.Errorf("%s: parameters %v", name, out.Parameters)
			}
		}
		t.Logf("%s: recall %v, accuracy %.3f, reported %.3f ± %.3f", name, recall, accuracy, reported.Accuracy, reported.Stderr)
		if recall["balanced"] < recall["equal"]+0.05 || math.Abs(reported.Accuracy-accuracy) > 3*reported.Stderr {
			t.Errorf("%s: recall %v, accuracy %.3f, reported %.3f ± %.3f", name, recall, accuracy, reported.Accuracy, reported.Stderr)
		}
	}
}
