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
	of, err := l.Compare(t.Context(), &choose.Task{Problem: p, Fold: fold})
	if err != nil {
		t.Fatal(err)
	}
	if of.Propagation.Accuracy < 0.85 {
		t.Errorf("label propagation is said to be right at %v of the labels", of.Propagation.Accuracy)
	}
}
