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
