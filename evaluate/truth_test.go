package evaluate

import (
	"math"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/heatwalk/heatwalk/file/nodefile"
)

func TestCompare(t *testing.T) {
	seeds := &nodefile.Labels{Row: []int{0}, Class: []int{0}, Names: []string{"a", "b"}}
	// Row 0 has a given label and does not count; row 5 has a class without a training label.
	known := &nodefile.Labels{Row: []int{0, 1, 2, 3, 4, 5}, Class: []int{1, 0, 1, 1, 0, 2}, Names: []string{"a", "b", "c"}}
	labels := []int{0, 0, 1, 0, Unlabelled, 0}
	reached := roaring.BitmapOf(0, 1, 2, 3, 5)
	got := Compare(labels, reached, seeds, known)
	// By hand: a has one of two and is predicted three times, b one of two and once, c none of one;
	// a blank is wrong, but no class.
	macro := (2.0/5 + 2.0/3 + 0) / 3
	want := &Truth{Accuracies{Nodes: 5, All: 2. / 5, Reached: 2. / 4, NodesReached: 4}, macro}
	if math.Abs(got.MacroF1-want.MacroF1) > 1e-15 {
		t.Errorf("macro-F1 %v, want %v", got.MacroF1, want.MacroF1)
	}
	got.MacroF1 = want.MacroF1
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
