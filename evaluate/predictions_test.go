package evaluate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/report/reporttest"
	"github.com/heatwalk/heatwalk/sparse"
)

// Of 100 nodes the first ten have a label and the last five a blank; the others are summarized by
// sorting them.
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
	s := Summarize(scores, labels, seeds, truth)
	if !slices.Equal(s.Labelled, []int{5, 5, 0}) {
		t.Errorf("labels %v", s.Labelled)
	}
	var rows, predicted []int
	predicted = make([]int, classes)
	mean := 0.0
	for row := 10; row < n-5; row++ {
		rows = append(rows, row)
		predicted[labels[row]]++
		mean += float64(slices.Max(scores.Row(row))) / 85
	}
	if !slices.Equal(s.Predicted, predicted) || math.Abs(s.Expected-mean) > 1e-12 {
		t.Errorf("predictions %v, want %v; mean probability %v, want %v", s.Predicted, predicted, s.Expected, mean)
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(slices.Max(scores.Row(a)), slices.Max(scores.Row(b))) })
	for i, u := range s.Least {
		p := slices.Clone(scores.Row(u.row))
		slices.Sort(p)
		if u.row != rows[i] || u.p != float64(p[2]) || u.q != float64(p[1]) || u.class == u.second {
			t.Errorf("number %d: %+v, want row %d with %v", i, u, rows[i], p)
		}
	}
	if len(s.Least) != leastCertain {
		t.Errorf("%d nodes", len(s.Least))
	}
	accuracy, stderr := 0.75, 0.03
	var b strings.Builder
	e := &Estimates{Accuracy: &accuracy, Stderr: &stderr, Nodes: 85, Truth: &Truth{Accuracies: Accuracies{All: 0.5, Nodes: 90}, MacroF1: 0.4}}
	if err := s.Page("cwk", &report.Section{Title: "Model", Text: []string{"α = 0.9"}}, e, strconv.Itoa).WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	reporttest.Check(t, b.String(), "cwk predicts the classes of 85 nodes. Cross-validation on held-out labels estimates that 75.0 ± 3.0 %", "α = 0.9", "a&lt;b",
		"accuracy 50.0 % of 90 nodes", "True classes and their predicted classes.", ">"+strconv.Itoa(rows[0])+"</th>")
	b.Reset()
	if err := Summarize(scores, slices.Repeat([]int{Unlabelled}, n), seeds, nil).Page("lp", &report.Section{Title: "Model"}, new(Estimates), strconv.Itoa).WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	reporttest.Check(t, b.String(), "lp predicts the classes of 0 nodes. There are too few labels")
}
