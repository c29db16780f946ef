package items_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// columnsOf returns n items with a number that tells their class for all but a tenth of the items, and a category that some
// lack.
func columnsOf(rng *rand.Rand, n int) (*items.Collection, []int) {
	x := &items.Columns{Block: sparse.NewBlock[float32](n, 2), IsCategory: []bool{false, true}}
	class := make([]int, n)
	for i := range n {
		class[i] = rng.IntN(2)
		x.Row(i)[0] = float32(class[i]) + rng.Float32()/2
		if rng.IntN(10) == 0 {
			x.Row(i)[0] = rng.Float32() * 2
		}
		x.Row(i)[1] = float32(rng.IntN(5))
		if rng.IntN(4) == 0 {
			x.Row(i)[1] = float32(math.NaN())
		}
	}
	c := &items.Collection{IDs: tablefile.Axis{N: n}, Columns: func() *items.Columns { return x }}
	c.Gram = func(_ context.Context, _ *param.Spec, v param.Values, labelled []int) (classify.Gram, param.Values, error) {
		g := sparse.NewBlock[float64](n, n) // tells nothing
		for i := range n {
			g.Row(i)[i] = 1
		}
		return classify.DenseGram(g), v, nil
	}
	return c, class
}

// Trees learn a number that a kernel without information does not tell, ClassifyBest takes them, and its accuracy is of labels
// that are not learned. Results have the same bits for any number of workers, and known items keep their class.
func TestClassifyBest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 300).Draw(rt, "items")
		c, class := columnsOf(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 7)), n)
		labels := rapid.IntRange(1, n).Draw(rt, "labels")
		p := problem.OfItems(n, sched.UpTo(labels), class[:labels], []string{"a", "b", "never"})
		if p.Validate() != nil {
			return
		}
		sources := []*items.Source{c.Source(&param.Spec{Name: "none"}, classify.Learners().Named("svm")), c.Trees()}
		var want *items.Classified
		for _, workers := range []int{1, 2, 7} {
			got, s, err := items.ClassifyBest(t.Context(), sources, p, &engine.Settings{Workers: workers})
			if err != nil {
				rt.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got.Scores.Data, want.Scores.Data) || got.Accuracy != want.Accuracy {
				rt.Fatalf("%d workers find other scores", workers)
			}
			if labels >= 150 && (s != sources[1] || math.Abs(got.Accuracy-0.95) > 0.1) {
				rt.Fatalf("%s with accuracy %v, want trees", s.Spec.Name, got.Accuracy)
			}
			for i := range n {
				sum := 0.0
				for _, q := range got.SharesTo(nil, i) {
					sum += q
				}
				if math.Abs(sum-1) > 1e-9 || i < labels && got.Class[i] != class[i] {
					rt.Fatalf("item %d: class %d, probabilities with the sum %v", i, got.Class[i], sum)
				}
			}
		}
	})
}
