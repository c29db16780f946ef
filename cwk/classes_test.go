package cwk_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
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
	for _, prior := range []cwk.Prior{{}, {Empirical: true, Pseudo: 1}, {Given: givenPrior(5, len(w.Degrees), w.Seeds.Classes)}} {
		w.Prior, w.Memory, w.Lo, w.Hi = prior, 0, 0, 0
		whole, err := w.Features(background, from, picks, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, slab := range [][2]int{{0, 1}, {1, 3}, {2, 3}, {0, 3}} {
			for _, workers := range []int{1, 2, 7} {
				w.Lo, w.Hi, w.Workers, w.Memory = slab[0], slab[1], workers, 0
				if workers == 2 {
					least, _, err := w.FeaturesBytes(from, picks)
					if err != nil {
						t.Fatal(err)
					}
					w.Memory = least * 9 / 10
				}
				part, err := w.Features(background, from, picks, nil)
				if err != nil {
					t.Fatal(err)
				}
				wide := slab[1] - slab[0]
				for i := range part.Rows {
					for j, v := range part.Row(i) {
						if want := whole.Row(i)[j/wide*w.Seeds.Classes+slab[0]+j%wide]; v != want {
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
	for _, slab := range [][2]int{{-1, 1}, {1, 1}, {2, 4}} {
		if w.Lo, w.Hi = slab[0], slab[1]; w.Validate() == nil {
			t.Errorf("classes %v of 3 were accepted", slab)
		}
	}
}
