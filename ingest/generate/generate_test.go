package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/testgraph"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func values(m map[string]any) param.Values {
	v := param.Values{}
	for name, x := range m {
		switch x := x.(type) {
		case int:
			v[name] = param.Of(x)
		case float64:
			v[name] = param.Of(x)
		case bool:
			v[name] = param.Of(x)
		}
	}
	return v
}

func made(t testing.TB, model string, m map[string]any, rngSeed uint64) Graph {
	t.Helper()
	g, err := New(model, values(m), rngSeed, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

type given = map[string]any

type pair [2]int

func parse(t *testing.T, text []byte) []pair {
	t.Helper()
	var list []pair
	for line := range strings.Lines(string(text)) {
		source, target, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		u, err := strconv.Atoi(source)
		v, err2 := strconv.Atoi(target)
		if err != nil || err2 != nil {
			t.Fatalf("line %q: %v", line, errors.Join(err, err2))
		}
		list = append(list, pair{u, v})
	}
	return list
}

func sbmEdges(t *testing.T, g Graph) []pair {
	t.Helper()
	var b bytes.Buffer
	if err := g.EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

func simple(t *testing.T, list []pair, n int) {
	t.Helper()
	seen := map[pair]bool{}
	for _, p := range list {
		key := pair{min(p[0], p[1]), max(p[0], p[1])}
		if p[0] == p[1] || p[0] < 0 || key[1] >= n || seen[key] {
			t.Fatalf("edge %v is no edge or stands there twice", p)
		}
		seen[key] = true
	}
}

func sbmClasses(t *testing.T, g Graph) []int {
	t.Helper()
	var b bytes.Buffer
	if err := g.LabelsTo(t.Context(), &b, 1); err != nil {
		t.Fatal(err)
	}
	var class []int
	for _, l := range parseLabels(t, b.String()) {
		if l.node != len(class) {
			t.Fatalf("node %d in place of %d", l.node, len(class))
		}
		class = append(class, l.class)
	}
	return class
}

func inside(list []pair, class []int) float64 {
	same := 0
	for _, p := range list {
		if class[p[0]] == class[p[1]] {
			same++
		}
	}
	return float64(same) / float64(len(list))
}

func TestDefaultBlockModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := made(t, "sbm", nil, 1)
	list, class := sbmEdges(t, g), sbmClasses(t, g)
	if len(list) != 374_480 || len(class) != 100_000 {
		t.Fatalf("%d edges, %d nodes", len(list), len(class))
	}
	simple(t, list, 100_000)
	var size [5]int
	for _, c := range class {
		size[c]++
	}
	if size != [5]int{50_000, 25_000, 12_500, 6_250, 6_250} {
		t.Errorf("classes of %v nodes", size)
	}
	degree := make([]int, len(class))
	for _, p := range list {
		degree[p[0]]++
		degree[p[1]]++
	}
	if slices.Min(degree) == 0 {
		t.Error("a node has no edge")
	}
	if s := inside(list, class); s > 0.1 {
		t.Errorf("%.3f of the edges lie within a class", s)
	}
}

func TestHomophilyDecidesWhereEdgesGo(t *testing.T) {
	const nodes, edges = 3000, 12_000
	for _, want := range []float64{1, 0, 0.5, 0.75} {
		g := made(t, "sbm", given{"nodes": nodes, "edges": edges, "homophily": want, "noise": 0.0}, 5)
		list := sbmEdges(t, g)
		simple(t, list, nodes)
		// Four standard errors of a share of the edges, and as much again because repeated pairs are drawn
		// anew.
		tolerance := 8 * math.Sqrt(want*(1-want)/edges)
		if got := inside(list, sbmClasses(t, g)); math.Abs(got-want) > tolerance {
			t.Errorf("%.3f within a class, want %.3f ± %.3f", got, want, tolerance)
		}
	}
}

func TestDrawnEdges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for model, m := range map[string]given{
		"sbm": {"nodes": 60_000, "edges": 300_000, "classes": 7, "homophily": 0.8},
		"er":  {"nodes": 60_000, "edges": 300_000},
	} {
		var texts [3]bytes.Buffer
		for i, workers := range testgraph.Workers(len(model)) {
			g, err := New(model, values(m), 3, workers)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.EdgesTo(t.Context(), &texts[i]); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(texts[i].Bytes(), texts[0].Bytes()) {
				t.Errorf("%s: %d workers write other edges than 1", model, workers)
			}
		}
		list := parse(t, texts[0].Bytes())
		simple(t, list, 60_000)
		var sum float64
		for _, p := range list {
			sum += float64(p[0] + p[1])
		}
		if mean := sum / float64(2*len(list)); math.Abs(mean-30_000) > 600 {
			t.Errorf("%s: %d edges, mean end %.0f", model, len(list), mean)
		}
	}
}

func TestLabelsOfAShare(t *testing.T) {
	g := made(t, "sbm", given{"nodes": 1000, "edges": 3000, "classes": 7}, 3)
	all := sbmClasses(t, g)
	var b bytes.Buffer
	if err := g.LabelsTo(t.Context(), &b, 0.01); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	lines := 0
	for _, l := range parseLabels(t, b.String()) {
		if all[l.node] != l.class {
			t.Fatalf("node %d has the class %d", l.node, l.class)
		}
		seen[l.class] = true
		lines++
	}
	if lines < 10 || lines > 17 || len(seen) != 7 {
		t.Errorf("%d labels of %d classes", lines, len(seen))
	}
}

func TestExactEdges(t *testing.T) {
	for _, test := range []struct {
		model string
		given given
		most  int // 0: the edges are not too many
	}{
		{"sbm", given{"nodes": 1000, "edges": 300}, 0}, // most nodes have no edge
		{"sbm", given{"nodes": 1000, "edges": 999}, 0},
		{"sbm", given{"nodes": 1000, "edges": 200_000}, 0},
		{"sbm", given{"nodes": 1000, "edges": 5000, "classes": 1000, "homophily": 1.0}, 0},
		{"sbm", given{"nodes": 400, "edges": 16_000, "homophily": 1.0, "noise": 0.0}, 0},
		{"sbm", given{"nodes": 300, "edges": 20_000, "noise": 1e-9}, 0}, // noise makes most edges
		{"sbm", given{"nodes": 60, "edges": 1700, "exponent": 2.0001}, 0},
		{"sbm", given{"nodes": 100, "edges": 4951}, 4950},
		{"sbm", given{"nodes": 3, "edges": 4, "classes": 1, "noise": 0.0}, 3},
		{"sbm", given{"nodes": 4, "edges": 6, "classes": 2, "homophily": 1.0, "noise": 0.0}, 2},
		{"sbm", given{"nodes": 4, "edges": 6, "classes": 2, "noise": 0.0}, 4},
		{"sbm", given{"nodes": 16, "edges": 100, "classes": 4, "noise": 0.0}, 8*4 + 4*2 + 2*2 + 2*8},
		{"sbm", given{"nodes": 16, "edges": 100, "classes": 4, "homophily": 0.5, "noise": 0.0}, 28 + 6 + 1 + 1 + 60},
		{"er", given{"nodes": 1000, "edges": 300}, 0},
		{"er", given{"nodes": 1000, "edges": 400_000}, 0},
		{"er", given{"nodes": 101, "edges": 5051}, 5050},
	} {
		nodes := test.given["nodes"].(int)
		if test.most > 0 {
			_, err := New(test.model, values(test.given), 2, 1)
			if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("; give 1 to %d", test.most)) {
				t.Errorf("%s %v: %v, want at most %d", test.model, test.given, err, test.most)
			}
			test.given["edges"] = test.most
		}
		list := sbmEdges(t, made(t, test.model, test.given, 2))
		simple(t, list, nodes)
		if len(list) != test.given["edges"] {
			t.Errorf("%s %v: %d edges", test.model, test.given, len(list))
		}
		degree := make([]int, nodes)
		for _, p := range list {
			degree[p[0]]++
			degree[p[1]]++
		}
		if test.model == "sbm" && len(list) >= nodes && slices.Min(degree) == 0 {
			t.Errorf("%s %v: a node has no edge", test.model, test.given)
		}
	}
}

