package test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	methoditems "github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// TestMethodTable tries each cell of the table in docs/methods.md, which must have a row for each method.
func TestMethodTable(t *testing.T) {
	text, err := os.ReadFile("../docs/methods.md")
	if err != nil {
		t.Fatal(err)
	}
	directed, signed, plain := smallProblem(t, true, false), smallProblem(t, false, true), smallProblem(t, false, false)
	classes := func(p *engine.Problem) func(name string) error {
		return func(name string) error { return predictTarget(t, p, name, engine.Classes) }
	}
	numbers := func(p *engine.Problem) func(name string) error {
		q := *p
		q.Class = nil
		q.Names = nil
		for i, c := range p.Class {
			q.Value = append(q.Value, float64(c)+float64(i%7)/10)
		}
		return func(name string) error { return predictTarget(t, &q, name, engine.Numbers) }
	}
	columns := []func(name string) error{classes(plain), classes(directed), classes(signed), numbers(plain), numbers(directed), numbers(signed), func(name string) error {
		return predictTarget(t, plain, name, engine.LabelSets)
	}, func(name string) error { return classifyItems(t, name) }}
	var names []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(.+)` \\|(.*)\\|$").FindAllStringSubmatch(string(text), -1) {
		cells := strings.Split(row[2], "|")
		if len(cells) != len(columns) {
			t.Fatalf("%s: %d cells", row[1], len(cells))
		}
		for name := range strings.SplitSeq(row[1], "`, `") {
			names = append(names, name)
			for i, predicts := range columns {
				if err := predicts(strings.Replace(name, "KERNEL", "diffusion", 1)); (err == nil) != (strings.TrimSpace(cells[i]) == "yes") {
					t.Errorf("%s, column %d: %q in the table, but the error is %v", name, i+1, cells[i], err)
				}
			}
		}
	}
	var methods []string
	for _, m := range method.All() {
		methods = append(methods, m.Name)
	}
	for _, m := range method.Regressions() {
		methods = append(methods, m.Name)
	}
	for _, name := range methods {
		if source, learner, _ := strings.Cut(name, "+"); kernel.Families().Named(source) != nil {
			name = strings.TrimSuffix("KERNEL+"+learner, "+")
		}
		if !slices.Contains(names, name) {
			t.Errorf("%s has no row", name)
		}
	}
}

func predictTarget(t *testing.T, p *engine.Problem, name string, target engine.Target) error {
	entries, err := method.ParseList(name, target)
	if err != nil {
		return err
	}
	_, err = entries[0].Method.Predict(t.Context(), p, nil, &engine.Settings{Given: entries[0].Own, Fixed: true})
	return err
}

func classifyItems(t *testing.T, name string) error {
	source, learner, _ := strings.Cut(name, "+")
	if source != "diffusion" {
		return fmt.Errorf("%s: no learner on kernels", name)
	}
	l := classify.Learners()[0]
	if learner != "" {
		l = classify.Learners().Named(learner)
	}
	if l == nil {
		return fmt.Errorf("%s: no learner", learner)
	}
	const items = 30
	c := &methoditems.Collection{IDs: tablefile.Axis{N: items}}
	c.Gram = func(_ context.Context, _ *param.Spec, v param.Values, _ []int) (classify.Gram, param.Values, error) {
		k := sparse.NewBlock[float64](items, items)
		for i := range items {
			for j := range items {
				k.Row(i)[j] = 1 / (1 + math.Abs(float64(i-j)))
			}
		}
		return classify.DenseGram(k), v, nil
	}
	var labelled, class []int
	for i := 0; i < items; i += 2 {
		labelled = append(labelled, i)
		class = append(class, i/16)
	}
	p := problem.OfItems(items, labelled, class, []string{"first", "last"})
	_, err := c.Source(&param.Spec{Name: "near"}, l).Classify(t.Context(), p, &engine.Settings{Fixed: true})
	return err
}

func smallProblem(t *testing.T, isDirected, isSigned bool) *engine.Problem {
	t.Helper()
	const nodes = 60
	rng := rand.New(rand.NewPCG(5, 1))
	var entries []sparse.Triplet
	for range 400 {
		i, j := rng.IntN(nodes), rng.IntN(nodes)
		weight := 1.0
		if i%2 != j%2 {
			if rng.IntN(3) > 0 {
				continue
			}
			if isSigned {
				weight = -1
			}
		}
		if i == j {
			continue
		}
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: weight})
		if !isDirected {
			entries = append(entries, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: weight})
		}
	}
	a, err := sparse.FromTriplets(nodes, nodes, entries)
	if err != nil {
		t.Fatal(err)
	}
	p := &engine.Problem{Directed: isDirected, Names: []string{"even", "odd"}}
	if isDirected {
		degrees, err := sparse.Degrees(t.Context(), a, 1)
		if err != nil {
			t.Fatal(err)
		}
		p.Graph = &graph.Graph{A: a, Degrees: degrees}
	} else if p.Graph, err = graph.New(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < nodes; i += 3 {
		p.Row = append(p.Row, i)
		p.Class = append(p.Class, i%2)
	}
	return p
}
