package method

import (
	"cmp"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// TestHighest checks that label propagation within a small limit has the classes and the three highest scores of the
// run without a limit, to the bit, for the harmonic function and for walks.
func TestHighest(t *testing.T) {
	p := manyClasses(t)
	m := methodOf(t, "lp")
	for _, given := range []param.Values{
		{"center": param.Of(false)}, {"center": param.Of(true)}, {"alpha": param.Of(0.5)}, {"steps": param.Of(3), "center": param.Of(true)},
	} {
		full, err := m.Predict(t.Context(), p, nil, &Settings{Given: given, Top: 3})
		if err != nil {
			t.Fatal(err)
		}
		limited, err := m.Predict(t.Context(), p, nil, &Settings{Given: given, Top: 3, Memory: 200_000})
		if err != nil {
			t.Fatal(err)
		}
		if limited.Highest == nil || limited.Scores != nil || full.Highest != nil {
			t.Fatalf("%v: highest scores %v within the limit, %v without", given, limited.Highest != nil, full.Highest != nil)
		}
		if !slices.Equal(limited.Class, full.Class) {
			t.Errorf("%v: other classes within the limit", given)
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
			for _, c := range order[:problem.HighestCount] {
				if float32(row[c]) != scores[c] {
					t.Fatalf("%v: node %d has %v for class %d, want %v", given, v, row[c], c, scores[c])
				}
			}
		}
	}
}
