package graphfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func npyFile(descr, shape string, data any) []byte {
	var b bytes.Buffer
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	b.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(dict)))
	b.WriteString(dict)
	_ = binary.Write(&b, binary.LittleEndian, data)
	return b.Bytes()
}

// npzFile returns an archive of members: name, content, name, content …
func npzFile(members ...any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		w, _ := z.Create(members[i].(string) + ".npy")
		_, _ = w.Write(members[i+1].([]byte))
	}
	_ = z.Close()
	return b.Bytes()
}

func csrFile(n int64, indptr, indices []int32, data []float64) []byte {
	return []byte(compressedFile("csr", n, indptr, indices, data))
}

func compressedFile(form string, n int64, indptr, indices []int32, data []float64) string {
	return string(npzFile(
		"shape", npyFile("<i8", "(2,)", []int64{n, n}),
		"format", npyFile("|S3", "()", []byte(form)),
		"indptr", npyFile("<i4", fmt.Sprintf("(%d,)", len(indptr)), indptr),
		"indices", npyFile("<i4", fmt.Sprintf("(%d,)", len(indices)), indices),
		"data", npyFile("<f8", fmt.Sprintf("(%d,)", len(data)), data)))
}

func TestBadFiles(t *testing.T) {
	graphml := func(body string) string {
		return "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/>\n<graph edgedefault=\"undirected\">\n" + body + "\n</graph></graphml>"
	}
	const twoNodes = "<node id=\"a\"/><node id=\"b\"/>"
	for _, test := range []struct{ name, text, want string }{
		{"e.json", "[{\"source\": 1, \"target\": {\"id\": 2}},\n{\"source\": 1, \"target\": 1, \"weight\": -2}]", `e.json:2: weight "-2" is negative; pass option weights=signed for edges between opponents, or take absolute values`},
		{"e.json", `[{"source": 1, "target": {"id": 2}}`, "e.json:1: the file ends within a list or an object; fetch the file again"},
		{"e.json", `{"type":"relationship","id":"0","properties":{"x":2},"start":{"id":"1"}}` + "\n{}", "e.json:1: an edge without source or target; give it both"},

		{"e.graphml", "<graphml>", "e.graphml:1: no well-formed XML: unexpected EOF; fetch the file again"},
		{"e.graphml", "<graphml></graphml>", "e.graphml: no graph; is this GraphML?"},
		{"e.graphml", `<graphml><graph edgedefault="both"/></graphml>`, `e.graphml:1: edgedefault is "both"; write directed or undirected`},
		{"e.graphml", graphml(twoNodes + `<edge source="a" target="b" directed="yes"/>`), `e.graphml:3: directed is "yes"; write true or false`},
		{"e.graphml", graphml("<node/>"), "e.graphml:3: a node without id; give it one"},
		{"e.graphml", graphml(twoNodes + "<edge source=\"a\"/>"), "e.graphml:3: an edge without source or target; give it both"},
		{"e.graphml", graphml(twoNodes + "<edge source=\"a\" target=\"c\"/>"), `e.graphml:3: an edge has an end that is no node: "c"; list it as a node`},
		{"e.graphml", graphml(twoNodes + "<edge source=\"a\" target=\"b\"><data key=\"w\">x</data></edge>"), `e.graphml:3: weight "x" is not a number; correct it`},
		{"e.graphml", graphml("<hyperedge/>"), "e.graphml:3: hyperedges are not supported; write edges of two nodes"},
		{"e.graphml", graphml("<node id=\"a\"><graph/></node>"), "e.graphml:3: graph within node; write a graph without others within"},
		{"e.graphml", "<!DOCTYPE g [<!ENTITY a \"b\">]><graphml>&a;</graphml>", "e.graphml:1: no well-formed XML: invalid character entity &a;; correct it"},
		{"e.graphml", "<graphml>" + strings.Repeat("<x>", 300), "e.graphml:1: elements in elements, 257 deep; is this GraphML?"},
		{"e.graphml", "<?xml version=\"1.0\" encoding=\"KOI8-R\"?><graphml/>", `e.graphml:1: encoding "KOI8-R" is not supported; convert it: iconv -f KOI8-R -t UTF-8 e.graphml | sed '1s/KOI8-R/UTF-8/' > new-e.graphml`},
		{"e.graphml", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><graphml/>", `e.graphml:1: encoding "iso-8859-1" is not supported; convert it: iconv -f iso-8859-1 -t UTF-8 e.graphml | sed '1s/iso-8859-1/UTF-8/' > new-e.graphml`},

		{"e.npz", string(npzFile("indices", npyFile("<i4", "(1,)", []int32{1}), "indptr", npyFile("<i4", "(2,)", []int32{0, 1}))), "e.npz: indices[0] = 1; the matrix has 1 row; fetch the file again"},
		{"e.npz", string(npzFile("indices", npyFile("<i4", "(0,)", []int32{}), "indptr", npyFile("<i4", "(0,)", []int32{}))), "e.npz: indptr: 0 elements, want one more than rows; fetch the file again"},
		{"e.npz", "", "e.npz: no whole zip archive, which a .npz file is; fetch the file again"},
		{"e.npz", string(npzFile("x", []byte{1})), "e.npz: no sparse matrix: the arrays indptr and indices, or row and col, are missing; save it with scipy.sparse.save_npz"},
		{"e.npz", string(csrFile(2, []int32{0, 1, 0}, []int32{1}, []float64{1})), "e.npz: indptr[2] = 0 after 1, of 1 entries; fetch the file again"},
		{"e.npz", string(csrFile(2, []int32{0, 1, -2147483646}, []int32{1}, []float64{1})), "e.npz: indptr[2] = -2147483646; the writer overflowed 32 bits; save it again with indices of 64 bits"},
		{"e.npz", string(csrFile(2, []int32{0, 1, 2}, []int32{1}, []float64{1})), "e.npz: indptr[2] = 2 after 1, of 1 entries; fetch the file again"},
		{"e.npz", string(csrFile(2, []int32{0, 1}, []int32{1}, []float64{1})), "e.npz: indptr: 2 elements, want 3 for 2 rows; fetch the file again"},
		{"e.npz", string(csrFile(2, []int32{0, 1, 1}, []int32{2}, []float64{1})), "e.npz: indices[0] = 2; the matrix has 2 rows; fetch the file again"},
		{"e.npz", string(csrFile(2, []int32{0, 1, 1}, []int32{-1}, []float64{1})), "e.npz: indices[0] = -1; the matrix has 2 rows; fetch the file again"},
		{"e.npz", string(csrFile(2, []int32{0, 1, 1}, []int32{1}, []float64{math.NaN()})), "e.npz: data[0] = NaN is not a number; correct it"},
		{"e.npz", string(csrFile(2, []int32{0, 1, 1}, []int32{1}, []float64{-1})), "e.npz: data[0] = -1 is negative; pass option weights=signed for edges between opponents, or take absolute values"},
		{"e.npz", string(csrFile(2, []int32{0, 1, 1}, []int32{1}, nil)), "e.npz: data: 0 elements for 1 entries; fetch the file again"},
		{"e.npz", string(csrFile(1<<40, []int32{0, 1, 1}, []int32{1}, nil)), "e.npz: 1099511627776 rows; limit 4294967295"},
		{"e.npz", string(csrFile(1<<31, []int32{0, 1, 1}, []int32{1}, nil)), "e.npz: indptr: 3 elements, want 2147483649 for 2147483648 rows; fetch the file again"},
		{"e.npz", string(npzFile("shape", npyFile("<i8", "(2,)", []int64{3, 4}), "format", npyFile("<U3", "()", []uint32{'c', 's', 'r'}))), "e.npz: 3×4, and an adjacency matrix is square; heatwalk convert reads features"},
		{"e.npz", string(npzFile("shape", npyFile("<i8", "(2,)", []int64{4, 4}), "format", npyFile("|S3", "()", []byte("dia")))), `e.npz: a matrix in the form "dia"; csr, csc and coo are supported; save A.tocsr()`},
		{"e.npz", string(npzFile("shape", npyFile("|O", "(2,)", []int64{4, 4}), "format", npyFile("|S3", "()", []byte("csr")))), "e.npz: shape: object array; save with allow_pickle=False"},
		{"e.npz", string(npzFile("shape", npyFile("<i8", "(2,)", []int64{2, 2}), "format", npyFile("|S3", "()", []byte("csr")),
			"indptr", npyFile("<i8", "(3,)", []int64{0, 1}), "indices", npyFile("<i8", "(1,)", []int64{1}))), "e.npz: indptr: ends after 2 of 3 elements; fetch the file again"},
		{"e.npz", string(npzFile("shape", npyFile("<i8", "(2,)", []int64{2, 2}), "format", npyFile("|S3", "()", []byte("csr")),
			"indptr", npyFile("<i8", "(3,)", []int64{0, 1, 1, 1}), "indices", npyFile("<i8", "(1,)", []int64{1}))), "e.npz: indptr: goes on behind its 3 elements; fetch the file again"},

		{"e.zip", "PK\x05\x06" + strings.Repeat("\x00", 18), "e.zip: a zip archive without arrays; unzip it and give the file that is in it"},
		{"e.parquet", "PAR1", "e.parquet: not a complete Parquet file: it does not end in a footer; fetch the file again"},
		{"e.parquet", "PAR1\xff\xff\xff\xffPAR1", "e.parquet: not a complete Parquet file: it does not end in a footer; fetch the file again"},
		{"e.parquet", "PAR1\x00\x00\x00\x00PAR1", "e.parquet: not a complete Parquet file (reading parquet file metadata: EOF); fetch the file again"},
	} {
		_, err := readContent(test.name, []byte(test.text), nil)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s %q: %v", test.name, test.text, err)
		case test.want != "" && err == nil:
			t.Errorf("%s %q is read, want %s", test.name, test.text, test.want)
		case test.want == "":
		case strings.HasSuffix(test.want, "(") && strings.HasPrefix(err.Error(), test.want):
		case err.Error() != test.want:
			t.Errorf("%s %.200q:\n got %v\nwant %s", test.name, test.text, err, test.want)
		}
	}
}

