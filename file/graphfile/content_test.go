package graphfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// want is "direction: nodes; edges".
func TestContent(t *testing.T) {
	graphml := func(kind, body string) string {
		return `<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="name" attr.type="string"/>
<key id="d1" for="edge" attr.name="weight" attr.type="double"><default>2</default></key>
<graph edgedefault="` + kind + `">` + body + `</graph></graphml>`
	}
	name := func(id, name string) string {
		return `<node id="` + id + `"><data key="d0">` + name + `</data></node>`
	}
	edge := func(attributes string) string { return `<edge source="n0" target="n1" ` + attributes + `/>` }
	for _, test := range []struct {
		name, text string
		o          Input
		want       string
	}{
		{"e.graphml", `<graphml><key id="k" for="node" attr.name="id" attr.type="string"/><key id="l" for="node" attr.name="name"/><graph><node id="n0"><data key="k">ann</data><data key="l">A</data></node>` +
			`<node id="n1"><data key="k">bob</data><data key="l">B</data></node><edge source="n0" target="n1"/></graph></graphml>`, Input{}, "undirected ann,bob: ann bob 1"},
		{"e.graphml", `<graphml><key id="k" for="node" attr.name="id" attr.type="string"/><key id="l" for="node" attr.name="name"/><graph><node id="n0"><data key="k">n0</data><data key="l">A</data></node>` +
			`<node id="n1"><data key="k">n5</data><data key="l">B</data></node><edge source="n0" target="n1"/></graph></graphml>`, Input{}, "undirected A,B: A B 1"},
		{"e.graphml", `<graphml><key id="k" for="node" attr.name="_graphml_vertex_id"/><graph><node id="n0"><data key="k">ann</data></node>` +
			`<node id="n1"><data key="k">bob</data></node><edge source="n0" target="n1"/></graph></graphml>`, Input{}, "undirected ann,bob: ann bob 1"},
		{"e.json", `[{"from": {"id": 1e2}, "to": 2.0, "weight": 3}, {"to": 7, "from": 2}]`, Input{}, "unstated 100,2,7: 100 2 3;2 7 1"},
		{"e.json", `{"type":"node","id":"2","labels":["P"],"properties":{"name":"Ann"}}` + "\n" + `{"type":"relationship","id":"0","label":"pays","properties":{"amount":4},"start":{"id":"2","labels":["P"]},"end":{"id":"1"}}`, Input{Weight: "amount"}, "unstated 2,1: 2 1 4"},
		{"e.json", `{"type":"node","properties":{"id":"u7","from":1990,"to":2000},"id":"0"}` + "\n" + `{"type":"relationship","id":"0","properties":{"from":2001,"to":2005,"start":1,"end":2},"start":{"properties":{"id":"u7"},"id":"0"},"end":{"id":"1"}}`, Input{}, "unstated 0,1: 0 1 1"},
		{"e.json", `{"id":"0","type":"relationship","start":{"id":"0"},"end":{"id":"1"}}` + "\n" + `{"type":"node","id":"2","properties":{"start":"2001","end":"2004"}}` + "\n" + `{"id":"1","type":"relationship","weight":2,"properties":{"start":5,"end":6,"weight":7},"start":{"id":"1"},"end":{"id":"2"}}`, Input{Weight: "weight"}, "unstated 0,1,2: 0 1 1;1 2 2"},
		{"e.json", `[{"data": {"id": "z"}}, {"data": {"id": "xy", "source": "x", "target": "y", "weight": 3}}, {"data": {"id": "x"}}]`, Input{}, "unstated z,x,y: x y 3"},
		{"e.json", `[{"source": "7", "target": "3", "attributes": {"weight": 2}, "id": "e"}, {"id": "7"}]`, Input{}, "unstated 7,3: 7 3 2"},
		{"e.json", `[{"source": {"id": "a"}, "target": "b"}, {"source": "b", "target": "c", "undirected": true}]`, Input{Directed: true}, "directed a,b,c: a b 1;b c 1;c b 1"},
		{"e.jsonl", `{"source": "a", "target": {"id": "b"}}` + "\n" + `{"source": "b", "target": "c"}` + "\n", Input{}, "unstated a,b,c: a b 1;b c 1"},
		{"e.graphml", `<graphml><key id="v" for="node" attr.name="_nx_name" attr.type="string"/><key id="w" for="node" attr.name="name" attr.type="string"/><graph><node id="n0"><data key="v">ann</data><data key="w">A</data></node>` +
			`<node id="n1"><data key="v">bob</data><data key="w">B</data></node><edge source="n0" target="n1"/></graph></graphml>`, Input{}, "undirected ann,bob: ann bob 1"},

		{"e.graphml", graphml("undirected", name("n0", "Jürgen")+name("n1", "Zo&#xEB; &amp; Co")+edge("")), Input{}, "undirected Jürgen,Zoë & Co: Jürgen Zoë & Co 2"},
		{"e.graphml", graphml("directed", name("n0", "a")+name("n1", "a")+edge("")), Input{}, "directed n0,n1: n0 n1 2"},
		{"e.graphml", `<graphml><key id="d1" attr.name="weight"/><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"><data key="d1">3</data></edge></graph></graphml>`, Input{}, "directed a,b: a b 3"},
		{"e.graphml", graphml("directed", name("n1", "a")+name("n0", "b")+edge("")), Input{}, "directed n1,n0: n0 n1 2"},
		{"e.graphml", graphml("directed", name("n0", "a")+name("n1", "b")+edge("")+edge(`directed="false"`)), Input{}, "directed a,b: a b 2;a b 2;b a 2"},
		{"e.graphml", graphml("undirected", name("n0", "a")+name("n1", "b")+edge("")+edge(`directed="true"`)), Input{Directed: true}, "directed a,b: a b 2;b a 2;a b 2"},
		{"e.graphml", graphml("undirected", name("n0", "a")+name("n1", "b")+edge("")+edge(`directed="true"`)), Input{Undirected: true}, "undirected a,b: a b 2;a b 2"},
		{"e.graphml", graphml("undirected", edge("")[:0]+name("n0", "")+name("n1", "b")+`<edge source="n1" target="n0"><data key="d1"> 0.5 </data></edge>`), Input{}, "undirected n0,n1: n1 n0 0.5"},

		{"e.graphml", graphml("undirected", name("n0", "a")+name("n1", "b")+edge(`directed="1"`)), Input{}, "directed a,b: a b 2"},
		{"e.graphml", graphml("undirected", name("n0", "a")+name("n1", "b")+edge(`directed="True"`)), Input{}, "directed a,b: a b 2"},
		{"e.graphml", graphml("Directed", name("n0", "a")+name("n1", "b")+edge("")), Input{}, "directed a,b: a b 2"},
		{"e.graphml", `<graphml><key id="a" for="edge" attr.name="weight"/><key id="b" for="edge" attr.name="weight"/><graph edgedefault="undirected"><node id="x"/><node id="y"/><edge source="x" target="y"><data key="a">3</data><data key="b">9</data></edge></graph></graphml>`, Input{}, "undirected x,y: x y 3"},

		{"e.npz", string(npzFile("shape", npyFile("<i8", "(2,)", []int64{2, 2}), "format", npyFile("|S3", "()", []byte("coo")), "row", npyFile("<i4", "(2,)", []int32{0, 1}),
			"col", npyFile("<i4", "(2,)", []int32{1, 0}), "data", npyFile("|b1", "(2,)", []bool{false, true}))), Input{}, "by symmetry 2 from 0: 1 0 1"},
		{"e.npz", compressedFile("csc", 2, []int32{0, 1, 1}, []int32{1}, []float64{3}), Input{}, "by symmetry 2 from 0: 1 0 3"},
	} {
		c, err := readContent(test.name, []byte(test.text), &test.o)
		if err != nil {
			t.Errorf("%s %q: %v", test.name, test.text, err)
			continue
		}
		nodes := strings.Join(c.nodes, ",")
		if c.graph.Numbered {
			nodes = fmt.Sprintf("%d from %d", c.graph.Nodes, c.graph.First)
		}
		direction := map[Direction]string{Unstated: "unstated", Undirected: "undirected", Directed: "directed", BySymmetry: "by symmetry"}[c.graph.Direction]
		if got := fmt.Sprintf("%s %s: %s", direction, nodes, strings.Join(c.edges, ";")); got != test.want {
			t.Errorf("%s %q:\n got %s\nwant %s", test.name, test.text, got, test.want)
		}
	}
}

