package learn

import (
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
)

func TestLabelsOf(t *testing.T) {
	p := &method.Prediction{
		Class:   []int{0, 1, 1, 0},
		Reached: roaring.BitmapOf(0, 1, 3),
	}
	for unreached, want := range map[string][]int{
		"blank": {0, 1, evaluate.Unlabelled, 0},
		"prior": {0, 1, 1, 0},
	} {
		f := &classifyOptions{unreached: unreached}
		if diff := cmp.Diff(want, f.writtenLabels(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", unreached, diff)
		}
	}
}
