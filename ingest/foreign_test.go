package ingest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func TestForeignGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, test := range []struct {
		name string
		c    Config
		want Report
	}{
		{"lesmis.graphml", Config{}, Report{Weights: "float32", Nodes: 77, Edges: 254, Entries: 508, Weighted: true, IDs: "text"}},
		{"lesmis.mtx", Config{}, Report{Weights: "float32", Nodes: 77, Edges: 254, Entries: 508, Weighted: true, IDs: "numeric"}},
		{"lesmis.graphml", Config{Directed: true}, Report{Weights: "float32", Nodes: 77, Edges: 508, Entries: 508, Weighted: true, Directed: true, IDs: "text"}},
		{"lesmis.mtx", Config{Directed: true}, Report{Weights: "float32", Nodes: 77, Edges: 508, Entries: 508, Weighted: true, Directed: true, IDs: "numeric"}},
		{"gnnbench-cora.npz", Config{}, Report{Weights: "none", Nodes: 2708, Edges: 5429, Entries: 5429, Directed: true, IDs: "numeric"}},
		{"gnnbench-cora.npz", Config{Undirected: true}, Report{Weights: "none", Nodes: 2708, Edges: 5278, Entries: 10556, Reciprocal: 151, IDs: "numeric"}},
		{"small-coo.npz", Config{}, Report{Weights: "float32", Nodes: 5, Edges: 3, Entries: 6, Reciprocal: 3, Isolated: 1, Weighted: true, IDs: "numeric"}},
		{"small-bool.npz", Config{Directed: true}, Report{Weights: "none", Nodes: 5, Edges: 6, Entries: 6, Isolated: 1, Directed: true, IDs: "numeric"}},
	} {
		for _, memory := range []int64{0, 64 << 20} {
			test.c.Memory = memory
			dir, report, err := ingestInto(t, &test.c, filepath.Join("..", "file", "graphfile", "testdata", test.name))
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			format := graphfile.Recognize(test.name, nil).Title
			if filepath.Ext(test.name) == ".mtx" {
				format = graphfile.MatrixMarket.Title
			}
			if f := report.Files[0]; f.Format != format || f.Bytes == 0 {
				t.Errorf("%s: %+v", test.name, f)
			}
			got := *report
			got.Files, got.Store, got.Bytes, got.Lines, got.Comments, got.Seconds, got.SecondsSync, got.SecondsRead, got.PeakBytes, got.SpilledBytes = nil, nil, 0, 0, 0, 0, 0, 0, 0, 0
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
				t.Errorf("%s %+v:\n%+v, want\n%+v", test.name, test.c, got, test.want)
			}
			load(t, dir)
		}
	}
}

var same4 = []file{
	{"g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 5\n3 2 1\n4 3 2\n"},
	{"g.graphml", graphMLText("undirected", "1 2 5", "2 3", "3 4 2")},
	{"g.edgelist", "1 2 {'weight': 5}\n2 3 {}\n3 4 {'weight': 2}\n"},
	{"g.tsv", "1\t2\t5\n2\t3\t1\n3\t4\t2\n"},
}

func TestFormatsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	want, _ := read(t, nil, same4[len(same4)-1])
	for _, f := range same4 {
		got, report := read(t, nil, f)
		same(t, got, want)
		warned := strings.Contains(strings.Join(report.Warnings, "\n"), ": the weight is missing on 1 edge and taken as 1; write a weight for every edge")
		if isMissing := !slices.Contains([]string{"g.mtx", "g.tsv"}, f.name); warned != isMissing {
			t.Errorf("%s: warnings %q", f.name, report.Warnings)
		}
		zero := file{f.name, strings.ReplaceAll(f.text, "5", "0")}
		if _, report = read(t, nil, zero); report.Edges != 2 || strings.Count(strings.Join(report.Warnings, "\n"), " with weight 0 or none ") != 1 {
			t.Errorf("%s with a weight 0: %d edges, warnings %q", f.name, report.Edges, report.Warnings)
		}
		if _, report = read(t, &Config{Unweighted: true}, zero); report.Edges != 3 || strings.Contains(strings.Join(report.Warnings, "\n"), "weight 0") {
			t.Errorf("%s with a weight 0 that counts as 1: %d edges, warnings %q", f.name, report.Edges, report.Warnings)
		}
		packedForm, _ := read(t, nil, file{f.name + ".gz", packed(f.text)})
		same(t, packedForm, want)
		dir, _, err := ingestInto(t, &Config{Stdin: strings.NewReader(f.text)}, "-")
		if err != nil {
			t.Fatal(err)
		}
		same(t, load(t, dir), want)
	}
}

