package ingest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func zipped(members ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range members {
		_, _ = z.Create(name)
	}
	_ = z.Close()
	return b.String()
}

func TestNoGraph(t *testing.T) {
	const server = "this is the answer of a server, not the file; check the address and your access, and fetch the file again"
	const matrix = "write the edges as text, or the adjacency matrix with scipy.sparse.save_npz or mmwrite"
	for _, test := range []struct {
		in   file
		want string
	}{
		{file{"e.tsv", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"}, "a Git LFS pointer, which is not read; fetch the file itself with git lfs pull"},
		{file{"e.csv", "\n<!doctype html>\n<title>Sign in</title>\n"}, "an HTML page, which is not read; " + server},
		{file{"e.pdf", "%PDF-1.7\n"}, "a PDF file, which is not read; give the text in it"},
		{file{"e.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml")}, "a spreadsheet, which is not read; save its sheet as CSV"},
		{file{"e.zip", zipped("edges.csv")}, "a zip archive, which is not read; unpack it and give a file in it"},
		{file{"e.h5", "\x89HDF\r\n\x1a\n\x00"}, "an HDF5 file, which is not read; " + matrix},
		{file{"e.gpickle", "\x80\x04\x95\x0b\x00"}, "a pickle of Python, which is not read; " + matrix},
		{file{"e.db", "SQLite format 3\x00"}, "an SQLite database, which is not read; export the table as CSV: sqlite3 -header -csv e.db 'SELECT * FROM TABLE' > table.csv"},
		{file{"e.feather", "ARROW1\x00\x00"}, "an Arrow file or stream, which is not read; write it as Parquet"},
		{file{"e.arrows", "\xff\xff\xff\xff\x78\x01\x00\x00\x10"}, "an Arrow file or stream, which is not read; write it as Parquet"},
		{file{"e.txt", "Dear colleague\nthe file of edges\nis on the other disk\nplease look there\nyours\nthe administrator of it\n"}, ""}, // see below

	} {
		if test.want != "" {
			wantError(t, nil, []file{test.in}, test.in.name+": "+test.want)
			wantError(t, &Config{SkipBadLines: true}, []file{test.in}, test.in.name+": "+test.want)
			continue
		}
		_, _, err := ingestInto(t, &Config{SkipBadLines: true}, write(t, test.in)...)
		if want := test.in.name + ":1: 2 fields, as 0 of the 5 lines that follow; is this an edge list?"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, text := range []string{"<heading> <bodys>\nx y\n", "version https\na b\n", "c d\n"} {
		if g, _ := read(t, nil, file{"e.txt", text}); len(g.ids) < 2 {
			t.Errorf("%q: %v", text, g.ids)
		}
	}
}

func TestTablesOfOtherKinds(t *testing.T) {
	for _, test := range []struct {
		text, want string
	}{
		{"Ann Lee Bob Ray\nCid Ott Dan Fox\n", "cannot determine source and target: 1 (Ann, Cid), 2 (Lee, Ott), 3 (Bob, Dan), 4 (Ray, Fox); pass option fields=Ann,Lee or option fields=Ann,Bob or option fields=Ann,Ray or option fields=Lee,Bob or option fields=Lee,Ray or option fields=Bob,Ray if the first line holds titles, else option fields=1,2 or option fields=1,3 or option fields=1,4 or option fields=2,3 or option fields=2,4 or option fields=3,4"},
		{"giorno,fonte,meta,totale\n2024-01-02,a,b,1.5\n2024-01-03,b,c,2\n", "cannot determine source and target: 1 giorno (2024-01-02, 2024-01-03), 2 fonte (a, b), 3 meta (b, c), 4 totale (1.5, 2); pass option fields=fonte,meta,totale"},
		{"source,target\n", "a header without edges"},
	} {
		name := "e.csv"
		if strings.HasPrefix(test.text, "Ann Lee") {
			name = "e.txt"
		}
		if test.want == "a header without edges" {
			wantError(t, nil, []file{{name, test.text}}, "e.csv: no edges; check that this is the right file; if the first line is an edge, pass option header=no")
			continue
		}
		wantError(t, nil, []file{{name, test.text}}, name+":1: "+test.want)
	}
	for _, test := range []struct {
		text   string
		fields string
		weight float64
	}{
		{"Quelle,Ziel,Betrag\na,b,3\nb,c,2\n", "Quelle,Ziel,Betrag", 3},
		{"Datum,Quelle,Ziel,Betrag\n2024-01-02,a,b,1.5\n2024-01-03,b,c,2\n", "Quelle,Ziel,Betrag", 1.5},
		{"a -> b\nb -> c\n", "1,3", 1},
		{"comprador;vendedor;total €\na;b;7\nb;c;2\n", "1,2,3", 7},
	} {
		g, _ := read(t, &Config{Fields: strings.Split(test.fields, ",")}, file{"e.csv", test.text})
		if w := g.out[[2]string{"a", "b"}]; w != test.weight || len(g.out) != 4 {
			t.Errorf("%q with fields %s: %v", test.text, test.fields, g.out)
		}
	}
	if g, _ := read(t, nil, file{"e.csv", "1,2,3\n2,3,1\n3,1,2\n"}); len(g.out) != 6 {
		t.Errorf("three edges: %v", g.out)
	}
	g, report := read(t, nil, file{"0.csv", "source,target\n"}, file{"1.csv", "source,target\na,b\n"})
	if len(g.ids) != 2 || report.Edges != 1 {
		t.Errorf("%v, %d edges", g.ids, report.Edges)
	}
}

// TestThreeColumns reads three columns without titles. Times and row numbers are a question, ordinary weights are not.
func TestThreeColumns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.IntRange(5, 60).Draw(rt, "rows")
		place := rapid.IntRange(0, 2).Draw(rt, "column")
		sep := rapid.SampledFrom([]string{" ", "\t", ","}).Draw(rt, "separator")
		kind := rapid.SampledFrom([]string{"seconds", "milliseconds", "days", "row numbers", "ones", "integers", "fractions", "large"}).Draw(rt, "kind")
		start := rapid.IntRange(946684800, 1900000000).Draw(rt, "start")
		first := rapid.IntRange(0, 1).Draw(rt, "first row number")
		var text strings.Builder
		for i := range rows {
			seconds := start + 3600*i
			value := map[string]string{
				"seconds": strconv.Itoa(seconds), "milliseconds": strconv.Itoa(1000*seconds + i%7),
				"days": time.Unix(int64(seconds+86400*i), 0).UTC().Format("20060102"), "row numbers": strconv.Itoa(first + i),
				"ones": "1", "integers": strconv.Itoa(1 + i*7%5), "fractions": strconv.FormatFloat(0.25+float64(i), 'g', -1, 64),
				"large": strconv.Itoa(1_000_000 + 12345*(i*7%11)),
			}[kind]
			fields := slices.Insert([]string{strconv.Itoa(100 + i%9), strconv.Itoa(101 + i*5%9)}, place, value)
			text.WriteString(strings.Join(fields, sep) + "\n")
		}
		_, _, err := ingestInto(t, &Config{Directed: true}, write(t, file{"e.txt", text.String()})...)
		want := map[string]string{"seconds": "may have times", "milliseconds": "may have times", "days": "may have times", "row numbers": "may have row numbers"}[kind]
		if place < 2 && rows < 9 && kind == "row numbers" { // other columns have too few ids in common
			return
		}
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), fmt.Sprintf(":1: column %d %s; pass option fields=", place+1, want)) {
			rt.Errorf("%s in column %d: %v\n%s", kind, place+1, err, text.String())
		}
	})
	for _, text := range []string{
		"a b 1\nb c 2\nc d 3\nd a 4\n",                                // few edges
		"0 1 5\n0 2 3\n1 3 4\n1 4 2\n2 5 1\n2 6 2\n",                  // a tree, with the parent first
		"1 0 0.5\n2 0 0.25\n3 1 1\n4 1 2\n5 2 1\n",                    // a tree, with the child first
		"1 2 3\n2 3 1\n3 4 2\n4 5 1\n5 6 4\n6 1 2\n",                  // a ring
		"1234567890 17 0.5\n1234567999 18 2\n1300000000 19 1\n",       // ten digits
		"a b 1e9\nb c 2e9\nc a 3e9\n", "a b 20000000\nb c 30000000\n", // large weights
	} {
		read(t, nil, file{"e.txt", text})
	}
}

