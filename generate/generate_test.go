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

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func sbmEdges(t *testing.T, g SBM) []pair {
	t.Helper()
	var b bytes.Buffer
	if err := g.EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

// simple fails unless all pairs are distinct edges between two nodes below n.
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

func sbmClasses(t *testing.T, g SBM) []int {
	t.Helper()
	var b bytes.Buffer
	if err := g.LabelsTo(t.Context(), &b, 1); err != nil {
		t.Fatal(err)
	}
	var class []int
	for line := range strings.Lines(b.String()) {
		var node, c int
		if n, err := fmt.Sscanf(line, "%d\tc%d\n", &node, &c); n != 2 || err != nil || node != len(class) {
			t.Fatalf("line %q: %v", line, err)
		}
		class = append(class, c)
	}
	return class
}

// inside returns the share of edges within a class.
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
	g := SBM{RNGSeed: 1}
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
	for _, test := range []struct {
		g    SBM
		want float64 // share within a class
	}{
		{SBM{Homophily: 1, Noise: -1}, 1},
		{SBM{Homophily: 0, Noise: -1}, 0},
		{SBM{Homophily: 0.5, Noise: -1}, 0.5},
		{SBM{Mixing: [][]float64{{1, 1}, {1, 1}}}, 0.5},
		{SBM{Mixing: [][]float64{{0, 1}, {1, 0}}}, 0},
		{SBM{Mixing: [][]float64{{3, 1}, {1, 3}}, Exponent: math.Inf(1)}, 0.75},
	} {
		g := test.g
		g.Nodes, g.Edges, g.RNGSeed = 3000, 12_000, 5
		list := sbmEdges(t, g)
		if len(list) != g.Edges {
			t.Fatalf("%d edges", len(list))
		}
		simple(t, list, g.Nodes)
		// Four standard errors of a share of 12,000 edges, and as much again
		// because repeated pairs are drawn anew.
		tolerance := 8 * math.Sqrt(test.want*(1-test.want)/12_000)
		if got := inside(list, sbmClasses(t, g)); math.Abs(got-test.want) > tolerance {
			t.Errorf("%+v: %.3f within a class, want %.3f ± %.3f", test.g, got, test.want, tolerance)
		}
	}
}

func TestLabelsOfAShare(t *testing.T) {
	g := SBM{Nodes: 1000, Edges: 3000, Classes: 7, RNGSeed: 3}
	all := sbmClasses(t, g)
	var b bytes.Buffer
	if err := g.LabelsTo(t.Context(), &b, 0.01); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	lines := 0
	for line := range strings.Lines(b.String()) {
		var node, c int
		if _, err := fmt.Sscanf(line, "%d\tc%d\n", &node, &c); err != nil || all[node] != c {
			t.Fatalf("line %q: %v", line, err)
		}
		seen[c] = true
		lines++
	}
	if lines < 10 || lines > 17 || len(seen) != 7 {
		t.Errorf("%d labels of %d classes", lines, len(seen))
	}
}

func TestCrowdedBlockModelEnds(t *testing.T) {
	// Within two classes of two nodes there are only two pairs.
	g := SBM{Nodes: 4, Edges: 6, Classes: 2, Homophily: 1, Noise: -1}
	list := sbmEdges(t, g)
	simple(t, list, 4)
	if len(list) != 6 {
		t.Errorf("%d edges", len(list))
	}
}