func TestRounded(t *testing.T) {
	type weighted struct {
		Source int64 `parquet:"source"`
		Target int64 `parquet:"target"`
		Weight int64 `parquet:"weight"`
	}
	matrix := func(descr string, values any) []byte {
		return npzFile("shape", npyFile("<i8", "(2,)", []int64{3, 3}), "format", npyFile("|S3", "()", []byte("coo")),
			"row", npyFile("<i4", "(3,)", []int32{0, 1, 2}), "col", npyFile("<i4", "(3,)", []int32{1, 2, 0}),
			"data", npyFile(descr, "(3,)", values))
	}
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"e.npz", matrix("<i8", []int64{1 << 53, 1<<53 + 1, 1<<62 + 1}), "2 : data[1]"},
		{"e.npz", matrix("<u8", []uint64{1<<64 - 1, 1 << 63, 3}), "1 : data[0]"},
		{"e.npz", matrix("<f8", []float64{1e300, 1 << 53, 3}), "0 "},
		{"e.parquet", parquetFile(t, weighted{1, 2, 1 << 53}, weighted{1, 3, 1<<53 + 1}), "1 : row 1"},
	} {
		c, err := readContent(test.name, test.data, nil)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := fmt.Sprint(c.graph.Rounded, " ", c.graph.RoundedAt); got != test.want {
			t.Errorf("%s: rounded %s, want %s", test.name, got, test.want)
		}
	}
}

