package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func wantError(t *testing.T, c *Config, files []file, want string) error {
	t.Helper()
	paths := write(t, files...)
	dir := filepath.Dir(paths[0]) + string(filepath.Separator)
	if c != nil && c.Nodes != "" {
		c.Nodes = paths[len(paths)-1]
		paths = paths[:len(paths)-1]
	}
	_, _, err := ingestInto(t, c, paths...)
	if err == nil {
		t.Errorf("%q: no error, want %q", files, want)
		return nil
	}
	if got := strings.ReplaceAll(err.Error(), dir, ""); got != want {
		t.Errorf("%.60q:\n got %s\nwant %s", files, got, want)
	}
	return err
}

func isData(err error) bool {
	var one *nodefile.ParseError
	return errors.As(err, &one)
}

func TestBadEdgeLists(t *testing.T) {
	const fix = "; fix the line or pass option skip-bad-lines"
	const point = "; pass option decimal=, or leave the column out with option fields=1,2"
	const first = "; leave the column out with option fields=1,2, or pass option skip-bad-lines"
	long := strings.Repeat("a", 1<<20)
	for _, test := range []struct {
		name, text string
		c          Config
		want       string
	}{
		{"edges.tsv", "a\tb\nc\n", Config{}, "edges.tsv:2: 1 field, want 2 (source, target)" + fix},
		{"edges.csv", "a,b\n" + strings.Repeat(",", 1<<17) + "\n", Config{}, "edges.csv:2: more than 131072 fields" + fix},
		{"edges.tsv", "a\n", Config{}, "edges.tsv:1: one column, want two: source and target; write source and target on each line, with a separator between"},
		{"edges.tsv", "# c\na\tb\t1\nc\td\n", Config{}, "edges.tsv:3: 2 fields, want 3 (source, target, weight)" + fix},
		{"edges.csv", ",source,target\n0,a,b\n1,c\n", Config{}, "edges.csv:3: 2 fields, want 3 (row, source, target)" + fix},
		{"edges.csv", "src,kind,dst,w\na,x,b,1\nc,x,d\n", Config{}, "edges.csv:3: 3 fields, want 4 (src, kind, dst, w)" + fix},
		{"edges.txt", "source target weight\n" + strings.Repeat("1 a b 2\n", 100) + "2 c d\n", Config{Duplicates: SumDuplicates}, "edges.txt:102: 3 fields, want 4 (row, source, target, weight)" + fix},
		{"edges.csv", "source,target,weight\na,b,1\nc,d\n", Config{Fields: []string{"target", "source"}}, "edges.csv:3: 2 fields, want 3 (source, target, weight)" + fix},
		{"edges.tsv", "a\tb\nc\td\t2\n", Config{}, "edges.tsv:2: 3 fields, want 2 (source, target)" + fix},
		{"edges.tsv", "1\t2\n3\t4\t5\n", Config{}, "edges.tsv:2: 3 fields, want 2 (source, target)" + fix},
		{"edges.csv", "source,target,vote\na,b,1\nb,c,-1\n", Config{Signed: true}, `edges.csv:1: edges have no weight; the numbers of the column "vote" are ignored; option weight=vote makes it the weight`},
		{"edges.tsv", "a\tb\t1\tx\ty\n", Config{}, "edges.tsv:1: cannot determine source and target: 1 (a), 2 (b), 3 (1), 4 (x), 5 (y); choose columns, as in option fields=1,2 or option fields=1,3 or option fields=1,4"},
		{"edges.tsv", "a\tb\t1\n", Config{Fields: []string{"1", "4"}}, "edges.tsv:1: 3 columns, but column 4 was requested; correct option fields"},
		{"edges.tsv", "a\tb\t1\nc\td\n", Config{Fields: []string{"1", "2", "3"}}, "edges.tsv:2: 2 fields, want at least 3" + fix},
		{"edges.csv", "da;verso;totale\na;b;1,5\nb;c;2\n", Config{Header: nodefile.HasHeader}, `edges.csv:2:5: weight "1,5" is not a number; pass option decimal=, or leave the column out with option fields=da,verso`},
		{"edges.csv", "a,b,inf\nc,d,1\n", Config{}, `edges.csv:1:5: weight "inf" is infinite` + first},
		{"edges.tsv", "a\tb\t1e999\nc\td\t1\n", Config{}, `edges.tsv:1:5: weight "1e999" is infinite` + first},
		{"edges.tsv", "a\tb\t1,5\nc\td\t1.5\n", Config{}, `edges.tsv:1:5: weight "1,5" is not a number` + point},
		{"edges.csv", "a;b;1,5\nc;d;2.5\n", Config{}, `edges.csv:1:5: weight "1,5" is not a number` + point},
		{"edges.txt", "source;target;w\na;b;1,5\nc;d;2.5\n", Config{}, `edges.txt:2:5: weight "1,5" is not a number; pass option decimal=, or leave the column out with option fields=source,target`},
		{"edges.tsv", "a\tb\t--1\nc\td\t1\n", Config{}, "edges.tsv:1: cannot determine source and target: 1 (a, c), 2 (b, d), 3 (--1, 1); pass option fields=1,2 or option fields=1,3 or option fields=2,3"},
		{"edges.csv", "from;to;amount\na;b;12,50 \x80\nb;c;0\n", Config{}, `edges.csv:2: byte 0x80 is not UTF-8; pass the encoding of the file, as in option encoding=windows-1252, or convert it: iconv -f WINDOWS-1252 -t UTF-8 edges.csv > new-edges.csv`},
		{"edges.csv", "from;to;amount\na;b;12,50 €\nb;c;800 €\n", Config{}, `edges.csv:2:5: weight "12,50 €" is not a number; pass option decimal=, or leave the column out with option fields=from,to`},
		{"edges.csv", "from,to,amount\na,b,12.50 €\nb,c,$8\n", Config{}, `edges.csv:1: column amount has amounts in several currencies: €, $; leave the column out with option fields=from,to`},
		{"edges.csv", "from,to,amount\n" + strings.Repeat("a,b,12.50 €\n", 2000) + "b,c,$8\n", Config{}, `edges.csv:2002:5: weight "$8" is in $, and earlier weights are in €; leave the column out with option fields=from,to, or pass option skip-bad-lines`},
		{"edges.csv", "1,2,-\n3,4,-\n", Config{}, `edges.csv:1: cannot determine source and target: 1 (1, 3), 2 (2, 4), 3 (-, -); pass option fields=1,2`},
		{"edges.tsv", "1\t2\tx\n3\t4\ty\n", Config{}, `edges.tsv:1: cannot determine source and target: 1 (1, 3), 2 (2, 4), 3 (x, y); pass option fields=1,2 or option fields=1,3 or option fields=2,3`},
		{"edges.tsv", "1\t2\t1e999\n", Config{}, `edges.tsv:1:5: weight "1e999" is infinite; leave the column out with option fields=1,2`},
		{"edges.tsv", "1\t2\t1\n1\t3\t-Inf\n", Config{}, `edges.tsv:2:5: weight "-Inf" is infinite` + fix},
		{"edges.tsv", "1\t2\t1\n1\t3\t0x10\n", Config{}, `edges.tsv:2:5: weight "0x10" is not a number` + fix},
		{"edges.tsv", "1\t2\t1\n1\t3\t1_0\n", Config{}, `edges.tsv:2:5: weight "1_0" is not a number` + fix},
		{"edges.tsv", "1\t2\t1\n10\t3\t-0.5\n", Config{}, "edges.tsv:2:6: weight -0.5 is negative; pass option weights=signed for edges between opponents, or take absolute values, or leave the column out with option fields=1,2, or pass option skip-bad-lines"},
		{"edges.tsv", "payer\tpayee\tamount\na\tb\t-5\n", Config{}, "edges.tsv:2:5: weight -5 is negative; leave the column out with option fields=payer,payee, or pass option weights=signed for edges between opponents, or take absolute values"},
		{"edges.tsv", "4\t9\t3\n\n9\t4\t2\n", Config{}, "edges.tsv:3: 9–4 has weight 2, and the opposite direction 4–9 has 3 (line 1); pass option duplicates=sum to add them, max, min or first to keep one, or option directed to keep both"},
		{"g.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 2\n4 9 3\n9 4 2\n", Config{Undirected: true, Duplicates: SumDuplicates},
			"g.mtx:4: 9–4 has weight 2, and the opposite direction 4–9 has 3 (line 3); pass option duplicates=max, min or first to keep one, or option directed to keep both"},
		{"edges.tsv", "# c\na\tb\na\tb\n", Config{Duplicates: ErrorDuplicates}, "edges.tsv:3: a–b is on line 2 already; choose option duplicates=sum, max, min or first"},
		{"edges.tsv", "a\tb\t1e308\na\tb\t1.7e308\n", Config{}, "edges.tsv:2: the weights of a–b add up to infinity; choose option duplicates=max, min or first"},
		{"edges.tsv", "a\tb\t1e308\na\tc\t1e308\n", Config{}, `edges.tsv: the weights of the edges of "a" add up to infinity; multiply all weights by a small number`},
		{"edges.tsv", "b\ta\t1e308\nc\ta\t1e308\n", Config{Directed: true, Order: DegreeOrder}, `edges.tsv: the weights of the edges of "a" add up to infinity; multiply all weights by a small number`},
		{"edges.tsv", "a\tb\nc,d\n", Config{}, "edges.tsv:2: 1 field, want 2 (source, target); the separator of this file is TAB (line 1) or pass option skip-bad-lines"},
		{"edges.tsv", "a\tb\nc d\n", Config{}, "edges.tsv:2: 1 field, want 2 (source, target); the separator of this file is TAB (line 1); if blanks separate fields too, pass option delimiter= , or pass option skip-bad-lines"},
		{"edges.txt", "a b\nc\td\te\n", Config{}, "edges.txt:2: 3 fields, want 2 (source, target)" + fix},
		{"edges.csv", "a,b\n\"c,d\n", Config{}, "edges.csv:2: a quote is not closed on this line; close it, or write fields that go on over several lines on one: PYTHONIOENCODING=utf-8:surrogateescape python3 -c \"import csv, sys; csv.writer(sys.stdout).writerows([c.replace('\\n', ' ') for c in row] for row in csv.reader(open(sys.argv[1], encoding='utf-8-sig', errors='surrogateescape'), delimiter=','))\" edges.csv > new-edges.csv"},
		{"edges.csv", "a,b,\"two\nlines\"\nc,d,e\n", Config{Fields: []string{"1", "2"}}, "edges.csv:1: a quote is not closed on this line; close it, or write fields that go on over several lines on one: PYTHONIOENCODING=utf-8:surrogateescape python3 -c \"import csv, sys; csv.writer(sys.stdout).writerows([c.replace('\\n', ' ') for c in row] for row in csv.reader(open(sys.argv[1], encoding='utf-8-sig', errors='surrogateescape'), delimiter=','))\" edges.csv > new-edges.csv"},
		{"edges.csv", "a,b\n\"c\"x,d\n", Config{}, "edges.csv:2: something follows a closing quote" + fix},
		{"edges.csv", "a,b\n\"c\td\",e\n", Config{}, "edges.csv:2: a field holds a TAB" + fix},
		{"edges.csv", "a,b\nc,d\te\n", Config{}, "edges.csv:2:3: a field holds a TAB" + fix},
		{"edges.txt", "", Config{}, "edges.txt: no edges; check that this is the right file"},
		{"edges.txt", "# only\n\n% comments\n", Config{}, "edges.txt: no edges; check that this is the right file"},
		{"edges.csv", "source,target\n", Config{Header: nodefile.HasHeader}, "edges.csv: no edges; check that this is the right file; if the first line is an edge, pass option header=no"},
		{"edges.csv", "source,target,weight\n", Config{}, "edges.csv: no edges; check that this is the right file; if the first line is an edge, pass option header=no"},
		{"edges.txt", "x\ny\n", Config{SkipBadLines: true}, "edges.txt:1: one column, want two: source and target; write source and target on each line, with a separator between"},
		{"edges.csv", "a\x00,\x00b\x00", Config{}, "edges.csv: UTF-16 text without a byte-order mark; pass option encoding=utf-16le"},
		{"edges.csv", "\x00a\x00,\x00b", Config{}, "edges.csv: UTF-16 text without a byte-order mark; pass option encoding=utf-16be"},
		{"edges.csv", "a,b\nc,d\nef\x00\n", Config{}, "edges.csv:3: NUL byte, not a text file; give text, plain or compressed with gzip or zstd"},
		{"edges.xz", "\xfd7zXZ\x00abc", Config{}, "edges.xz: xz-compressed; decompress it with xz -d, or use gzip or zstd"},
		{"edges.tsv", "<!DOCTYPE html>\n<html>\n", Config{}, "edges.tsv: an HTML page, which is not read; this is the answer of a server, not the file; check the address and your access, and fetch the file again"},
		{"edges.Z", "\x1f\x9d\x90abc", Config{}, "edges.Z: file compressed by compress; decompress it with uncompress, or use gzip or zstd"},
		{"edges.txt", "1 2\n" + long + " 3\n", Config{}, "edges.txt:2: line longer than 1 MiB; is this a line-based format?"},
		{"edges.txt", long + long, Config{}, "edges.txt:1: line longer than 1 MiB; is this a line-based format?"},
	} {
		if err := wantError(t, &test.c, []file{{test.name, test.text}}, test.want); !isData(err) {
			t.Errorf("%T is not about data", err)
		}
	}
}

