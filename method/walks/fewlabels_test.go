package walks

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestNearestLabelWins(t *testing.T) {
	for _, n := range []int{2, 3, 20, 100} {
		p := contract.Path(t, n, false)
		got, err := predictWalks(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Tested != 0 || got.Accuracy != 0 || got.Settings != 1 || got.Parameters.Alpha() != 0.9 || got.Parameters.Steps() < 200 {
			t.Errorf("%d nodes: %d tested, accuracy %v, %d settings, %v", n, got.Tested, got.Accuracy, got.Settings, got.Parameters)
		}
		wrong := 0
		for i, c := range got.Class {
			if near := 2 * i / n; c != near && 2*i != n-1 {
				wrong++
			}
		}
		// In the middle of a long path both labels are nearly equally likely.
		if wrong > n/20 {
			t.Errorf("%d of %d nodes are not of the nearest class, %v", wrong, n, got.Parameters)
		}
	}
}

func TestNearestLabelWinsUnevenly(t *testing.T) {
	const n = 100
	p := contract.Path(t, n, false)
	p.Row[1] = 40
	got, err := predictWalks(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Class {
		if near := i > 20; (c == 1) != near && i != 20 {
			t.Errorf("node %d is of class %d, %v", i, c, got.Parameters)
		}
	}
}

func TestTooFew(t *testing.T) {
	for _, test := range []struct {
		class []int
		want  bool
	}{
		{[]int{0, 1}, true}, {[]int{0, 1, 2, 3}, true}, {[]int{0, 1, 0, 0}, true},
		{[]int{0, 1, 0, 1}, false}, {[]int{2, 1, 0, 1, 2}, false},
	} {
		if got := choose.TooFew(test.class); got != test.want {
			t.Errorf("%v: %v", test.class, got)
		}
	}
}

func TestNearestSetting(t *testing.T) {
	g := gridOf(t, nil, "svm")
	usual := func(g *job) engine.Parameters { return g.Parameters(g.SourceSpace.Usual, g.Space.Usual) }
	if got := usual(g); got.Alpha() != 0.9 || got.Steps() != 40 || got.Features() != Plain || got.Declared.Values.Number("cost") != 0.5 {
		t.Errorf("%v", got)
	}
	lists := contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.2, 0.7, 1), "steps": param.Grid(10, 30, 60), "cost": param.Grid(0.1, 0.6, 8)}, Honest, Plain)
	lists["lambda"] = param.Grid(0.01, 0.15, 1)
	g = gridOf(t, lists, "svm")
	if got := usual(g); got.Alpha() != 1 || got.Steps() != 30 || got.Features() != Plain || got.Declared.Values.Number("cost") != 0.6 {
		t.Errorf("%v is nearest", got)
	}
	g = gridOf(t, lists, "rls")
	if got := usual(g).Declared.Values["lambda"]; got != param.Of(0.15) {
		t.Errorf("λ = %v is nearest", got)
	}
}

func TestMajorityLabelsAll(t *testing.T) {
	p := contract.Planted(t, 6, 60, 50)
	p.Row, p.Class = []int{5, 9, 14}, []int{2, 1, 2}
	got, err := engine.Majority.Predict(context.Background(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	reached := slowReached(p, func(int) bool { return true })
	for i, c := range got.Class {
		want := 2
		if i == 9 {
			want = 1
		}
		s := got.Scores.Row(i)
		if c != want || got.Reached.Contains(uint32(i)) != reached[i] || s[0] != float32(1)/6 || s[1] != float32(2)/6 || s[2] != float32(3)/6 {
			t.Errorf("row %d: class %d, reached %v, scores %v", i, c, !reached[i], s)
		}
	}
}

func TestUnseen(t *testing.T) {
	p := &engine.Problem{Graph: new(graph.Graph), Row: []int{4, 7, 1, 9, 3}, Class: []int{0, 1, 2, 2, 0}, Names: []string{"a", "b", "c"}}
	_, unseen, err := choose.GivenSplit(p.Row, p.Class, p.Names, []int{4, 7}, []int{1, 9, 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := unseen; len(got) != 3 || got[0] != 0 || got[1] != 0 || got[2] != 2 {
		t.Errorf("%v", got)
	}
}

func TestLongChoiceStops(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some tenths of a second")
	}
	p := contract.Planted(t, 8, 200, 150)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	g := contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(20_000), "cost": param.Grid(1, 2)}, Plain)
	j := gridOf(t, g, "svm")
	w := j.candidates(j.Sources, j.Values)
	x := sparse.NewBlock[float32](150, 3*20_001)
	for i := range x.Data {
		x.Data[i] = 1
	}
	tr := &choose.Trial{TrainClass: p.Class}
	for i := range 150 {
		tr.Train = append(tr.Train, i)
	}
	for range 5 {
		tr.Test, tr.TestClass = append(tr.Test, tr.Train...), append(tr.TestClass, p.Class...)
	}
	err := w.Run(ctx, x, tr, func(int, int, *choose.Outcome) {})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err) // nil after a second otherwise
	}
}

// A class with a single label is not in the training set of its fold, so that models of other folds have more decisions.
func TestSingleLabelIsMeasured(t *testing.T) {
	p := contract.Planted(t, 5, 1000, 800)
	for i := range 6 {
		p.Class[100*(i+1)] = len(p.Names)
		p.Names = append(p.Names, fmt.Sprint("rare", i))
	}
	got, err := method{"cwk+svm", learnerOf("svm")}.engine().Fit(t.Context(), p, nil, &engine.Settings{Lists: tinyGrid, RNGSeed: 1})
	if err != nil || got.Tested == 0 {
		t.Errorf("%v, %+v", err, got)
	}
}