func TestNodesNameRows(t *testing.T) {
	for _, list := range []struct {
		ids  string
		want []string
	}{
		{"d\nc\nb\na\n", []string{"d", "c", "b", "a"}},
		{"9\n7\n8\n1\n", []string{"9", "7", "8", "1"}},
		{"10\n20\n30\n40\n", []string{"10", "20", "30", "40"}},
		{"-1\n07\n# comment\n5\n6\n", []string{"-1", "07", "5", "6"}},
	} {
		for _, f := range same4[:1] {
			paths := write(t, f, file{"ids", list.ids})
			dir, _, err := ingestInto(t, &Config{Nodes: paths[1]}, paths[0])
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			g := load(t, dir)
			if !slices.Equal(g.ids, list.want) || g.out[[2]string{g.ids[0], g.ids[1]}] != 5 || g.out[[2]string{g.ids[3], g.ids[2]}] != 2 {
				t.Errorf("%s with %q: %v %v", f.name, list.ids, g.ids, g.out)
			}
		}
	}
	paths := write(t, same4[0], file{"ids", "a\nb\nc\na\n"})
	_, _, err := ingestInto(t, &Config{Nodes: paths[1]}, paths[0])
	if want := paths[1] + ": 3 ids, the graph has 4; list the id of each row once, in order"; err == nil || err.Error() != want {
		t.Errorf(" got %v\nwant %s", err, want)
	}
}

func TestDirections(t *testing.T) {
	arcs := file{"a.graphml", graphMLText("directed", "1 2")}
	edges := file{"e.graphml", graphMLText("undirected", "2 3")}
	list := file{"l.tsv", "3\t1\n"}
	arc := func(pairs ...string) map[[2]string]float64 {
		m := map[[2]string]float64{}
		for _, p := range pairs {
			m[[2]string{p[:1], p[1:]}] = 1
		}
		return m
	}
	for _, test := range []struct {
		c        Config
		files    []file
		directed bool
		want     map[[2]string]float64
	}{
		{Config{}, []file{arcs}, true, arc("12")},
		{Config{Undirected: true}, []file{arcs}, false, arc("12", "21")},
		{Config{}, []file{edges}, false, arc("23", "32")},
		{Config{Directed: true}, []file{edges}, true, arc("23", "32")},
		{Config{}, []file{arcs, list}, true, arc("12", "31")},
		{Config{}, []file{list, edges}, false, arc("31", "13", "23", "32")},
		{Config{Directed: true}, []file{arcs, edges, list}, true, arc("12", "23", "32", "31")},
		{Config{Undirected: true}, []file{arcs, edges, list}, false, arc("12", "21", "23", "32", "31", "13")},
	} {
		g, _ := read(t, &test.c, test.files...)
		if g.directed != test.directed || !maps.Equal(g.out, test.want) {
			t.Errorf("%+v %v: directed %v, %v", test.c, test.files, g.directed, g.out)
		}
	}
	general := file{"g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"}
	if g, _ := read(t, &Config{Undirected: true}, general); g.directed {
		t.Error("an undirected matrix is stored with directions")
	}
	typed := func(types ...string) file {
		text := "Source,Target,Type\n"
		for i, word := range types {
			text += fmt.Sprintf("%d,%d,%s\n", i+1, i+2, word)
		}
		return file{"gephi.csv", text}
	}
	for _, test := range []struct {
		c        Config
		types    []string
		directed bool
	}{
		{Config{}, []string{"Directed", "Directed"}, true},
		{Config{}, []string{"directed"}, true},
		{Config{}, []string{"Undirected", "Undirected"}, false},
		{Config{}, []string{"Directed", "Undirected"}, false},
		{Config{}, []string{"friend", "Directed"}, false},
		{Config{Undirected: true}, []string{"Directed", "Directed"}, false},
		{Config{Directed: true}, []string{"Undirected", "Directed"}, true},
	} {
		warned := false
		test.c.Warn = func(error) { warned = true }
		if g, _ := read(t, &test.c, typed(test.types...)); g.directed != test.directed || warned != (slices.Equal(test.types, []string{"Directed", "Undirected"})) {
			t.Errorf("%q: directed %v, warned %v", test.types, g.directed, warned)
		}
	}
	wantError(t, nil, []file{arcs, edges}, "e.graphml: its edges have directions or not, unlike those of a.graphml; pass option directed or option undirected")
	wantError(t, &Config{Directed: true, Undirected: true}, []file{arcs}, "option directed: an edge has a direction or not; give it or option undirected")
}

