package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func written() []*graphfile.Format {
	return slices.DeleteFunc(slices.Clone(graphfile.Formats), func(f *graphfile.Format) bool { return f.Name == "" })
}

var headers = map[*graphfile.Format]nodefile.Header{graphfile.EdgeList: nodefile.NoHeader, graphfile.CSV: nodefile.HasHeader}

func lines(t interface{ Fatal(...any) }, s *shard.Store) []string {
	text := []string{fmt.Sprint("directed ", s.Manifest.Directed)}
	for row := range s.Nodes.Rows() {
		text = append(text, s.Nodes.ID(row))
	}
	var entries []string
	err := sparse.Sweep(context.Background(), s, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			col, val := p.Row(i)
			for k, c := range col {
				w := 1.0
				if val != nil {
					w = val[k]
				}
				entries = append(entries, fmt.Sprint(s.Nodes.ID(p.Lo+i), "\t", s.Nodes.ID(int(c)), "\t", w))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(entries)
	return append(text, entries...)
}

func run(t interface{ Fatal(...any) }, path string, c *ingest.Config) *shard.Store {
	const dir = "graph"
	var s *shard.Store
	durabletest.On(durabletest.NewMem(), func() {
		_, err := ingest.Run(context.Background(), dir, []string{path}, c)
		if err == nil {
			s, err = shard.Open(context.Background(), dir, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return s
}

func TestGraphFilesRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var ids = []string{"0", "1", "2", "10", "007", "a b", "#c", "%d", "//e", `"f"`, "g,h", "-1", "source", "Target", "é", "18446744073709551615"}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "roundtrip")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		directed, weighted := rapid.Bool().Draw(t, "directed"), rapid.Bool().Draw(t, "weighted")
		kind := rapid.SampledFrom([]string{"numbers from 0", "numbers", "text"}).Draw(t, "ids")
		n := rapid.IntRange(2, len(ids)).Draw(t, "nodes")
		id := func(i int) string {
			switch kind {
			case "numbers from 0":
				return fmt.Sprint(i)
			case "numbers":
				return fmt.Sprint(7 * (i + 1))
			}
			return ids[i]
		}
		var nodes, edges strings.Builder
		for i := range n {
			fmt.Fprintf(&nodes, "%s\n", table.AppendTabbed(nil, id(i)))
		}
		quoted := func(i int) string { return `"` + strings.ReplaceAll(id(i), `"`, `""`) + `"` }
		pairs := map[[2]int]bool{{0, 1}: true}
		edges.WriteString(quoted(0) + "," + quoted(1))
		weight := rapid.OneOf(rapid.Float64Range(1e-300, 1e300), rapid.Map(rapid.IntRange(1, 9), func(i int) float64 { return float64(i) }))
		if weighted {
			fmt.Fprintf(&edges, ",%v", weight.Draw(t, "weight"))
		}
		for range rapid.IntRange(0, 40).Draw(t, "edges") {
			u, v := rapid.IntRange(0, n-1).Draw(t, "u"), rapid.IntRange(0, n-1).Draw(t, "v")
			if pairs[[2]int{u, v}] || !directed && pairs[[2]int{v, u}] {
				continue
			}
			pairs[[2]int{u, v}] = true
			edges.WriteString("\n" + quoted(u) + "," + quoted(v))
			if weighted {
				fmt.Fprintf(&edges, ",%v", weight.Draw(t, "weight"))
			}
		}
		path := func(name string) string { return filepath.Join(dir, name) }
		for name, text := range map[string]string{"in.csv": edges.String(), "in.ids": nodes.String()} {
			if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		order := ingest.Order(rapid.IntRange(0, 3).Draw(t, "order"))
		c := &ingest.Config{Directed: directed, Nodes: path("in.ids"), Header: nodefile.NoHeader, KeepLoops: true, Order: order}
		s := run(t, path("in.csv"), c)
		defer s.Close()
		want := lines(t, s)
		turn := rapid.IntRange(0, 3).Draw(t, "turn")
		for i, form := range written() {
			if i%4 != turn && !testgraph.Hunt {
				continue // every format in a quarter of the tries
			}
			var out bytes.Buffer
			_, err := graphfile.Write(context.Background(), form, &out, s, nil)
			if errors.Is(err, graphfile.ErrFormat) && form == graphfile.EdgeList {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			file := path("out" + form.Endings[0])
			if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			back := &ingest.Config{Directed: directed, Nodes: path("in.ids"), Header: headers[form], KeepLoops: true}
			again := run(t, file, back)
			got := lines(t, again)
			again.Close()
			if !slices.Equal(got, want) {
				t.Fatalf("%s of %q\n got %q\nwant %q", form.Name, out.String(), got, want)
			}
		}
	})
}

func TestGraphFilesMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	path := filepath.Join(t.TempDir(), "in.tsv")
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "%d\t%d\n", i*i%50_021, i%49_999)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := run(t, path, &ingest.Config{Duplicates: ingest.MaxDuplicates})
	defer s.Close()
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools keep their objects for one collection
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, form := range testgraph.Sample(t, 5, written()) {
		bytes, _ := graphfile.Bytes(form, s, nil)
		before, most, calls := inUse(), int64(0), 0
		o := &graphfile.WriteOptions{Progress: func(string, int64, int64) {
			if calls++; calls%4 == 0 {
				most = max(most, inUse()-before)
			}
		}}
		if _, err := graphfile.Write(t.Context(), form, io.Discard, s, o); err != nil {
			t.Fatal(err)
		}
		const small = 1 << 20 // memory of the sweep over the store
		if most > bytes+small {
			t.Errorf("%s: %d bytes are held, %d are listed", form.Name, most, bytes)
		}
	}
}

func TestGraphFilesInGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	dir := t.TempDir()
	var text strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&text, "%d\t%d\t%d\n", i*i%5003, i%4999, 1+i%3)
	}
	for i := range 120_000 { // these nodes come first by degree, and all weights are 1
		fmt.Fprintf(&text, "%d\t%d\t1\n", 6000+i*i%401, 6000+i%1009)
	}
	path := filepath.Join(dir, "in.tsv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	c := &ingest.Config{Duplicates: ingest.MaxDuplicates}
	plain := run(t, path, c)
	defer plain.Close()
	c.Order = ingest.DegreeOrder
	ordered := run(t, path, c)
	defer ordered.Close()
	for _, form := range testgraph.Sample(t, 5, written()) {
		var want, got bytes.Buffer
		if _, err := graphfile.Write(t.Context(), form, &want, plain, nil); err != nil {
			t.Fatal(err)
		}
		last, all := int64(0), int64(0)
		o := &graphfile.WriteOptions{Memory: 1, Progress: func(_ string, done, total int64) {
			if done < last || done > total || done > last+total/2 {
				t.Errorf("%s: %d after %d of %d", form.Name, done, last, total)
			}
			last, all = done, total
		}}
		if _, err := graphfile.Write(t.Context(), form, &got, ordered, o); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: files differ", form.Name)
		}
		if last == 0 || last != all {
			t.Errorf("%s: progress ends at %d of %d", form.Name, last, all)
		}
	}
}

