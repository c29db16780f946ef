package ongram

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/papers/graphs"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

func opened(t *testing.T, made *graphfile.Collection, set *graphs.Settings) *items.Collection {
	t.Helper()
	c, err := (&collection{in: &items.Input{Command: "classify"}, graphs: made, set: set}).items(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnGraphs(t *testing.T) {
	made := contract.Molecules(120, 16, 2, 0, 3)
	var row, class, truth []int
	for i, name := range made.Class {
		c, err := strconv.Atoi(name)
		if err != nil {
			t.Fatal(err)
		}
		if truth = append(truth, c); i%2 == 0 {
			row, class = append(row, i), append(class, c)
		}
	}
	for _, name := range []string{"label-pair", "tanimoto"} {
		var first *engine.Prediction
		for _, workers := range []int{1, 7} {
			c := opened(t, made, &graphs.Settings{Workers: workers, Cosine: true})
			p := problem.OfItems(len(made.Graphs), row, class, []string{"0", "1"})
			m := c.Source(&graphs.Kernels().Named(name).Spec, classify.Learners().Named("svm"))
			m.Calibrate = true
			given := param.Values{"cost": param.Of(10.0), "parts": param.Of("edges")}
			out, err := m.Engine().Predict(t.Context(), p, nil, &engine.Settings{Given: given})
			if err != nil {
				t.Fatal(err)
			}
			v := out.Parameters.Declared.Values
			if v.Number("cost") != 10 || name == "tanimoto" && v.Word("parts") != "edges" {
				t.Errorf("%s: %v, want cost 10 and edges", m.Spec.Name, out.Parameters)
			}
			right := 0
			for i, c := range truth {
				if i%2 == 1 && out.Class[i] == c {
					right++
				}
			}
			if right < 50 || out.Tested != 60 || out.Accuracy < 0.85 {
				t.Errorf("%s: %d of 60 right, %v of %d in cross-validation", m.Spec.Name, right, out.Accuracy, out.Tested)
			}
			if first == nil {
				first = out
			} else if !slices.Equal(out.Class, first.Class) || !slices.Equal(out.Scores.Data, first.Scores.Data) {
				t.Errorf("%s: 7 workers predict otherwise", m.Spec.Name)
			}
		}
	}
}

// The iteration limit is reported, and votes are given.
func TestUnfinished(t *testing.T) {
	made := contract.Molecules(12, 12, 2, 0, 3)
	c := opened(t, made, &graphs.Settings{Cosine: true})
	p := problem.OfItems(len(made.Graphs), []int{0, 1, 2, 3}, []int{0, 1, 0, 1}, []string{"0", "1"})
	limited := *classify.Learners().Named("centroid")
	var model *classify.Model
	limited.Fit = func(ctx context.Context, k classify.Gram, y []int, classes int, v param.Values) (_ *classify.Model, err error) {
		if model, err = classify.Learners().Named("centroid").Fit(ctx, k, y, classes, v); err == nil {
			err = classify.ErrIterationLimit
		}
		return model, err
	}
	m := c.Source(&graphs.Kernels().Named("tanimoto").Spec, &limited)
	m.Calibrate = true
	out, err := m.Engine().Predict(t.Context(), p, &engine.Parameters{Declared: &engine.Setting{}}, &engine.Settings{})
	if err != nil || out.Unfinished == "" {
		t.Fatalf("%v, unfinished %q", err, out.Unfinished)
	}
	k, _, err := c.Gram(t.Context(), &graphs.Kernels().Named("tanimoto").Spec, out.Parameters.Declared.Values, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, k.Len())
	for i := range row {
		k.RowTo(row, i)
		votes := classify.SoftVotes(nil, model.Pairs, model.ScoresTo(nil, row, row[i]), 1)
		for c, want := range votes {
			if got := out.Scores.Row(i)[c]; got != float32(want) {
				t.Fatalf("graph %d: %v, want votes %v", i, out.Scores.Row(i), votes)
			}
		}
	}
}
