package evaluate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestSummarize(t *testing.T) {
	const seed, n, classes = 4, 100, 3
	t.Logf("rng seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	seeds := &nodefile.Labels{File: "l.tsv", Names: []string{"a<b", "b", "c"}}
	for row := range 10 {
		seeds.Row, seeds.Class = append(seeds.Row, row), append(seeds.Class, row%2)
	}
	scores, labels := sparse.NewBlock[float32](n, classes), make([]int, n)
	for row := range n {
		p := scores.Row(row)
		for range 16 { // sixteenths are exact and often equal
			p[rng.IntN(classes)] += 1.0 / 16
		}
		labels[row] = slices.Index(p, slices.Max(p))
		if row >= n-5 {
			labels[row] = Unlabelled
		}
	}
	truth := &nodefile.Labels{File: "t.tsv", Names: []string{"c", "a<b"}, Row: []int{20, 21, 22}, Class: []int{0, 1, 0}}
	s := Summarize(&engine.Prediction{Scores: scores}, labels, seeds, truth, strconv.Itoa)
	var rows, predicted []int
	predicted = make([]int, classes)
	mean := 0.0
	for row := 10; row < n-5; row++ {
		rows = append(rows, row)
		predicted[labels[row]]++
		mean += float64(slices.Max(scores.Row(row))) / 85
	}
	var labelled, counts []int
	for _, name := range seeds.Names {
		c := s.ByClass[slices.IndexFunc(s.ByClass, func(c ClassCounts) bool { return c.Class == name })]
		labelled, counts = append(labelled, c.Labels), append(counts, c.Predictions)
	}
	if !slices.Equal(labelled, []int{5, 5, 0}) {
		t.Errorf("labels %v", labelled)
	}
	if !slices.Equal(counts, predicted) || math.Abs(s.Expected-mean) > 1e-12 {
		t.Errorf("predictions %v, want %v; mean probability %v, want %v", counts, predicted, s.Expected, mean)
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(slices.Max(scores.Row(a)), slices.Max(scores.Row(b))) })
	for i, u := range s.Least {
		p := slices.Clone(scores.Row(u.row))
		slices.Sort(p)
		if u.row != rows[i] || u.Probability != float64(p[2]) || u.SecondShare != float64(p[1]) || u.Class == u.Second {
			t.Errorf("number %d: %+v, want row %d with %v", i, u, rows[i], p)
		}
	}
	if len(s.Least) != leastCertain {
		t.Errorf("%d nodes", len(s.Least))
	}
	if s.ComparedWith != "true labels" || s.Calibration.error() < 0 {
		t.Errorf("confusion %v with %s", s.Confusion, s.ComparedWith)
	}
	held := &engine.Prediction{Scores: scores, Held: &choose.Held{Rows: []choose.HeldRow{{Class: 2, Reached: true, Scores: []float32{0.25, 0.25, 0.5}}}},
		Problem: &problem.Problem{Class: []int{1}}}
	if s := Summarize(held, labels, seeds, nil, strconv.Itoa); s.Confusion[1][2] != 1 || s.ComparedWith != "held-out labels" {
		t.Errorf("confusion %v with %s", s.Confusion, s.ComparedWith)
	}
}
