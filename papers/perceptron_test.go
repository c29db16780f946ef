package papers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestPerceptronGolden(t *testing.T) {
	for _, graph := range contract.GoldenGraphs {
		l := contract.NewLesson(t, graph)
		for _, vote := range []string{"voted", "averaged", "last"} {
			scores := l.Scores(t, "perceptron", param.Values{"epochs": param.Of(10), "vote": param.Of(vote), "class-weights": param.Of("equal")})
			for c := range scores.Cols {
				name := fmt.Sprintf("%s/perceptron_c%d_%s.npy", graph, c, vote)
				if _, err := os.Stat(filepath.Join(testgraph.Root(t), "testdata", "golden", name)); errors.Is(err, fs.ErrNotExist) {
					continue
				}
				one := sparse.NewBlock[float64](scores.Rows, 1)
				for i := range scores.Rows {
					one.Row(i)[0] = scores.Row(i)[c]
				}
				testgraph.Close(t, one, testgraph.Golden(t, name), 1e-10, 1e-9)
			}
		}
		for c := range l.Graph.Classes {
			if c > 0 && graph != "wrand60" {
				break // other graphs have golden files of one class
			}
			mistaken, err := makeMistakes(t.Context(), l.Gram(), classify.LabelledItems(l.Y), l.Y, nil, c, 10)
			if err != nil {
				t.Fatal(err)
			}
			items := make([]float64, len(mistaken.item)) // the training nodes come first
			for j, i := range mistaken.item {
				items[j] = float64(i)
			}
			testgraph.Close(t, sparse.BlockOf(len(items), 1, items), l.Golden(t, "perceptron_c%d_mistakes.npy", c), 0, 0)
			testgraph.Close(t, sparse.BlockOf(len(mistaken.count), 1, mistaken.count), l.Golden(t, "perceptron_c%d_counts.npy", c), 0, 0)
		}
	}
}

// The reference works on features.
func TestPerceptronOnFeatures(t *testing.T) {
	p := contract.Clouds(4, 50, 5, 3, 0.6) // overlapping clouds
	const epochs = 7
	models := map[string]func(x []float64) []float64{}
	for _, vote := range []string{"voted", "averaged", "last"} {
		m, err := contract.FitFeatures(t.Context(), &perceptron, p.F, p.Y, p.Classes, param.Values{"epochs": param.Of(epochs), "vote": param.Of(vote), "class-weights": param.Of("equal")})
		if err != nil {
			t.Fatal(err)
		}
		models[vote] = m
	}
	for c := range p.Classes {
		weights, counts := [][]float64{make([]float64, p.F.Cols)}, []float64{0}
		for range epochs {
			for i := range p.Y {
				last := len(weights) - 1
				sign := -1.0
				if p.Y[i] == c {
					sign = 1
				}
				if sign*contract.Inner(weights[last], p.F.Row(i)) > 0 {
					counts[last]++
					continue
				}
				next := append([]float64(nil), weights[last]...)
				simd.AddScaled(next, sign, p.F.Row(i))
				weights, counts = append(weights, next), append(counts, 1)
			}
		}
		for i := range p.Y {
			x := p.F.Row(i)
			var votes, mean, last float64
			for j, w := range weights {
				last = contract.Inner(w, x)
				mean += counts[j] * last
				if last > 0 {
					votes += counts[j]
				} else if last < 0 {
					votes -= counts[j]
				}
			}
			for vote, want := range map[string]float64{"voted": votes, "averaged": mean, "last": last} {
				contract.Within(t, fmt.Sprintf("%s, class %d, item %d", vote, c, i), models[vote](x)[c], want, 1e-8)
			}
		}
	}
}
