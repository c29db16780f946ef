package walks

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestFeaturesOfSample(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 600, 160, 40, 12, 0.05)
	settings := func(memory int64) *engine.Settings {
		grid := contract.Lists(map[string][]param.Value{
			"alpha": param.Grid(0.5), "steps": param.Grid(1, 2, 5), "lambda": param.Grid(0.1, 1), "cost": param.Grid(1),
		}, Plain, Honest)
		return &engine.Settings{Lists: grid, RNGSeed: 1, Memory: memory, Given: param.Values{"epochs": param.Of(2), "vote": param.Of("voted"), "variance": param.Of(10.0)}}
	}
	for _, name := range testgraph.Sample(t, 2, []string{"cwk", "cwk+rls", "cwk+gp", "cwk+perceptron"}) {
		t.Run(name, func(t *testing.T) {
			m := engineOf(t, name)
			predict := func(memory int64) *engine.Prediction {
				t.Helper()
				out, err := m.Predict(t.Context(), p, nil, settings(memory))
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			whole, before := predict(0), maxFeatureBytes
			maxFeatureBytes = 4 * 6 * 40 * 100 // 100 rows of 5 steps
			defer func() { maxFeatureBytes = before }()
			sampled := predict(0)
			if sampled.Parameters.Features() != Honest {
				t.Errorf("%s features", sampled.Parameters.Features())
			}
			memory := memoryOf(t, m, p, settings(1))
			if limited := predict(memory); !slices.Equal(limited.Scores.Data, sampled.Scores.Data) {
				t.Errorf("other scores within %d bytes", memory)
			}
			equal := 0
			for i, c := range whole.Class {
				if sampled.Class[i] == c {
					equal++
				}
			}
			if equal < len(whole.Class)*6/10 {
				t.Errorf("%d of %d nodes have the class that all labels predict", equal, len(whole.Class))
			}
		})
	}
}