func TestBothDirections(t *testing.T) {
	text := graphMLText("undirected", "1 2 5", "2 1 3", "1 2 4")
	for duplicates, want := range map[Duplicates]float64{SumDuplicates: 12, MaxDuplicates: 5, MinDuplicates: 3, FirstDuplicates: 5} {
		g, _ := read(t, &Config{Duplicates: duplicates}, file{"g.graphml", text})
		if w := g.out[[2]string{"1", "2"}]; w != want || len(g.out) != 2 {
			t.Errorf("%v: %v, want %g", duplicates, g.out, want)
		}
	}
}

func TestForeignSettings(t *testing.T) {
	wantError(t, &Config{Fields: []string{"1", "2"}}, same4[1:2], "option fields: is for edge lists; g.graphml is a GraphML file; leave it out")
	wantError(t, &Config{SkipBadLines: true}, same4[1:2], "option skip-bad-lines: is for edge lists; g.graphml is a GraphML file; leave it out")
	wantError(t, &Config{Header: nodefile.HasHeader}, same4[1:2], "option header: is for edge lists; g.graphml is a GraphML file; leave it out")
	wantError(t, nil, []file{same4[0], same4[2]}, "g.mtx: a Matrix Market file numbers its own nodes; give it alone, without option fields and option weight")
	wantError(t, &Config{Duplicates: ErrorDuplicates}, []file{{"d.graphml", graphMLText("undirected", "1 2", "1 2")}},
		"d.graphml: 1–2 is on another entry already; choose option duplicates=sum, max, min or first")
	wantError(t, nil, []file{{"e.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 0\n"}}, "e.mtx: no edges; check that this is the right file")
	_, _, err := ingestInto(t, &Config{Memory: 64 << 20}, write(t, file{"h.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4000000000 4000000000 1\n2 1\n"})...)
	var full *LimitError
	if !errors.As(err, &full) || full.Need < 6*4_000_000_000 {
		t.Errorf("4000000000 declared rows: %v", err)
	}
}

func TestDamagedCompression(t *testing.T) {
	whole := packed(same4[0].text + strings.Repeat("% comment\n", 50_000))
	paths := write(t, file{"g.mtx.gz", whole[:len(whole)-9]})
	_, _, err := ingestInto(t, nil, paths...)
	var bad *nodefile.ParseError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "compressed stream ends early, after line 50005") {
		t.Errorf("got %v", err)
	}
}

