package method

import (
	"context"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestSpreadingChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	p := contract.Planted(t, 11, 240, 60)
	m := methodOf(t, "lgc")
	out, err := m.Predict(context.Background(), p, nil, &engine.Settings{RNGSeed: 3})
	if err != nil {
		t.Fatal(err)
	}
	fold := choose.DrawFolds(p, 10, 3, 0).Of
	weight := choose.WeightsOf(p)
	var reached [10]int
	var of [10]float64
	right := func(alpha param.Value) (hits [10]int, weighted [10]float64) {
		for f := range hits {
			var rest, hidden []int
			for i := range p.Row {
				if fold[i] == f {
					hidden = append(hidden, i)
				} else {
					rest = append(rest, i)
				}
			}
			one, err := m.Predict(context.Background(), p.At(rest), nil, &engine.Settings{Given: param.Values{"alpha": alpha}})
			if err != nil {
				t.Fatal(err)
			}
			reached[f], of[f] = 0, 0
			for _, i := range hidden {
				isReached := one.Reached.Contains(uint32(p.Row[i]))
				if isReached {
					reached[f]++
					of[f] += weight[p.Class[i]]
				}
				if one.Class[p.Row[i]] == p.Class[i] {
					hits[f]++
					if isReached {
						weighted[f] += weight[p.Class[i]]
					}
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
	var settings []param.Values
	for _, alpha := range grid {
		settings = append(settings, param.Values{"alpha": alpha})
	}
	lgc := &propagate.Learners().Named("lgc").Spec
	space := choose.SpaceOf(lgc, settings, param.Values{"alpha": lgc.Params[0].Default})
	best := func(without int) int {
		merit, tested := make([]float64, len(grid)), 0
		for f := range 10 {
			if f == without {
				continue
			}
			for i := range grid {
				merit[i] += float64(hits[i][f])
			}
			for _, of := range fold {
				if of == f {
					tested++
				}
			}
		}
		return space.Best(merit, tested)
	}
	if got, want := out.Parameters.Declared.Values["alpha"], grid[best(-1)]; got != want {
		t.Errorf("α = %v, want %v", got, want)
	}
	want, all, tested := 0.0, 0.0, 0
	for f := range 10 {
		want += weighted[best(f)][f]
		all += of[f]
		tested += reached[f]
	}
	if want /= all; out.Tested != tested || math.Abs(out.Accuracy-want) > 1e-9 || out.Settings != len(grid) {
		t.Errorf("accuracy %v of %d with %d settings, want %v of %d", out.Accuracy, out.Tested, out.Settings, want, tested)
	}
}

func TestSpreadingScores(t *testing.T) {
	p := contract.Planted(t, 12, 200, 40)
	set := &engine.Settings{Raw: true, Given: param.Values{"balance": param.Of("none"), "rounds": param.Of(5), "variance": param.Of(10.0)}}
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
				t.Errorf("%s: labelled node %d changes its class", m.Name, row)
			}
		}
		for i, class := range out.Class {
			sum := 0.0
			for _, v := range out.Scores.Row(i) {
				sum += float64(v)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("%s: probabilities of node %d sum to %v", m.Name, i, sum)
			}
			if !given[i] && out.Reached.Contains(uint32(i)) && class != classify.ArgMax(out.Raw.Row(i)) {
				t.Errorf("%s: node %d has class %d, the scores are %v", m.Name, i, class, out.Raw.Row(i))
			}
		}
	}
}
