package auto

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest/generate"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func generated(t testing.TB, name string, v param.Values, nodes int) (*problem.Problem, generate.Graph) {
	t.Helper()
	m, err := generate.New(name, v, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.EdgesTo(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	lists := make([][]uint32, nodes)
	for line := range strings.Lines(text.String()) {
		u, v, _ := strings.Cut(strings.TrimSpace(line), "\t")
		i, _ := strconv.Atoi(u)
		j, _ := strconv.Atoi(v)
		lists[i], lists[j] = append(lists[i], uint32(j)), append(lists[j], uint32(i))
	}
	ptr, col := []int64{0}, []uint32{}
	for _, list := range lists {
		slices.Sort(list)
		list = slices.Compact(list)
		col = append(col, list...)
		ptr = append(ptr, int64(len(col)))
	}
	a, err := sparse.NewCSR(nodes, nodes, ptr, col, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}}, m
}

func blockModelOf(t testing.TB, nodes, edges, classes int, homophily float64) (p *problem.Problem, class []int) {
	t.Helper()
	p, made := generated(t, "sbm", param.Values{"nodes": param.Of(nodes), "edges": param.Of(edges), "classes": param.Of(classes), "homophily": param.Of(homophily)}, nodes)
	var text bytes.Buffer
	if err := made.LabelsTo(t.Context(), &text, 1); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		_, c, _ := strings.Cut(strings.TrimSpace(line), "\tc")
		k, _ := strconv.Atoi(c)
		class = append(class, k)
	}
	for k := range classes {
		p.Names = append(p.Names, strconv.Itoa(k))
	}
	return p, class
}

// Beliefs that are tried in vain are a factor, and attributes that are noise do not cost beliefs.
func TestBeliefsMultiply(t *testing.T) {
	if testing.Short() {
		t.Skip("learns from a large graph four times")
	}
	const nodes, classes = blockModelNodes + 1, 4
	p, class := blockModelOf(t, nodes, 4*nodes, classes, 0.4)
	rng := rand.New(rand.NewPCG(1, 2))
	for v, c := range class {
		if v%20 == 0 {
			p.Row, p.Class = append(p.Row, v), append(p.Class, c)
		}
	}
	accuracy := func() float64 {
		out, err := predict(t.Context(), p, &settings{})
		if err != nil {
			t.Fatal(err)
		}
		choice := out.Mixed.(*Choice)
		if !choice.BlockModel && !slices.ContainsFunc(choice.Mixture, func(c Component) bool { return c.isFactor() }) {
			t.Errorf("attributes %t: beliefs are no factor", p.Attributes != nil)
		}
		again, err := predict(t.Context(), p, &settings{choice: choice})
		if err != nil || !slices.Equal(again.Scores.Data, out.Scores.Data) {
			t.Errorf("attributes %t: a kept choice gives other scores, or %v", p.Attributes != nil, err)
		}
		right := 0
		for v, c := range class {
			if out.Class[v] == c {
				right++
			}
		}
		return float64(right) / nodes
	}
	links := accuracy()
	p.Attributes = &sparse.Table{Rows: nodes, Cols: 1}
	for v := range nodes {
		p.Attributes.Set(v, []float32{rng.Float32()})
	}
	if both := accuracy(); links < 0.6 || both < links-0.005 {
		t.Errorf("accuracy of links %.3f, with a column of noise %.3f", links, both)
	}
}

