package auto

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
)

// On a path whose classes are stretches of hundreds of nodes each node has the class of the
// nearest label, which walks of some steps do not come to: label propagation answers. So it
// does with the same bits for any number of workers and any limit, and none of its answers
// depends on the labels of its fold.
func TestLabelsFarApart(t *testing.T) {
	const n, stretch, labels = 2000, 300, 40
	p := problemtest.Path(t, n, false)
	p.Row, p.Class, p.Names = nil, nil, []string{"a", "b", "c"}
	class := func(v int) int { return v / stretch % len(p.Names) }
	for _, v := range rand.New(rand.NewPCG(1, 2)).Perm(n)[:labels] {
		p.Row, p.Class = append(p.Row, v), append(p.Class, class(v))
	}
	out := evident(t, p, &Settings{Workers: 1})
	alike, right := 0, 0
	for v, got := range out.Class {
		nearest := 0
		for i, row := range p.Row {
			if distance(row, v) < distance(p.Row[nearest], v) {
				nearest = i
			}
		}
		if got == p.Class[nearest] {
			alike++
		}
		if got == class(v) {
			right++
		}
	}
	if alike < n*99/100 {
		t.Errorf("%d of %d nodes have the class of the nearest label", alike, n)
	}
	if found := float64(right) / n; found < out.Accuracy-3*out.Stderr || found > out.Accuracy+3*out.Stderr {
		t.Errorf("%v of the nodes are right, told %v ± %v", found, out.Accuracy, out.Stderr)
	}
	for _, set := range []*Settings{{Workers: 2}, {Workers: 7}, {Workers: 2, Memory: 8 << 20}} {
		again := evident(t, p, set)
		if !slices.Equal(again.Scores.Data, out.Scores.Data) || again.Accuracy != out.Accuracy {
			t.Errorf("%d workers, limit %d: another answer", set.Workers, set.Memory)
		}
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// Where neighbours are alike in small circles label propagation has no part.
func TestModelsAnswerNearLabels(t *testing.T) {
	p, _ := problemtest.Blocks(t, 1, 600, 120, 3, 1, 6)
	r, err := newWeigher(t.Context(), p, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.choose(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.shares {
		if r.harmonic(s) {
			t.Errorf("label propagation has a share of %v where neighbours differ", s.weight)
		}
	}
}