func TestManyBadLines(t *testing.T) {
	line := func(i int) string {
		switch {
		case i%2 == 0:
			return "1\t2\t3"
		case i == 11:
			return "1\t2"
		}
		return fmt.Sprintf("1\t2\tx\"%c", 'a'+i)
	}
	for _, test := range []struct {
		lines int
		want  string
	}{
		{2, `e.tsv:2:5: weight "x\"b" is not a number; fix the line or pass option skip-bad-lines`},
		{4, `e.tsv:2:5: weight "x\"b" is not a number (and 1 more such line); fix the line or pass option skip-bad-lines`},
		{24, `e.tsv:2:5: weight "x\"b" is not a number (and 10 more such lines); fix the line or pass option skip-bad-lines
e.tsv:12: 2 fields, want 3 (source, target, weight); fix the line or pass option skip-bad-lines`},
	} {
		wantError(t, &Config{Workers: 2}, []file{{"e.tsv", edgeText(test.lines, line)}}, test.want)
	}
	// The reported lines and their number do not depend on the workers.
	big := write(t, file{"e.tsv", edgeText(200_000, line)})
	var first string
	for _, workers := range testgraph.Workers(1) {
		_, _, err := ingestInto(t, &Config{Workers: workers}, big...)
		if err == nil || !strings.Contains(err.Error(), "at least") {
			t.Fatalf("error %v", err)
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Errorf("%d workers: %s, want %s", workers, err, first)
		}
	}
}

