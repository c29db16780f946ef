package ingest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func fuzzRun(t *testing.T, name, text string, what uint8) {
	c := Config{
		Directed: what&1 != 0, KeepLoops: what&2 != 0, SkipBadLines: what&4 != 0,
		Duplicates: Duplicates(what>>3&7) % (ErrorDuplicates + 1), Order: Order(len(text) % len(orderNames)),
	}
	path := write(t, file{name, text})[0]
	durabletest.On(durabletest.NewMem(), func() { runAndCheck(t, path, &c) })
}

func runAndCheck(t *testing.T, path string, c *Config) {
	report, err := Run(context.Background(), "graph", []string{path}, c)
	if err != nil {
		if !isData(err) {
			t.Fatalf("%T: %v", err, err)
		}
		if !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%v names no file", err)
		}
		return
	}
	s, err := shard.Open(context.Background(), "graph", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	seen := map[string]bool{}
	for i := range s.Nodes.Len() {
		id := s.Nodes.ID(i)
		if id == "" || seen[id] || strings.ContainsAny(id, "\t\n") {
			t.Errorf("id %q of row %d", id, i)
		}
		seen[id] = true
		if row, ok := s.Nodes.Lookup(id); !ok || row != i {
			t.Errorf("id %q of row %d is found in row %d, %v", id, i, row, ok)
		}
	}
	if report.Nodes != int64(s.Nodes.Len()) || report.Entries != s.NNZ() || report.Directed != s.Manifest.Directed || report.Weighted != s.Manifest.Weighted || report.Edges != s.Manifest.Edges() {
		t.Errorf("%+v of %+v", report, s.Manifest)
	}
	if report.Lines < report.Comments+report.BadLines {
		t.Errorf("%+v", report)
	}
}

func FuzzEdgeList(f *testing.F) {
	if testing.Short() {
		f.Skip("takes seconds")
	}
	for _, text := range []string{
		toy, "1 2\n3 4\n", "1\t2\t0.5\n2\t1\t0.5\n", "a,b\n\"c,d\",\"e\"\"f\"\n", "u;v;w\n1;2;3\r\n4;5;6",
		"# c\n1 2\n007 7\n", "1 2\r3 4\r", "1 1\n1 1\n", "x\ny z\n", "1\t2\t1e999\n", "9999999999\t18446744073709551616\n", "-1 -2\n", packed(toy),
		"\xef\xbb\xbf1,2\n", "1\t2\t\n", " 1  2 \n", "1 2 -0\n", "a,b\nc,d\te\n", "a\tb\n A\tb \n",
	} {
		for _, what := range []uint8{0, 1, 2 | 4, 8, 0x2c} {
			f.Add(text, what)
		}
	}
	f.Fuzz(func(t *testing.T, text string, what uint8) {
		fuzzRun(t, "edges."+[]string{"tsv", "csv"}[what>>7], text, what)
	})
}

func FuzzMatrixMarket(f *testing.F) {
	if testing.Short() {
		f.Skip("takes most of a second")
	}
	for _, text := range []string{
		"pattern general\n3 3 2\n1 2\n2 3\n", "real symmetric\n% c\n3 3 2\n2 1 .5\n3 3 2\n", "integer general\n2 2 2\n1 2 3\n2 1 3\n",
		"real skew-symmetric\n3 3 2\n2 1 -1\n3 1 2e1\n", "pattern general\n9 9 1\n0 1\n", "real general\n1 1 1\n", "pattern symmetric\n3 3 1\n1 2\n",
	} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
		f.Add(text, uint8(2|4))
		f.Add(text, uint8(8))
	}
	f.Fuzz(func(t *testing.T, text string, what uint8) {
		// A file may declare more rows than the test has memory for.
		defer func(n int) { maxNodes = n }(maxNodes)
		maxNodes = 1000
		fuzzRun(t, "g.mtx", "%%MatrixMarket"+" matrix coordinate "+text, what)
	})
}

// Config.Fields turns off the loop for lines of the usual form.
func FuzzFastAndSlow(f *testing.F) {
	if testing.Short() {
		f.Skip("takes most of a second")
	}
	for _, text := range []string{"1\t2\n3\t4\n", "1 2\n", "1,2,0.5\n3,4,17\n", "1\t2\t0.1234567890123456\r\n", "12345678 123456789\n", "0 00\n", "1\t2\t5e-324\n1 2", "00 2 2", "0,1,00,", "1 2 700000000\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, file{"e.txt", text})[0]
		var stores []map[string]string
		var fields []string // fields of the first run, for example all but a column of times
		for range 2 {
			c := Config{SkipBadLines: true, Header: nodefile.NoHeader, Duplicates: FirstDuplicates, Fields: fields}
			dir := filepath.Join(t.TempDir(), "graph")
			report, err := Run(context.Background(), dir, []string{path}, fixed(c))
			if err != nil {
				if !isData(err) {
					t.Fatal(err)
				}
				return
			}
			if report.BadLines > 0 {
				return // lines are ragged, and the two may differ
			}
			stores = append(stores, contents(t, dir))
			for _, use := range []string{input.Source, input.Target, input.Weight} {
				if at := slices.IndexFunc(report.Files[0].Columns, func(c input.Column) bool { return c.Use == use }); at >= 0 && len(stores) == 1 {
					fields = append(fields, strconv.Itoa(at+1))
				}
			}
		}
		if !maps.Equal(stores[0], stores[1]) {
			t.Errorf("%q read in two ways", text)
		}
	})
}

func TestFilesAreOnlyRead(t *testing.T) {
	path := write(t, file{"e.tsv", toy})[0]
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ingestInto(t, nil, path); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != toy {
		t.Errorf("%q, %v", b, errors.Unwrap(err))
	}
}
