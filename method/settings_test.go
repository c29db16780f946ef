package method

import (
	"errors"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method/split"
)

// TestSettingsOutOfRange tests that errors name the settings that are out of range.
func TestSettingsOutOfRange(t *testing.T) {
	a := testgraph.Path(6)
	p := &Problem{Graph: &graph.Graph{A: a, Degrees: []float64{1, 2, 2, 2, 2, 1}}, Row: []int{0, 1, 4, 5}, Class: []int{0, 0, 1, 1}, Names: []string{"a", "b"}}
	for _, name := range []string{"cwk", "diffusion+rls", "gp-transduction"} {
		m, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		for want, s := range map[string]*Settings{
			"folds: 1":   {Folds: 1},
			"folds: -2":  {Folds: -2},
			"sample: -1": {Sample: -1},
		} {
			if _, err := m[0].Method.Predict(t.Context(), p, nil, s); !errors.Is(err, split.ErrUsage) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}
