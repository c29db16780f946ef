package auto

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// ring returns a graph whose arcs lead from each class to the next. The last node has no arc.
func ring(t *testing.T, seed uint64, n, labels int, weighted bool) (*problem.Problem, []int) {
	t.Helper()
	const classes = 3
	rng := rand.New(rand.NewPCG(seed, 1))
	class := make([]int, n)
	for v := range class {
		class[v] = v % classes
	}
	seen := map[[2]int]bool{}
	var entries []sparse.Triplet
	for len(entries) < 4*n {
		u, v := rng.IntN(n-1), rng.IntN(n-1)
		if u == v || seen[[2]int{u, v}] || class[v] != (class[u]+1)%classes && rng.Float64() < 0.9 {
			continue
		}
		seen[[2]int{u, v}] = true
		e := sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}
		if weighted {
			e.Val = 0.5 + rng.Float64()
		}
		entries = append(entries, e)
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Directed: true, Weighted: weighted, Names: []string{"x", "y", "z"}}
	for _, v := range rng.Perm(n)[:labels] {
		p.Row, p.Class = append(p.Row, v), append(p.Class, class[v])
	}
	return p, class
}

func TestFiltersOfArcs(t *testing.T) {
	p, _ := ring(t, 2, 60, 36, true)
	n, k := len(p.Degrees), len(p.Names)
	in := inputOf(t, p, &settings{Settings: engine.Settings{RNGSeed: 5, Workers: 2}})
	q, s := in.p, newSeeds(in)
	walks, err := s.walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slow := func(first filter, visible func(i int) bool) (steps []*mat.Dense) {
		x := mat.NewDense(n, k, nil)
		for i, row := range q.Row {
			if visible(i) && q.Degrees[row] > 0 {
				x.Set(row, q.Class[i], s.unit/q.Degrees[row])
			}
		}
		step := mat.DenseCopyOf(p.A.(*sparse.CSR))
		if first == againstArcs {
			step = mat.DenseCopyOf(p.A.(*sparse.CSR).T())
		}
		for v := range n {
			if d := mat.Sum(step.RowView(v)); d > 0 {
				for u := range n {
					step.Set(v, u, step.At(v, u)/d)
				}
			} else {
				step.Set(v, v, 1)
			}
		}
		for range arcSteps {
			next := mat.NewDense(n, k, nil)
			next.Mul(step, x)
			steps, x = append(steps, next), next
		}
		return steps
	}
	got := make([]float32, walks.cols)
	for _, first := range []filter{alongArcs, againstArcs} {
		for j, want := range slow(first, func(int) bool { return true }) {
			for v := range n {
				for c := range k {
					if x := walks.row(v)[(int(first)+j)*k+c]; math.Abs(float64(x)-want.At(v, c)) > 1e-5 {
						t.Fatalf("filter %d of class %d at node %d is %v, want %v", int(first)+j, c, v, x, want.At(v, c))
					}
				}
			}
		}
		for i, row := range q.Row {
			others := func(o int) bool { return s.fold[o] != s.fold[i] }
			s.honestTo(got, walks, i, -1)
			for j, want := range slow(first, others) {
				for c := range k {
					left, all := 0.0, 0.0
					for o, class := range q.Class {
						if class == c {
							all++
							if others(o) {
								left++
							}
						}
					}
					if x := float64(got[(int(first)+j)*k+c]); math.Abs(x-want.At(row, c)*all/left) > 1e-5 {
						t.Fatalf("honest filter %d of class %d at label %d is %v, want %v", int(first)+j, c, i, x, want.At(row, c)*all/left)
					}
				}
			}
		}
	}
}

func TestEvidenceOfDirections(t *testing.T) {
	const draws = 5
	var with, without float64
	var p *problem.Problem
	var out *engine.Prediction
	for seed := range uint64(draws) {
		var class []int
		p, class = ring(t, 3+seed, 300, 60, false)
		out = evident(t, p, &settings{Settings: engine.Settings{Workers: 1}})
		q, _, err := p.WithoutDirections(t.Context(), 1, new(graph.Work))
		if err != nil {
			t.Fatal(err)
		}
		with += contract.Accuracy(p, out.Class, class) / draws
		without += contract.Accuracy(q, evident(t, q, &settings{}).Class, class) / draws
	}
	if with < 0.8 || without > with-0.2 {
		t.Errorf("accuracy %v, without directions %v", with, without)
	}
	if out.Reached.Contains(299) || !out.Reached.Contains(298) {
		t.Error("all but the last node are reached")
	}
	sameBits(t, p, out)
}
