package walks

import (
	"math"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestWalksWeighTheirAnswers(t *testing.T) {
	p, _ := contract.Blocks(t, 5, 200, 60, 3, 5, 1)
	var keep []int
	for i, c := range p.Class {
		if c == 0 || i%4 == 0 {
			keep = append(keep, i) // the first class has most labels
		}
	}
	p = p.At(keep)
	set := &engine.Settings{RNGSeed: 1, Lists: contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.3), "steps": param.Grid(4), "cost": param.Grid(2)}, Plain)}
	choice, err := chooseWalks(t.Context(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	all := roaring.New()
	all.AddRange(0, uint64(len(p.Degrees)))
	got := choice.Found.HeldOut.Estimate(p, all)
	folds := choose.FoldCount(len(p.Row))
	fold, weight := choose.DrawFolds(p, folds, set.RNGSeed, 0).Of, choose.WeightsOf(p)
	right, of := 0.0, 0.0
	for f := range folds {
		var rest []int
		for i := range fold {
			if fold[i] != f {
				rest = append(rest, i)
			}
		}
		out, err := predictWalksWith(t.Context(), p.At(rest), choice.Parameters, set)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range p.Class {
			if fold[i] != f {
				continue
			}
			of += weight[c]
			if out.Class[p.Row[i]] == c {
				right += weight[c]
			}
		}
	}
	if math.Abs(got.Accuracy-right/of) > 1e-9 {
		t.Errorf("told %v, want %v", got.Accuracy, right/of)
	}
}