func TestForeignEncodings(t *testing.T) {
	for _, name := range []string{"e.graphml", "e.graph"} {
		for text, want := range map[string]string{
			"<\x00?\x00x\x00m\x00": "UTF-16 text without a byte-order mark; pass option encoding=utf-16le",
			"BZh91AY&SY":           "bzip2-compressed; decompress it with bzip2 -d, or use gzip or zstd",
		} {
			path := write(t, file{name, text})[0]
			if _, _, err := ingestInto(t, nil, path); err == nil || err.Error() != path+": "+want {
				t.Errorf("%s %q: %v, want %s", name, text, err, want)
			}
		}
	}
	const text = `<?xml version="1.0"?><!DOCTYPE graphml><graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>`
	if _, report := read(t, nil, file{"e.graphml", text}); report.Edges != 1 {
		t.Errorf("%+v", report)
	}
}

func TestPairs(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"c.cites":   "p1 9\nx p1\n",
		"c.content": "9\t0\t1\tgood\nalone\t1\t0\tbad class\np1\t0\t0\tgood\n",
		"d.tsv":     "a\tb\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if IsStore(dir) || IsStore(path("d.tsv")) || IsStore(path("none")) {
		t.Error("a folder of LINQS files, a file or nothing is taken for a store")
	}
	for _, inputs := range [][]string{{dir}, {path("c.cites")}, {path("c.content")}, {path("c.content"), path("c.cites")}} {
		var warnings []string
		store, report, err := ingestInto(t, &Config{Warn: func(w error) { warnings = append(warnings, w.Error()) }}, inputs...)
		if err != nil {
			t.Fatalf("%v: %v", inputs, err)
		}
		g := load(t, store)
		if want := []string{"9", "alone", "p1", "x"}; !slices.Equal(g.ids, want) || len(g.out) != 4 || report.Isolated != 1 {
			t.Errorf("%v: %v %v", inputs, g.ids, g.out)
		}
		if want := path("c.content") + ": does not list 1 id of the edges; they are nodes too; to leave them out pass option unknown-ids=skip"; len(warnings) != 1 || warnings[0] != want {
			t.Errorf("%v: warnings %q", inputs, warnings)
		}
	}
	store, _, err := ingestInto(t, &Config{UnknownIDs: SkipUnknown}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if g := load(t, store); len(g.ids) != 3 {
		t.Errorf("ids %v", g.ids)
	}
	nodes, err := shard.StringNodes(slices.Values([]string{"9", "alone", "p1", "x"}))
	if err != nil {
		t.Fatal(err)
	}
	l, err := nodefile.ReadLabels(t.Context(), path("c.content"), nodes, nil)
	if err != nil || !slices.Equal(l.Names, []string{"good", "bad class"}) || !slices.Equal(l.Row, []int{0, 2, 1}) || !slices.Equal(l.Class, []int{0, 0, 1}) {
		t.Errorf("labels %+v, %v", l, err)
	}
	if err := os.Remove(path("c.cites")); err != nil {
		t.Fatal(err)
	}
	_, _, err = ingestInto(t, nil, path("c.content"))
	if want := path("c.content") + ": lists nodes; the edges are in the .cites file, which is not in the same folder; give that file, and this one with option nodes"; err == nil || err.Error() != want {
		t.Errorf(" got %v\nwant %s", err, want)
	}
	if !IsStore(dir) {
		t.Error("a folder without .cites is taken for a collection")
	}
}

func TestCoraLabels(t *testing.T) {
	dir, _, err := ingestInto(t, nil, filepath.Join("..", "testdata", "cora", "edges.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := nodefile.ReadLabels(t.Context(), filepath.Join("..", "testdata", "cora", "labels.tsv.gz"), s.Nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := make([]int, len(l.Names))
	for _, c := range l.Class {
		size[c]++
	}
	if len(l.Row) != 2708 || len(l.Names) != 7 || !slices.IsSorted(l.Row) || slices.Max(size) != 818 {
		t.Errorf("%d labels, classes %q of %v", len(l.Row), l.Names, size)
	}
}
