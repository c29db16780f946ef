package classify

import (
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
)

func TestDensityAndCentroidGolden(t *testing.T) {
	for _, graph := range goldenGraphs {
		l := newLesson(t, graph)
		want := l.golden(t, "dkm_scores_all_l0.npy")
		testgraph.Close(t, l.scores(t, "density", nil), want, 1e-10, 1e-9)
		offset := l.golden(t, "centroid_offset.npy")
		for i := range want.Rows {
			for c := range want.Cols {
				want.Row(i)[c] -= offset.Row(c)[0]
			}
		}
		testgraph.Close(t, l.scores(t, "centroid", nil), want, 1e-10, 1e-9)
	}
}

// TestCentroidDistances compares with squared distances to the means of features.
func TestCentroidDistances(t *testing.T) {
	p := clouds(5, 30, 4, 3, 1)
	m, err := centroidLearner.Fit(t.Context(), p.gram(), p.y, p.classes, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c := range p.classes {
		mean := make([]float64, p.f.Cols)
		count := 0.0
		for i, class := range p.y {
			if class == c {
				addScaled(mean, 1, p.f.Row(i))
				count++
			}
		}
		for i := range p.f.Rows {
			x := p.f.Row(i)
			d := 0.0
			for j, v := range x {
				d += (v - mean[j]/count) * (v - mean[j]/count)
			}
			scores := m.ScoresTo(nil, p.row(x), inner(x, x))
			within(t, "the squared distance", inner(x, x)-2*scores[c], d, 1e-12*(1+d))
		}
	}
}