func TestRecognize(t *testing.T) {
	for _, test := range []struct {
		name, head string
		want       *Format
	}{
		{"x", "\ufeff  <?xml version='1.0'?>\n<graphml>", GraphML},
		{"x", "<g:graphml xmlns:g='http://graphml.graphdrawing.org/xmlns'>", GraphML},
		{"x.xml", "<html>", EdgeList},
		{"x", "{ \"nodes\"", EdgeList},
		{"x.txt", "*star 3", EdgeList},
		{"x.txt", "graph 5\nnode 6\n", EdgeList},
		{"x.GRAPH.gz", "\x00", BVGraph},
		{"x.tsv", "PAR1\x15", Parquet},
		{"x", "PK\x03\x04", SciPy},
		{"x.el", "0 1\n", EdgeList},
		{"x.tsv", "", EdgeList},
		{"x.json", `[{"payer": "a", "payee": "b", "amount": 5, "meta": {"x": 1}}, {"payer": "b", "payee": "c"}]`, EdgeList},
		{"x.json", `[{"source": "a", "target": "b", "attributes": {"weight": 1}}, {"source": "b", "target": "c"}]`, JSONLines},
	} {
		if got := Recognize(test.name, []byte(test.head)); got != test.want {
			t.Errorf("%s %q: %s, want %s", test.name, test.head, got.Title, test.want.Title)
		}
	}
}

func TestHold(t *testing.T) {
	full := errors.New("full")
	var b strings.Builder
	b.WriteString("<graphml><graph>")
	for i := range 20000 {
		fmt.Fprintf(&b, `<node id="vertex %d"/>`, i)
	}
	held := int64(0)
	file := &Input{Name: "e.graphml", Text: strings.NewReader(b.String()), Hold: func(bytes int64) error {
		if held = bytes; bytes > 2<<20 {
			return full
		}
		return nil
	}}
	_, err := Read(GraphML, file, func(*Batch) error { return nil })
	if !errors.Is(err, full) || held < 2<<20 {
		t.Errorf("%v after %d bytes", err, held)
	}
}

func TestKept(t *testing.T) {
	full := errors.New("full")
	in := &repeated{head: "PK\x03\x04", piece: "\x00", size: 100e6}
	file := &Input{Name: "e.npz", Text: in, Hold: func(bytes int64) error {
		if bytes > in.read+pieceBytes {
			t.Errorf("told of %d bytes after %d", bytes, in.read)
		}
		if bytes > 4<<20 {
			return full
		}
		return nil
	}}
	if _, err := Read(SciPy, file, nil); !errors.Is(err, full) || in.read > 4<<20 {
		t.Errorf("%v after %d bytes", err, in.read)
	}
	data := bytes.Repeat([]byte("0123456789abcde"), pieceBytes/6)
	k, err := (&batchWriter{Input: &Input{}}).keep(bytes.NewReader(data))
	if err != nil || k.size != int64(len(data)) {
		t.Fatal(k, err)
	}
	if err := iotest.TestReader(io.NewSectionReader(k, 0, k.size), data); err != nil {
		t.Error(err)
	}
}