func parquetFile[T any](t testing.TB, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParquet(t *testing.T) {
	type named struct {
		Weight float32 `parquet:"weight"`
		Dst    string  `parquet:"dst"`
		Note   string  `parquet:"note"`
		Src    string  `parquet:"src"`
	}
	type numbered struct {
		A int64 `parquet:"a"`
		B int32 `parquet:"b"`
	}
	type four struct{ A, B, C, D int64 }
	type optional struct {
		Source *int64 `parquet:"source,optional"`
		Target *int64 `parquet:"target,optional"`
	}
	type unsigned struct {
		Source uint64 `parquet:"source"`
		Target uint32 `parquet:"target"`
	}
	type counts struct {
		unsigned
		Weight uint64 `parquet:"weight"`
	}
	type small struct {
		unsigned
		Weight uint32 `parquet:"weight"`
	}
	type edge struct {
		Source int64 `parquet:"source"`
		Target int64 `parquet:"target"`
	}
	type nested struct {
		Edge   edge    `parquet:"edge"`
		Weight float64 `parquet:"weight"`
	}
	type lists struct {
		Source int64   `parquet:"source"`
		Target []int64 `parquet:"target"`
	}
	type beside struct {
		Edge   edge              `parquet:"edge"`
		Tags   map[string]string `parquet:"tags"`
		Source int64             `parquet:"source"`
		Target int64             `parquet:"target"`
	}
	type filtered struct {
		numbered
		Index int64 `parquet:"__index_level_0__"`
	}
	type alone struct {
		Source int64 `parquet:"source"`
	}
	type text struct {
		Source *string  `parquet:"source,optional"`
		Target *string  `parquet:"target,optional"`
		Weight *float64 `parquet:"weight,optional"`
	}
	type doubles struct {
		Source float64 `parquet:"source"`
		Target float64 `parquet:"target"`
		Weight float64 `parquet:"weight"`
	}
	type ids struct {
		Source [16]byte `parquet:"source,uuid"`
		Target [16]byte `parquet:"target,uuid"`
	}
	one, two := int64(1), int64(2)
	a, half := "a b", 0.5
	for _, test := range []struct {
		data   []byte
		fields []string
		want   string // edges, or the error
	}{
		{parquetFile(t, named{0.5, "b", "x", "a"}, named{1, " c ", "", "007"}), nil, "a b 0.5;007  c  1"},
		{parquetFile(t, numbered{1, 2}, numbered{-1, 5}, numbered{3, 4}), nil, "1 2 1;-1 5 1;3 4 1"},
		{parquetFile(t, filtered{numbered{1, 2}, 0}, filtered{numbered{3, 4}, 7}), nil, "1 2 1;3 4 1"},
		{parquetFile(t, filtered{numbered{1, 2}, 7}), []string{"1", "2", "3"}, "1 2 7"},
		{sample(t, "two-codecs.parquet"), nil, "e.parquet: column source has several compression codecs, which is not supported; write it again with one codec"},
		{parquetFile(t, unsigned{1 << 63, 1 << 31}), nil, "9223372036854775808 2147483648 1"},
		{parquetFile(t, counts{unsigned{1, 2}, 1 << 63}), nil, "1 2 9.223372036854776e+18"},
		{parquetFile(t, small{unsigned{1, 2}, 1 << 31}), nil, "1 2 2.147483648e+09"},
		{parquetFile(t, four{1, 2, 3, 4}), []string{"4", "1", "2"}, "4 1 2"},
		{parquetFile(t, four{1, 2, 3, 4}), []string{"4", "5"}, "e.parquet: 4 columns, but column 5 was requested; correct option fields"},
		{parquetFile(t, four{1, 2, 3, 4}), nil, "e.parquet: cannot determine source and target: 1 A (1), 2 B (2), 3 C (3), 4 D (4); pass option fields=A,B or option fields=A,C or option fields=A,D or option fields=B,C or option fields=B,D or option fields=C,D"},
		{parquetFile(t, optional{&one, &two}), nil, "1 2 1"},
		{parquetFile(t, optional{&one, &two}, optional{&one, nil}), nil, "1 2 1;1  1"},
		{parquetFile(t, text{&a, &a, &half}), nil, "a b a b 0.5"},
		{parquetFile(t, text{&a, &a, nil}), nil, "a b a b 0"},
		{parquetFile(t, text{nil, &a, &half}), nil, " a b 0.5"},
		{parquetFile(t, text{nil, &a, nil}), nil, " a b 0"},
		{parquetFile(t, text{nil, nil, &half}), nil, `e.parquet: row 0: target "" is empty; correct it`},
		{parquetFile(t, doubles{1, 2e5, 1}, doubles{2, 0.5, 3}), nil, "1 200000 1;2 0.5 3"},
		{parquetFile(t, ids{[16]byte{10, 15: 1}, [16]byte{10, 15: 2}}), nil, "0a000000-0000-0000-0000-000000000001 0a000000-0000-0000-0000-000000000002 1"},
		{parquetFile(t, nested{edge{1, 2}, 0.5}), nil, "e.parquet: column edge.source is nested; choose with option fields"},
		{parquetFile(t, nested{edge{1, 2}, 0.5}), []string{"2", "1"}, "e.parquet: column edge.target is nested; choose with option fields"},
		{parquetFile(t, lists{1, []int64{2, 3}}), nil, "e.parquet: column target is nested; choose with option fields"},
		{parquetFile(t, beside{Tags: map[string]string{"a": "b"}, Source: 1, Target: 2}), nil, "1 2 1"},
		{parquetFile(t, beside{Source: 1, Target: 2}), []string{"5", "6"}, "1 2 1"},
		{parquetFile(t, alone{1}), nil, "e.parquet: one column, want two: source and target; write source and target on each line, with a separator between"},
		{parquetFile(t, named{-1, "b", "x", "a"}), nil, "e.parquet: row 0: weight -1 is negative; pass option weights=signed for edges between opponents, or take absolute values"},
		{parquetFile(t, named{1, " ", "x", "a"}), nil, "a  1"},
		{parquetFile(t, named{1, "b", "x", "a"}), []string{"1", "2"}, "1 b 1"},
	} {
		c, err := readContent("e.parquet", test.data, &Input{Fields: test.fields})
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.Join(c.edges, ";")
		}
		if got != test.want {
			t.Errorf(" got %s\nwant %s", got, test.want)
		}
	}
}
