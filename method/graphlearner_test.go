package method

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// The choice of α counts what scores computed without each fold say of it.
func TestSpreadingChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	p := problemtest.Planted(t, 11, 240, 60)
	m := methodOf(t, "lgc")
	out, err := m.Predict(context.Background(), p, nil, &Settings{RNGSeed: 3})
	if err != nil {
		t.Fatal(err)
	}
	fold := validate.Folds(p.Class, 10, 3, 0)
	weight := choose.WeightsOf(p)
	right := func(alpha spec.Value) (hits [10]int, weighted [10]float64) {
		for f := range hits {
			var rest, hidden []int
			for i := range p.Row {
				if fold[i] == f {
					hidden = append(hidden, i)
				} else {
					rest = append(rest, i)
				}
			}
			one, err := m.Predict(context.Background(), p.At(rest), nil, &Settings{Given: spec.Values{"alpha": alpha}})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range hidden {
				if one.Class[p.Row[i]] == p.Class[i] {
					hits[f]++
					weighted[f] += weight[p.Class[i]]
				}
			}
		}
		return hits, weighted
	}
	var hits [][10]int
	var weighted [][10]float64
	grid := propagate.Learners().Named("lgc").Params[0].Grid
	for _, alpha := range grid {
		counted, weighed := right(alpha)
		hits, weighted = append(hits, counted), append(weighted, weighed)
	}
	best := func(without int) (best int) {
		most := -1
		for i, of := range hits {
			sum := 0
			for f, n := range of {
				if f != without {
					sum += n
				}
			}
			if sum > most {
				best, most = i, sum
			}
		}
		return best
	}
	if got, want := out.Parameters.Declared.Values["alpha"], grid[best(-1)]; got != want {
		t.Errorf("α = %v, want %v", got, want)
	}
	told := 0.0
	for f := range 10 {
		told += weighted[best(f)][f]
	}
	// Nodes without an edge count as there are, which differs by less than an answer.
	if out.Tested != 60 || math.Abs(out.Accuracy-told/60) > 0.5/60 || out.Settings != len(grid) {
		t.Errorf("accuracy %v of %d with %d settings, want %v right of 60", out.Accuracy, out.Tested, out.Settings, told)
	}
}

// Labels are those of the largest raw scores, which nothing balances, and probabilities agree with them.
func TestSpreadingScores(t *testing.T) {
	p := problemtest.Planted(t, 12, 200, 40)
	set := &Settings{Given: spec.Values{"balance": spec.Of("none"), "rounds": spec.Of(5), "variance": spec.Of(10.0)}}
	for _, l := range propagate.Learners() {
		m := methodOf(t, l.Name)
		out, err := m.Predict(context.Background(), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		given := map[int]bool{}
		for i, row := range p.Row {
			given[row] = true
			if out.Class[row] != p.Class[i] {
				t.Errorf("%s: labelled node %d changes its class", m.Name(), row)
			}
		}
		for i, class := range out.Class {
			sum := 0.0
			for _, v := range out.Scores.Row(i) {
				sum += float64(v)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("%s: probabilities of node %d sum to %v", m.Name(), i, sum)
			}
			if !given[i] && out.Reached.Contains(uint32(i)) && class != classify.ArgMax(out.Raw.Row(i)) {
				t.Errorf("%s: node %d has class %d, the scores are %v", m.Name(), i, class, out.Raw.Row(i))
			}
		}
	}
}