func TestErrorsPass(t *testing.T) {
	stop := errors.New("stop")
	for _, name := range []string{"lesmis.graphml", "gnnbench-cora.npz"} {
		data := sample(t, name)
		in := &Input{Name: name, Text: bytes.NewReader(data)}
		if _, err := Read(Recognize(name, data), in, func(*Batch) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A part of a file must not be read as a whole file, except in formats without a mark of the end, cut between lines.
func TestCutFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, name := range []string{"lesmis.graphml", "small-csr.npz", "small-coo.npz"} {
		data := sample(t, name)
		for n := 0; n < len(data)-2; n += 1 + n/50 {
			if c, err := readContent(name, data[:n], nil); err == nil && len(c.edges) > 0 {
				t.Errorf("%s: %d of %d bytes are read", name, n, len(data))
			}
		}
	}
}

// Content counts before names. A test of the command runs the remedies.
func TestCheckRead(t *testing.T) {
	for _, test := range []struct{ name, head, want, command string }{
		{"x", "<?xml version='1.0'?><gexf>", "x: a GEXF file, which is not read; ", "nx.read_gexf"},
		{"a b.gexf.gz", "", "a b.gexf.gz: a GEXF file, which is not read; ", "'a b.gexf.gz' 'a b.graphml'"},
		{"x.txt", "Creator \"me\"\nVersion 1\n# note\n graph\n[ node [ id 1 Label \"a\"", "x.txt: a GML file, which is not read; ", "label='label'"},
		{"x.txt", "graph [ name \"g\" node [ id 1 ] ]", "x.txt: a GML file, which is not read; ", "label='id'"},
		{"x.txt", "graph 5\nnode 6\n", "", ""},
		{"x.txt", "% c\n\n*Vertices 3\n1 \"a\"", "x.txt: a Pajek file, which is not read; ", "nx.read_pajek"},
		{"x.net", "*Vertices 3\r\n*Arcs", "x.net: a Pajek file, which is not read; ", " x.net > x.tsv"},
		{"x.txt", "*star 3", "", ""},
		{"x.json", `{"directed": false, "nodes": [{"id": "a"}], "links": []}`, "x.json: node-link JSON, which is not read; ", "nx.node_link_graph"},
		{"x.json", `{"directed": false, "graph": [], "nodes": [{"id": "a"}], "adjacency": [[]]}`, "x.json: adjacency JSON, which is not read; ", "nx.adjacency_graph"},
		{"x.json", `{"options": {"type": "mixed"}, "nodes": [{"key": "x"}], "edges": []}`, "x.json: JSON of a graph, which is not read; ", " x.json > x.jsonl"},
		{"x.json", "{\n\"a\": 1", "x.json: an object of JSON, which is not read; ", " x.json > x.jsonl"},
		{"x.json", `{"source": "a", "target": "b", "nodes": [1]} {"source": "a", "target": "b"}`, "", ""},
		{"x.xml", "<html>", "", ""},
		{"x.graph", "3 2\n", "x.graph: a METIS graph, which is not read; convert it: awk ", " x.graph > x.mtx, or rename it to x.tsv if its lines are edges"},
		{"x.METIS.zst", "", "x.METIS.zst: a METIS graph, which is not read; convert it: zstd -dc x.METIS.zst | awk ", "}' > x.mtx"},
		{"x.graph", "graph [ node [ id 1 ] ]", "x.graph: a GML file, which is not read; ", "label='id'"},
	} {
		got := errorText(CheckRead(test.name, []byte(test.head)))
		if !strings.HasPrefix(got, test.want) || !strings.Contains(got, test.command) || test.want == "" && got != "" {
			t.Errorf("%s %q: %s", test.name, test.head, got)
		}
	}
}
