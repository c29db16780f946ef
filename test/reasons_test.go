package test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/sides"
)

// randomEdges draws kinds, dates, weights, repeated pairs and self loops.
func randomEdges(t *testing.T, rng *rand.Rand, isSigned bool) (path string, labels map[string]string) {
	t.Helper()
	n := 8 + rng.IntN(40)
	classes := 2 + rng.IntN(3)
	decades := rng.IntN(3)
	lines := []string{"source,target,kind,date,weight"}
	for range n * (1 + rng.IntN(4)) {
		u := rng.IntN(n)
		v := rng.IntN(n)
		if rng.Float64() < 0.6 {
			v = (u + classes*rng.IntN(n)) % n
		}
		if v >= n {
			continue
		}
		w := 1.0
		if decades > 0 {
			w = math.Pow(10, float64(decades)*(rng.Float64()-0.5))
		}
		if isSigned && (u%classes != v%classes || rng.Float64() < 0.1) {
			w = -w
		}
		for range 1 + rng.IntN(2)*rng.IntN(3) {
			lines = append(lines, fmt.Sprintf("n%d,n%d,k%d,2020-01-%02d,%.6g", u, v, rng.IntN(3), 1+rng.IntN(20), w))
		}
	}
	labels = map[string]string{}
	text := strings.Join(lines, "\n") + "\n"
	for u := range n {
		if (rng.Float64() < 0.3 || u < 2*classes) && strings.Contains(text, fmt.Sprintf("n%d,", u)) {
			labels[fmt.Sprintf("n%d", u)] = fmt.Sprintf("c%d", u%classes)
		}
	}
	path = filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, labels
}