func TestBadMarket(t *testing.T) {
	const head = "%%MatrixMarket matrix coordinate "
	for _, test := range []struct{ text, want string }{
		{"1 2\n2 3\n", `g.mtx:1: first line is "1 2", want "%%MatrixMarket matrix coordinate …"; begin the file with it, or fetch it again`},
		{"", "g.mtx: empty file; fetch the file again"},
		{"%%MatrixMarket matrix array real general\n", `g.mtx:1: format "array" is not supported; coordinate is; write it as coordinate`},
		{head + "complex general\n", `g.mtx:1: field "complex" is not supported; real, integer and pattern are; write it as one of them`},
		{head + "real hermitian\n", `g.mtx:1: symmetry "hermitian" is not supported; general, symmetric and skew-symmetric are; write it as general`},
		{head + "pattern skew-symmetric\n", "g.mtx:1: a pattern cannot be skew-symmetric; write it as real, or as general"},
		{head + "pattern general\n", "g.mtx: ends before its sizes; fetch the file again"},
		{head + "pattern general\n%\n10 12 3\n", "g.mtx:3: 10×12; an adjacency matrix is square"},
		{head + "pattern general\n10 10\n", "g.mtx:2: 2 fields, want 3 (rows, columns, entries); correct the line of sizes, or fetch the file again"},
		{head + "pattern general\n10 10 -1\n", `g.mtx:2: size "-1" is not a number of rows, columns or entries; correct the line of sizes, or fetch the file again`},
		{head + "pattern general\n%\n9000000000000000000 9000000000000000000 3\n", "g.mtx:3: 9000000000000000000 rows; limit 4294967295"},
		{head + "pattern general\n%\n3 3 3\n1 2\n2 3\n", "g.mtx: 2 entries, line 3 declares 3; fetch the file again"},
		{head + "pattern general\n3 3 1\n1 2\n2 3\n", "g.mtx: 2 entries, line 2 declares 1; fetch the file again"},
		{head + "pattern general\n3 3 0\n", "g.mtx: no edges; check that this is the right file"},
		{head + "pattern general\n34 34 2\n1 2\n0 3\n", "g.mtx:4: row 0; indices run from 1 to 34; fix the line or pass option skip-bad-lines"},
		{head + "pattern general\n34 34 2\n1 2\n1 35\n", "g.mtx:4: column 35; indices run from 1 to 34; fix the line or pass option skip-bad-lines"},
		{head + "pattern general\n34 34 1\n1 x\n", `g.mtx:3:3: column "x" is not a number; fix the line`},
		{head + "real skew-symmetric\n9 9 1\n3 2 1\n", "g.mtx:1: half of the entries of a skew-symmetric matrix are negative; pass option weights=signed for edges between opponents, or take absolute values"},
		{head + "real general\n9 9 1\n3 4\n", "g.mtx:3: 2 fields, want 3 (row, column, value); fix the line"},
		{head + "real general\n9 9 1\n3 4 nan\n", `g.mtx:3:5: weight "nan" is not a number; fix the line`},
		{head + "integer general\n9 9 2\n3 4 2\n3 5 2.5\n", `g.mtx:4:5: weight "2.5" is not an integer, as line 1 declares; fix the line or pass option skip-bad-lines`},
		{head + "real general\n9 9 1\n3 4 -1\n", "g.mtx:3:5: weight -1 is negative; pass option weights=signed for edges between opponents, or take absolute values"},
	} {
		if err := wantError(t, nil, []file{{"g.mtx", test.text}}, test.want); !isData(err) {
			t.Errorf("%T is not about data", err)
		}
	}
	text := head + "pattern general\n2 2 1\n1 2\n"
	wantError(t, nil, []file{{"g.mtx", text}, {"h.mtx", text}}, "g.mtx: a Matrix Market file numbers its own nodes; give it alone, without option fields and option weight")
}

