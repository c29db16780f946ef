package propagate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestWVRNAgainstPlain(t *testing.T) {
	for _, name := range []string{"karate", "wrand60"} {
		g := testgraph.Load(t, name)
		seeds := cwk.Seeds{Row: g.Train, Class: g.TrainClass, Classes: len(g.Classes)}
		n, k := len(g.Degrees), seeds.Classes
		step := contract.Transition(t, g.A)
		for _, given := range []param.Values{nil, {"rounds": param.Of(3), "decay": param.Of(0.5)}, {"rounds": param.Of(0)}} {
			rounds, decay := 99, 0.99
			if given.Has("rounds") {
				rounds = given.Int("rounds")
			}
			if given.Has("decay") {
				decay = given.Number("decay")
			}
			p := make([][]float64, n)
			for i := range p {
				p[i] = make([]float64, k)
				for _, c := range g.TrainClass {
					p[i][c] += 1 / float64(len(g.Train))
				}
			}
			weight := 1.0
			for round := 0; round <= rounds; round++ {
				next := make([][]float64, n)
				for i := range n {
					next[i] = slices.Clone(p[i])
					for c := range k {
						vote := 0.0
						for j := range n {
							vote += step.At(i, j) * p[j][c]
						}
						if round > 0 { // the first passage only sets the labels
							next[i][c] = weight*vote + (1-weight)*p[i][c]
						}
					}
				}
				for a, i := range g.Train {
					next[i] = make([]float64, k)
					next[i][g.TrainClass[a]] = 1
				}
				if p = next; round > 0 {
					weight *= decay
				}
			}
			got := contract.Scores(t, propagate.Learners().Named("wvrn"), contract.GraphOf(t, g.A, 0), []cwk.Seeds{seeds}, given, nil)
			for i := range n {
				for c, want := range p[i] {
					if d := math.Abs(got.Row(i)[c] - want); !(d <= 1e-13*float64(rounds+1)) {
						t.Fatalf("%s, %v: node %d has class %d with %v, want %v", name, given, i, c, got.Row(i)[c], want)
					}
				}
			}
		}
	}
}