// The parts must add up to the score within the error, which must be small. Shares must not be many times as large as
// the score. A pair of nodes must be one link, whose kinds have shares that add up to one. HEATWALK_HUNT=1 tries 300
// graphs.
func TestReasonsAddUp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	count := 4
	if os.Getenv("HEATWALK_HUNT") != "" {
		count = 300
	}
	for seed := range uint64(count) {
		rng := rand.New(rand.NewPCG(seed, 76))
		isSigned := seed%3 == 0
		path, labels := randomEdges(t, rng, isSigned)
		o := &heatwalk.Options{
			Reading: &ingest.Config{Kind: "kind", Time: "date", KeepLoops: seed%2 == 0, Signed: isSigned, Duplicates: ingest.SumDuplicates},
			Edges:   sides.Options{Kinds: map[string]float64{"k1": 0.25}},
		}
		if seed%4 == 1 {
			o.Edges.HalfLife = "5d"
		}
		g, err := heatwalk.Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for row := range g.Nodes.Rows() {
			ids = append(ids, g.Nodes.ID(row))
		}
		names := []string{"lp", "lp:center=true", "lgc", "diffusion+rls", "regularized-laplacian+centroid", "auto"}
		if !isSigned {
			names = append(names, "lp:alpha=0.5", "lp:steps=7", "poisson", "pagerank+rls", "cwk", "beliefs", "beliefs:ratios=homophily")
		}
		for _, name := range names {
			list, err := g.Explain(t.Context(), labels, ids, &heatwalk.ClassifyOptions{Method: name})
			if err != nil {
				t.Errorf("seed %d, %s: %v", seed, name, err)
				continue
			}
			for i := range list {
				if wrong := wrongReasons(&list[i], name); wrong != "" {
					t.Errorf("seed %d, %s, node %s: %s: %+v", seed, name, list[i].Node, wrong, list[i])
				}
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// wrongReasons describes an error in the reasons of a method, or returns "".
func wrongReasons(e *heatwalk.Reasons, name string) string {
	size := math.Max(1, math.Abs(e.Score))
	most := 10.0
	if name == "auto" || name == "beliefs:ratios=homophily" { // shares of a few labels that nearly cancel
		most = 100
	}
	sum, largest := e.Rest+e.OtherShare+e.OtherWords, 0.0
	for _, l := range e.Labels {
		sum += l.Share
		largest = math.Max(largest, math.Abs(l.Share))
	}
	isListed := map[[2]string]bool{}
	for _, l := range e.Links {
		if isListed[[2]string{l.From, l.To}] || isListed[[2]string{l.To, l.From}] {
			return "a pair is listed twice"
		}
		isListed[[2]string{l.From, l.To}] = true
		total := 0.0
		for _, k := range l.Kinds {
			total += k.Share
		}
		if math.Abs(total-1) > 1e-9 {
			return "shares of kinds do not add up to one"
		}
	}
	switch {
	case !(math.Abs(sum-e.Score) <= e.Error+1e-9*size):
		return fmt.Sprintf("parts add up to %v", sum)
	case !(e.Error <= 1e-4*size):
		return "a large error"
	case largest > most*size:
		return fmt.Sprintf("a share of %v", largest)
	}
	return ""
}

// A node without edges has a label, which must have a share, and the parts must add up to the score.
func TestReasonsOfIsolatedLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edges.tsv")
	if err := os.WriteFile(path, []byte("a\tb\nb\tc\nc\td\nd\te\nz\tz\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	g, err := heatwalk.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"a": "x", "d": "y", "z": "y", "e": "y"}
	for _, name := range []string{"cwk:alpha=0.5:steps=7+rls", "cwk+svm", "cwk", "lp", "lp:alpha=0.5", "lgc"} {
		list, err := g.Explain(t.Context(), labels, []string{"z"}, &heatwalk.ClassifyOptions{Method: name})
		if err != nil {
			t.Fatal(err)
		}
		e := &list[0]
		if wrong := wrongReasons(e, name); wrong != "" || len(e.Labels) == 0 || e.Labels[0].Node != "z" {
			t.Errorf("%s: %s: %+v", name, wrong, e)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// Kernels that are equal up to a factor must give links the same importance, at most some times the score. A cycle has
// the degree 2 everywhere, so that L = 2·L̃.
func TestLinksOfEqualKernels(t *testing.T) {
	for _, shape := range []string{"star", "cycle", "random"} {
		rng := rand.New(rand.NewPCG(5, 1))
		var edges strings.Builder
		for i := range 40 {
			j := map[string]int{"cycle": (i + 1) % 40, "random": rng.IntN(40)}[shape]
			fmt.Fprintf(&edges, "n%d\tn%d\n", i, j)
		}
		path := filepath.Join(t.TempDir(), shape+".tsv")
		if err := os.WriteFile(path, []byte(edges.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		g, err := heatwalk.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		labels := map[string]string{"n1": "a", "n2": "b", "n10": "a", "n20": "b", "n21": "b"}
		links := func(kernel string, lambda float64) (list []float64) {
			reasons, err := g.Explain(t.Context(), labels, []string{"n3", "n0"}, &heatwalk.ClassifyOptions{Method: fmt.Sprintf("%s+rls:lambda=%v", kernel, lambda)})
			if err != nil {
				t.Fatal(err)
			}
			largest := math.Max(math.Abs(reasons[0].Score), math.Abs(reasons[1].Score))
			for i := range reasons {
				for _, l := range reasons[i].Links[:min(3, len(reasons[i].Links))] {
					if shape != "random" && !(l.Importance <= 10*largest) {
						t.Errorf("%s, %s: link %+v of the score %v", shape, kernel, l, largest)
					}
					list = append(list, l.Importance)
				}
			}
			return list
		}
		type pair struct {
			kernel, multiple string
			lambda, factor   float64 // multiple is factor times kernel
		}
		pairs := []pair{
			{"diffusion:beta=4", "exponential:matrix=normalized-adjacency:beta=4", 0.1, math.Exp(4)},
			{"diffusion:beta=1", "exponential:matrix=normalized-adjacency:beta=1", 0.1, math.E},
			{"regularized-laplacian:alpha=1", "von-neumann:alpha=0.5", 0.1, 2},
			{"exponential:matrix=adjacency:beta=10", "exponential:matrix=adjacency:beta=10", map[string]float64{"star": 1e26, "cycle": 1e7, "random": 1e14}[shape], 1},
		}
		if shape == "cycle" {
			pairs = append(pairs, pair{"diffusion:beta=2", "diffusion:laplacian=combinatorial:beta=1", 0.1, 1},
				pair{"diffusion:beta=2", "exponential:matrix=adjacency:beta=1", 0.1, math.Exp(2)})
		}
		for _, pair := range pairs {
			got := links(pair.kernel, pair.lambda)
			want := links(pair.multiple, pair.lambda*pair.factor)
			if len(got) != len(want) || len(got) == 0 {
				t.Errorf("%s: %d links of %s, %d of %s", shape, len(got), pair.kernel, len(want), pair.multiple)
				continue
			}
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-4*want[0]) {
					t.Errorf("%s: link %d is %v by %s, %v by %s", shape, i, got[i], pair.kernel, want[i], pair.multiple)
				}
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The weights include the edges in both directions, also if both nodes are explained.
func TestReasonsOfDirections(t *testing.T) {
	for _, kind := range []string{"", "kind"} {
		path, labels := randomEdges(t, rand.New(rand.NewPCG(5, 76)), false)
		g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Reading: &ingest.Config{
			Kind: kind, Weight: "weight", Directed: true, Duplicates: ingest.SumDuplicates, KeepLoops: true,
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close() }) // only reads
		weight := map[[2]string]float64{}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			fields := strings.Split(line, ",")
			w, err := strconv.ParseFloat(fields[4], 64)
			if err != nil {
				t.Fatal(err)
			}
			weight[[2]string{fields[0], fields[1]}] += w
		}
		reasons, err := g.Explain(t.Context(), labels, g.IDs(), nil)
		if err != nil {
			t.Fatal(err)
		}
		links := 0
		for _, r := range reasons {
			for _, l := range r.Links {
				u, v := g.Nodes.ID(l.Rows[0]), g.Nodes.ID(l.Rows[1])
				want := weight[[2]string{u, v}]
				if u != v {
					want += weight[[2]string{v, u}]
				}
				sum := 0.0
				for _, k := range l.Kinds {
					sum += k.Weight
				}
				if math.Abs(sum-want) > 1e-9*want {
					t.Errorf("kinds %q, link of %s and %s: weight %g, want %g", kind, u, v, sum, want)
				}
				links++
			}
		}
		if links == 0 {
			t.Error("no links")
		}
	}
}
