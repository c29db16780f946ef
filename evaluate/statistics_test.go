package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

type edge struct {
	a, b   int
	weight float64
}

func matrix(t *testing.T, n int, edges []edge, directed bool) *sparse.CSR {
	t.Helper()
	var entries []sparse.Triplet
	for _, e := range edges {
		entries = append(entries, sparse.Triplet{Row: uint32(e.a), Col: uint32(e.b), Val: e.weight})
		if e.a != e.b && !directed {
			entries = append(entries, sparse.Triplet{Row: uint32(e.b), Col: uint32(e.a), Val: e.weight})
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func slowStatistics(n int, edges []edge, directed bool, class []int32) Statistics {
	component := make([]int, n)
	for i := range component {
		component[i] = i
	}
	touched := make([]bool, n)
	for changed := true; changed; {
		changed = false
		for _, e := range edges {
			touched[e.a], touched[e.b] = true, true
			low := min(component[e.a], component[e.b])
			if component[e.a] != low || component[e.b] != low {
				component[e.a], component[e.b], changed = low, low, true
			}
		}
	}
	var s Statistics
	size := make([]int, n)
	for i, c := range component {
		size[c]++
		s.Largest = max(s.Largest, int64(size[c]))
		if !touched[i] {
			s.Isolated++
		}
	}
	var all, mixed, allWeight, mixedWeight float64
	for _, e := range edges {
		if class[e.a] == Unlabelled || class[e.b] == Unlabelled {
			continue
		}
		all++
		allWeight += e.weight
		if class[e.a] != class[e.b] {
			mixed++
			mixedWeight += e.weight
		}
	}
	counts := make([]int64, n+1)
	for _, rows := range size {
		if rows > 0 {
			s.Components++
			counts[rows]++
		}
	}
	for rows, count := range counts {
		if count > 0 {
			s.Sizes = append(s.Sizes, SizeCount{int64(rows), count})
		}
	}
	if all > 0 {
		s.SwitchEdge, s.SwitchWeight = mixed/all, mixedWeight/allWeight
	}
	s.Classes = len(classNames)
	most := 0
	for c := range classNames {
		members := 0
		for _, of := range class {
			if int(of) == c {
				members++
			}
		}
		s.OfClass = append(s.OfClass, members)
		if s.Labelled += members; members > most {
			s.Frequent, most = c, members
		}
	}
	s.Neighbours, s.Pairs = make([]uint32, n), make([][]int64, s.Classes)
	for c := range s.Pairs {
		s.Pairs[c] = make([]int64, s.Classes)
	}
	for _, e := range edges {
		for i, end := range [][2]int{{e.a, e.b}, {e.b, e.a}} {
			if i == 1 && (directed || e.a == e.b) {
				continue
			}
			s.Neighbours[end[0]]++
			if a, b := class[end[0]], class[end[1]]; a != Unlabelled && b != Unlabelled {
				s.Pairs[a][b]++
			}
		}
	}
	s.Share = float64(most) / float64(max(1, s.Labelled))
	if s.Labelled == 0 {
		s.OfClass = nil
	}
	return s
}

var classNames = []string{"a", "b", "c"}

func labelsOf(class []int32) *nodefile.Labels {
	l := &nodefile.Labels{Names: classNames}
	for row, c := range class {
		if c != Unlabelled {
			l.Row, l.Class = append(l.Row, row), append(l.Class, int(c))
		}
	}
	return l
}

func TestMeasure(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + rng.IntN(30)
		directed := rng.IntN(3) == 0
		seen := map[[2]int]bool{}
		var edges []edge
		for range rng.IntN(40) {
			a, b := rng.IntN(n), rng.IntN(n)
			if !directed && a > b {
				a, b = b, a
			}
			if !seen[[2]int{a, b}] {
				seen[[2]int{a, b}] = true
				edges = append(edges, edge{a, b, float64(1 + rng.IntN(3))})
			}
		}
		class := make([]int32, n)
		for i := range class {
			class[i] = int32(rng.IntN(4)) - 1
		}
		want := slowStatistics(n, edges, directed, class)
		for _, workers := range []int{1, 3} {
			got, err := Measure(context.Background(), matrix(t, n, edges, directed), directed, labelsOf(class), workers)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, *got); diff != "" {
				t.Fatalf("%s (%v, %v)", diff, edges, class)
			}
		}
	}
}

func TestMeasureLongRow(t *testing.T) {
	n := 2*sparse.MaxRange + 5
	var edges []edge
	class := make([]int32, n)
	for i := 1; i < n; i++ {
		edges = append(edges, edge{0, i, 2})
		class[i] = int32(i % 3)
	}
	want := slowStatistics(n, edges, false, class)
	got, err := Measure(context.Background(), matrix(t, n, edges, false), false, labelsOf(class), 3)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Error(diff)
	}
}

// Table 1 of the paper on coinciding walk kernels has these measures, or another program computed them from the same
// data.
func TestMeasureCora(t *testing.T) {
	p := testgraph.Cora(t)
	got, err := Measure(context.Background(), p.A, false, &nodefile.Labels{Row: p.Row, Class: p.Class, Names: p.Names}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.Components != 78 || got.Largest != 2485 || got.Isolated != 0 {
		t.Errorf("%+v", got)
	}
	if got.SwitchWeight != got.SwitchEdge || math.Abs(got.SwitchEdge-0.190) > 5e-4 {
		t.Errorf("switch %.4f by edges, want 0.190", got.SwitchEdge)
	}
}

func TestStatisticsLists(t *testing.T) {
	edges := []edge{{0, 1, 1}, {1, 2, 1}, {3, 4, 1}}
	s, err := Measure(context.Background(), matrix(t, 6, edges, false), false, labelsOf([]int32{0, 0, 1, 1, -1, -1}), 1)
	if err != nil {
		t.Fatal(err)
	}
	bins := s.DegreeBins([]float64{0.3, 2, 3, 1, 1, 0})
	if diff := cmp.Diff([]DegreeBin{{0, 0, 1, 1}, {0.25, 0.5, 0, 1}, {1, 2, 4, 2}, {2, 4, 1, 2}}, bins); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]SizeCount{{3, 1}, {2, 1}, {1, 1}}, s.LargestSizes()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]ClassLabels{{"a", 2, 0.5}, {"b", 2, 0.5}, {"c", 0, 0}}, s.LabelsByClass([]string{"a", "b", "c"})); diff != "" {
		t.Error(diff)
	}
}