func TestBadCompression(t *testing.T) {
	text := edgeText(50_000, func(i int) string { return "1\t2" })
	whole := packed(text)
	broken := []byte(whole)
	broken[len(broken)-6] ^= 1 // breaks the checksum
	var stored bytes.Buffer
	w, _ := gzip.NewWriterLevel(&stored, gzip.NoCompression)
	w.Write([]byte(text))
	w.Close()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	frame := enc.EncodeAll([]byte(text), nil)
	badSum := bytes.Clone(frame)
	badSum[len(badSum)-1] ^= 1
	// A frame that asks for a window of 2 GiB: 2³¹ has exponent 21.
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 1, 0, 0}
	torn := bytes.Clone(stored.Bytes())
	torn[150_000+bytes.IndexByte(torn[150_000:], '\t')] = '\n' // one line less, in the middle
	for _, test := range []struct {
		name, text, want string
	}{
		{"edges.gz", stored.String()[:100_005], "edges.gz: compressed stream ends early, after line 24996; fetch the file again"},
		{"edges.gz", whole[:len(whole)-3], "edges.gz: compressed stream ends early, after line 50000; fetch the file again"},
		{"edges.gz", whole[:7], "edges.gz: compressed stream ends early, after line 0; fetch the file again"},
		{"edges.gz", string(broken), "edges.gz: checksum of the decompressed data is wrong, after line 50000; fetch the file again"},
		{"edges.gz", whole + strings.Repeat("x", 212), "edges.gz: other data follows the end of the compressed stream, after line 50000; cut it off, or fetch the file again"},
		{"edges.gz", whole + whole + "xy", "edges.gz: compressed stream ends early, after line 100000; fetch the file again"},
		{"edges.gz", whole + "\x1f", "edges.gz: compressed stream ends early, after line 50000; fetch the file again"},
		{"edges.zst", string(frame[:len(frame)-2]), "edges.zst: compressed stream ends early, after line 32768; fetch the file again"},
		{"edges.zst", string(badSum), "edges.zst: checksum of the decompressed data is wrong, after line 32768; fetch the file again"},
		{"f.txt", "+1 1:0.7 2:1\n", "f.txt: LIBSVM text, which holds features and no edges; heatwalk convert reads it as a matrix; if it does hold edges, name their columns with option fields"},
		{"f.svm", "1 2\n", "f.svm: LIBSVM text, which holds features and no edges; heatwalk convert reads it as a matrix; if it does hold edges, name their columns with option fields"},
		{"f", "\x93NUMPY\x01\x00", "f: a NumPy array, which holds features and no edges; heatwalk convert reads it; for a graph, save the sparse matrix with scipy.sparse.save_npz"},
		{"edges.zst", string(window), "edges.zst: needs a window of 2 GiB, limit 128 MiB; allow it with option max-window=2GiB"},
		{"edges.gz", string(torn), "edges.gz: checksum of the decompressed data is wrong, after line 50001; fetch the file again"},
	} {
		if err := wantError(t, &Config{Workers: 2}, []file{{test.name, test.text}}, test.want); !isData(err) {
			t.Errorf("%T is not about data", err)
		}
	}
}

