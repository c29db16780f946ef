package cwk_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func scoreWalk[T sparse.Float](t testgraph.TB, classes, from int) (*cwk.Walk[T], *sparse.Block[float64], []float64) {
	t.Helper()
	w := randomWalk[T](t, 21)
	w.Seeds.Classes = classes
	rng := rand.New(rand.NewPCG(21, uint64(classes)))
	for i := range w.Seeds.Class {
		w.Seeds.Class[i] = rng.IntN(classes)
	}
	weights := sparse.NewBlock[float64](classes*(w.Steps-from+1), 7)
	bias := make([]float64, 7)
	for o := range bias {
		bias[o] = rng.NormFloat64()
		for j := range weights.Rows {
			weights.Row(j)[o] = rng.NormFloat64()
		}
	}
	return w, weights, bias
}

func TestScores(t *testing.T) {
	t.Run("float32", testScores[float32])
	t.Run("float64", testScores[float64])
}

func testScores[T sparse.Float](t *testing.T) {
	for _, c := range []struct{ classes, from int }{{1, 0}, {3, 0}, {3, 2}, {5, 6}, {40, 0}, {70, 1}} {
		w, weights, bias := scoreWalk[T](t, c.classes, c.from)
		f, err := w.Features(background, c.from, plainPicks(everyRow(w.A)), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := sparse.NewBlock[float64](f.Rows, 7)
		for i := range f.Rows {
			for o, b := range bias {
				sum := b
				for j, v := range f.Row(i) {
					sum += float64(v) * weights.Row(j)[o]
				}
				want.Row(i)[o] = sum
			}
		}
		got := sparse.NewBlock[float64](f.Rows, 7)
		for i := range got.Data {
			got.Data[i] = math.NaN() // must be overwritten
		}
		sweeps := 0
		w.Progress = func(_ string, done, all int64) {
			if sweeps++; int(done) != sweeps || int(all) != (c.classes+31)/32*w.Steps {
				t.Errorf("%d classes: sweep %d reported as %d of %d", c.classes, sweeps, done, all)
			}
		}
		if err := w.Scores(background, got, c.from, weights, bias, nil); err != nil {
			t.Fatal(err)
		}
		w.Progress = nil
		// Both sides add the same products, in different orders.
		testgraph.Close(t, got, want, 0, float64(f.Cols)*0x1p-52)

		for _, memory := range []int64{0, 1 << 20, 8 * 40 * 100} {
			w.Memory = memory
			next := 0
			err := w.Scores(background, nil, c.from, weights, bias, func(lo int, s *sparse.Block[float64]) error {
				if lo != next {
					t.Errorf("scores from %d, want %d", lo, next)
				}
				sameBits(t, "slab of scores", s, got.Columns(lo, lo+s.Cols))
				next += s.Cols
				return nil
			})
			if err != nil || next != 7 {
				t.Errorf("%d classes, %d bytes: %d of 7 functions, %v", c.classes, memory, next, err)
			}
		}
	}
}

func TestScoresWithoutBias(t *testing.T) {
	w, weights, _ := scoreWalk[float64](t, 3, 0)
	zero, none := sparse.NewBlock[float64](40, 7), sparse.NewBlock[float64](40, 7)
	none.Data[5] = 9
	if err := w.Scores(background, zero, 0, weights, make([]float64, 7), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Scores(background, none, 0, weights, nil, nil); err != nil {
		t.Fatal(err)
	}
	sameBits(t, "bias nil", none, zero)
}

func TestScoresFit(t *testing.T) {
	w, weights, bias := scoreWalk[float64](t, 5, 0)
	whole := sparse.NewBlock[float64](40, 7)
	if err := w.Scores(background, whole, 0, weights, bias, nil); err != nil {
		t.Fatal(err)
	}
	w.Memory = 8*2*8*40 + 16*40 + 8*(40+5*7) // 8 columns of a walk, one of scores, weights of 7 steps
	err := w.Scores(background, nil, 0, weights, bias, func(lo int, s *sparse.Block[float64]) error {
		sameBits(t, "one at a time", s, whole.Columns(lo, lo+s.Cols))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	w.Memory--
	var short *budget.Error
	if err := w.Scores(background, nil, 0, weights, bias, nil); !errors.As(err, &short) || short.Need != w.Memory+1 {
		t.Errorf("%v", err)
	}
}

func TestScoresMemory(t *testing.T) {
	w, weights, bias := scoreWalk[float64](t, 40, 0)
	w.Memory = 8*2*32*40 + 16*40 + 8*(40+32*7)*2 // 32 columns of a walk, two of scores, weights of 7 steps
	whole := sparse.NewBlock[float64](40, 7)
	if err := w.Scores(background, whole, 0, weights, bias, nil); err != nil {
		t.Fatal(err)
	}
	var widths []int
	err := w.Scores(background, nil, 0, weights, bias, func(lo int, s *sparse.Block[float64]) error {
		widths = append(widths, s.Cols)
		sameBits(t, "slab of scores", s, whole.Columns(lo, lo+s.Cols))
		return nil
	})
	if err != nil || len(widths) != 4 {
		t.Errorf("slabs of %v functions, %v", widths, err)
	}
	w.Memory -= 8*(40+32*7) + 1
	err = w.Scores(background, nil, 0, weights, bias, nil)
	var short *budget.Error
	if !errors.As(err, &short) || short.Need != w.Memory+1 {
		t.Errorf("%v", err)
	}
	full := errors.New("disk is full")
	w.Memory = 0
	if err := w.Scores(background, nil, 0, weights, bias, func(int, *sparse.Block[float64]) error { return full }); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
