package method

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Trials are the same for any number of threads, with what they count of their work.
func TestTrialsOfThreads(t *testing.T) {
	grid := &Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.1, 0.5, 0.9), "steps": spec.Grid(1, 4), "cost": spec.Grid(0.5, 4)}, Features: []Features{Plain}}
	var want *Trials
	for _, threads := range []int{1, 2, 7} {
		p := problemtest.Planted(t, 1, 80, 40) // which keeps what has been found of it
		got, err := ExtensionOf(methodOf(t, "cwk")).Try(context.Background(), p, &Settings{Grid: grid, Workers: threads}, 0, 3)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got, cmp.Comparer((*Grid).like)); diff != "" {
			t.Errorf("%d threads: %s", threads, diff)
		}
	}
}

// added returns the outcomes of several parts of a choice, written and read, added up.
func added(t *testing.T, m Method, p *problem.Problem, set *Settings, cuts ...[2]int) (sum *Trials) {
	t.Helper()
	for _, cut := range cuts {
		part, err := ExtensionOf(m).Try(t.Context(), p, set, cut[0], cut[1])
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		var read Trials
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if sum == nil {
			sum = &read
		} else if err := sum.Add(&read); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

// Folds of auto that were tried apart, written and read, add up to the very prediction that
// is made at once; those of other labels, and parts without a fold, are refused.
func TestFoldsAddUp(t *testing.T) {
	ctx, m := t.Context(), methodOf(t, "auto")
	for _, directed := range []bool{false, true} {
		p := problemtest.Planted(t, 1, 80, 40)
		p.Directed = directed
		folds, _ := ExtensionOf(m).Shares(nil, len(p.Row))
		if folds != 10 {
			t.Fatalf("%d folds", folds)
		}
		want, err := m.Predict(ctx, p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum := added(t, m, p, nil, [2]int{4, 10})
		if _, err := m.Predict(ctx, p, nil, &Settings{Trials: sum}); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("without folds: %v", err)
		}
		if err := sum.Add(added(t, m, p, nil, [2]int{0, 4})); err != nil {
			t.Fatal(err)
		}
		got, err := m.Predict(ctx, p, nil, &Settings{Trials: sum})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Scores.Data, want.Scores.Data) || got.Estimate != want.Estimate || got.Blank != want.Blank {
			t.Errorf("directed %t: another prediction", directed)
		}
		sum.Folds[3].Unfinished = "a model"
		if got, err = m.Predict(ctx, p, nil, &Settings{Trials: sum}); err != nil || got.Unfinished != "a model" {
			t.Errorf("what did not come to its end: %q, %v", got.Unfinished, err)
		}
		damaged := *sum
		damaged.Folds = slices.Clone(sum.Folds)
		fold := *sum.Folds[5]
		damaged.Folds[5] = &fold
		for _, q := range []float64{-0.5, 1.5} {
			fold.Truth = slices.Clone(sum.Folds[5].Truth)
			fold.Truth[2] = slices.Clone(fold.Truth[2])
			fold.Truth[2][0] = q
			if _, err := m.Predict(ctx, p, nil, &Settings{Trials: &damaged}); !errors.Is(err, validate.ErrUsage) {
				t.Errorf("a probability of %v: %v", q, err)
			}
		}
		other := problemtest.Planted(t, 2, 80, 50)
		if _, err := m.Predict(ctx, other, nil, &Settings{Trials: sum}); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("trials of other labels: %v", err)
		}
		if part, err := ExtensionOf(m).Try(ctx, p.At([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), nil, 0, 1); err != nil || !errors.Is(sum.Add(part), validate.ErrUsage) {
			t.Errorf("trials of 16 labels were added to those of 40: %v", err)
		}
		fewer := *sum
		fewer.Folds = sum.Folds[1:]
		if err := sum.Add(&fewer); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("trials of other folds were added: %v", err)
		}
		few := p.At([]int{0, 1, 2, 3, 4, 5, 6, 7})
		if part, err := ExtensionOf(m).Try(ctx, few, nil, 0, 8); err != nil || part.Folds != nil {
			t.Errorf("of few labels: %v", err)
		}
	}
}

