package contract

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Without this setting the garbage collector took a quarter of the time of the tests, which make short-lived features.
func init() { debug.SetGCPercent(400) }

// Planted returns the blocks of [testgraph.Planted].
func Planted(t testing.TB, seed uint64, n, labelled int) *problem.Problem {
	return ProblemOf(testgraph.Planted(t, seed, n, labelled))
}

// ProblemOf returns the problem of a labelled graph.
func ProblemOf(g testgraph.Labelled) *problem.Problem {
	return &problem.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
}

// Golden returns the problem of a graph of testdata/golden.
func Golden(t testing.TB, name string) *problem.Problem {
	t.Helper()
	g := testgraph.Load(t, name)
	return &problem.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Train, Class: g.TrainClass, Names: g.Classes}
}

// Lists returns lists of values of parameters with the given features of walks.
func Lists(values map[string][]param.Value, features ...string) map[string][]param.Value {
	lists := maps.Clone(values)
	for _, f := range features {
		lists["features"] = append(lists["features"], param.Of(f))
	}
	return lists
}

// Blocks returns a graph of blocks with labels on some nodes, and the classes of all nodes. inner is the
// mean number of neighbours of a node in its own block, outer in each other block.
func Blocks(t testing.TB, seed uint64, n, labelled, classes int, inner, outer float64) (*problem.Problem, []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	class := make([]int, n)
	for v := range class {
		class[v] = rng.IntN(classes)
	}
	var e []sparse.Triplet
	size := float64(n) / float64(classes)
	for v := range n {
		for u := range v {
			mean := outer
			if class[u] == class[v] {
				mean = inner
			}
			if rng.Float64() < mean/size {
				e = append(e, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(n, n, e)
	if err != nil {
		t.Fatal(err)
	}
	p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}}
	for c := range classes {
		p.Names = append(p.Names, fmt.Sprint(c))
	}
	for _, v := range rng.Perm(n)[:labelled] {
		p.Row, p.Class = append(p.Row, v), append(p.Class, class[v])
	}
	return p, class
}

// Path returns a path of n nodes with a label at each end.
func Path(t testing.TB, n int, directed bool) *problem.Problem {
	t.Helper()
	a := testgraph.Path(n)
	return &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Directed: directed, Row: []int{0, n - 1}, Class: []int{0, 1}, Names: []string{"a", "b"}}
}

// FarLabels returns a path of n nodes with a label on every 97th node, and the classes of all nodes, which change every
// 1000 nodes.
func FarLabels(t testing.TB, n int) (*problem.Problem, []int) {
	t.Helper()
	const apart, block = 97, 1000
	p := Path(t, n, false)
	p.Row, p.Class = nil, nil
	class := make([]int, n)
	for v := range class {
		class[v] = v / block % 2
		if v%apart == 0 {
			p.Row, p.Class = append(p.Row, v), append(p.Class, class[v])
		}
	}
	return p, class
}

// Accuracy returns the share of nodes without a label for which got is the right class.
func Accuracy(p *problem.Problem, got, class []int) float64 {
	isLabelled := problem.MarkLabels(p)
	right := 0.0
	for v, c := range class {
		if !isLabelled[v] && got[v] == c {
			right++
		}
	}
	return right / float64(len(class)-len(p.Row))
}

// Counting counts the sweeps over a matrix.
type Counting struct {
	sparse.Matrix
	sweeps atomic.Int64
}

// Count returns the number of sweeps so far.
func (c *Counting) Count() int { return int(c.sweeps.Load()) }

// SweepRows implements [sparse.Matrix].
func (c *Counting) SweepRows(ctx context.Context, lo, hi, workers int, visit func(worker int, p sparse.Panel) error) error {
	c.sweeps.Add(1)
	return c.Matrix.SweepRows(ctx, lo, hi, workers, visit)
}
