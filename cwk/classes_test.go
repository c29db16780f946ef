package cwk_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Features of some of the classes are those columns of all features, with any
// prior, in every variant and any memory, to the bit.
func TestClassesAlone(t *testing.T) {
	t.Run("float32", testClassesAlone[float32])
	t.Run("float64", testClassesAlone[float64])
}

func testClassesAlone[T sparse.Float](t *testing.T) {
	const from = 2
	w := randomWalk[T](t, 5)
	var picks []cwk.Pick
	for row := range len(w.Degrees) {
		picks = append(picks, cwk.Pick{Row: row, Variant: row % len(w.Variants)})
	}
	for _, prior := range []cwk.Prior{cwk.Uniform(), cwk.Empirical(1), cwk.Given(givenPrior(5, len(w.Degrees), w.Seeds.Classes))} {
		w.Prior, w.Memory, w.Slab = prior, 0, cwk.Slab{}
		whole, err := w.Features(background, from, picks)
		if err != nil {
			t.Fatal(err)
		}
		for _, slab := range []cwk.Slab{{Lo: 0, Hi: 1}, {Lo: 1, Hi: 3}, {Lo: 2, Hi: 3}, {Lo: 0, Hi: 3}} {
			for _, workers := range []int{1, 2, 7} {
				w.Slab, w.Workers, w.Memory = slab, workers, 0
				if workers == 2 {
					least, _, err := w.CollectMemory(from, picks)
					if err != nil {
						t.Fatal(err)
					}
					w.Memory = spec.Sum(least) * 3 / 4
				}
				part, err := w.Features(background, from, picks)
				if err != nil {
					t.Fatal(err)
				}
				wide := slab.Hi - slab.Lo
				for i := range part.Rows {
					for j, v := range part.Row(i) {
						if want := whole.Row(i)[j/wide*w.Seeds.Classes+slab.Lo+j%wide]; v != want {
							t.Fatalf("classes %v, row %d, column %d: %v, want %v", slab, i, j, v, want)
						}
					}
				}
			}
		}
	}
}

func TestClassesOutOfRange(t *testing.T) {
	w := randomWalk[float32](t, 5)
	for _, slab := range []cwk.Slab{{Lo: -1, Hi: 1}, {Lo: 1, Hi: 1}, {Lo: 2, Hi: 4}} {
		if w.Slab = slab; w.Validate() == nil {
			t.Errorf("classes %v of 3 were accepted", slab)
		}
	}
}
