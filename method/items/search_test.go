package items_test

import (
	"context"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// The kernel separates the two classes if its parameter is 2, and is constant otherwise.
func separating(class []int) (*items.Source, *engine.Problem) {
	p := problem.OfItems(len(class), sched.UpTo(len(class)), class, []string{"a", "b"})
	kernel := &param.Spec{Name: "separating", Params: []param.Param{
		{Name: "beta", Range: param.From(0), Default: param.Of(1.0), Grid: []param.Value{param.Of(1.0), param.Of(2.0), param.Of(3.0)}},
	}}
	c := &items.Collection{IDs: tablefile.Axis{N: len(class)}}
	c.Gram = func(_ context.Context, _ *param.Spec, v param.Values, items []int) (classify.Gram, param.Values, error) {
		n := len(items)
		g := sparse.BlockOf(n, n, make([]float64, n*n))
		for i, a := range items {
			for j, b := range items {
				if i == j || !(v.Has("beta") && v.Number("beta") == 2) || class[a] == class[b] {
					g.Data[i*n+j] = 1
				}
			}
		}
		return classify.DenseGram(g), v, nil
	}
	return c.Source(kernel, classify.Learners().Named("svm")), p
}

func TestSearch(t *testing.T) {
	class := []int{0, 1, 1, 0, 1, 1, 0, 1, 1, 0}
	s, p := separating(class)
	set := new(engine.Settings)
	c, err := s.Classify(t.Context(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	costs := len(s.Learner.Param("cost").Grid)
	if c.Values.Number("beta") != 2 || c.Accuracy != 1 || c.Tested != 10 || c.Settings != 3+costs {
		t.Errorf("%+v, want beta 2, all of 10 right, %d settings", c.Values, 3+costs)
	}
	// The accuracy is the share of the larger class.
	set.Given = param.Values{"beta": param.Of(3.0), "cost": param.Of(1.0)}
	if c, err = s.Classify(t.Context(), p, set); err != nil {
		t.Fatal(err)
	}
	if c.Values.Number("beta") != 3 || c.Values.Number("cost") != 1 || c.Accuracy != 0.6 || c.Settings != 1 {
		t.Errorf("%+v, want beta 3, 6 of 10 right, one setting", c.Values)
	}
	// Of two labels none can be hidden.
	few, two := separating([]int{0, 1})
	set.Given = nil
	if c, err = few.Classify(t.Context(), two, set); err != nil || c.Values.Number("beta") != 1 || c.Settings != 1 || c.Tested != 0 || !choose.TooFew(two.Class) {
		t.Errorf("%+v, %v, want the defaults", c.Values, err)
	}
}
