package method

import (
	"cmp"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestHighest(t *testing.T) {
	p := manyClasses(t)
	p.Row, p.Class = p.Row[:len(p.Row)/2], p.Class[:len(p.Row)/2]
	type limits struct {
		name   string
		memory int64
		given  param.Values
	}
	for _, run := range testgraph.Sample(t, 3, []limits{
		{"lp", 200_000, param.Values{"center": param.Of(false)}},
		{"lp", 200_000, param.Values{"center": param.Of(true)}},
		{"lp", 200_000, param.Values{"alpha": param.Of(0.5)}},
		{"lp", 200_000, param.Values{"steps": param.Of(3), "center": param.Of(true)}},
		{"lgc", 250_000, param.Values{"alpha": param.Of(0.9)}},
		{"wvrn", 250_000, nil},
	}) {
		m, given := methodOf(t, run.name), run.given
		full, err := m.Predict(t.Context(), p, nil, &engine.Settings{Given: given, Top: 3})
		if err != nil {
			t.Fatal(err)
		}
		limited, err := m.Predict(t.Context(), p, nil, &engine.Settings{Given: given, Top: 3, Memory: run.memory})
		if err != nil {
			t.Fatal(err)
		}
		if limited.Highest == nil || limited.Scores != nil || full.Highest != nil {
			t.Fatalf("%s %v: highest scores %v within the limit, %v without", run.name, given, limited.Highest != nil, full.Highest != nil)
		}
		if !slices.Equal(limited.Class, full.Class) {
			t.Errorf("%s %v: other classes within the limit", run.name, given)
		}
		row := make([]float64, len(p.Names))
		for v := range p.Degrees {
			scores := full.Scores.Row(v)
			order := make([]int, len(scores))
			for c := range order {
				order[c] = c
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
			limited.Highest.RowTo(row, v)
			listed := order[:problem.HighestCount]
			if i := slices.Index(p.Row, v); i >= 0 {
				listed = append(listed, p.Class[i])
			}
			for _, c := range listed {
				if float32(row[c]) != scores[c] {
					t.Fatalf("%s %v: node %d has %v for class %d, want %v", run.name, given, v, row[c], c, scores[c])
				}
			}
		}
	}
}
