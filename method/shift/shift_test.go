package shift_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func check(t *testing.T, p *engine.Problem, workers int) *shift.Report {
	t.Helper()
	r, err := shift.Check(t.Context(), p, nil, workers, new(graph.Work))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func problem(t *testing.T, n int, links [][2]int, rows []int) *engine.Problem {
	t.Helper()
	var edges []sparse.Triplet
	for _, l := range links {
		edges = append(edges, sparse.Triplet{Row: uint32(l[0]), Col: uint32(l[1]), Val: 1}, sparse.Triplet{Row: uint32(l[1]), Col: uint32(l[0]), Val: 1})
	}
	a, err := sparse.FromTriplets(n, n, edges)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return contract.ProblemOf(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Row: rows, Class: make([]int, len(rows)), Names: []string{"a"}})
}

func grid(side int) (links [][2]int) {
	for v := range side * side {
		if v%side > 0 {
			links = append(links, [2]int{v - 1, v})
		}
		if v >= side {
			links = append(links, [2]int{v - side, v})
		}
	}
	return links
}

func TestRegion(t *testing.T) {
	const side = 40
	var rows []int
	far := 0 // nodes at two hops or more from a square of 10 × 10 in the middle
	for v := range side * side {
		x, y := v%side, v/side
		switch d := max(0, 15-x, x-24) + max(0, 15-y, y-24); {
		case d == 0:
			rows = append(rows, v)
		case d > 1:
			far++
		}
	}
	p := problem(t, side*side, grid(side), rows)
	r := check(t, p, 1)
	if want := float64(far) / float64(side*side-len(rows)); !r.Exceeds() || r.Hops.Above != 1 || r.Hops.Labelled != 0 || math.Abs(r.Hops.Others-want) > 1e-12 {
		t.Errorf("%+v, want a share of %v above 1", r, want)
	}
	for _, workers := range []int{2, 7} {
		if again := check(t, p, workers); *again != *r {
			t.Errorf("%d workers: %+v, want %+v", workers, again, r)
		}
	}
}

func TestHubs(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 2))
	var links [][2]int
	for range 8 * n {
		if u, v := rng.IntN(n), min(rng.IntN(n), rng.IntN(n)); u != v {
			links = append(links, [2]int{u, v})
		}
	}
	for first, areHubs := range map[int]bool{0: true, 3 * n / 4: false} {
		var rows []int
		for v := range n / 4 {
			rows = append(rows, first+v)
		}
		r := check(t, problem(t, n, links, rows), 1)
		if d, isDegree := r.Largest(); !r.Exceeds() || !isDegree || d.Labelled > d.Others != areHubs {
			t.Errorf("%+v", r)
		}
	}
}

// Hops are known only of labelled nodes with another label in their component.
func TestRandom(t *testing.T) {
	const side, draws = 40, 50
	rng := rand.New(rand.NewPCG(1, 2))
	var parts [][2]int
	n := 0
	for range 2 {
		for v := range 3 * 400 {
			parts = append(parts, [2]int{n + v%400, n + (v%400+1+rng.IntN(399))%400})
		}
		n += 400
	}
	for range 260 {
		size := 2 + rng.IntN(3)
		for v := range size - 1 {
			parts = append(parts, [2]int{n + v, n + v + 1})
		}
		n += size
	}
	for _, g := range []struct {
		nodes int
		links [][2]int
	}{{side * side, grid(side)}, {n, parts}} {
		for _, labels := range []int{60, g.nodes / 5, g.nodes / 2} {
			alarms := 0
			for range draws {
				if check(t, problem(t, g.nodes, g.links, rng.Perm(g.nodes)[:labels]), 1).Exceeds() {
					alarms++
				}
			}
			if alarms > 1 {
				t.Errorf("%d nodes, %d labels: %d of %d random samples", g.nodes, labels, alarms, draws)
			}
		}
	}
}

// Random people of companies are a random sample, though companies have larger degrees.
func TestOneKind(t *testing.T) {
	const people, companies = 1000, 100
	rng := rand.New(rand.NewPCG(5, 6))
	var links [][2]int
	for v := range people {
		for range 2 {
			u := people + min(v/10, companies-1)
			if rng.IntN(3) == 0 {
				u = people + rng.IntN(companies)
			}
			links = append(links, [2]int{u, v})
		}
	}
	p := problem(t, people+companies, links, rng.Perm(people)[:100])
	if r := check(t, p, 1); !r.OneKind || r.Exceeds() {
		t.Errorf("%+v", r)
	}
	p.Row[99] = people // a company
	if r := check(t, p, 1); r.OneKind {
		t.Errorf("%+v", r)
	}
}

func TestDirected(t *testing.T) {
	p := contract.Path(t, 9, false)
	var arcs []sparse.Triplet
	for v := range 8 {
		arcs = append(arcs, sparse.Triplet{Row: uint32(v), Col: uint32(v + 1), Val: 1})
	}
	a, err := sparse.FromTriplets(9, 9, arcs)
	if err != nil {
		t.Fatal(err)
	}
	p.A, p.Directed, p.Degrees = a, true, testgraph.Degrees(t, a)
	p.Row, p.Class = []int{2, 4, 8}, []int{0, 1, 1} // 0 1 (2) 3 (4) 5 6 7 (8)
	if r := check(t, p, 1); r.Hops.Above != 1 || r.Hops.Labelled != 1 || math.Abs(r.Hops.Others-3.0/6) > 1e-12 {
		t.Errorf("%+v", r.Hops) // 2 and 4 hops, and 2, 1, 1, 3, 2, 1
	}
}
