package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

const toy = "a\tb\nb\tc\nc\ta\nc\td\n"

func TestToyGraphInEveryForm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	dir, _, err := ingestInto(t, fixed(Config{}), write(t, file{"toy.tsv", toy})...)
	if err != nil {
		t.Fatal(err)
	}
	want := contents(t, dir)
	zstdWriter, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zstdWriter.Close()
	first, rest, _ := strings.Cut(toy, "b\tc")
	for _, test := range []struct {
		name  string
		c     Config
		files []file
	}{
		{"comma", Config{}, []file{{"toy.csv", strings.ReplaceAll(toy, "\t", ",")}}},
		{"comma and blank", Config{}, []file{{"toy.txt", strings.ReplaceAll(toy, "\t", ", ")}}},
		{"semicolon", Config{}, []file{{"toy.csv", strings.ReplaceAll(toy, "\t", ";")}}},
		{"blank", Config{}, []file{{"toy.txt", strings.ReplaceAll(toy, "\t", " ")}}},
		{"blanks", Config{}, []file{{"toy.txt", strings.ReplaceAll("  "+toy, "\t", "    ")}}},
		{"quoted", Config{}, []file{{"toy.csv", "\"a\",\"b\"\n\"b\",c\nc , \"a\"\nc,\"d\"\n"}}},
		{"CR LF", Config{}, []file{{"toy.tsv", strings.ReplaceAll(toy, "\n", "\r\n")}}},
		{"lone CR", Config{}, []file{{"toy.tsv", strings.ReplaceAll(toy, "\n", "\r")}}},
		{"no last newline", Config{}, []file{{"toy.tsv", strings.TrimSuffix(toy, "\n")}}},
		{"no last newline, CR LF", Config{}, []file{{"toy.tsv", strings.TrimSuffix(strings.ReplaceAll(toy, "\n", "\r\n"), "\r\n")}}},
		{"byte-order mark", Config{}, []file{{"toy.tsv", "\xef\xbb\xbf" + toy}}},
		{"comments", Config{}, []file{{"toy.tsv", "# one\n% two\n// three\n\n \t \n" + strings.ReplaceAll(toy, "b\tc\n", "b\tc\n# x\ty\n")}}},
		{"header", Config{}, []file{{"toy.csv", "source,target\n" + strings.ReplaceAll(toy, "\t", ",")}}},
		{"header of weights", Config{Header: nodefile.HasHeader}, []file{{"toy.csv", "0,1,weight\n" + strings.ReplaceAll(strings.ReplaceAll(toy, "\n", "\t1\n"), "\t", ",")}}},
		{"header by flag", Config{Header: nodefile.HasHeader}, []file{{"toy.tsv", "x\ty\n" + toy}}},
		{"blanks around ids", Config{}, []file{{"toy.csv", strings.ReplaceAll(toy, "\t", " , ")}}},
		{"tab at the end", Config{}, []file{{"toy.tsv", strings.ReplaceAll(toy, "\n", "\t\n")}}},
		{"fields", Config{Fields: []string{"3", "1"}}, []file{{"toy.tsv", "b\tx\ta\nc\tx\tb\na\tx\tc\nd\tx\tc\n"}}},
		{"fields below titles", Config{Fields: []string{"3", "1"}, Header: nodefile.HasHeader}, []file{{"toy.tsv", "nach\tBetrag\tvon\nb\t1,5\ta\nc\t2\tb\na\t3\tc\nd\t4\tc\n"}}},
		{"weights of one", Config{}, []file{{"toy.tsv", strings.ReplaceAll(toy, "\n", "\t1.0\n")}}},
		{"gzip", Config{}, []file{{"toy.tsv.gz", packed(toy)}}},
		{"gzip under another name", Config{}, []file{{"toy.tsv", packed(toy)}}},
		{"gzip of two members", Config{}, []file{{"toy.tsv.gz", packed(first) + packed("b\tc"+rest)}}},
		{"zstd", Config{}, []file{{"toy.tsv.zst", string(zstdWriter.EncodeAll([]byte(toy), nil))}}},
		{"two files", Config{}, []file{{"1.tsv", first}, {"2.tsv.gz", packed("b\tc" + rest)}}},
		{"both directions", Config{}, []file{{"toy.tsv", toy + "b\ta\nd\tc\n"}}},
		{"duplicates and loops", Config{}, []file{{"toy.tsv", toy + "a\tb\na\ta\n"}}},
		{"list of nodes", Config{Nodes: "nodes"}, []file{{"toy.tsv", "c\td\nc\ta\nb\tc\na\tb\n"}, {"nodes", "a\nb\nc\nd\n"}}},
		{"list of nodes with a header", Config{Nodes: "nodes"}, []file{{"toy.tsv", "c\td\nc\ta\nb\tc\na\tb\n"}, {"nodes.csv", "Id,Label\na,A\nb,B\nc,A\nd,B\n"}}},
		{"list of nodes with more", Config{Nodes: "nodes"}, []file{{"toy.tsv", "c\td\nc\ta\nb\tc\na\tb\n"}, {"nodes", "a\tA\nb\tB\nc\tA\nd\tB\n"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			paths := write(t, test.files...)
			if test.c.Nodes != "" {
				test.c.Nodes = paths[1]
				paths = paths[:1]
			}
			dir, _, err := ingestInto(t, fixed(test.c), paths...)
			if err != nil {
				t.Fatal(err)
			}
			if got := contents(t, dir); !maps.Equal(got, want) {
				t.Errorf("another store: %v", load(t, dir))
			}
		})
	}
	t.Run("standard input", func(t *testing.T) {
		c := fixed(Config{Stdin: strings.NewReader(packed(toy))})
		dir, report, err := ingestInto(t, c, "-")
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, dir); !maps.Equal(got, want) || report.Files[0].Name != "stdin" {
			t.Errorf("another store: %v", load(t, dir))
		}
	})
}