func TestRMAT(t *testing.T) {
	var texts [3]bytes.Buffer
	for i, workers := range []int{1, 2, 7} {
		if err := (RMAT{Scale: 13, EdgeFactor: 16, RNGSeed: 4, Workers: workers}).EdgesTo(t.Context(), &texts[i]); err != nil {
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
	ordered := RMAT{Scale: 13, RNGSeed: 4, Ordered: true}
	var b bytes.Buffer
	if err := ordered.EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, p := range parse(t, b.Bytes()) {
		if p[0] < 1<<12 {
			low++
		}
	}
	// The first bit of the source is 0 with probability A + B.
	want, lines := 0.76, float64(16<<13)
	if got := float64(low) / lines; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/lines) {
		t.Errorf("%.4f of the sources in the lower half, want %.4f", got, want)
	}
}

func TestScrambleIsAPermutation(t *testing.T) {
	for scale := 1; scale <= 12; scale++ {
		s := RMAT{Scale: scale, RNGSeed: uint64(scale)}.scramble()
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
		g    Grid
		want int
	}{
		{Grid{Rows: 3, Columns: 4}, 3*3 + 2*4},
		{Grid{Rows: 1, Columns: 5}, 4},
		{Grid{Rows: 3, Columns: 4, Torus: true}, 24},
		{Grid{Rows: 2, Columns: 4, Torus: true}, 8 + 4},
	} {
		var b bytes.Buffer
		if err := test.g.EdgesTo(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		list := parse(t, b.Bytes())
		simple(t, list, test.g.Rows*test.g.Columns)
		if len(list) != test.want {
			t.Errorf("%+v: %d edges, want %d", test.g, len(list), test.want)
		}
	}
	var b bytes.Buffer
	if err := (ErdosRenyi{Nodes: 50, Edges: 50 * 49 / 2, RNGSeed: 1}).EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	list := parse(t, b.Bytes())
	simple(t, list, 50)
	if len(list) != 50*49/2 {
		t.Errorf("%d edges", len(list))
	}
}

// TestBytesStay holds what the settings and the seed promise.
func TestBytesStay(t *testing.T) {
	var b bytes.Buffer
	g := SBM{Nodes: 500, Edges: 2000, RNGSeed: 7}
	if err := g.EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := g.LabelsTo(t.Context(), &b, 0.1); err != nil {
		t.Fatal(err)
	}
	if err := (RMAT{Scale: 9, RNGSeed: 7}).EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := (ErdosRenyi{Nodes: 100, Edges: 300, RNGSeed: 7}).EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if got, want := crc32.ChecksumIEEE(b.Bytes()), uint32(0xe97da4c3); got != want {
		t.Errorf("checksum %#08x, want %#08x", got, want)
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		g    interface{ Validate() error }
		want string
	}{
		{SBM{Nodes: 1, Edges: 1, Classes: 1}, "generate: 1 nodes, want 2 to 4294967295"},
		{SBM{Nodes: 4, Edges: 7, Classes: 2}, "generate: 7 edges, but 4 nodes have 6 pairs"},
		{SBM{Nodes: 10, Edges: 9, Classes: 11}, "generate: 11 classes for 10 nodes"},
		{SBM{Homophily: 2}, "generate: homophily 2, want 0 to 1"},
		{SBM{Noise: 2}, "generate: noise 2, want at most 1"},
		{SBM{Exponent: 2}, "generate: exponent 2, want above 2"},
		{SBM{Shares: []float64{1, -1}}, "generate: shares [1 -1], want numbers ≥ 0 and not all 0"},
		{SBM{Classes: 3, Mixing: [][]float64{{1, 1}, {1, 1}}}, "generate: 2 rows of mixing for 3 classes\ngenerate: mixing of class 0 is [1 1], want 3 numbers ≥ 0 and not all 0\ngenerate: mixing of class 1 is [1 1], want 3 numbers ≥ 0 and not all 0"},
		{RMAT{Scale: 33}, "generate: scale 33, want 1 to 32"},
		{RMAT{A: 0.9, B: 0.2}, "generate: probabilities 0.9, 0.2 and 0, want numbers ≥ 0 with a sum of at most 1"},
		{ErdosRenyi{Nodes: 3, Edges: 4}, "generate: 4 edges, want 1 to 3 for 3 nodes"},
		{Grid{Rows: 1, Columns: 1}, "generate: a grid of 1×1 nodes, want 2 to 4294967295"},
	} {
		if err := test.g.Validate(); err == nil || err.Error() != test.want {
			t.Errorf("%+v: error %q, want %q", test.g, err, test.want)
		}
	}
}

func TestCancelAndFullDisk(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	full := errors.New("disk full")
	for _, g := range []interface {
		EdgesTo(context.Context, io.Writer) error
	}{SBM{}, RMAT{}, ErdosRenyi{Nodes: 1000, Edges: 40_000}, Grid{Rows: 200, Columns: 200}} {
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
	if err := (SBM{}).LabelsTo(ctx, io.Discard, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancel", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
