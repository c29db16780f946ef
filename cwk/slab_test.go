package cwk

import (
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

// A block that is used again has zero padding.
func TestPadding(t *testing.T) {
	var l walker[float64]
	wide := l.block(0, 5, 8)
	for i := range wide.Data {
		wide.Data[i] = 1
	}
	narrow := l.block(0, 5, 7)
	for i := range narrow.Rows {
		if padding := narrow.Data[i*narrow.Stride+7 : (i+1)*narrow.Stride]; slices.Max(padding) != 0 {
			t.Errorf("padding of row %d is %v", i, padding)
		}
	}
}

// TestPickedBytes compares the memory of picks with its estimate on a walk that needs little itself.
func TestPickedBytes(t *testing.T) {
	const picks = 200_000
	a := testgraph.Path(4)
	w := &Walk[float32]{
		A: a, Degrees: []float64{1, 2, 2, 1}, Variants: []Variant{{Absorb: .5}}, Steps: 2, Workers: 1,
		Seeds: Seeds{Classes: 2, Row: []int{0, 3}, Class: []int{0, 1}},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := w.Collect(t.Context(), 1, Picks(make([]int, picks), Seeds{}, nil)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	taken := int64(after.TotalAlloc - before.TotalAlloc - 8*picks) // without the rows
	if said := w.CollectBytes(1, picks); taken > said*21/20 || said > taken*21/20 {
		t.Errorf("%d bytes for %d that were said", taken, said)
	}
}

// The memory of a walk is listed.
func TestMemoryIsListed(t *testing.T) {
	const n, classes = 4000, 64
	a := testgraph.Path(n)
	w := &Walk[float32]{
		A: a, Degrees: testgraph.Degrees(t, a), Variants: FoldVariants(.5, []int{0, 1, 2}), Steps: 40, Workers: 4,
		Seeds: Seeds{Classes: classes, Row: []int{0, 3, 9}, Class: []int{0, 1, 2}},
	}
	picks := Picks([]int{0, 3, 9, 11}, w.Seeds, []int{0, 1, 2})
	bytes, _, err := w.FeaturesBytes(0, picks)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := w.Features(t.Context(), 0, picks, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if taken, said := int64(after.TotalAlloc-before.TotalAlloc), bytes; taken > said/20*21 {
		t.Errorf("%d bytes for %d that were said", taken, said)
	}
}

// Nothing is picked: there are no features, and nothing is walked.
func TestNoPicks(t *testing.T) {
	w := &Walk[float64]{
		A: testgraph.Path(4), Degrees: []float64{1, 2, 2, 1}, Variants: []Variant{{Absorb: .5}}, Steps: 2,
		Seeds: Seeds{Classes: 2, Row: []int{0, 3}, Class: []int{0, 1}},
	}
	for _, w.Memory = range []int64{0, 1 << 20} {
		f, err := w.Features(t.Context(), 0, nil, nil)
		if err != nil || f.Rows != 0 || f.Cols != 6 {
			t.Errorf("%v, %v", f, err)
		}
		if _, sweeps, err := w.FeaturesBytes(0, nil); err != nil || sweeps != 0 {
			t.Errorf("%d sweeps, %v", sweeps, err)
		}
	}
}
