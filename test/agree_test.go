package test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// opening is a second way to open a graph.
type opening struct {
	name string
	open func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph)

	applies func(c *Graph) bool // nil: to all graphs
	answers func(j *job) bool   // nil: all jobs that do not choose
	skipped []string            // lists that may differ
}

func unit(c *Graph) sides.Options {
	o := sides.Options{Kinds: map[string]float64{}}
	for k := range c.Kinds {
		o.Kinds[fmt.Sprintf("kind%d", k)] = 1
	}
	if c.Kinds == 0 {
		o.Kinds = nil
	}
	return o
}

func open(t *testing.T, c *Graph, o *heatwalk.Options, change func(c *ingest.Config)) *heatwalk.Graph {
	t.Helper()
	store, _ := c.Store(t, change)
	return openPath(t, store, o)
}

func openPath(t *testing.T, path string, o *heatwalk.Options) *heatwalk.Graph {
	t.Helper()
	g, err := heatwalk.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // only reads
	return g
}

func hasCodes(c *Graph) bool { return c.Kinds > 0 || c.Days > 0 }

func openings() []opening {
	// Folds follow ids, so that no choice depends on the order of nodes. Calibration amplifies the tolerance of svm.
	isStable := func(j *job) bool { return !strings.HasSuffix(j.name, "+svm") }
	list := []opening{
		{name: "kinds of weight 1", applies: hasCodes, answers: isStable, open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			return open(t, c, &heatwalk.Options{Edges: unit(c)}, nil), c
		}},
		{name: "kinds of weight 1, streamed", applies: hasCodes, open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			return open(t, c, &heatwalk.Options{Edges: unit(c), Stream: true}, nil), c
		}},
		{name: "a window that holds all", applies: func(c *Graph) bool { return c.Days > 0 }, open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			o := unit(c)
			o.Since, o.Until = Day(0), Day(c.Days)
			return open(t, c, &heatwalk.Options{Edges: o}, nil), c
		}},
		{name: "twice, of half the weight", applies: func(c *Graph) bool { return c.Decades > 0 }, open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			return open(t, c.Twice(), &heatwalk.Options{Edges: unit(c)}, nil), c
		}},
		{name: "lines", open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			return open(t, c.WithoutKinds(), nil, nil), c
		}},
		{name: "a matrix", open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			g, err := heatwalk.FromMat(t.Context(), c.Dense(), &heatwalk.Options{Reading: c.Config("")})
			if err != nil {
				t.Fatal(err)
			}
			numbered := *c
			numbered.IDs = nil
			for v := range c.IDs {
				numbered.IDs = append(numbered.IDs, fmt.Sprint(v))
			}
			return g, &numbered
		}},
		{name: "in the order of degrees", open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			return open(t, c, &heatwalk.Options{Edges: unit(c)}, func(c *ingest.Config) { c.Order = ingest.DegreeOrder }), c
		}},
		{name: "in the order of locality", open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			return open(t, c.WithoutKinds(), nil, func(c *ingest.Config) { c.Order = ingest.LocalityOrder }), c
		}},
		{name: "permuted", answers: isStable, open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			p := c.Merged().Permuted(7)
			return open(t, p, &heatwalk.Options{Edges: unit(p)}, nil), p
		}},
		{name: "with isolated nodes", skipped: []string{"unreached components"}, answers: func(j *job) bool { return !j.chooses && !j.global }, open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			isolated := 1100
			if c.Decades > 6 { // inverses of more than 1,024 nodes are refused
				isolated = 900
			}
			return open(t, c.Padded(isolated), &heatwalk.Options{Edges: unit(c)}, nil), c
		}},
		// Scores of poisson have the unit 1/w.
		{name: "of weights times 4096", skipped: []string{"raw scores"}, answers: func(j *job) bool { return j.scaleFree && !j.chooses }, open: func(t *testing.T, c *Graph) (*heatwalk.Graph, *Graph) {
			return open(t, c.Scaled(4096), &heatwalk.Options{Edges: unit(c)}, nil), c
		}},
	}
	return list
}

