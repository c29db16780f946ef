package problem_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestWithoutDirections(t *testing.T) {
	const n = 40
	for _, weighted := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(1, 2))
		dense := mat.NewDense(n, n, nil)
		for range 5 * n {
			v := 1.0
			if weighted {
				v = 0.5 + rng.Float64()
			}
			dense.Set(rng.IntN(n-1), rng.IntN(n-1), v)
		}
		a, err := sparse.FromMat(dense)
		if err != nil {
			t.Fatal(err)
		}
		p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Directed: true, Weighted: weighted}
		var work graph.Work
		q, against, err := p.WithoutDirections(t.Context(), 2, &work)
		if err != nil {
			t.Fatal(err)
		}
		var want, got mat.Dense
		want.Add(dense, dense.T())
		if !weighted {
			want.Apply(func(_, _ int, v float64) float64 { return min(v, 1) }, &want)
		}
		got.CloneFrom(q.A.(*sparse.CSR))
		if !mat.Equal(&got, &want) || q.Directed || work.Sweeps != 1 {
			t.Errorf("weighted %t: another graph, or %d sweeps", weighted, work.Sweeps)
		}
		var back mat.Dense
		if back.CloneFrom(against.(*sparse.CSR)); !mat.Equal(&back, dense.T()) {
			t.Errorf("weighted %t: another transpose", weighted)
		}
		for v := range n {
			if math.Abs(q.Degrees[v]-mat.Sum(want.RowView(v))) > 1e-12 {
				t.Errorf("weighted %t: node %d has the degree %v", weighted, v, q.Degrees[v])
			}
		}
		if bytes := p.ArcsBytes(); bytes < 16*int64(a.NNZ()) {
			t.Errorf("weighted %t: %d bytes", weighted, bytes)
		}
	}
}