func TestAgainstTheSlowReader(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const lines = 32_000 // more than a chunk
	configs := []Config{
		{Directed: true, Duplicates: MinDuplicates, KeepLoops: true}, {}, {Directed: true},
		{KeepLoops: true, Duplicates: SumDuplicates}, {Duplicates: MaxDuplicates},
	}
	tests := []struct {
		name string
		sep  byte
		id   func(r *rand.Rand) string
		end  string
	}{
		{"small numbers", table.Tab, func(r *rand.Rand) string { return fmt.Sprint(r.IntN(3000)) }, "\n"},
		{"numbers with gaps", table.Blanks, func(r *rand.Rand) string { return fmt.Sprint(r.IntN(3000) * 1_000_003) }, "\r\n"},
		{"numbers of 64 bits", table.Comma, func(r *rand.Rand) string { return fmt.Sprint(uint64(r.IntN(3000)) * 3_000_000_019_999) }, "\n"},
		{"negative numbers", table.Tab, func(r *rand.Rand) string { return fmt.Sprint(r.IntN(3000) - 1500) }, "\n"},
		{"names", table.Tab, func(r *rand.Rand) string { return fmt.Sprintf("node %x", r.IntN(3000)) }, "\n"},
		{"a late name", table.Comma, func(r *rand.Rand) string {
			if r.IntN(lines) == 0 {
				return "late"
			}
			return fmt.Sprint(r.IntN(3000))
		}, "\n"},
		{"leading zeros", table.Blanks, func(r *rand.Rand) string { return strings.Repeat("0", r.IntN(2)) + fmt.Sprint(1+r.IntN(3000)) }, "\n"},
	}
	for _, i := range testgraph.SampleOf(t, 2, len(tests)) {
		test := tests[i]
		for k, c := range []Config{configs[i%len(configs)], configs[(i+2)%len(configs)]} {
			// Without a policy the two directions of an edge would differ.
			weighted := k == 0 && (c.Duplicates != DefaultDuplicates || c.Directed)
			c.Order = Order((2*i + k) % len(orderNames))
			t.Run(fmt.Sprint(test.name, c.Directed, c.Duplicates, weighted, c.Order), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(1, 2))
				text := edgeText(lines, func(i int) string {
					if i > 0 && r.IntN(1000) == 0 {
						return "# comment"
					}
					line := test.id(r) + string(test.sep) + test.id(r)
					if weighted {
						line += string(test.sep) + []string{"1", "0.5", "2.25", "1e-3", "0", "0.1234567890123456789", "17"}[r.IntN(7)]
					}
					return line + strings.TrimSuffix(test.end, "\n")
				})
				want := slow(t, c, test.sep, text)
				paths := write(t, file{"edges.txt", text})
				var stores []map[string]string
				for _, workers := range testgraph.Workers(i + k) {
					c := c
					c.Workers = workers
					dir, _, err := ingestInto(t, fixed(c), paths...)
					if err != nil {
						t.Fatal(err)
					}
					if workers == 1 {
						same(t, load(t, dir), want)
					}
					stores = append(stores, contents(t, dir))
				}
				if !maps.Equal(stores[0], stores[1]) || !maps.Equal(stores[0], stores[len(stores)-1]) {
					t.Error("1, 2 and 7 workers write different stores")
				}
			})
		}
	}
}

func TestRealGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, test := range []struct {
		path string
		c    Config
		want Report
	}{
		{"cora/edges.tsv.gz", Config{}, Report{Weights: "none", Nodes: 2708, Edges: 5278, Entries: 10556, Lines: 5278, IDs: "numeric"}},
		{"karate/edges.tsv.gz", Config{}, Report{Weights: "float32", Nodes: 34, Edges: 78, Entries: 156, Lines: 78, IDs: "numeric", Weighted: true}},
		{"lesmis/edges.tsv.gz", Config{}, Report{Weights: "float32", Nodes: 77, Edges: 254, Entries: 508, Lines: 254, IDs: "text", Weighted: true}},
		{"webkb-texas/texas.cites.gz", Config{}, Report{Weights: "none", Nodes: 187, Edges: 280, Entries: 560, Lines: 328, IDs: "text", SelfLoops: 18, Reciprocal: 30, Isolated: 2}},
		{"webkb-texas/texas.cites.gz", Config{Directed: true, KeepLoops: true}, Report{Weights: "none", Nodes: 187, Edges: 328, Entries: 328, Lines: 328, IDs: "text", SelfLoops: 18, Directed: true}},
		{"matrixmarket/karate.mtx", Config{}, Report{Weights: "none", Nodes: 34, Edges: 78, Entries: 156, Lines: 102, Comments: 24, IDs: "numeric"}},
		{"matrixmarket/jagmesh7.mtx.gz", Config{}, Report{Weights: "none", Nodes: 1138, Edges: 3156, Entries: 6312, Lines: 4308, Comments: 14, IDs: "numeric", SelfLoops: 1138}},
		{"matrixmarket/jagmesh7.mtx.gz", Config{KeepLoops: true}, Report{Weights: "none", Nodes: 1138, Edges: 4294, Entries: 7450, Lines: 4308, Comments: 14, IDs: "numeric", SelfLoops: 1138}},
	} {
		var plain graph
		for order := range Order(len(orderNames)) {
			test.c.Order = order
			dir, report, err := ingestInto(t, &test.c, filepath.Join("..", "testdata", test.path))
			if err != nil {
				t.Errorf("%s: %v", test.path, err)
				continue
			}
			got := *report
			got.Files, got.Store, got.Bytes, got.Seconds, got.SecondsSync, got.SecondsRead, got.PeakBytes = nil, nil, 0, 0, 0, 0, 0
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
				t.Errorf("%s, order %v:\n%+v, want\n%+v", test.path, order, got, test.want)
			}
			if g := load(t, dir); order == DefaultOrder {
				plain = g
			} else {
				same(t, g, plain)
			}
		}
	}
}

func TestWeightsReport(t *testing.T) {
	for weights, want := range map[string]string{
		"1 1 1":                 "none",
		"1 2 1":                 "float32",
		"1 1 0.25":              "float32",
		"16777216 1 3":          "float32",
		"16777217 1 3":          "float64",
		"1 0.1 1":               "float64",
		"0.5 1 1e300":           "float64",
		"0.10000000149011612 1": "float32",
	} {
		text := ""
		for i, w := range strings.Fields(weights) {
			text += fmt.Sprintf("%d %d %s\n", i, i+1, w)
		}
		for _, directed := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "edges")
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			_, report, err := ingestInto(t, &Config{Directed: directed}, path)
			if err != nil {
				t.Fatal(err)
			}
			if report.Weights != want || report.Weighted != (want != "none") {
				t.Errorf("weights %s: %s, weighted %t; want %s", weights, report.Weights, report.Weighted, want)
			}
		}
	}
}

