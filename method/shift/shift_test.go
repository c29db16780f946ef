package shift_test

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/shift"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// lp returns label propagation, which predicts fast.
func lp(t *testing.T) *method.Engine {
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
	r, err := shift.Check(t.Context(), lp(t), p, out, problem.Estimate{Accuracy: 0.9, Stderr: 0.02, Tested: len(p.Row)}, nil, s)
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
	if !r.Hops.Exceeds() || r.Expected != "lower" || !(r.Low < 0.5) || r.High > 0.9+2*0.02+1e-12 {
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
	if r := check(t, square(t, side, rows), 1); !r.Hops.Exceeds() || r.Expected == "lower" || !(r.Low < r.High) {
		t.Errorf("%+v", r)
	}
}

// TestNoDifference checks that labels of the nodes with many edges are said to be no random sample, and not to have a higher
// accuracy, in two groups of nodes without edges between them.
func TestNoDifference(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 2))
	var edges []sparse.Triplet
	for range 8 * n {
		u, v := rng.IntN(n), min(rng.IntN(n), rng.IntN(n))
		if u != v && u%2 == v%2 {
			edges = append(edges, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
		}
	}
	a, err := sparse.FromTriplets(n, n, edges)
	if err != nil {
		t.Fatal(err)
	}
	p := problemtest.Of(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Names: []string{"even", "odd"}})
	for v := range n / 4 {
		p.Row = append(p.Row, v)
		p.Class = append(p.Class, v%2)
	}
	if r := check(t, p, 1); !r.Degree.Exceeds() || r.Degree.Labelled <= r.Degree.Others || r.Part.Exceeds() || r.Expected != "other" {
		t.Errorf("%+v", r)
	}
}

// TestSkew checks that a class with too many labels is found by the classes of nearest labels, and that the
// range is that of other shares of this class.
func TestSkew(t *testing.T) {
	const side = 40
	rng := rand.New(rand.NewPCG(3, 4))
	var rows []int
	for _, v := range rng.Perm(side * side) {
		if isFirst := v%side < side/2 && v/side < side/2; isFirst && rng.IntN(2) == 0 || rng.IntN(18) == 0 {
			rows = append(rows, v)
		}
	}
	slices.Sort(rows)
	if r := check(t, square(t, side, rows), 1); r.Share.Class != "a" || !r.Share.Exceeds() || r.Expected != "lower" || !(r.Low < 0.9) {
		t.Errorf("%+v", r)
	}
}