func TestSizes(t *testing.T) {
	const skipped = " is taken as the numbers of nodes and edges and skipped; pass option header=no if it is an edge"
	for _, test := range []struct {
		text    string
		skipped string
		edges   int64
	}{
		{"4 3\n0 1\n1 2\n2 3\n", "4 3", 3},
		{"5 5 4\n2 1\n3 1\n4 2\n5 3\n", "5 5 4", 4},
		{"% a comment\n4 4 3\n1 2 0.5\n2 3 0.5\n3 4 1\n", "4 4 3", 3},
		{"4\t3\r\n0\t1\r\n1\t2\r\n2\t3\r\n", "4\t3", 3},
		{"4 3\n0 1\n1 2\n", "", 3},
		{"2 1\n1 2\n", "", 1},
		{"4 3\n0 1\n1 2\n2 9\n", "", 4},
		{"4 4 3\n1 2 0.5\n2 3 0.5\n", "", 2},
	} {
		_, report := read(t, nil, file{"e.edges", test.text})
		warned := strings.Join(report.Warnings, "\n")
		if report.Edges != test.edges || (test.skipped != "") != strings.Contains(warned, skipped) {
			t.Errorf("%q: %d edges, warnings %q", test.text, report.Edges, warned)
		}
	}
	if _, report := read(t, &Config{Header: 2}, file{"e.edges", "4 3\n0 1\n1 2\n2 3\n"}); report.Edges != 4 {
		t.Errorf("without a header: %d edges", report.Edges)
	}
	for _, banner := range []string{"%MatrixMarket matrix coordinate pattern symmetric", "%% MatrixMarket matrix coordinate pattern symmetric", "%%matrixmarket MATRIX coordinate unsigned-integer symmetric"} {
		value := ""
		if strings.Contains(banner, "integer") {
			value = " 1"
		}
		for _, name := range []string{"m.edges", "m.txt", "m.mtx"} {
			g, report := read(t, nil, file{name, banner + "\n%\n3 3 2\n2 1" + value + "\n3 2" + value + "\n"})
			if len(g.ids) != 3 || report.Edges != 2 || report.Files[0].Format != "Matrix Market" {
				t.Errorf("%s in %s: %v, %d edges", banner, name, g.ids, report.Edges)
			}
		}
	}
}
