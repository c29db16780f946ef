package method

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// amounts returns blocks with the given weights on edges that inform.
func amounts(t *testing.T, within, between float64, weight func(rng *rand.Rand, same bool) float64) (*engine.Problem, []int) {
	p, class := contract.Blocks(t, 3, 1500, 150, 3, within, between)
	rng := rand.New(rand.NewPCG(1, 2))
	var e []sparse.Triplet
	for v := range class {
		columns, _ := p.A.(*sparse.CSR).Row(v)
		for _, u := range columns {
			if w := weight(rng, class[u] == class[v]); int(u) < v {
				e = append(e, sparse.Triplet{Row: uint32(v), Col: u, Val: w}, sparse.Triplet{Row: u, Col: uint32(v), Val: w})
			}
		}
	}
	a, err := sparse.FromTriplets(len(class), len(class), e)
	if err != nil {
		t.Fatal(err)
	}
	p.Graph, p.Weighted = &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, true
	return p, class
}

func noise(t *testing.T) (*engine.Problem, []int) {
	return amounts(t, 4, 0.5, func(rng *rand.Rand, _ bool) float64 { return math.Exp(3 + 2*rng.NormFloat64()) })
}

func TestWeightsAreChosen(t *testing.T) {
	informative := func(rng *rand.Rand, same bool) float64 {
		if same {
			return 8 + rng.Float64()
		}
		return 0.5 + rng.Float64()
	}
	m := methodOf(t, "auto")
	accuracy := func(p *engine.Problem, class []int, weights string) (float64, string) {
		set := &engine.Settings{RNGSeed: 1, Weights: weights}
		out, err := m.Predict(t.Context(), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		return contract.Accuracy(p, out.Class, class), out.Weights
	}
	p, class := noise(t)
	given, _ := accuracy(p, class, engine.GivenWeights)
	none, _ := accuracy(p, class, "none")
	if chosen, weights := accuracy(p, class, ""); weights == engine.GivenWeights || chosen < none-0.01 || chosen < given+0.05 {
		t.Errorf("accuracy %.3f with weights %s, %.3f with weights as given, %.3f without", chosen, weights, given, none)
	}
	p, class = amounts(t, 2, 2, informative)
	given, _ = accuracy(p, class, engine.GivenWeights)
	if chosen, weights := accuracy(p, class, ""); weights != engine.GivenWeights || chosen != given {
		t.Errorf("accuracy %.3f with weights %s that inform, %.3f with weights as given", chosen, weights, given)
	}
}

func TestWeightsAreNotChosen(t *testing.T) {
	p, _ := noise(t)
	plain := *p
	plain.Weighted = false
	for _, c := range []struct {
		p    *engine.Problem
		name string
		set  *engine.Settings
		want string
	}{
		{&plain, "auto", &engine.Settings{}, ""},
		{p, "lgc", &engine.Settings{}, engine.GivenWeights},
		{p, "lp", &engine.Settings{}, engine.GivenWeights},
		{p, "beliefs", &engine.Settings{}, engine.GivenWeights},
		{p, "lgc", &engine.Settings{Weights: "log"}, "log"},
	} {
		if got, err := methodOf(t, c.name).Weigh(t.Context(), c.p, c.set); err != nil || got.Learned.Weights != c.want {
			t.Errorf("%s: weights %q, %v, want %q", c.name, got.Learned.Weights, err, c.want)
		}
	}
}

func TestWeightsAreKept(t *testing.T) {
	p, _ := noise(t)
	m := methodOf(t, "auto")
	var want *engine.Prediction
	for _, set := range []*engine.Settings{{Workers: 1, Effort: engine.LowEffort, RNGSeed: 1}, {Workers: 3, Memory: 64 << 20, Effort: engine.LowEffort, RNGSeed: 1}} {
		out, err := m.Predict(t.Context(), p, nil, set)
		if err != nil || out.Weights != "none" {
			t.Fatalf("weights %q, %v", out.Weights, err)
		}
		if want == nil {
			want = out
		}
		if !slices.Equal(out.Scores.Data, want.Scores.Data) {
			t.Error("other scores")
		}
	}
	kept, err := m.Keep(want, &engine.Settings{Effort: engine.LowEffort, RNGSeed: 1})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	again := new(engine.Model)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	out, err := predictKept(t.Context(), again, p, &engine.Settings{Workers: 2})
	if err != nil || out.Weights != "none" || !slices.Equal(out.Scores.Data, want.Scores.Data) {
		t.Errorf("a kept model has other scores, with weights %q, %v", out.Weights, err)
	}
	whole, err := graph.New(t.Context(), p.A, nil)
	if err != nil {
		t.Fatal(err)
	}
	contract.OnProcesses(t, 2, whole, slices.Clone(p.Row), func(g *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
		q := *p
		q.Graph, q.Row = g, nil
		for _, row := range p.Row {
			q.Row = append(q.Row, local(row))
		}
		r, err := m.Weigh(t.Context(), &q, &engine.Settings{RNGSeed: 1, Workers: g.Workers})
		if err != nil {
			return nil, err
		}
		if r.Learned.Weights != "none" {
			t.Errorf("weights %q on processes", r.Learned.Weights)
		}
		y := sparse.NewBlock[float64](len(g.Degrees), 1)
		for i := range y.Rows {
			y.Row(i)[0] = r.Degrees[i]
		}
		return y, nil
	})
}