// The rate of each node with itself counts half.
func TestRates(t *testing.T) {
	for _, m := range []given{
		{"nodes": 300, "homophily": 0.3},
		{"nodes": 500, "homophily": 0.3, "noise": 0.0, "classes": 2},
		{"nodes": 300, "classes": 290, "homophily": 0.6},
		{"nodes": 300, "exponent": 7.0, "classes": 1, "noise": 1.0},
	} {
		b, err := made(t, "sbm", m, 1).(sbm).newBlocks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		pairs := 0
		for p := range b.g.nodes {
			_, rate, ends := b.options(nil, p)
			c := b.g.classAt(p)
			n := b.g.size(c)
			rank := p - b.g.first[c]
			share := b.shareOf(rank+1, n) - b.shareOf(rank, n)
			sum += rate + share*share*float64(n)*(2*b.g.noise*float64(n)/float64(b.g.nodes)+b.g.affinity(c, c))/2
			pairs += ends
		}
		if n := float64(b.g.nodes); math.Abs(sum-n) > 1e-9*n || pairs != b.g.mostEdges() {
			t.Errorf("%v: rates of sum %v, %d pairs, want %v and %d", m, sum, pairs, n, b.g.mostEdges())
		}
	}
}

func TestRMAT(t *testing.T) {
	var texts [3]bytes.Buffer
	for i, workers := range []int{1, 2, 7} {
		g, err := New("rmat", values(given{"scale": 13}), 4, workers)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.EdgesTo(t.Context(), &texts[i]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(texts[i].Bytes(), texts[0].Bytes()) {
			t.Errorf("%d workers write other edges than 1", workers)
		}
	}
	list := parse(t, texts[0].Bytes())
	if len(list) != 16<<13 {
		t.Fatalf("%d lines", len(list))
	}
	low := 0
	ordered := made(t, "rmat", given{"scale": 13, "ordered": true}, 4)
	var b bytes.Buffer
	if err := ordered.EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, p := range parse(t, b.Bytes()) {
		if p[0] < 1<<12 {
			low++
		}
	}
	// The first bit of the source is 0 with probability a + b.
	want, lines := 0.76, float64(16<<13)
	if got := float64(low) / lines; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/lines) {
		t.Errorf("%.4f of the sources in the lower half, want %.4f", got, want)
	}
}

