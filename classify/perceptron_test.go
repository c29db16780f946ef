package classify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestPerceptronGolden(t *testing.T) {
	for _, graph := range goldenGraphs {
		l := newLesson(t, graph)
		for _, vote := range []string{"voted", "averaged", "last"} {
			scores := l.scores(t, "perceptron", param.Values{"epochs": param.Of(10), "vote": param.Of(vote), "class-weights": param.Of("equal")})
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
		for c := range l.g.Classes {
			if c > 0 && graph != "wrand60" {
				break // of which there are no files
			}
			mistaken, err := makeMistakes(t.Context(), l.k, labelledItems(l.y), l.y, slices.Repeat([]float64{1}, len(labelledItems(l.y))), c, 10)
			if err != nil {
				t.Fatal(err)
			}
			items := make([]float64, len(mistaken.item)) // the training nodes come first
			for j, i := range mistaken.item {
				items[j] = float64(i)
			}
			testgraph.Close(t, sparse.BlockOf(len(items), 1, items), l.golden(t, "perceptron_c%d_mistakes.npy", c), 0, 0)
			testgraph.Close(t, sparse.BlockOf(len(mistaken.count), 1, mistaken.count), l.golden(t, "perceptron_c%d_counts.npy", c), 0, 0)
		}
	}
}

// TestPerceptronOnFeatures compares with the algorithm on weights, written plainly.
func TestPerceptronOnFeatures(t *testing.T) {
	p := clouds(4, 50, 5, 3, 0.6) // which overlap
	const epochs = 7
	models := map[string]func(x []float64) []float64{}
	for _, vote := range []string{"voted", "averaged", "last"} {
		m, err := perceptronLearner.fitFeatures(t.Context(), p.f, p.y, p.classes, param.Values{"epochs": param.Of(epochs), "vote": param.Of(vote), "class-weights": param.Of("equal")})
		if err != nil {
			t.Fatal(err)
		}
		models[vote] = m
	}
	for c := range p.classes {
		weights, counts := [][]float64{make([]float64, p.f.Cols)}, []float64{0}
		for range epochs {
			for i := range p.y {
				last := len(weights) - 1
				sign := -1.0
				if p.y[i] == c {
					sign = 1
				}
				if sign*inner(weights[last], p.f.Row(i)) > 0 {
					counts[last]++
					continue
				}
				next := append([]float64(nil), weights[last]...)
				addScaled(next, sign, p.f.Row(i))
				weights, counts = append(weights, next), append(counts, 1)
			}
		}
		for i := range p.y {
			x := p.f.Row(i)
			var votes, mean, last float64
			for j, w := range weights {
				last = inner(w, x)
				mean += counts[j] * last
				if last > 0 {
					votes += counts[j]
				} else if last < 0 {
					votes -= counts[j]
				}
			}
			for vote, want := range map[string]float64{"voted": votes, "averaged": mean, "last": last} {
				within(t, fmt.Sprintf("%s, class %d, item %d", vote, c, i), models[vote](x)[c], want, 1e-8)
			}
		}
	}
}

// likened says which items of a Gram are alike.
type likened struct {
	*denseGram[float64]
	alike []int
}

func (g likened) Alike() []int { return g.alike }

func (g likened) DistinctTo(dst []float64, i int) {
	for j, a := range g.alike {
		dst[a] = g.row(i)[j]
	}
}

// Items that are alike have one score; nothing else changes, of two classes or three.
func TestPerceptronOfAlikeItems(t *testing.T) {
	for _, classes := range []int{2, 3} {
		p := clouds(5, 40, 3, classes, 0.6)
		alike := make([]int, p.f.Rows)
		for i := range alike {
			alike[i] = i % (len(alike) * 2 / 3) // of any class
			copy(p.f.Row(i), p.f.Row(alike[i]))
		}
		n := p.f.Rows
		k := &denseGram[float64]{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
		for i := range n {
			LinearGram(p.f).RowTo(k.Data[i*n:(i+1)*n], i)
		}
		for _, vote := range []string{"voted", "averaged", "last"} {
			v := param.Values{"epochs": param.Of(5), "vote": param.Of(vote), "class-weights": param.Of("equal")}
			plain, err := perceptronLearner.Fit(t.Context(), k, p.y, classes, v)
			if err != nil {
				t.Fatal(err)
			}
			known, err := perceptronLearner.Fit(t.Context(), likened{k, alike}, p.y, classes, v)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				want, got := plain.ScoresTo(nil, k.row(i), 0), known.ScoresTo(nil, k.row(i), 0)
				for c := range want {
					if got[c] != want[c] {
						t.Fatalf("%s: score %d of item %d is %g, want %g", vote, c, i, got[c], want[c])
					}
				}
				if classes == 2 && want[0] != -want[1] {
					t.Fatalf("%s: scores %v of two classes are not each other's rest", vote, want)
				}
			}
			if support := known.Support(); support == 0 || vote != "voted" && support > n {
				t.Errorf("%s: %d support vectors", vote, support)
			}
		}
	}
}
