package classify_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestDensityAndCentroidGolden(t *testing.T) {
	for _, graph := range contract.GoldenGraphs {
		l := contract.NewLesson(t, graph)
		want := l.Golden(t, "dkm_scores_all_l0.npy")
		testgraph.Close(t, l.Scores(t, "density", nil), want, 1e-10, 1e-9)
		offset := l.Golden(t, "centroid_offset.npy")
		for i := range want.Rows {
			for c := range want.Cols {
				want.Row(i)[c] -= offset.Row(c)[0]
			}
		}
		testgraph.Close(t, l.Scores(t, "centroid", nil), want, 1e-10, 1e-9)
	}
}

func TestCentroidDistances(t *testing.T) {
	p := contract.Clouds(5, 30, 4, 3, 1)
	m, err := classify.Learners().Named("centroid").Fit(t.Context(), p.Gram(), p.Y, p.Classes, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c := range p.Classes {
		mean := make([]float64, p.F.Cols)
		count := 0.0
		for i, class := range p.Y {
			if class == c {
				for j, v := range p.F.Row(i) {
					mean[j] += v
				}
				count++
			}
		}
		for i := range p.F.Rows {
			x := p.F.Row(i)
			d := 0.0
			for j, v := range x {
				d += (v - mean[j]/count) * (v - mean[j]/count)
			}
			scores := m.ScoresTo(nil, p.Row(x), contract.Inner(x, x))
			contract.Within(t, "the squared distance", contract.Inner(x, x)-2*scores[c], d, 1e-12*(1+d))
		}
	}
}