func TestStopsAtBlockModel(t *testing.T) {
	const nodes, classes = blockModelNodes + 1, 4
	p, class := blockModelOf(t, nodes, 6*nodes, classes, 0.9)
	rng := rand.New(rand.NewPCG(1, 2))
	for v, c := range class {
		if rng.Float64() < 0.02 {
			p.Row, p.Class = append(p.Row, v), append(p.Class, c)
		}
	}
	if !beginsWithBeliefs(p, &settings{}) || beginsWithBeliefs(p, &settings{Settings: engine.Settings{Effort: engine.LowEffort}}) {
		t.Fatal("the rule does not follow the settings")
	}
	m, err := blockModel(t.Context(), p, &settings{}, new(graph.Work))
	if err != nil {
		t.Fatal(err)
	}
	if explained, err := isExplained(t.Context(), p, m); err != nil || !explained {
		t.Errorf("a block model is explained: %t, %v", explained, err)
	}
	for i, label := range m.HeldOut {
		m.Predicted[i] = (p.Class[label] + 1) % classes
	}
	if explained, err := isExplained(t.Context(), p, m); err != nil || explained {
		t.Errorf("beliefs that neighbours' votes excel explain the graph: %t, %v", explained, err)
	}
	var first *engine.Prediction
	beliefs, _ := workspace(p, &settings{})
	least := beliefs.Required(1)
	for _, set := range []settings{{Settings: engine.Settings{Workers: 1}}, {Settings: engine.Settings{Workers: 7, Memory: least}}} {
		out, err := predict(context.Background(), p, &set)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for v, c := range class {
			if out.Class[v] == c {
				right++
			}
		}
		accuracy := float64(right) / nodes
		if !out.BlockModel || accuracy < 0.95 || accuracy > out.Estimate.Accuracy+0.03 || accuracy < out.Estimate.Accuracy-0.03 {
			t.Errorf("block model %t, accuracy %.3f, estimate %.3f", out.BlockModel, accuracy, out.Estimate.Accuracy)
		}
		if first == nil {
			first = out
		} else if !slices.Equal(out.Class, first.Class) || !slices.Equal(out.Scores.Data, first.Scores.Data) {
			t.Error("other bits with another number of workers and a memory limit")
		}
	}
	rng.Shuffle(len(p.Class), func(i, j int) { p.Class[i], p.Class[j] = p.Class[j], p.Class[i] })
	// Labels that a block model does not explain, in memory for beliefs alone.
	if out, err := predict(t.Context(), p, &settings{Settings: engine.Settings{Memory: least}}); err != nil || !out.BlockModel || len(out.Unfit) != 1 || out.MissingMemory <= 0 {
		t.Errorf("memory for beliefs alone: %v, without %q", err, out.Unfit)
	}
}

func TestSilentOnRandomLabels(t *testing.T) {
	p, _ := generated(t, "rmat", param.Values{"scale": param.Of(16), "edge-factor": param.Of(6)}, 1<<16)
	rng := rand.New(rand.NewPCG(3, 4))
	p.Names = []string{"a", "b", "c"}
	for v, d := range p.Degrees {
		if d > 0 && rng.Float64() < 0.02 {
			p.Row, p.Class = append(p.Row, v), append(p.Class, min(rng.IntN(5), 2))
		}
	}
	if !beginsWithBeliefs(p, &settings{}) {
		t.Fatal("the rule does not apply")
	}
	m, err := blockModel(t.Context(), p, &settings{}, new(graph.Work))
	if err != nil {
		t.Fatal(err)
	}
	if m.KnowsItself() {
		t.Errorf("accuracy %.3f, certainty %.3f, largest class %.3f explain the graph", m.Accuracy, m.Certain, m.Majority)
	}
}

func TestBeliefsOfABlockModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	p, class := contract.Blocks(t, 5, 1500, 150, 3, 5, 1)
	with := evident(t, p, &settings{})
	if mixture := with.Mixed.(*Choice).Mixture; !mixture[len(mixture)-1].Beliefs {
		t.Fatal("beliefs take no part")
	}
	accuracy := contract.Accuracy(p, with.Class, class)
	t.Logf("accuracy %.3f, estimate %.3f", accuracy, with.Estimate.Accuracy)
	if e := with.Estimate; accuracy < 0.75 || math.Abs(e.Accuracy-accuracy) > 3*e.Stderr {
		t.Errorf("accuracy %.3f, estimate %.3f ± %.3f", accuracy, e.Accuracy, e.Stderr)
	}
	if inputOf(t, p.At([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), &settings{}).beliefs {
		t.Error("beliefs may take part with ten labels")
	}
}
