package auto

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// path returns a path whose classes are stretches of it, with random labels.
func path(t *testing.T, n, stretch, labels int) (*problem.Problem, []int) {
	p, class := contract.Path(t, n, false), make([]int, n)
	p.Row, p.Class, p.Names = nil, nil, []string{"a", "b", "c"}
	for v := range class {
		class[v] = v / stretch % len(p.Names)
	}
	for _, v := range rand.New(rand.NewPCG(1, 2)).Perm(n)[:labels] {
		p.Row, p.Class = append(p.Row, v), append(p.Class, class[v])
	}
	return p, class
}

// nearest counts the nodes with the class of the nearest label.
func nearest(p *problem.Problem, class []int) (alike int) {
	for v, got := range class {
		nearest := 0
		for i, row := range p.Row {
			if distance(row, v) < distance(p.Row[nearest], v) {
				nearest = i
			}
		}
		if got == p.Class[nearest] {
			alike++
		}
	}
	return alike
}

func distance(a, b int) int { return max(a-b, b-a) }

func TestLabelsFarApart(t *testing.T) {
	const n = 480
	p, class := path(t, n, 120, 16)
	for _, attributes := range []*sparse.Table{nil, noiseOf(rand.New(rand.NewPCG(3, 4)), n, 3)} {
		p.Attributes = attributes
		out := evident(t, p, &settings{Settings: engine.Settings{Workers: 1}})
		if alike := nearest(p, out.Class); alike < n*98/100 {
			t.Errorf("%d of %d nodes have the class of the nearest label", alike, n)
		}
		right := 0
		for v, got := range out.Class {
			if got == class[v] {
				right++
			}
		}
		if found := float64(right) / n; found < out.Accuracy-3*out.Stderr || found > out.Accuracy+3*out.Stderr {
			t.Errorf("%v of the nodes are right, estimated %v ± %v", found, out.Accuracy, out.Stderr)
		}
		for _, set := range []*settings{{Settings: engine.Settings{Workers: 2}}, {Settings: engine.Settings{Workers: 7, Memory: newPlan(p, &settings{}).learning.Required(1)}}} {
			again := evident(t, p, set)
			if !slices.Equal(again.Scores.Data, out.Scores.Data) || again.Accuracy != out.Accuracy {
				t.Errorf("%d workers, limit %d: another prediction", set.Workers, set.Memory)
			}
		}
	}
}

func TestFewLabelsFarApart(t *testing.T) {
	const n = 3000
	p, _ := path(t, n, n, 0)
	p.Row, p.Class = []int{0, 50, 100, 150, 200}, []int{0, 0, 1, 1, 2}
	if alike := nearest(p, evident(t, p, &settings{}).Class); alike < n*99/100 {
		t.Errorf("%d of %d nodes have the class of the nearest label", alike, n)
	}
	near, _ := path(t, 400, 100, 12)
	for _, set := range []*settings{{}, {Settings: engine.Settings{Effort: engine.LowEffort}}} {
		_, mixture := combined(t, near, set)
		if len(mixture) != 1 || !mixture[0].Poisson {
			t.Errorf("mixture %+v of few labels near each other, want Poisson learning alone", mixture)
		}
	}
}

func combined(t *testing.T, p *problem.Problem, set *settings) (*heldOut, []component) {
	h, err := predictHeldOut(t.Context(), featuresOf(t, p, set))
	if err != nil {
		t.Fatal(err)
	}
	return h, h.combine(all)
}

func TestModelsPredictNearLabels(t *testing.T) {
	p, _ := contract.Blocks(t, 1, 600, 120, 3, 1, 6)
	_, mixture := combined(t, p, &settings{})
	for _, c := range mixture {
		if c.Propagation && c.Weight > 5*leastWeight {
			t.Errorf("label propagation has the weight %v where neighbours differ", c.Weight)
		}
	}
}