func TestMatrixMarketIsTheSameGraph(t *testing.T) {
	dir, _, err := ingestInto(t, nil, filepath.Join("..", "testdata", "matrixmarket", "karate.mtx"))
	if err != nil {
		t.Fatal(err)
	}
	got := load(t, dir)
	dir, _, err = ingestInto(t, nil, filepath.Join("..", "testdata", "karate", "edges.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	want := load(t, dir)
	for key := range want.out {
		want.out[key] = 1
	}
	want.weighted = false
	same(t, got, want)
}

func TestWestNegative(t *testing.T) {
	path := filepath.Join("..", "testdata", "matrixmarket", "west0067.mtx.gz")
	_, _, err := ingestInto(t, nil, path)
	if !isData(err) || !strings.Contains(err.Error(), " (and 121 more such lines);") {
		t.Fatalf("error %v", err)
	}
	_, report, err := ingestInto(t, &Config{SkipBadLines: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	if report.BadLines != 122 || !report.Directed || report.Nodes != 67 {
		t.Errorf("%+v", report)
	}
}

func TestMatrixMarketForms(t *testing.T) {
	undirected := map[[2]string]float64{{"1", "2"}: 2, {"2", "1"}: 2, {"2", "3"}: 0.5, {"3", "2"}: 0.5}
	for _, test := range []struct {
		name string
		c    Config
		text string
		want graph
	}{
		{"symmetric", Config{}, "real symmetric\n4 4 2\n2 1 2\n3 2 0.5\n", graph{out: undirected, weighted: true}},
		{"general with symmetric values", Config{}, "real general\n% c\n4 4 4\n1 2 2\n2 1 2.0\n2 3 5e-1\n3 2 .5\n", graph{out: undirected, weighted: true}},
		{"general with symmetric values, summed", Config{Duplicates: SumDuplicates}, "real general\n4 4 4\n1 2 2\n2 1 2.0\n2 3 5e-1\n3 2 .5\n", graph{out: undirected, weighted: true}},
		{"general", Config{}, "integer general\n3 3 2\n1 2 3\n2 1 4\n", graph{ids: []string{"1", "2", "3"}, out: map[[2]string]float64{{"1", "2"}: 3, {"2", "1"}: 4}, weighted: true, directed: true}},
		{"pattern general", Config{}, "pattern general\n3 3 2\n1 2\n3 1\n", graph{ids: []string{"1", "2", "3"}, out: map[[2]string]float64{{"1", "2"}: 1, {"3", "1"}: 1}, directed: true}},
		{"pattern general with both directions", Config{}, "pattern general\n2 2 2\n1 2\n2 1\n", graph{ids: []string{"1", "2"}, out: map[[2]string]float64{{"1", "2"}: 1, {"2", "1"}: 1}}},
		{"symmetric as directed", Config{Directed: true}, "real symmetric\n4 4 2\n2 1 2\n3 2 0.5\n", graph{out: undirected, weighted: true, directed: true}},
		{"skew-symmetric and signed", Config{Signed: true}, "real skew-symmetric\n3 3 3\n2 1 2\n3 2 -4\n3 2 1\n", graph{ids: []string{"1", "2", "3"}, out: map[[2]string]float64{{"2", "1"}: 2, {"1", "2"}: -2, {"2", "3"}: 3, {"3", "2"}: -3}, weighted: true, directed: true}},
		{"loop kept", Config{KeepLoops: true}, "pattern symmetric\n2 2 2\n1 1\n2 1\n", graph{ids: []string{"1", "2"}, out: map[[2]string]float64{{"1", "1"}: 1, {"1", "2"}: 1, {"2", "1"}: 1}}},
		{"symmetric, the upper triangle", Config{}, "real symmetric\n4 4 3\n1 2 0.5\n2 3 0.5\n2 1 1.5\n", graph{out: undirected, weighted: true}},
		{"skew-symmetric, the upper triangle", Config{Signed: true}, "real skew-symmetric\n3 3 2\n1 2 -2\n2 3 4\n", graph{ids: []string{"1", "2", "3"}, out: map[[2]string]float64{{"2", "1"}: 2, {"1", "2"}: -2, {"2", "3"}: 4, {"3", "2"}: -4}, weighted: true, directed: true}},
		{"repeated entries add up", Config{}, "real symmetric\n2 2 2\n2 1 2\n2 1 3\n", graph{ids: []string{"1", "2"}, out: map[[2]string]float64{{"1", "2"}: 5, {"2", "1"}: 5}, weighted: true}},
		{"general, the larger of both directions", Config{Undirected: true, Duplicates: MaxDuplicates}, "real general\n4 4 5\n1 2 1\n1 2 2\n2 1 1.5\n2 3 .5\n3 2 .5\n", graph{out: undirected, weighted: true}},
		{"general, the smaller", Config{Undirected: true, Duplicates: MinDuplicates}, "real general\n4 4 4\n1 2 3\n2 1 2\n2 3 .5\n3 2 .75\n", graph{out: undirected, weighted: true}},
		{"general, the first", Config{Undirected: true, Duplicates: FirstDuplicates}, "real general\n4 4 4\n2 1 2\n1 2 3\n2 3 .5\n3 2 .75\n", graph{out: undirected, weighted: true}},
		{"general with different values, the larger of each direction", Config{Duplicates: MaxDuplicates}, "real general\n3 3 3\n1 2 3\n1 2 1\n2 1 4\n", graph{ids: []string{"1", "2", "3"}, out: map[[2]string]float64{{"1", "2"}: 3, {"2", "1"}: 4}, weighted: true, directed: true}},
		{"leading blanks", Config{}, "pattern symmetric\n 2  2 1\n  2   1 \n", graph{ids: []string{"1", "2"}, out: map[[2]string]float64{{"1", "2"}: 1, {"2", "1"}: 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := read(t, &test.c, file{"g.mtx", "%%MatrixMarket matrix coordinate " + test.text})
			if test.want.ids == nil {
				test.want.ids = []string{"1", "2", "3", "4"}
			}
			same(t, got, test.want)
		})
	}
}

func TestRowOrder(t *testing.T) {
	for _, test := range []struct {
		name  string
		text  string
		nodes string
		want  []string
	}{
		{"integers by value", "10\t9\n2\t100\n", "", []string{"2", "9", "10", "100"}},
		{"integers of any size", "99999999999999999999999\t-3\n5\t-20\n", "", []string{"-20", "-3", "5", "99999999999999999999999"}},
		{"sparse integers", "900000000\t5\n123456789\t5\n", "", []string{"5", "123456789", "900000000"}},
		{"first appearance", "z\ta\nb\t9\n", "", []string{"z", "a", "b", "9"}},
		{"not canonical", "10\t9\n07\t1\n", "", []string{"10", "9", "07", "1"}},
		{"listed first", "z\ta\nb\tz\n", "q\nz\n", []string{"q", "z", "a", "b"}},
		{"listed integers", "10\t9\n2\t100\n", "100\n7\n", []string{"100", "7", "2", "9", "10"}},
		{"listed in order", "10\t9\n2\t100\n", "0\n1\n", []string{"0", "1", "2", "9", "10", "100"}},
		{"listed with a title", "10\t9\n", "id\n3\n4\n", []string{"3", "4", "9", "10"}},
		{"listed ids with blanks", "a b\tc d\n", "# nodes\n x y \nc d\textra\n", []string{"x y", "c d", "a b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &Config{}
			if test.nodes != "" {
				c.Nodes = write(t, file{"nodes.tsv", test.nodes})[0]
			}
			g, report := read(t, c, file{"e.tsv", test.text})
			if !slices.Equal(g.ids, test.want) {
				t.Errorf("rows %q, want %q", g.ids, test.want)
			}
			isolated := 0
			for _, id := range g.ids {
				if !slices.ContainsFunc(slices.Collect(maps.Keys(g.out)), func(e [2]string) bool { return e[0] == id }) {
					isolated++
				}
			}
			if report.Isolated != int64(isolated) {
				t.Errorf("%d isolated, want %d", report.Isolated, isolated)
			}
		})
	}
}

func TestDuplicates(t *testing.T) {
	text := "a\tb\t1\na\tb\t4\nb\ta\t3\n"
	for _, test := range []struct {
		policy Duplicates
		text   string
		want   float64 // weight of a–b; 0: an error
	}{
		{DefaultDuplicates, text, 0},
		{DefaultDuplicates, "a\tb\t1\na\tb\t2\nb\ta\t3\n", 3},
		{DefaultDuplicates, "a\tb\t0.1\na\tb\t0.2\na\tb\t0.3\nb\ta\t0.2\nb\ta\t0.3\nb\ta\t0.1\n", sumOf([]float64{0.1, 0.2, 0.3})},
		{SumDuplicates, text, 8},
		{MaxDuplicates, text, 4},
		{MinDuplicates, text, 1},
		{FirstDuplicates, text, 1},
		{FirstDuplicates, "b\ta\t3\n" + text, 3},
		{ErrorDuplicates, text, 0},
		{ErrorDuplicates, "a\tb\t2\nb\ta\t2\n", 2},
		{ErrorDuplicates, "a\tb\t2\nb\ta\t3\n", 0},
		{SumDuplicates, "a\tb\na\tb\nb\ta\n", 3},
		{ErrorDuplicates, "a\tb\na\tb\n", 0},
		{ErrorDuplicates, "a\tb\nb\ta\n", 1},
	} {
		dir, _, err := ingestInto(t, &Config{Duplicates: test.policy}, write(t, file{"e.tsv", test.text})...)
		if (err != nil) != (test.want == 0) {
			t.Errorf("%v of %q: error %v", test.policy, test.text, err)
		}
		if err != nil {
			continue
		}
		g := load(t, dir)
		for _, key := range [][2]string{{"a", "b"}, {"b", "a"}} {
			if g.out[key] != test.want {
				t.Errorf("%v of %q: %v = %v, want %v", test.policy, test.text, key, g.out[key], test.want)
			}
		}
	}
}

func TestCounts(t *testing.T) {
	text := "# head\na\tb\t2\na\tb\t1\nb\ta\t3\nc\tc\t1\nc\ta\t0\nx\n\nd\te\theavy\nc\td\t1\n"
	_, report := read(t, &Config{SkipBadLines: true}, file{"e.tsv", text})
	want := Report{Nodes: 4, Edges: 2, Entries: 4, Lines: 10, Comments: 2, SelfLoops: 1, Duplicates: 1, Reciprocal: 1, ZeroWeights: 1, BadLines: 2, Weighted: true}
	if report.Nodes != want.Nodes || report.Edges != want.Edges || report.Entries != want.Entries || report.Lines != want.Lines ||
		report.Comments != want.Comments || report.SelfLoops != want.SelfLoops || report.Duplicates != want.Duplicates ||
		report.Reciprocal != want.Reciprocal || report.ZeroWeights != want.ZeroWeights || report.BadLines != want.BadLines || !report.Weighted {
		t.Errorf("%+v, want %+v", report, want)
	}
}

func TestRoundedWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const large = "9007199254740993"
	for _, test := range []struct {
		files []file
		count int64
		place string
	}{
		{[]file{{"e.tsv", "1\t2\t9007199254740992\n2\t3\t" + large + "\n3\t4\t" + large + "\n"}}, 2, "e.tsv:2"},
		{[]file{{"e.tsv", "# c\na\tb\t1\nb\tc\t" + large + "\n"}}, 1, "e.tsv:3"},
		{[]file{{"e.csv", "a, b,\"" + large + "\"\n"}}, 1, "e.csv:1"},
		{[]file{{"e.tsv", "1\t2\t3\n"}, {"f.tsv.gz", packed("1\t3\t" + large + "\n")}}, 1, "f.tsv.gz:1"},
		{[]file{{"e.tsv", edgeText(100_000, func(i int) string { return fmt.Sprintf("%d\t%d\t%d", i, i+1, 1<<53-1+i/50_000*2) })}}, 50_000, "e.tsv:50001"},
		{[]file{{"e.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 " + large + "\n"}}, 1, "e.mtx:3"},
		{[]file{{"e.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 " + large + "\n"}}, 1, "e.mtx:3"},
		{[]file{{"e.tsv", "1\t2\t9007199254740993.0\n2\t3\t0.1\n3\t4\t9007199254740994\n"}}, 0, ""},
	} {
		for _, workers := range []int{1, 3} {
			_, report := read(t, &Config{Workers: workers}, test.files...)
			if report.RoundedWeights != test.count {
				t.Errorf("%.80q: %d weights are rounded, want %d", test.files, report.RoundedWeights, test.count)
			}
			warned := slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, test.place+": an integer weight beyond 2⁵³") })
			if warned != (test.count > 0) {
				t.Errorf("%.80q: warnings %q, want one of %s", test.files, report.Warnings, test.place)
			}
		}
	}
}

func TestMemory(t *testing.T) {
	text := edgeText(200_000, func(i int) string { return fmt.Sprintf("%d %d", i%5000, i*7919%10_007) })
	paths := write(t, file{"e.txt", text})
	dir, _, err := ingestInto(t, fixed(Config{}), paths...)
	if err != nil {
		t.Fatal(err)
	}
	want := contents(t, dir)
	dir, _, err = ingestInto(t, fixed(Config{Memory: workerBytes + pageBytes + 1<<20, Workers: 1}), paths...)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(contents(t, dir), want) {
		t.Error("another store with little memory")
	}
	for _, memory := range []int64{1, workerBytes + pageBytes - 1} {
		_, _, err = ingestInto(t, fixed(Config{Memory: memory, Workers: 1}), paths...)
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Need <= limit.Limit {
			t.Errorf("error %v with %d bytes", err, memory)
		}
	}
}

func TestCancel(t *testing.T) {
	text := edgeText(400_000, func(i int) string { return fmt.Sprintf("%d %d", i, i+1) })
	paths := write(t, file{"e.txt", text})
	for _, phase := range []string{"reading", "writing"} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		c := &Config{Workers: 2, Progress: func(stage string, _, _ int64) {
			if strings.HasPrefix(stage, phase) {
				cancel()
				calls++
			}
		}}
		dir := filepath.Join(t.TempDir(), "graph")
		_, err := Run(ctx, dir, paths, c)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", phase, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: %s is left behind", phase, dir)
		}
		if calls > 5 {
			t.Errorf("%s: %d calls after the cancel", phase, calls)
		}
	}
}

