package auto

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// The class is the exclusive or of two columns, which no logistic regression on columns can learn.
func TestTreesLearnExclusiveOr(t *testing.T) {
	p, _ := contract.Blocks(t, 5, 900, 300, 2, 4, 1)
	rng := rand.New(rand.NewPCG(3, 4))
	p.Attributes = &sparse.Table{Rows: 900, Cols: 2}
	class := make([]int, 900)
	for v := range class {
		x, y := rng.Float32(), rng.Float32()
		class[v] = boolean((x > 0.5) != (y > 0.5))
		p.Attributes.Set(v, []float32{x, y})
	}
	isLabelled := make([]bool, 900)
	for i, v := range p.Row {
		p.Class[i] = class[v]
		isLabelled[v] = true
	}
	set := &settings{Settings: engine.Settings{Workers: 1}}
	out := evident(t, p, set)
	right, tested := 0.0, 0.0
	for v, c := range class {
		if !isLabelled[v] {
			tested++
			right += float64(boolean(out.Class[v] == c))
		}
	}
	if accuracy := right / tested; accuracy < 0.88 || out.Accuracy < accuracy-0.06 || out.Accuracy > accuracy+0.06 {
		t.Errorf("accuracy %.3f, estimate %.3f", accuracy, out.Accuracy)
	}
	if again := evident(t, p, &settings{Settings: engine.Settings{Workers: 3}}); !slices.Equal(again.Scores.Data, out.Scores.Data) {
		t.Error("3 workers: other probabilities")
	}
	kept := evident(t, p, &settings{choice: out.Mixed.(*Choice)})
	if !slices.Equal(kept.Scores.Data, out.Scores.Data) {
		t.Error("a kept choice: other probabilities")
	}

	explained := evident(t, p, &settings{Settings: engine.Settings{Raw: true, Explain: true}})
	list, err := explained.Explain(t.Context(), p, sched.UpTo(900), &explain.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	covered := 0.0
	for _, e := range list {
		if e.Error > 1e-5*(1+e.Sizes) {
			t.Fatalf("the terms differ from the score by %v: %+v", e.Error, e)
		}
		for _, a := range e.Attributes {
			covered += a.Share / e.Score / 900
		}
	}
	if covered < 0.7 {
		t.Errorf("attributes, which decide the class, cover %.2f of the scores", covered)
	}
}
