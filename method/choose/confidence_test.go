package choose_test

import (
	"math"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

func TestConfidence(t *testing.T) {
	p := &problem.Problem{Names: []string{"a", "b", "c"}, Graph: &graph.Graph{Degrees: make([]float64, 100)}, Row: []int{0, 1, 2, 3, 4}, Class: []int{0, 0, 1, 1, 2}}
	reached := roaring.New()
	reached.AddRange(0, 100)
	c := choose.NewConfidence(p)
	rows := [][]float64{{0.8, 0.1, 0.1}, {0.3, 0.6, 0.1}, {0.2, 0.7, 0.1}, {0.1, 0.8, 0.1}, {0, 0.5, 0.5}}
	byAll := [][]float64{rows[0], {0.9, 0.1, 0}, rows[2], rows[3], {0, 0.4, 0.6}} // the second label is right, by luck
	mean := 0.0
	for i, row := range rows {
		mean += slices.Max(byAll[i]) / float64(len(rows))
		c.Note(true, i, row, byAll[i])
	}
	c.Note(false, 0, []float64{1, 0, 0}, []float64{1, 0, 0})
	for _, easier := range []float64{0, 0.1} {
		e := c.Estimate(reached, mean+easier)
		if want := 3.0/5 - 1.0/5 + easier; math.Abs(e.Accuracy-want) > 1e-12 || e.Tested != 5 || e.Reached != 95 || e.Unseen != 1.0/5 {
			t.Errorf("%+v, want an accuracy of %v", e, want)
		}
	}
}
