package cwk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestGramIsProductOfFeatures(t *testing.T) {
	t.Run("float32", testGramIsProduct[float32])
	t.Run("float64", testGramIsProduct[float64])
}

func testGramIsProduct[T sparse.Float](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := randomWalk[T](t, rapid.Uint64Range(0, 1<<20).Draw(t, "rng seed"))
		w.Steps = rapid.SampledFrom([]int{0, 1, 6, 200}).Draw(t, "steps")
		from := rapid.IntRange(0, w.Steps).Draw(t, "from")
		pick := rapid.Custom(func(t *rapid.T) cwk.Pick {
			return cwk.Pick{Row: rapid.IntRange(0, 39).Draw(t, "row"), Variant: rapid.IntRange(0, 3).Draw(t, "variant")}
		})
		rows := rapid.SliceOfN(pick, 1, 70).Draw(t, "rows")
		cols := rapid.SliceOfN(pick, 1, 20).Draw(t, "cols")
		got, _ := gram(t, w, from, rows, cols)
		features := func(picks []cwk.Pick) *sparse.Block[float64] {
			f, err := w.Features(background, from, picks, nil)
			if err != nil {
				t.Fatal(err)
			}
			return wide(f)
		}
		f, g := features(rows), features(cols)
		want := sparse.NewBlock[float64](len(rows), len(cols))
		for i := range rows {
			for j := range cols {
				for e, v := range f.Row(i) {
					want.Row(i)[j] += v * g.Row(j)[e]
				}
			}
		}
		// Terms are non-negative, each rounded, and their sum is at most about 1.
		testgraph.Close(t, got, want, 2*float64(f.Cols+1)*epsilon[T](), 0)
	})
}

func TestGramMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	t.Run("float32", testGramMemory[float32])
	t.Run("float64", testGramMemory[float64])
}

func testGramMemory[T sparse.Float](t *testing.T) {
	w := randomWalk[T](t, 3)
	w.Steps = 90 // 273 features: more than one chunk of a product
	var rows []cwk.Pick
	for i := range 40 {
		rows = append(rows, cwk.Pick{Row: i * 7 % 40, Variant: i % 3})
	}
	cols := plainPicks(w.Seeds.Row)
	for _, square := range []bool{false, true} {
		if square {
			cols = rows
		}
		w.Memory = 0
		want, panels := gram(t, w, 1, rows, cols)
		if len(panels) != 1 {
			t.Errorf("panels of %v rows without a limit", panels)
		}
		if square {
			for i := range rows {
				for j := range rows {
					if want.Row(i)[j] != want.Row(j)[i] {
						t.Fatalf("(%d, %d) is %v, mirrored %v", i, j, want.Row(i)[j], want.Row(j)[i])
					}
				}
			}
		}
		most, walks := 1, 0
		w.Progress = func(_ string, done, sweeps int64) {
			walks = max(walks, int(sweeps)/w.Steps)
			if done > sweeps {
				t.Errorf("sweep %d of %d", done, sweeps)
			}
		}
		try := func(memory int64) error {
			w.Memory = memory
			if bytes, _, err := w.GramBytes(1, rows, cols); err == nil && bytes > memory {
				t.Errorf("%v is more than %d bytes", bytes, memory)
			}
			panels := 0
			err := w.Gram(background, 1, rows, cols, func(lo int, p *sparse.Block[T]) error {
				sameBits(t, "panel", p, rowsBetween(want, lo, lo+p.Rows))
				panels++
				return nil
			})
			most = max(most, panels)
			return err
		}
		var short *budget.Error
		for memory := int64(2_000_000); short == nil; memory -= memory / 4 {
			if err := try(memory); err != nil && !errors.As(err, &short) {
				t.Fatal(err)
			}
		}
		if short.Need <= short.Limit || !errors.As(try(short.Need-1), new(*budget.Error)) {
			t.Errorf("%v", short)
		}
		for _, more := range []int64{0, 1, 300, 3000} {
			if err := try(short.Need + more); err != nil {
				t.Errorf("%d bytes more: %v", more, err)
			}
		}
		slabs := 9 // slabs of one column, for each walk
		if !square {
			slabs *= len(rows)
		}
		if most != len(rows) || walks != slabs {
			t.Errorf("at most %d panels and %d walks of a slab, want %d and %d", most, walks, len(rows), slabs)
		}
		w.Progress = nil
	}
}

func rowsBetween[T sparse.Float](b *sparse.Block[T], lo, hi int) *sparse.Block[T] {
	return &sparse.Block[T]{Rows: hi - lo, Cols: b.Cols, Stride: b.Stride, Data: b.Data[lo*b.Stride : hi*b.Stride]}
}

func TestGramStops(t *testing.T) {
	w := randomWalk[float64](t, 4)
	rows := plainPicks(everyRow(w.A))
	full := fmt.Errorf("disk is full")
	calls := 0
	err := w.Gram(background, 0, rows, rows, func(int, *sparse.Block[float64]) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%v after %d panels", err, calls)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	err = w.Gram(ctx, 0, rows, rows, func(int, *sparse.Block[float64]) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestFolds(t *testing.T) {
	s := cwk.Seeds{Row: []int{5, 2, 8}, Class: []int{0, 1, 0}, Classes: 2}
	fold := []int{1, 0, 1}
	v := cwk.FoldVariants(0.5, fold)
	if len(v) != 3 || v[0].Hidden != nil || !slices.Equal(v[1].Hidden, []bool{false, true, false}) || !slices.Equal(v[2].Hidden, []bool{true, false, true}) {
		t.Errorf("%v", v)
	}
	want := []cwk.Pick{{Row: 2, Variant: 1}, {Row: 3}, {Row: 8, Variant: 2}, {Row: 5, Variant: 2}}
	if got := cwk.Picks([]int{2, 3, 8, 5}, s, fold); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if v := cwk.FoldVariants(0.5, nil); len(v) != 1 {
		t.Errorf("%d variants without seeds", len(v))
	}
}

func TestHonestFeaturesHideTheLabel(t *testing.T) {
	w := randomWalk[float64](t, 8)
	fold := []int{0, 1, 2, 0, 1, 2, 0, 1, 2}
	w.Variants = cwk.FoldVariants(0.6, fold)
	features := func(picks []cwk.Pick) []float64 {
		f, err := w.Features(background, 0, picks, nil)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(f.Row(0))
	}
	first := w.Seeds.Row[:1]
	plain, honest := features(plainPicks(first)), features(cwk.Picks(first, w.Seeds, fold))
	w.Seeds.Class = slices.Clone(w.Seeds.Class)
	w.Seeds.Class[0] = 2
	if slices.Equal(features(plainPicks(first)), plain) {
		t.Error("the plain features of a seed are blind to its label")
	}
	if got := features(cwk.Picks(first, w.Seeds, fold)); !slices.Equal(got, honest) {
		t.Errorf("honest features are %v with another label, %v before", got, honest)
	}
}
