package method

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// In a graph of so few nodes all free nodes are candidates.
func TestSuggestAgainstDense(t *testing.T) {
	for _, name := range []string{"karate", "wrand60"} {
		g := testgraph.Load(t, name)
		p := contract.ProblemOf(testgraph.Labelled{A: g.A, Degrees: g.Degrees, Row: g.Train, Class: g.TrainClass, Names: g.Classes})
		methods, err := Parse("lp")
		if err != nil {
			t.Fatal(err)
		}
		out, err := methods[0].Method.Predict(t.Context(), p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		suggest := func(s *engine.Settings) []Suggestion {
			list, err := Suggest(t.Context(), out, p, 8, nil, true, s)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		list := suggest(&engine.Settings{Workers: 1})
		for _, s := range []engine.Settings{{Workers: 2}, {Workers: 7}, {Memory: 1}} {
			if again := suggest(&s); !slices.Equal(again, list) {
				t.Errorf("%s: %+v, want %+v", name, again, list)
			}
		}
		n := len(p.Degrees)
		power := mat.NewDense(n, n, nil)
		walk := mat.NewDense(n, n, nil)
		for i := range n {
			power.Set(i, i, 1)
			for j := range n {
				walk.Set(i, j, p.A.(mat.Matrix).At(i, j)/p.Degrees[i])
			}
		}
		heat := mat.DenseCopyOf(power)
		for k := 1; k < heatTerms; k++ {
			power.Mul(walk, power)
			power.Scale(heatTime/float64(k), power)
			heat.Add(heat, power)
		}
		similarity := func(sources []int) []float64 {
			column := make([]float64, n)
			for i := range column {
				for _, u := range sources {
					column[i] += heat.At(i, u)
				}
			}
			largest := slices.Max(column)
			for i := range column {
				column[i] /= largest
			}
			return column
		}
		free := problem.ListUnlabelled(p, nil)
		covered := similarity(p.Row)
		total := 0.0
		for _, v := range free {
			total += math.Sqrt(p.Degrees[v])
		}
		for place, s := range list {
			gains := map[int]float64{}
			best := 0.0
			for _, u := range free {
				for i, x := range similarity([]int{u}) {
					if slices.Contains(free, i) {
						gains[u] += math.Sqrt(p.Degrees[i]) * max(0, x-covered[i]) / total
					}
				}
				best = max(best, gains[u])
			}
			if gain := gains[s.Row]; gain < best*(1-1e-5) || math.Abs(s.Covers-gain) > 1e-5*best {
				t.Errorf("%s: suggestion %d, node %d, covers %v, found anew %v; the best is %v", name, place, s.Row, s.Covers, gain, best)
			}
			if s.Class != slices.Index(out.Scores.Row(s.Row), slices.Max(out.Scores.Row(s.Row))) {
				t.Errorf("%s: node %d is likeliest of class %d; the scores are %v", name, s.Row, s.Class, out.Scores.Row(s.Row))
			}
			for i, x := range similarity([]int{s.Row}) {
				covered[i] = max(covered[i], x)
			}
		}
	}
}

func TestSuggestions(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 500, 30, 3, 4, 0.5)
	methods, err := Parse("lp")
	if err != nil {
		t.Fatal(err)
	}
	out, err := methods[0].Method.Predict(context.Background(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{0, 1, 350, 600} {
		for _, covers := range []bool{false, true} {
			for _, targets := range [][]int{nil, p.Row, problem.ListUnlabelled(p, nil)[:40]} {
				list, err := Suggest(t.Context(), out, p, count, targets, covers, nil)
				if err != nil {
					t.Fatal(err)
				}
				free := problem.ListUnlabelled(p, targets)
				if len(list) != min(count, len(free)) {
					t.Errorf("%d suggestions, want %d of %d nodes", len(list), count, len(free))
				}
				seen := map[int]bool{}
				for _, s := range list {
					if seen[s.Row] || !slices.Contains(free, s.Row) {
						t.Errorf("node %d is suggested twice, or not free", s.Row)
					}
					seen[s.Row] = true
				}
			}
		}
	}
}
