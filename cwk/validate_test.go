package cwk_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestValidate(t *testing.T) {
	valid := func() *cwk.Walk[float64] {
		a := testgraph.Path(4)
		return &cwk.Walk[float64]{
			A: a, Degrees: degrees(t, a), Steps: 3, Variants: []cwk.Variant{{Absorb: 0.5}, {Absorb: 1, Hidden: []bool{true, false}}},
			Seeds: cwk.Seeds{Row: []int{0, 3}, Class: []int{0, 1}, Classes: 2},
		}
	}
	for name, c := range map[string]struct {
		change func(w *cwk.Walk[float64])
		want   []string
	}{
		"nothing":       {func(w *cwk.Walk[float64]) {}, nil},
		"no steps":      {func(w *cwk.Walk[float64]) { w.Steps = 0 }, nil},
		"edges of rate": {func(w *cwk.Walk[float64]) { w.Variants[0].Absorb = 0 }, nil},
		"steps":         {func(w *cwk.Walk[float64]) { w.Steps = -1 }, []string{"steps: -1 is not in 0 … 1000000"}},
		"long":          {func(w *cwk.Walk[float64]) { w.Steps = cwk.MaxSteps + 1 }, []string{"steps: 1000001 is not in 0 … 1000000"}},
		"degrees":       {func(w *cwk.Walk[float64]) { w.Degrees = w.Degrees[1:] }, []string{"matrix is 4×4 with 3 degrees; all three must be equal"}},
		"variants":      {func(w *cwk.Walk[float64]) { w.Variants = nil }, []string{"variants: none given"}},
		"rates": {func(w *cwk.Walk[float64]) { w.Variants[0].Absorb, w.Variants[1].Absorb = 1.5, math.NaN() },
			[]string{"variant 0: absorption 1.5 is not in [0, 1]", "variant 1: absorption NaN is not in [0, 1]"}},
		"hidden":  {func(w *cwk.Walk[float64]) { w.Variants[1].Hidden = []bool{true} }, []string{"variant 1: hides 1 seeds of 2"}},
		"classes": {func(w *cwk.Walk[float64]) { w.Seeds.Classes = 0 }, []string{"seeds: 0 classes, want at least 1", "seed 0: class 0 is not in 0 … -1", "seed 1: class 1 is not in 0 … -1"}},
		"lengths": {func(w *cwk.Walk[float64]) { w.Seeds.Row = w.Seeds.Row[1:] }, []string{"seeds: 1 rows but 2 classes", "variant 1: hides 2 seeds of 1"}},
		"seeds": {func(w *cwk.Walk[float64]) {
			w.Seeds.Row, w.Seeds.Class, w.Variants = []int{3, 4, 3}, []int{0, -1, 2}, w.Variants[:1]
		}, []string{"seed 1: row 4 is not in 0 … 3", "seed 1: class -1 is not in 0 … 1", "seed 2: row 3 is seed 0 already", "seed 2: class 2 is not in 0 … 1"}},
		"pseudo-count": {func(w *cwk.Walk[float64]) { w.Prior = cwk.Prior{Empirical: true, Pseudo: -1} }, []string{"empirical prior: pseudo-count -1 is not a number ≥ 0"}},
		"nothing seen": {func(w *cwk.Walk[float64]) { w.Prior = cwk.Prior{Empirical: true}; w.Variants[1].Hidden[1] = true },
			[]string{"empirical prior: variant 1 has no visible seed and the pseudo-count is 0"}},
		"given shape": {func(w *cwk.Walk[float64]) { w.Prior = cwk.Prior{Given: sparse.NewBlock[float64](4, 3)} }, []string{"given prior: want a block of 4×2"}},
		"given sum": {func(w *cwk.Walk[float64]) {
			w.Prior = cwk.Prior{Given: sparse.BlockOf(4, 2, []float64{0.5, 0.5, 1, 0, 0.5, 0.6, 0, 1})}
		}, []string{"given prior: row 2 sums to 1.1, not to 1"}},
		"given sum nearly": {func(w *cwk.Walk[float64]) {
			w.Prior = cwk.Prior{Given: sparse.BlockOf(4, 2, []float64{0.5, 0.5, 1, 0, 0.5, 0.50001, 0, 1})}
		}, []string{"given prior: row 2 sums to 1.00001, not to 1"}},
		"given sign": {func(w *cwk.Walk[float64]) {
			w.Prior = cwk.Prior{Given: sparse.BlockOf(4, 2, []float64{0.5, 0.5, 2, -1, 0.5, 0.5, 0, 1})}
		}, []string{"given prior: row 1, class 1: -1 is no probability"}},
		"several": {func(w *cwk.Walk[float64]) {
			w.Steps, w.Variants[0].Absorb, w.Prior = -2, -1, cwk.Prior{Given: sparse.NewBlock[float64](1, 1)}
		},
			[]string{"steps: -2 is not in 0 … 1000000", "variant 0: absorption -1 is not in [0, 1]", "given prior: want a block of 4×2"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := valid()
			c.change(w)
			err := w.Validate()
			if len(c.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, cwk.ErrInvalid) {
				t.Fatalf("%v", err)
			}
			if want := "cwk: invalid walk: " + strings.Join(c.want, "\n"); err.Error() != want {
				t.Errorf("got:\n%v\nwant:\n%s", err, want)
			}
			if _, err := w.Collect(background, 0, nil); !errors.Is(err, cwk.ErrInvalid) {
				t.Errorf("Collect: %v", err)
			}
		})
	}
	for _, from := range []int{-1, 4} {
		w := valid()
		_, err := w.Features(background, from, plainPicks([]int{0}), nil)
		if !errors.Is(err, cwk.ErrInvalid) || !strings.Contains(err.Error(), "is not in 0 … 3") {
			t.Errorf("from %d: %v", from, err)
		}
	}
}

