package auto

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Half of the fields of a board show the number of mines around them, and 40 % have a label. Without counts all fields seem
// free.
func TestBoardWithMines(t *testing.T) {
	p, class, isLabelled := board(t, 40)
	out, again := evident(t, p, &settings{Settings: engine.Settings{Workers: 1}}), evident(t, p, &settings{Settings: engine.Settings{Workers: 3}})
	right, tested := 0.0, 0.0
	for v, c := range class {
		if !isLabelled[v] {
			tested++
			if out.Class[v] == c {
				right++
			}
		}
	}
	t.Logf("accuracy %.3f, estimate %.3f", right/tested, out.Accuracy)
	if accuracy := right / tested; accuracy < 0.85 || out.Accuracy > accuracy+0.04 {
		t.Errorf("accuracy %.3f, estimate %.3f", accuracy, out.Accuracy)
	}
	if !slices.Equal(out.Scores.Data, again.Scores.Data) {
		t.Error("3 workers: other probabilities")
	}
}

// The columns of a node do not depend on how many labels models learn from.
func TestCountsUseAllLabels(t *testing.T) {
	p, _, _ := board(t, 20)
	columns := func(examples int) []float32 {
		set := &settings{Settings: engine.Settings{Workers: 1}}
		d := designOf(p, set)
		d.examples = examples
		in, err := newInput(t.Context(), p, set, d, 0, new(graph.Work))
		if err != nil {
			t.Fatal(err)
		}
		l := newLens(p, newAttributeTable(p.Team(), p.Attributes), 1, in.work)
		c := newCounts(in, l, newSeeds(in).fold)
		x, _, err := c.columns(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return x.Data
	}
	if !slices.Equal(columns(len(p.Row)), columns(len(p.Row)/4)) {
		t.Error("a quarter of the labels to learn from: other columns")
	}
}

// board returns a square board with the classes of its fields.
func board(t *testing.T, size int) (p *problem.Problem, class []int, isLabelled []bool) {
	rng := rand.New(rand.NewPCG(11, 1))
	n := size * size
	class = make([]int, n)
	for v := range class {
		if rng.Float64() < 0.2 {
			class[v] = 1
		}
	}
	p = &problem.Problem{Names: []string{"free", "mine"}, Attributes: &sparse.Table{Rows: n, Cols: 7}}
	var e []sparse.Triplet
	isLabelled = make([]bool, n)
	for v := range n {
		around := 0
		for u := range n {
			if x, y := u%size-v%size, u/size-v/size; u != v && x*x <= 1 && y*y <= 1 {
				e = append(e, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
				around += class[u]
			}
		}
		row := make([]float32, 7)
		row[6] = 1
		if rng.IntN(2) == 0 {
			row[6], row[min(around, 5)] = 0, 1
		}
		p.Attributes.Set(v, row)
		if isLabelled[v] = rng.Float64() < 0.4; isLabelled[v] {
			p.Row, p.Class = append(p.Row, v), append(p.Class, class[v])
		}
	}
	a, err := sparse.FromTriplets(n, n, e)
	if err != nil {
		t.Fatal(err)
	}
	p.Graph = &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}
	return p, class, isLabelled
}