// selected reports whether HEATWALK_AGREE selects a way or job by its name, as in "permuted/kernel".
func selected(name string) bool {
	return strings.Contains(name, os.Getenv("HEATWALK_AGREE"))
}

func TestWays(t *testing.T) {
	turn := 0
	for i, shape := range Shapes {
		seeds := []uint64{1}
		if testgraph.Hunt {
			seeds = []uint64{1, 2, 3}
		}
		every := 211
		if shape.Nodes >= 500 { // an answer takes a large part of a second
			every *= 4
		}
		for _, seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", shape.Name, seed), func(t *testing.T) {
				c := Draw(shape, seed+uint64(i)*100)
				base := open(t, c.Merged(), nil, nil)
				known := map[string]*answer{}
				for _, w := range openings() {
					if w.applies != nil && !w.applies(c) {
						continue
					}
					var other *heatwalk.Graph
					var named *Graph
					for _, j := range jobs() {
						if w.answers != nil && !w.answers(&j) || w.answers == nil && j.chooses || !selected(w.name+"/"+j.name) {
							continue
						}
						if pending(c, &j) {
							continue
						}
						if !j.chooses || w.name == "permuted" {
							turn++
						}
						isChoice := j.chooses && shape.Name == "parts"
						if !testgraph.Hunt && !isChoice && turn%every != 0 {
							continue
						}
						if other == nil {
							other, named = w.open(t, c)
						}
						want := known[j.name]
						if want == nil {
							want = j.answer(t.Context(), base, c)
							known[j.name] = want
						}
						got := j.answer(t.Context(), other, named)
						compare(t, w.name+": "+j.name, got, want, w.skipped, tolerance(c, &j))
					}
				}
			})
		}
	}
}

// pending reports whether a disagreement is known. Two classes without a friend near an opponent have equal scores, and
// rounding decides between them. Functions of L over many decades have errors relative to the largest value of a
// column, which is far above the scores of most nodes.
func pending(c *Graph, j *job) bool {
	return c.Signed && strings.HasPrefix(j.name, "classify diffusion") ||
		c.Decades > 6 && (strings.HasPrefix(j.name, "explain diffusion:laplacian") || strings.HasPrefix(j.name, "explain regularized"))
}

// tolerance is relative to the largest number of a list.
func tolerance(c *Graph, j *job) float64 {
	switch {
	case strings.HasPrefix(j.name, "explain"), strings.HasPrefix(j.name, "classify cwk"), strings.HasSuffix(j.name, "von-neumann:matrix=adjacency"):
		return 1e-3
	}
	return 1e-5
}

// digits matches digits of numbers in messages that rounding may change, and promised tolerances, which are bounds of
// rounding.
var digits = regexp.MustCompile(`(\.\d{5})\d+|where \S+ can be promised`)

func compare(t *testing.T, name string, got, want *answer, skipped []string, tolerance float64) {
	t.Helper()
	if digits.ReplaceAllString(got.problem, "$1") != digits.ReplaceAllString(want.problem, "$1") {
		t.Errorf("%s: error %q, want %q", name, got.problem, want.problem)
		return
	}
	if !slices.Equal(got.names, want.names) {
		t.Errorf("%s: lists %q, want %q", name, got.names, want.names)
		return
	}
	for i, list := range want.numbers {
		tolerance := tolerance
		if want.names[i] == "RMSE" { // solves for RMSE are rough
			tolerance *= 10
		}
		if slices.Contains(skipped, want.names[i]) {
			continue
		}
		if len(list) != len(got.numbers[i]) {
			t.Errorf("%s: %s: %d numbers, want %d", name, want.names[i], len(got.numbers[i]), len(list))
			return
		}
		size, worst, place := want.size, 0.0, 0
		for k, x := range list {
			y := got.numbers[i][k]
			size = max(size, math.Abs(x))
			d := math.Abs(x - y)
			if x == y || x != x && y != y {
				continue
			}
			if d != d {
				d = math.Inf(1)
			}
			if d > worst {
				worst, place = d, k
			}
		}
		if worst > tolerance*size {
			t.Errorf("%s: %s: number %d is %v, want %v; the largest is %.3g", name, want.names[i], place, got.numbers[i][place], list[place], size)
			return
		}
	}
}