func TestValidateScale(t *testing.T) {
	a := testgraph.Path(2)
	seeds, variants := cwk.Seeds{Row: []int{0}, Class: []int{0}, Classes: 2}, []cwk.Variant{{Absorb: 0.5}}
	if err := (&cwk.Walk[float32]{A: a, Degrees: []float64{1, 1e31}, Seeds: seeds, Variants: variants}).Validate(); !errors.Is(err, graph.ErrScale) {
		t.Errorf("float32: %v", err)
	}
	if err := (&cwk.Walk[float64]{A: a, Degrees: []float64{1, 1e31}, Seeds: seeds, Variants: variants}).Validate(); err != nil {
		t.Errorf("float64: %v", err)
	}
}

func TestPanics(t *testing.T) {
	w := randomWalk[float64](t, 1)
	sink := func(int, *sparse.Block[float64]) error { return nil }
	for name, do := range map[string]func(){
		"cwk: columns out of range": func() { w.Run(background, 0, 13, nil, nil) },
		"cwk: pick out of range":    func() { w.Collect(background, 0, []cwk.Pick{{Row: 40}}) },
		"cwk: dimension mismatch":   func() { w.Gram(background, 0, nil, plainPicks([]int{0}), sink) },
	} {
		panics(t, name, do)
	}
	panics(t, "cwk: pick out of range", func() { w.Collect(background, 0, []cwk.Pick{{Variant: 4}}) })
	panics(t, "cwk: dimension mismatch", func() { cwk.Picks(nil, w.Seeds, []int{0}) })
	dst, weights := sparse.NewBlock[float64](40, 2), sparse.NewBlock[float64](21, 2)
	panics(t, "cwk: dimension mismatch", func() { w.Scores(background, dst, 1, weights, nil, nil) })
	panics(t, "cwk: dimension mismatch", func() { w.Scores(background, dst, 0, weights, []float64{1}, nil) })
	panics(t, "cwk: dimension mismatch", func() { w.Scores(background, dst.Columns(0, 1), 0, weights, nil, nil) })
}

func panics(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	do()
}

func TestLikeliest(t *testing.T) {
	given := cwk.Prior{Given: sparse.BlockOf(3, 3, []float64{0.4, 0.2, 0.4, 0.2, 0.3, 0.5, 0.4, 0.4, 0.2})}
	for row, want := range []int{2, 2, 0} {
		if got := given.Likeliest(row, 2); got != want {
			t.Errorf("row %d: class %d, want %d", row, got, want)
		}
	}
	if got := (cwk.Prior{}).Likeliest(0, 1); got != 1 {
		t.Errorf("without priors of nodes: class %d, want the largest", got)
	}
}
