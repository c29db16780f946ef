package shift_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/sparse"
)

// lp returns label propagation, which predicts fast.
func lp(t *testing.T) method.Method {
	t.Helper()
	entries, err := method.Parse("lp")
	if err != nil {
		t.Fatal(err)
	}
	return entries[0].Method
}

func check(t *testing.T, p *method.Problem, workers int) *shift.Report {
	t.Helper()
	s := &method.Settings{Workers: workers}
	out, err := lp(t).Predict(t.Context(), p, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := shift.Check(t.Context(), lp(t), p, out, problem.Estimate{Accuracy: 0.9, Stderr: 0.02, Tested: len(p.Row)}, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// square returns a square of side × side nodes in four classes, its quarters, with labels on some nodes.
func square(t *testing.T, side int, rows []int) *method.Problem {
	t.Helper()
	var edges []sparse.Triplet
	join := func(u, v int) {
		edges = append(edges, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
	}
	for v := range side * side {
		if v%side > 0 {
			join(v-1, v)
		}
		if v >= side {
			join(v-side, v)
		}
	}
	a, err := sparse.FromTriplets(side*side, side*side, edges)
	if err != nil {
		t.Fatal(err)
	}
	p := problemtest.Of(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Row: rows, Names: []string{"a", "b", "c", "d"}})
	for _, v := range rows {
		p.Class = append(p.Class, v%side*2/side+v/side*2/side*2)
	}
	return p
}

// TestRegion checks that labels of one region cause a warning, that hops are those of the shortest paths,
// and that results are the same for any number of workers.
func TestRegion(t *testing.T) {
	const side = 40
	var rows []int
	for y := 15; y < 25; y++ { // a square of 10 × 10 in the middle
		for x := 15; x < 25; x++ {
			rows = append(rows, y*side+x)
		}
	}
	p := square(t, side, rows)
	r := check(t, p, 1)
	sum, nodes := 0, 0
	for v := range side * side {
		x, y := v%side, v/side
		if d := max(0, 15-x, x-24) + max(0, 15-y, y-24); d > 0 {
			sum += d
			nodes++
		}
	}
	if want := float64(sum) / float64(nodes); r.Hops.Labelled != 1 || math.Abs(r.Hops.Others-want) > 1e-12 {
		t.Errorf("%v steps from labelled nodes and %v from others, want 1 and %v", r.Hops.Labelled, r.Hops.Others, want)
	}
	if !r.Hops.Exceeds() || r.IsHigher() || !(r.Low < 0.7) || r.High != 0.92 {
		t.Errorf("%+v", r)
	}
	for _, workers := range []int{2, 7} {
		if again := check(t, p, workers); *again != *r {
			t.Errorf("%d workers: %+v, want %+v", workers, again, r)
		}
	}
}

// TestSpread checks that labels which are further apart than chance explains do not lower the accuracy.
func TestSpread(t *testing.T) {
	const side = 40
	var rows []int
	for v := range side * side {
		if v%side%5 == 2 && v/side%5 == 2 {
			rows = append(rows, v)
		}
	}
	if r := check(t, square(t, side, rows), 1); !r.Hops.Exceeds() || !r.IsHigher() || r.High != 0 {
		t.Errorf("%+v", r)
	}
}

// TestShares checks that nodes of other classes lower the accuracy, also where they have larger degrees.
func TestShares(t *testing.T) {
	r := shift.Report{Degree: shift.Difference{Labelled: 4, Others: 6, Distance: 0.2, Limit: 0.1}}
	if !r.IsHigher() {
		t.Error("larger degrees do not raise the accuracy")
	}
	if r.Share.Errors = 4; r.IsHigher() {
		t.Error("nodes of other classes raise the accuracy")
	}
}

// TestRandom checks that few random samples cause a warning.
func TestRandom(t *testing.T) {
	const side, draws = 40, 50
	rng, alarms := rand.New(rand.NewPCG(1, 2)), 0
	for range draws {
		rows := rng.Perm(side * side)[:60]
		slices.Sort(rows)
		if check(t, square(t, side, rows), 1).Sounds() {
			alarms++
		}
	}
	if alarms > 2 {
		t.Errorf("%d of %d random samples", alarms, draws)
	}
}

// TestDirected checks that hops follow the direction of edges: from a node to a label.
func TestDirected(t *testing.T) {
	p := problemtest.Path(t, 9, false)
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
	if r := check(t, p, 1); r.Hops.Labelled != 3 || math.Abs(r.Hops.Others-10.0/6) > 1e-12 {
		t.Errorf("%+v", r.Hops)
	}
}
