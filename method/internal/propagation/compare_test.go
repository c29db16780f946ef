package propagation

import (
	"testing"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestCompareFarLabels(t *testing.T) {
	p, _ := contract.FarLabels(t, 8000)
	fold := make([]int, len(p.Row))
	for i := range fold {
		fold[i] = i % 10
	}
	l := &Propagation{P: p, Alpha: 1, Rough: true}
	of, err := l.Compare(t.Context(), &choose.Folds{Of: fold, Count: 10, Measured: 10})
	if err != nil {
		t.Fatal(err)
	}
	if of.Propagation.Accuracy < 0.85 {
		t.Errorf("label propagation is said to be right at %v of the labels", of.Propagation.Accuracy)
	}
}