func TestCancelOfAPipe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	go func() {
		out.Write([]byte("1 2\n"))
		cancel()
	}()
	_, err := Run(ctx, filepath.Join(t.TempDir(), "graph"), []string{"-"}, &Config{Stdin: in})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	in.Close()
}

func TestExistingStoreStays(t *testing.T) {
	dir, _, err := ingestInto(t, nil, write(t, file{"e.tsv", toy})...)
	if err != nil {
		t.Fatal(err)
	}
	want := load(t, dir)
	other := write(t, file{"o.tsv", "x\ty\n"})
	if _, err := Run(t.Context(), dir, other, nil); !errors.Is(err, shard.ErrExists) {
		t.Errorf("error %v over a store", err)
	}
	if _, err := Run(t.Context(), dir, write(t, file{"bad.tsv", "x\ty\nz\n"}), &Config{Force: true}); err == nil {
		t.Error("no error")
	}
	same(t, load(t, dir), want)
	if _, err := Run(t.Context(), dir, other, &Config{Force: true}); err != nil {
		t.Error(err)
	}
	if g := load(t, dir); !slices.Equal(g.ids, []string{"x", "y"}) {
		t.Errorf("rows %q", g.ids)
	}
}

func TestProgressAndWarnings(t *testing.T) {
	text := "source,target,weight\n" + edgeText(50_000, func(i int) string { return fmt.Sprintf("%d,%d,1", i, i+1) })
	var done, total int64
	stages := map[string]bool{}
	var warnings []string
	c := &Config{
		Progress: func(stage string, d, n int64) { done, total, stages[stage] = d, n, true },
		Warn:     func(w error) { warnings = append(warnings, w.Error()) },
	}
	paths := write(t, file{"e.csv.gz", text})
	_, report, err := ingestInto(t, c, paths...)
	if err != nil {
		t.Fatal(err)
	}
	if done != total || total != 50_001 || !stages["reading "+paths[0]] || !stages[writingStage] || len(stages) != 2 {
		t.Errorf("progress ends at %d of %d; stages %v", done, total, stages)
	}
	want := []string{paths[0] + ": not compressed; read as text"}
	if !slices.Equal(warnings, want) || !slices.Equal(report.Warnings, want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
	if report.Bytes != int64(len(text)) || report.Weighted {
		t.Errorf("%+v", report)
	}
	warnings = nil
	if _, _, err := ingestInto(t, c, write(t, file{"ids.tsv", "7\ta\n007\tb\n"})...); err != nil {
		t.Fatal(err)
	}
	if want := []string{`ids "7" and "007" both occur and are different nodes; write each integer in one way if they are meant as one`}; !slices.Equal(warnings, want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
}