func TestScrambleIsAPermutation(t *testing.T) {
	for scale := 1; scale <= 12; scale++ {
		s := rmat{scale: scale, draws: draws{rngSeed: uint64(scale)}}.scramble()
		seen := make([]bool, 1<<scale)
		for x := range uint64(1) << scale {
			seen[s.of(x)] = true
		}
		if slices.Contains(seen, false) {
			t.Errorf("scale %d: not a permutation", scale)
		}
	}
}

func TestGridAndErdosRenyi(t *testing.T) {
	for _, test := range []struct {
		g    grid
		want int
	}{
		{grid{rows: 3, columns: 4}, 3*3 + 2*4},
		{grid{rows: 1, columns: 5}, 4},
		{grid{rows: 3, columns: 4, torus: true}, 24},
		{grid{rows: 2, columns: 4, torus: true}, 8 + 4},
	} {
		var b bytes.Buffer
		if err := test.g.EdgesTo(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		list := parse(t, b.Bytes())
		simple(t, list, test.g.rows*test.g.columns)
		if len(list) != test.want {
			t.Errorf("%+v: %d edges, want %d", test.g, len(list), test.want)
		}
	}
	var b bytes.Buffer
	if err := made(t, "er", given{"nodes": 50, "edges": 50 * 49 / 2}, 1).EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	list := parse(t, b.Bytes())
	simple(t, list, 50)
	if len(list) != 50*49/2 {
		t.Errorf("%d edges", len(list))
	}
}

// The bytes of a graph must not change from version to version.
func TestBytesStay(t *testing.T) {
	var b bytes.Buffer
	g := made(t, "sbm", given{"nodes": 500, "edges": 2000}, 7)
	if err := g.EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := g.LabelsTo(t.Context(), &b, 0.1); err != nil {
		t.Fatal(err)
	}
	if err := made(t, "rmat", given{"scale": 9}, 7).EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := made(t, "er", given{"nodes": 100, "edges": 300}, 7).EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if got, want := crc32.ChecksumIEEE(b.Bytes()), uint32(0x3ea400ce); got != want {
		t.Errorf("checksum %#08x, want %#08x", got, want)
	}
}

func TestNew(t *testing.T) {
	for _, test := range []struct {
		model string
		given given
		want  string
	}{
		{"sbm", given{"nodes": 4, "edges": 7, "classes": 2}, "sbm: edges: 7 are more than the 6 pairs of nodes that may have an edge; give 1 to 6"},
		{"sbm", given{"nodes": 10, "edges": 9, "classes": 11}, "sbm: classes: 11 for 10 nodes; give as many at the most"},
		{"rmat", given{"a": 0.9, "b": 0.2}, "rmat: c: a + b + c = 1.29; give shares with a sum of at most 1"},
		{"er", given{"nodes": 3, "edges": 4}, "er: edges: 4 are more than the 3 pairs of nodes that may have an edge; give 1 to 3"},
		{"sbm", given{"nodes": 2, "edges": 1, "classes": 2, "homophily": 1.0, "noise": 0.0}, "sbm: edges: no two nodes may have an edge; give more nodes or more noise"},
		{"grid", given{"rows": 1, "columns": 1}, "grid: columns: rows × columns = 1; give 2 to 4294967295"},
		{"tree", nil, "tree: model: missing; choose one of sbm, rmat, er, grid"},
	} {
		if _, err := New(test.model, values(test.given), 1, 1); err == nil || err.Error() != test.want || !errors.As(err, new(*param.ParameterError)) {
			t.Errorf("%+v: error %q, want %q", test, err, test.want)
		}
	}
}

func TestCancelAndFullDisk(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	full := errors.New("disk full")
	for _, g := range []Graph{
		made(t, "sbm", nil, 0), made(t, "rmat", nil, 0), made(t, "er", given{"nodes": 1000, "edges": 40_000}, 0), made(t, "grid", given{"rows": 200, "columns": 200}, 0),
	} {
		if err := g.EdgesTo(ctx, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: error %v after a cancel", g, err)
		}
		if err := g.EdgesTo(t.Context(), failing{full}); !errors.Is(err, full) {
			t.Errorf("%T: error %v from a writer that fails", g, err)
		}
	}
}

func TestCancelLabels(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := made(t, "sbm", nil, 0).LabelsTo(ctx, io.Discard, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancel", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

type label struct{ node, class int }

func parseLabels(t *testing.T, text string) (list []label) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l label
		if n, err := fmt.Sscanf(line, "%d\tc%d\n", &l.node, &l.class); n != 2 || err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		list = append(list, l)
	}
	return list
}