func TestGraphFilesOfFormats(t *testing.T) {
	dir := t.TempDir()
	for i, test := range []struct {
		text   string
		c      ingest.Config
		format *graphfile.Format
		want   string
	}{
		{"a\t#b\n#b\ta\n", ingest.Config{Directed: true}, graphfile.EdgeList, ""},
		{"c\t%d\n", ingest.Config{}, graphfile.EdgeList, ""},
		{"a\x1b\tb\n", ingest.Config{}, graphfile.GraphML, `"a\x1b": XML has no such characters; write .csv or .parquet`},
	} {
		path := filepath.Join(dir, fmt.Sprint(i, ".tsv"))
		if err := os.WriteFile(path, []byte(test.text), 0o666); err != nil {
			t.Fatal(err)
		}
		s := run(t, path, &test.c)
		_, err := graphfile.Write(t.Context(), test.format, io.Discard, s, nil)
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, graphfile.ErrFormat) || err.Error() != test.want) {
			t.Errorf(" got %v\nwant %s", err, test.want)
		}
		s.Close()
	}
}

func TestGraphFilesWithAttributes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in.tsv")
	if err := os.WriteFile(path, []byte("a\tb\nb\tc<\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := run(t, path, &ingest.Config{Order: ingest.DegreeOrder})
	defer s.Close()
	class := map[string]string{"a": "x & y", "c<": "z"}
	o := &graphfile.WriteOptions{Attributes: []graphfile.Attribute{
		{Title: "class", Value: func(row int) string { return class[s.Nodes.ID(row)] }, Bytes: 10},
		{Title: "score", Kind: graphfile.Real, Value: func(row int) string { return "1e-05" }, Bytes: 15},
	}}
	const graphML = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<key id="d0" for="node" attr.name="class" attr.type="string"/>
<key id="d1" for="node" attr.name="score" attr.type="double"/>
<graph edgedefault="undirected">
<node id="a"><data key="d0">x &amp; y</data><data key="d1">1e-05</data></node>
<node id="b"><data key="d1">1e-05</data></node>
<node id="c&lt;"><data key="d0">z</data><data key="d1">1e-05</data></node>
<edge source="a" target="b"/>
<edge source="b" target="c&lt;"/>
</graph>
</graphml>
`
	var out bytes.Buffer
	if _, err := graphfile.Write(t.Context(), graphfile.GraphML, &out, s, o); err != nil {
		t.Fatal(err)
	}
	if out.String() != graphML {
		t.Errorf("%s\nwant\n%s", &out, graphML)
	}
	if _, most := graphfile.Bytes(graphfile.GraphML, s, o); int64(out.Len()) > most {
		t.Errorf("%d bytes, at most %d", out.Len(), most)
	}
}

func TestHubWritten(t *testing.T) {
	const leaves = sparse.MaxRange + 1000
	var b strings.Builder
	for leaf := range leaves {
		fmt.Fprintf(&b, "%d\t%d\t%d\n", leaves/2, leaf, 1+leaf%3)
	}
	path := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	plain := run(t, path, &ingest.Config{Order: ingest.DefaultOrder})
	defer plain.Close()
	ordered := run(t, path, &ingest.Config{Order: ingest.DegreeOrder})
	defer ordered.Close()
	for _, form := range []*graphfile.Format{graphfile.EdgeList, graphfile.SciPy} {
		var want, got bytes.Buffer
		if _, err := graphfile.Write(t.Context(), form, &want, plain, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := graphfile.Write(t.Context(), form, &got, ordered, nil); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: files differ", form.Name)
		}
	}
}
