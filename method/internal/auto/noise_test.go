package auto

import (
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// Ten columns of noise leave the answer of the links alone.
func TestNoiseColumns(t *testing.T) {
	const draws = 2
	loss := 0.0
	for draw := range uint64(draws) {
		p, class := contract.Blocks(t, 11+draw, 1000, 100, 3, 5, 1)
		set := &settings{Settings: engine.Settings{Workers: 2}}
		links := contract.Accuracy(p, evident(t, p, set).Class, class)
		rng := rand.New(rand.NewPCG(draw, 5))
		p.Attributes = &sparse.Table{Rows: p.Nodes(), Cols: 10}
		row := make([]float32, 10)
		for v := range p.Nodes() {
			for j := range row {
				row[j] = float32(rng.NormFloat64())
			}
			p.Attributes.Set(v, row)
		}
		noisy := contract.Accuracy(p, evident(t, p, set).Class, class)
		t.Logf("links alone %.3f, with noise %.3f", links, noisy)
		loss += (links - noisy) / draws
	}
	if loss > 0.01 {
		t.Errorf("columns of noise lose %.3f", loss)
	}
}

// Labels, links and a column that have nothing to do with one another must not print an accuracy above chance. The classes have
// as many labels, so that scores of a ridge that has learned from all labels but one tell the label that it lacks.
func TestNoiseIsNotAccurate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for draw := range uint64(2) {
		p, _ := contract.Blocks(t, 21+draw, 2400, nestedLabels+200, 2, 3, 3)
		rng := rand.New(rand.NewPCG(draw, 6))
		for i := range p.Class {
			p.Class[i] = i % 2
		}
		rng.Shuffle(len(p.Class), func(i, j int) { p.Class[i], p.Class[j] = p.Class[j], p.Class[i] })
		p.Attributes = &sparse.Table{Rows: p.Nodes(), Cols: 1}
		for v := range p.Nodes() {
			p.Attributes.Set(v, []float32{float32(rng.Float64())})
		}
		out := evident(t, p, &settings{Settings: engine.Settings{Workers: 2}})
		t.Logf("accuracy %.3f ± %.3f", out.Accuracy, out.Stderr)
		if out.Accuracy > 0.5+3*out.Stderr {
			t.Errorf("accuracy %.3f ± %.3f of noise", out.Accuracy, out.Stderr)
		}
	}
}