// TestPredictedShares checks that a class with too many labels is found by probabilities alone: labels that are a random sample
// of the square have a mean probability of class b of 0.5, other nodes of 0.25.
func TestPredictedShares(t *testing.T) {
	const side = 40
	rows := rand.New(rand.NewPCG(1, 2)).Perm(side * side)[:60]
	slices.Sort(rows)
	p := square(t, side, rows)
	s := &method.Settings{Workers: 1}
	out, err := lp(t).Predict(t.Context(), p, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	estimate := problem.Estimate{Accuracy: 0.9, Stderr: 0.02, Tested: 60, Reached: side*side - 60}
	for _, other := range []float64{0.5, 0.25} {
		rest := (1 - other) / 3
		out.Comparison = &problem.Comparison{
			Labels: []float64{10, 30, 10, 10}, HeldOut: []float64{1.0 / 6, 0.5, 1.0 / 6, 1.0 / 6}, Others: []float64{rest, other, rest, rest},
			Variance: []float64{0.1, 0.15, 0.1, 0.1}, Right: []float64{8, 27, 8, 8},
		}
		r, err := shift.Check(t.Context(), lp(t), p, out, estimate, nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if isSkewed := other < 0.5; !r.Share.IsPredicted || r.Share.Exceeds() != isSkewed || isSkewed && r.Share.Class != "b" {
			t.Errorf("%+v", r)
		}
		if !r.Sounds() {
			continue
		}
		difference := 0.9 - (24.0+1)/(30+2) // of the accuracies of all labels and those of other classes than b
		if low, high := 0.9-0.13-0.01-0.5*difference, 0.9+0.035+0.024-0.2*difference; math.Abs(r.Low-low) > 1e-12 || math.Abs(r.High-high) > 1e-12 {
			t.Errorf("%v to %v, want %v to %v", r.Low, r.High, low, high)
		}
	}
}

// TestOneKind checks that labels on one kind of nodes are compared with nodes of this kind: random people of
// companies cause no warning, though companies have larger degrees.
func TestOneKind(t *testing.T) {
	const people, companies = 1000, 100
	rng, edges := rand.New(rand.NewPCG(5, 6)), []sparse.Triplet(nil)
	for v := range people {
		for range 2 {
			u := people + min(v/10, companies-1)
			if rng.IntN(3) == 0 {
				u = people + rng.IntN(companies)
			}
			edges = append(edges, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
		}
	}
	a, err := sparse.FromTriplets(people+companies, people+companies, edges)
	if err != nil {
		t.Fatal(err)
	}
	p := problemtest.Of(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Row: rng.Perm(people)[:100], Names: []string{"a", "b"}})
	slices.Sort(p.Row)
	for _, v := range p.Row {
		p.Class = append(p.Class, 2*v/people)
	}
	if r := check(t, p, 1); !r.OneKind || r.Sounds() {
		t.Errorf("%+v", r)
	}
	p.Row[99] = people // a company
	if r := check(t, p, 1); r.OneKind {
		t.Errorf("%+v", r)
	}
}

// TestClassWithoutLabels checks that parts of the graph without labels are found, if one class has none, though no label
// is farther away, and that the lower bound allows for the nodes of this class.
func TestClassWithoutLabels(t *testing.T) {
	cora := testgraph.Cora(t)
	p := problemtest.Of(cora)
	rng := rand.New(rand.NewPCG(7, 8))
	p.Row, p.Class = nil, nil
	members := 0
	for _, i := range rng.Perm(len(cora.Row)) {
		if cora.Class[i] == 1 {
			members++
		} else if rng.IntN(8) == 0 {
			p.Row, p.Class = append(p.Row, cora.Row[i]), append(p.Class, cora.Class[i])
		}
	}
	slices.SortFunc(p.Row, cmp.Compare[int])
	class := make(map[int]int, len(cora.Row))
	for i, row := range cora.Row {
		class[row] = cora.Class[i]
	}
	for i, row := range p.Row {
		p.Class[i] = class[row]
	}
	r := check(t, p, 1)
	share := float64(members) / float64(len(cora.Row))
	if !r.Part.Exceeds() || !(float64(r.Part.Labelled) < r.Part.Expected/2) || r.Expected != "lower" || !(r.Low < 0.9*(1-share)) {
		t.Errorf("%+v, share of the class without labels %v", r, share)
	}
}

// TestTwoCommunities checks that too many labels in some communities are found, and too few, wherever they are.
func TestTwoCommunities(t *testing.T) {
	const groups, size = 12, 40
	rng := rand.New(rand.NewPCG(9, 10))
	var edges []sparse.Triplet
	for v := range groups * size {
		for range 4 {
			u := v/size*size + rng.IntN(size)
			if rng.IntN(8) == 0 {
				u = rng.IntN(groups * size)
			}
			if u != v {
				edges = append(edges, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(groups*size, groups*size, edges)
	if err != nil {
		t.Fatal(err)
	}
	for _, weights := range [][2]int{{1, 1}, {6, 1}, {0, 1}} { // of nodes of the groups 2 and 7, and of others
		p := problemtest.Of(testgraph.Labelled{A: a, Degrees: testgraph.Degrees(t, a), Names: []string{"a", "b"}})
		labelled := map[int]bool{}
		inside := 0
		for len(labelled) < 80 {
			v := rng.IntN(groups * size)
			isInside := v/size == 2 || v/size == 7
			weight := weights[1]
			if isInside {
				weight = weights[0]
			}
			if labelled[v] || rng.IntN(6) >= weight {
				continue
			}
			labelled[v] = true
			if isInside {
				inside++
			}
		}
		p.Row = slices.Sorted(maps.Keys(labelled))
		for _, v := range p.Row {
			p.Class = append(p.Class, v%2)
		}
		part := check(t, p, 1).Part
		if isEven := weights[0] == weights[1]; part.Exceeds() == isEven {
			t.Errorf("weights %v: %+v", weights, part)
		}
		if weights[0] != weights[1] && (part.Labelled < inside/2 || float64(part.Labelled) > float64(inside)+part.Expected/2 || part.Nodes > 4*size) {
			t.Errorf("weights %v: %+v, want %d labels of %d nodes", weights, part, inside, 2*size)
		}
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