// Trials of parts of a grid, written and read, add up to the very choice that
// is made at once; those of other settings or labels are refused.
func TestTrialsAddUp(t *testing.T) {
	p := problemtest.Planted(t, 1, 80, 40)
	ctx := context.Background()
	grid := &Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.1, 0.5, 0.9), "steps": spec.Grid(1, 4, 9), "cost": spec.Grid(0.5, 4)}, Features: []Features{Plain, Honest}}
	for _, name := range []string{"cwk", "cwk+rls"} {
		m := methodOf(t, name)
		want, err := m.Predict(ctx, p, nil, &Settings{Grid: grid})
		if err != nil {
			t.Fatal(err)
		}
		sum := added(t, m, p, &Settings{Grid: grid}, [2]int{0, 1}, [2]int{1, 3})
		got, err := m.Predict(ctx, p, nil, &Settings{Grid: grid, Trials: sum})
		if err != nil {
			t.Fatal(err)
		}
		got.Seconds, want.Seconds, got.Work, want.Work = problem.PhaseSeconds{}, problem.PhaseSeconds{}, problem.Work{}, problem.Work{}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Prediction{}), cmp.Comparer(func(a, b *roaring.Bitmap) bool { return a.Equals(b) }), cmp.Comparer(func(a, b Parameters) bool { return reflect.DeepEqual(a, b) })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		clear(sum.Hits)
		folds := len(sum.Hits) / grid.Size()
		for f := range folds {
			sum.Hits[f*grid.Size()] = int64(sum.Tested / folds) // the choice is theirs
		}
		if got, err = m.Predict(ctx, p, nil, &Settings{Grid: grid, Trials: sum}); err != nil || got.Parameters.Alpha != 0.1 || got.Parameters.Steps != 1 {
			t.Errorf("%s: %v, %v", name, got.Parameters, err)
		}
		other := *grid
		other.Values = map[string][]spec.Value{"alpha": grid.Values["alpha"], "steps": spec.Grid(1, 4), "cost": grid.Values["cost"]}
		if _, err := m.Predict(ctx, p, nil, &Settings{Grid: &other, Trials: sum}); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("%s: trials of another grid: %v", name, err)
		}
		moved := *grid // of as many settings
		moved.Values = map[string][]spec.Value{"alpha": spec.Grid(0.1, 0.5, 0.8), "steps": grid.Values["steps"], "cost": grid.Values["cost"]}
		if _, err := m.Predict(ctx, p, nil, &Settings{Grid: &moved, Trials: sum}); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("%s: trials of other absorptions: %v", name, err)
		}
		less := *sum
		less.Tested--
		if err := sum.Add(&less); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("%s: trials on other labels: %v", name, err)
		}
	}
	for _, hits := range []int64{-1, 5} {
		wrong := &Trials{Grid: grid, Tested: 40, Hits: make([]int64, 10*grid.Size()), Weights: make([]float64, 10*grid.Size())}
		wrong.Hits[3] = hits
		if _, err := methodOf(t, "cwk").Predict(ctx, p, nil, &Settings{Grid: grid, Trials: wrong}); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("%d of the 4 labels of a fold right: %v", hits, err)
		}
	}
	whole := &Trials{Grid: grid}
	for _, two := range [][2]*Trials{{whole, {}}, {{}, whole}} {
		if err := two[0].Add(two[1]); !errors.Is(err, validate.ErrUsage) {
			t.Errorf("trials without a grid: %v", err)
		}
	}
	if _, err := ExtensionOf(methodOf(t, "lp")).Try(ctx, p, nil, 0, 1); !errors.Is(err, validate.ErrUsage) {
		t.Errorf("label propagation: %v", err)
	}
}

func methodOf(t *testing.T, name string) Method {
	t.Helper()
	m, err := parseMethods(name)
	if err != nil {
		t.Fatal(err)
	}
	return m[0]
}
