package test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func lengths(a *sparse.CSR) []int {
	rows, _ := a.Dims()
	n := make([]int, rows)
	for i := range n {
		col, _ := a.Row(i)
		n[i] = len(col)
	}
	return n
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *sparse.CSR
		want []int
	}{
		{"path", testgraph.Path(4), []int{1, 2, 2, 1}},
		{"path of one", testgraph.Path(1), []int{0}},
		{"cycle", testgraph.Cycle(3), []int{2, 2, 2}},
		{"star", testgraph.Star(4), []int{3, 1, 1, 1}},
		{"complete", testgraph.Complete(4), []int{3, 3, 3, 3}},
		{"two cliques", testgraph.TwoCliques(3), []int{2, 2, 2, 2, 2, 2}},
	} {
		if got := lengths(c.a); !slices.Equal(got, c.want) {
			t.Errorf("%s: rows of %v entries, want %v", c.name, got, c.want)
		}
	}
	if r := testgraph.Hub().Ranges()[0]; r.Pieces != 3 {
		t.Errorf("the hub's row has %d pieces, want 3", r.Pieces)
	}
}

func TestRandom(t *testing.T) {
	a, again := testgraph.Random(7, 30, 60, true), testgraph.Random(7, 30, 60, true)
	loops := 0
	a.DoNonZero(func(i, j int, v float64) {
		if a.At(j, i) != v || again.At(i, j) != v {
			t.Errorf("(%d, %d) is %v, mirrored %v, drawn again %v", i, j, v, a.At(j, i), again.At(i, j))
		}
		if i == j {
			loops++
		}
	})
	if got := int(a.NNZ()) + loops; got != 120 {
		t.Errorf("%d edge ends, want 120", got)
	}
	if d := testgraph.RandomDirected(7, 30, 60, false); d.NNZ() != 60 {
		t.Errorf("%d arcs", d.NNZ())
	}
}

func TestPermute(t *testing.T) {
	a, order := testgraph.Path(4), []int{2, 0, 3, 1}
	b := testgraph.Permute(a, order)
	a.DoNonZero(func(i, j int, v float64) {
		if b.At(order[i], order[j]) != v {
			t.Errorf("edge (%d, %d) is lost", i, j)
		}
	})
	if b.NNZ() != a.NNZ() {
		t.Errorf("%d entries, want %d", b.NNZ(), a.NNZ())
	}
}

func TestLoad(t *testing.T) {
	g := testgraph.Load(t, "wrand60")
	if n, _ := g.A.Dims(); n != 60 || g.A.NNZ() != 2*107-2 || !slices.Equal(g.Classes, []string{"blue", "green", "red"}) {
		t.Errorf("%d nodes, %d entries, classes %v", n, g.A.NNZ(), g.Classes)
	}
	var vol float64
	for _, d := range g.Degrees {
		vol += d
	}
	if math.Abs(vol-311.34) > 1e-9 {
		t.Errorf("volume %v, want 311.34", vol)
	}
	if g.Nodes[g.Train[0]] != "w026" || g.TrainClass[0] != 1 || g.Labels[0] != 2 {
		t.Errorf("first training node %s of class %d; node 0 of class %d", g.Nodes[g.Train[0]], g.TrainClass[0], g.Labels[0])
	}
}

func TestGolden(t *testing.T) {
	for name, want := range map[string][2]int{
		"karate/cwk_F_a0.5_uniform_t10.npy": {34, 22},
		"karate/cwk_P_a0.5_uniform.npy":     {21 * 34, 2},
		"karate/cwk_folds.npy":              {7, 1},
	} {
		if b := testgraph.Golden(t, name); b.Rows != want[0] || b.Cols != want[1] {
			t.Errorf("%s: %d×%d, want %v", name, b.Rows, b.Cols, want)
		}
	}
	p := testgraph.Golden(t, "wrand60/cwk_P_a1.0_uniform.npy")
	g := testgraph.Load(t, "wrand60")
	if p.At(g.Train[0], g.TrainClass[0]) != 1 {
		t.Error("a training row of P_0 is not one-hot")
	}
}

// recorder may fail without failing the test around it.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(r) }

func TestClose(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for i, c := range []struct {
		got, want []float64
		abs, rel  float64
		close     bool
	}{
		{[]float64{1, 2}, []float64{1, 2}, 0, 0, true},
		{[]float64{1, 2.1}, []float64{1, 2}, 0, 0.04, false},
		{[]float64{1, 2.1}, []float64{1, 2}, 0, 0.06, true},
		{[]float64{1.1, 2}, []float64{1, 2}, 0, 0.06, true},
		{[]float64{1, inf}, []float64{1, inf}, 0, 0, true},
		{[]float64{1.5, inf}, []float64{1, inf}, 0, 0.1, false},
		{[]float64{1, nan}, []float64{1, 2}, 9, 9, false},
		{[]float64{1}, []float64{1, 2}, 9, 9, false},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := &recorder{TB: t}
			func() {
				defer func() {
					if p := recover(); p != nil && p != any(r) {
						panic(p)
					}
				}()
				testgraph.Close(r, sparse.BlockOf(1, len(c.got), c.got), sparse.BlockOf(1, len(c.want), c.want), c.abs, c.rel)
			}()
			if r.failed == c.close {
				t.Errorf("close: %v, want %v", !r.failed, c.close)
			}
		})
	}
}
