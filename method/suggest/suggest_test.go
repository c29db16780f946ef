package suggest

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Suggestions against the decrease of the variance of Σ w_i·f_i, found anew for every
// candidate with a dense covariance of all nodes given the labels and those before.
func TestNodesAgainstDense(t *testing.T) {
	for _, name := range []string{"karate", "wrand60"} {
		g := testgraph.Load(t, name)
		p := &problem.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Train, Class: g.TrainClass, Names: g.Classes}
		methods, err := method.Parse("lp")
		if err != nil {
			t.Fatal(err)
		}
		out, err := methods[0].Method.Predict(t.Context(), p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(p.Degrees)
		var first []Suggestion
		for _, workers := range []int{1, 2, 7} {
			list, err := Nodes(t.Context(), p, out, 8, nil, true, &method.Settings{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = list
			}
			if !slices.Equal(first, list) {
				t.Errorf("%s: other suggestions with %d workers", name, workers)
			}
		}
		degrees, joined := 0.0, 0.0
		for _, d := range p.Degrees {
			if degrees += d; d > 0 {
				joined++
			}
		}
		gamma := reach * joined / degrees
		inverse := mat.NewDense(n, n, nil)
		err = sparse.Sweep(t.Context(), p.A, 1, func(_ int, panel sparse.Panel) error {
			for r := range panel.Hi - panel.Lo {
				cols, weights := panel.Row(r)
				for e, c := range cols {
					w := 1.0
					if weights != nil {
						w = weights[e]
					}
					inverse.Set(panel.Lo+r, int(c), inverse.At(panel.Lo+r, int(c))-gamma*w)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float64, n)
		for i, d := range p.Degrees {
			inverse.Set(i, i, inverse.At(i, i)+1+gamma*d)
			if !slices.Contains(p.Row, i) {
				w[i] = 1 - float64(slices.Max(out.Scores.Row(i)))
			}
		}
		var prior mat.Dense
		if err := prior.Inverse(inverse); err != nil {
			t.Fatal(err)
		}
		variance := func(told []int) float64 {
			m := len(told)
			between, cross := mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
			value := 0.0
			for i := range n {
				for j := range n {
					value += w[i] * w[j] * prior.At(i, j)
				}
			}
			for a, u := range told {
				for b, v := range told {
					between.Set(a, b, prior.At(u, v))
				}
				between.Set(a, a, between.At(a, a)+noise)
				for i := range n {
					cross.SetVec(a, cross.AtVec(a)+w[i]*prior.At(u, i))
				}
			}
			var x mat.VecDense
			if err := x.SolveVec(between, cross); err != nil {
				t.Fatal(err)
			}
			return value - mat.Dot(cross, &x)
		}
		told := slices.Clone(p.Row)
		all := variance(told)
		nodes, suggestion := drawCandidates(problem.ListUnlabelled(p, nil), 8, draws, (&method.Settings{}).WithDefaults().RNGSeed)
		isMade := make([]bool, 8)
		for place, s := range first {
			before := variance(told)
			best := 0.0
			for a, v := range nodes {
				if !isMade[suggestion[a]] {
					best = max(best, before-variance(append(slices.Clone(told), v)))
				}
			}
			isMade[suggestion[slices.Index(nodes, s.Row)]] = true
			gain := before - variance(append(slices.Clone(told), s.Row))
			if gain < best*(1-1e-4) || math.Abs(s.Teaches-gain/all) > 1e-4*gain/all {
				t.Errorf("%s: suggestion %d, node %d, teaches %v, found anew %v; the best is %v", name, place, s.Row, s.Teaches, gain/all, best/all)
			}
			if c := slices.Index(out.Scores.Row(s.Row), slices.Max(out.Scores.Row(s.Row))); c != s.Class || s.Class == s.Second {
				t.Errorf("%s: node %d is likeliest of class %d, then %d; the scores are %v", name, s.Row, s.Class, s.Second, out.Scores.Row(s.Row))
			}
			told = append(told, s.Row)
		}
	}
}

// Batches of every size have candidates for each suggestion, and each node once.
func TestDrawCandidates(t *testing.T) {
	free := sched.UpTo(30)
	for count := 1; count <= 40; count++ {
		for _, width := range []int{1, draws} {
			nodes, suggestion := drawCandidates(free, count, width, 1)
			sizes := make([]int, min(count, len(free)))
			for _, number := range suggestion {
				sizes[number]++
			}
			sorted := slices.Clone(nodes)
			slices.Sort(sorted)
			if len(nodes) != len(suggestion) || len(slices.Compact(sorted)) != len(nodes) {
				t.Fatalf("%d suggestions: candidates %v", count, nodes)
			}
			if slices.Min(sizes) < min(width, len(free)/len(sizes)) || slices.Max(sizes) > width {
				t.Errorf("%d suggestions: numbers of candidates %v", count, sizes)
			}
		}
	}
}