func zstdFrame(t *testing.T, window int, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithWindowSize(window))
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(text))
	w.Flush() // otherwise the frame says how short it is
	w.Close()
	return packed.String()
}

func wantWindowRefused(t *testing.T, window int64, path []string) {
	t.Helper()
	_, _, err := ingestInto(t, &Config{Window: window - 1}, path...)
	if !isData(err) || !strings.Contains(err.Error(), fmt.Sprintf("; allow it with option max-window=%dMiB", window>>20)) {
		t.Errorf("error %v", err)
	}
}

func TestWindowCounts(t *testing.T) {
	const window = 16 << 20
	path := write(t, file{"e.zst", zstdFrame(t, window, edgeText(1000, func(i int) string { return fmt.Sprintf("%d %d", i, i+1) }))})
	for _, test := range []struct {
		memory int64
		fits   bool
	}{{0, true}, {window + 16<<20, true}, {window, false}} {
		c := &Config{Memory: test.memory, Workers: 1}
		var full *LimitError
		_, _, err := ingestInto(t, c, path...)
		if (err == nil) != test.fits || err != nil && (!errors.As(err, &full) || full.Need < window) {
			t.Errorf("memory %d: %v", test.memory, err)
		}
	}
	wantWindowRefused(t, window, path)
}

func TestLaterWindowCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const window = 32 << 20
	var packed string
	for i, size := range []int{1 << 20, window} {
		packed += zstdFrame(t, size, edgeText(200_000, func(k int) string { return fmt.Sprintf("%d %d", k, k+1+i) }))
	}
	path := write(t, file{"e.zst", packed})
	for _, test := range []struct {
		memory int64
		fits   bool
	}{{0, true}, {window + 32<<20, true}, {window, false}} {
		var full *LimitError
		_, _, err := ingestInto(t, &Config{Memory: test.memory, Workers: 1}, path...)
		if (err == nil) != test.fits || err != nil && (!errors.As(err, &full) || full.Need < window) {
			t.Errorf("memory %d: %v", test.memory, err)
		}
	}
	wantWindowRefused(t, window, path)
}

func TestBadInputs(t *testing.T) {
	dir := t.TempDir()
	empty := t.TempDir()
	edges := filepath.Join(dir, "edges.txt")
	if err := os.WriteFile(edges, []byte("1 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		inputs []string
		c      Config
		want   string
		usage  bool
	}{
		{[]string{filepath.Join(dir, "none")}, Config{}, "open " + filepath.Join(dir, "none") + ": no such file or directory", false},
		{[]string{empty}, Config{}, empty + ": a directory; list its files", true},
		{[]string{edges, edges}, Config{}, edges + ": given twice; weights would double", true},
		{[]string{edges, dir + "/../" + filepath.Base(dir) + "/edges.txt"}, Config{}, dir + "/../" + filepath.Base(dir) + "/edges.txt: given twice; weights would double", true},
		{[]string{"-", "-"}, Config{}, "-: given twice; weights would double", true},
		{nil, Config{}, "no input; name a file, or - for standard input", true},
		{[]string{edges}, Config{Fields: []string{"1"}}, "option fields: 1 field, want 2 or 3 (source, target, weight)", true},
		{[]string{edges}, Config{Fields: []string{"1001", "2"}, Memory: -1}, "option fields: column 1001; columns run from 1 to 1000\noption max-memory: -1 bytes", true},
		{[]string{edges}, Config{Fields: []string{"0", "2"}}, edges + `:1: the header "1,2" has no column "0"; correct option fields`, false},
		{[]string{edges}, Config{Fields: []string{"2", "2"}}, "option fields: column 2 is named twice", true},
	} {
		_, _, err := ingestInto(t, &test.c, test.inputs...)
		if err == nil || err.Error() != test.want || errors.Is(err, nodefile.ErrInput) != test.usage {
			t.Errorf("%q: error %v (%T), want %s", test.inputs, err, err, test.want)
		}
	}
}

func TestUnknownIDs(t *testing.T) {
	edges := file{"e.tsv", "a\tb\n#\nb\tc\nc\td\n"}
	nodes := file{"n.tsv", "b\na\n"}
	wantError(t, &Config{Nodes: "n.tsv", UnknownIDs: ErrorUnknown}, []file{edges, nodes},
		"e.tsv:3: \"c\" is not in "+"n.tsv (2 ids are not); pass option unknown-ids=skip to leave such edges out")
	paths := write(t, edges, nodes)
	dir, report, err := ingestInto(t, &Config{Nodes: paths[1], UnknownIDs: SkipUnknown}, paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if g := load(t, dir); len(g.ids) != 2 || len(g.out) != 2 || report.UnknownIDs != 2 {
		t.Errorf("%v, %+v", g, report)
	}
}

func TestLimits(t *testing.T) {
	defer func(n int) { maxNodes = n }(maxNodes)
	maxNodes = 3
	wantError(t, nil, []file{{"e.tsv", toy}}, "e.tsv: more than 3 distinct nodes; nodes are numbered with 32 bits")
	wantError(t, nil, []file{{"e.tsv", "1\t2\n3\t4\n"}}, "e.tsv: more than 3 distinct nodes; nodes are numbered with 32 bits")
	wantError(t, nil, []file{{"g.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n1 2\n"}}, "g.mtx:2: 4 rows; limit 3")
}

func TestKeptVerbatim(t *testing.T) {
	ids := []string{"Zoë Müller #1", "http://example.org/?a=b,c;d", "\"quoted", "\"Bob\" Smith", "a\"b\"", "a'b", "ünïcödé", "e\u0301", "#3", "//x"}
	var text strings.Builder
	for i := range ids {
		text.WriteString("x" + "\t" + ids[i] + "\n")
	}
	g, _ := read(t, nil, file{"e.tsv", text.String()})
	for i, id := range ids {
		if g.ids[i+1] != id {
			t.Errorf("id %q came back as %q", id, g.ids[i+1])
		}
	}
	g, _ = read(t, nil, file{"e.tsv", "\"\"\"open\"\t\"in quotes\"\n\"in quotes\"\t\"a \"\"b\"\"\"\n"})
	if !slices.Equal(g.ids, []string{`"open`, "in quotes", `a "b"`}) {
		t.Errorf("ids in quotes between tabs: %q", g.ids)
	}
	g, _ = read(t, nil, file{"e.csv", "\"a,b\",\"say \"\"hi\"\"\"\n"})
	if g.ids[0] != "a,b" || g.ids[1] != `say "hi"` {
		t.Errorf("ids %q", g.ids)
	}
}

func TestEveryOperationFailsOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	paths := write(t, file{"e.tsv", toy})
	for i := 0; ; i++ {
		disk := durabletest.NewMem()
		failing := durabletest.FailAt(disk, i)
		var err error
		durabletest.On(failing, func() { _, err = Run(context.Background(), "graph", paths, &Config{Directed: true}) })
		if failing.Operations() <= i {
			if err != nil || i < 10 {
				t.Errorf("%v after %d operations", err, i)
			}
			return
		}
		var s *shard.Store
		var openErr error
		durabletest.On(disk, func() { s, openErr = shard.Open(context.Background(), "graph", nil) })
		if openErr == nil {
			if n := s.NNZ(); n != 4 {
				t.Errorf("operation %d (%s) failed: a store of %d entries", i, failing.Failed(), n)
			}
			s.Close()
		} else if err == nil {
			t.Errorf("operation %d (%s) failed: no error, but %v", i, failing.Failed(), openErr)
		}
	}
}
