package auto

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

type ablation struct {
	name   string
	change func(d *design)        // nil: the same features
	drops  func(c candidate) bool // candidates to leave out
	isBest bool                   // only the candidate with the largest weight is left
}

// ablations are in the order of the columns of the page.
var ablations = []ablation{
	{name: "eigenvectors", change: func(d *design) { d.spectral = false }},
	{name: "kernels", change: func(d *design) { d.diffusion = false }},
	{name: "counts", change: func(d *design) { d.counts = false }},
	{name: "class features", drops: func(c candidate) bool { return c.Free && !c.Links }},
	{name: "links", drops: func(c candidate) bool { return c.Links }},
	{name: "trees", drops: func(c candidate) bool { return c.Trees }},
	{name: "propagation", drops: func(c candidate) bool { return c.Propagation }},
	{name: "beliefs", drops: func(c candidate) bool { return c.Beliefs }},
	{name: "shares of classes", drops: func(c candidate) bool { return c.Majority }},
	{name: "mixture", isBest: true},
}

// TestStagesPage writes the page of the accuracy without each stage, for every graph in HEATWALK_GRAPHS and the numbers of
// labels in HEATWALK_LABELS:
//
//	HEATWALK_GRAPHS=FOLDER HEATWALK_LABELS=30,100,600,20%,60% go test ./method/internal/auto -run TestStagesPage -timeout 2h
func TestStagesPage(t *testing.T) {
	folder := os.Getenv("HEATWALK_GRAPHS")
	if folder == "" {
		t.Skip("HEATWALK_GRAPHS is not set")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*", "labels.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var graphs []*labelledGraph
	for _, path := range paths {
		edges := filepath.Join(filepath.Dir(path), "edges.tsv.gz")
		if _, err := os.Stat(edges); err == nil {
			graphs = append(graphs, readGraph(t, filepath.Base(filepath.Dir(path)), edges, path))
		}
	}
	slices.SortFunc(graphs, func(a, b *labelledGraph) int { return int(a.a.NNZ() - b.a.NNZ()) })
	page, err := os.Create("../../../bench/results/stages.md")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	fmt.Fprint(page, stagesHead)
	fmt.Fprint(page, "| graph | labels | accuracy |")
	for _, a := range ablations {
		fmt.Fprintf(page, " %s |", a.name)
	}
	fmt.Fprint(page, "\n|---|--:|--:|"+strings.Repeat("--:|", len(ablations))+"\n")
	for _, g := range graphs {
		for text := range strings.SplitSeq(os.Getenv("HEATWALK_LABELS"), ",") {
			share, isShare := strings.CutSuffix(text, "%")
			labels, err := strconv.Atoi(share)
			if err != nil {
				t.Fatal(err)
			}
			if isShare {
				labels = len(g.rows) * labels / 100
			}
			if isShare && labels < 700 || !isShare && 2*labels > len(g.rows) {
				continue
			}
			fmt.Fprintln(page, g.measureStages(t, labels, text))
		}
	}
}

const stagesHead = `# What each stage of the default earns

Accuracy of ` + "`auto`" + ` at the nodes without a label, in %, with one random sample of labels (seed 1); of two classes the
AUC, in %. The other columns are how many points each stage earns: the accuracy less that without the stage. A dot: the
stage has no part in the prediction. The last column is what the mixture earns beside its candidate with the largest
weight. A difference of a point or two is chance, with thousands of labels half a point. Graphs with attributes are marked
by A. One core takes half an hour:

    HEATWALK_GRAPHS=FOLDER HEATWALK_LABELS=30,100,600,20%,60% go test ./method/internal/auto -run TestStagesPage -timeout 2h

FOLDER has a folder for each graph with edges.tsv.gz, labels.tsv.gz and perhaps attributes.tsv.gz, which has an id and numbers in
each line. Shares of fewer than 700 labels are left out.

`

type labelledGraph struct {
	name  string
	a     *sparse.CSR
	names []string
	rows  []int
	class map[int]int

	attributes *sparse.Table // nil: none
}

func readFields(t *testing.T, path string, add func(fields []string)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		add(strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
}

func readGraph(t *testing.T, name, edges, labels string) *labelledGraph {
	t.Helper()
	row := map[string]int{}
	rowOf := func(id string) uint32 {
		v, isKnown := row[id]
		if !isKnown {
			v = len(row)
			row[id] = v
		}
		return uint32(v)
	}
	var entries []sparse.Triplet
	readFields(t, edges, func(f []string) {
		u, v := rowOf(f[0]), rowOf(f[1])
		w := 1.0
		if len(f) > 2 {
			var err error
			if w, err = strconv.ParseFloat(f[2], 64); err != nil {
				t.Fatal(err)
			}
		}
		entries = append(entries, sparse.Triplet{Row: u, Col: v, Val: w}, sparse.Triplet{Row: v, Col: u, Val: w})
	})
	a, err := sparse.FromTriplets(len(row), len(row), entries)
	if err != nil {
		t.Fatal(err)
	}
	g := &labelledGraph{name: name, a: a, class: map[int]int{}}
	class := map[string]int{}
	readFields(t, labels, func(f []string) {
		v, isNode := row[f[0]]
		if !isNode {
			return
		}
		c, isKnown := class[f[1]]
		if !isKnown {
			c = len(class)
			class[f[1]] = c
			g.names = append(g.names, f[1])
		}
		g.class[v] = c
	})
	g.rows = slices.Sorted(maps.Keys(g.class))
	path := filepath.Join(filepath.Dir(labels), "attributes.tsv.gz")
	if _, err := os.Stat(path); err != nil {
		return g
	}
	g.name += " A"
	readFields(t, path, func(f []string) {
		v, isNode := row[f[0]]
		if !isNode {
			return
		}
		var values []float32
		for _, text := range f[1:] {
			x, err := strconv.ParseFloat(text, 32)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, float32(x))
		}
		if g.attributes == nil {
			g.attributes = &sparse.Table{Rows: len(row), Cols: len(values)}
		}
		g.attributes.Set(v, values)
	})
	return g
}

func (g *labelledGraph) sample(t *testing.T, labels int) *problem.Problem {
	rng := rand.New(rand.NewPCG(1, uint64(labels)))
	p := &problem.Problem{Graph: &graph.Graph{A: g.a, Degrees: testgraph.Degrees(t, g.a)}, Names: g.names, Attributes: g.attributes}
	for _, i := range rng.Perm(len(g.rows))[:labels] {
		v := g.rows[i]
		p.Row = append(p.Row, v)
		p.Class = append(p.Class, g.class[v])
	}
	return p
}

func (g *labelledGraph) measureStages(t *testing.T, labels int, text string) string {
	p := g.sample(t, labels)
	isLabelled := map[int]bool{}
	for _, v := range p.Row {
		isLabelled[v] = true
	}
	accuracy := func(out *engine.Prediction) float64 {
		if len(g.names) == 2 {
			var ranks [2][]float64
			for _, v := range g.rows {
				if !isLabelled[v] {
					ranks[g.class[v]] = append(ranks[g.class[v]], out.Scores.At(v, 1))
				}
			}
			slices.Sort(ranks[0])
			sum := 0.0
			for _, score := range ranks[1] {
				lower, _ := slices.BinarySearch(ranks[0], score)
				through, _ := slices.BinarySearch(ranks[0], math.Nextafter(score, 2))
				sum += float64(lower+through) / 2
			}
			return 100 * sum / float64(len(ranks[0])*len(ranks[1]))
		}
		right := 0
		for _, v := range g.rows {
			if !isLabelled[v] && out.Class[v] == g.class[v] {
				right++
			}
		}
		return 100 * float64(right) / float64(len(g.rows)-labels)
	}
	set := &settings{Settings: engine.Settings{RNGSeed: 1, Workers: 1}}
	whole := evident(t, p, set)
	full := accuracy(whole)
	if whole.BlockModel {
		t.Logf("%s, %d labels: beliefs predict alone", g.name, labels)
	}
	line := fmt.Sprintf("| %s | %s | %.1f |", g.name, text, full)
	var base *stagesRun
	for _, a := range ablations {
		r := base
		d := designOf(p, set)
		hasStage := true
		if a.change != nil {
			changed := d
			a.change(&changed)
			hasStage = changed.spectral != d.spectral || changed.diffusion != d.diffusion || changed.counts != d.counts
			d = changed
			r = nil
		}
		if hasStage && r == nil {
			r = runStages(t, p, set, d)
		}
		if a.change == nil {
			base = r
		}
		cell := "·"
		if hasStage {
			if mixture, differs := a.mix(r); a.change != nil || differs {
				points := fmt.Sprintf("%.1f", full-accuracy(r.predict(t, mixture)))
				cell = strings.NewReplacer("-0.0", "0.0", "-", "−").Replace(points)
			}
		}
		line += " " + cell + " |"
	}
	t.Log(line)
	return line
}

type stagesRun struct {
	f *features
	h *heldOut
}

func runStages(t *testing.T, p *problem.Problem, set *settings, d design) *stagesRun {
	t.Helper()
	in, err := newInput(context.Background(), p, set, d, set.Memory, new(graph.Work))
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFeatures(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	h, err := predictHeldOut(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return &stagesRun{f, h}
}

// mix returns the mixture without a stage, and whether the stage makes a difference.
func (a *ablation) mix(r *stagesRun) (mixture []component, differs bool) {
	h := *r.h
	whole := h.combine(all)
	mixture = whole
	if a.drops != nil {
		h.components = slices.DeleteFunc(slices.Clone(h.components), func(c component) bool { return a.drops(c.candidate) })
		mixture = h.combine(all)
	}
	if a.isBest {
		best := slices.MaxFunc(whole, func(x, y component) int { return cmp.Compare(x.Weight, y.Weight) })
		h.components = slices.DeleteFunc(slices.Clone(h.components), func(c component) bool { return c.candidate != best.candidate })
		mixture = h.combine(all)
	}
	differs = len(mixture) != len(whole)
	for i := range mixture {
		differs = differs || mixture[i].candidate != whole[i].candidate || mixture[i].Weight != whole[i].Weight
	}
	return mixture, differs
}

func (r *stagesRun) predict(t *testing.T, mixture []component) *engine.Prediction {
	t.Helper()
	m := &model{features: r.f, mixture: mixture}
	m.calibrated = r.h.calibrate(mixture)
	if err := m.fit(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := &engine.Prediction{Mixed: m.choice()}
	if err := m.predict(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if err := likeliestClasses(t.Context(), r.f.in.p, out, 1); err != nil {
		t.Fatal(err)
	}
	return out
}
