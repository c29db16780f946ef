package choose

import (
	"context"
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
)

// TestOutcomeBytes compares the memory of outcomes of all settings with its estimate.
func TestOutcomeBytes(t *testing.T) {
	const items, classes, settings = 300, 7, 40
	k := sparse.NewBlock[float64](items, items)
	class, fold := make([]int, items), make([]int, items)
	for i := range items {
		class[i], fold[i] = i%classes, i/3%5
		for j := range items {
			k.Row(i)[j] = 1
		}
	}
	fit := func(context.Context, classify.Gram, []int) ([]*classify.Model, error) {
		m := &classify.Model{Classes: classes, Items: items, Machines: make([]classify.Machine, classes*(classes-1)/2)}
		for p := range classes {
			for q := range p {
				m.Pairs = append(m.Pairs, classify.Pair{Positive: q, Negative: p})
			}
		}
		models := make([]*classify.Model, settings)
		for s := range models {
			models[s] = m
		}
		return models, nil
	}
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	found := make([][]Outcome, settings)
	for s := range found {
		found[s] = make([]Outcome, 0, items)
	}
	err := CrossValidate(t.Context(), k, class, fold, fit, func(setting int, o *Outcome) { found[setting] = append(found[setting], o.Clone()) })
	if err != nil {
		t.Fatal(err)
	}
	got, planned := held()-before, settings*items*OutcomeBytes(classes*(classes-1)/2)
	if got > planned+64<<10 || 2*got < planned {
		t.Errorf("outcomes take %d bytes, planned are %d", got, planned)
	}
	runtime.KeepAlive(found)
}

func TestLargestWithout(t *testing.T) {
	class, fold := []int{2, 2, 2, 0, 1, 1}, []int{0, 0, 1, 1, 1, 2}
	for f, want := range []int{1, 2, 2} {
		if got := LargestWithout(class, fold, f); got != want {
			t.Errorf("%d without fold %d, want %d", got, f, want)
		}
	}
}
