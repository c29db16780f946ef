package cli

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestAdvisedCommands(t *testing.T) {
	command := regexp.MustCompile(`\b((?:gzip -dc .*\| )?(?:iconv|awk)|grep|sed|tail|jq|(?:PYTHONIOENCODING=utf-8:surrogateescape )?python3) .* > ('new-x y.csv'|[^\s,]+)|python3 -c "[^"]*" \S+ (\S+\.graphml)`)
	hasNetworkX := !testing.Short() && exec.Command("python3", "-c", "import networkx").Run() == nil
	for _, c := range []struct{ file, text, edges string }{
		{"x.csv", "payer,payee,amount\na,b,Fr. 12.50\nb,c,Fr. 3.00\n", ""}, // an unknown currency
		{"x.csv", "payer;payee;note\na;b;\"Zürich, \"\"x\"\"\nand;c\"\nb;c;plain\n", "a,b b,c"},
		{"x.tsv", "\"payer\"\t\"payee\"\t\"note\"\n" + strings.Repeat("\"a\"\t\"b\"\t\"x\nb\nc\"\n", 3), "a,b"},
		{"x.json", `{"payments": [{"payer": "a", "payee": "b", "amount": 2.5}, {"payer": "b", "payee": "c", "amount": null}]}`, "a,b,2.5"},
		{"x.json", `{"nodes": [{"name": "a", "at": [1]}, {"name": "b"}], "links": [{"source": 0, "target": 1, "value": 3}]}`, "0,1,3"},
		{"x.json", `{"directed": true, "nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}`, "a,b"},
		{"x.json", `{"multigraph": false, "nodes": [{"id": "a"}, {"id": "b"}], "adjacency": [[{"id": "b", "weight": 2}], [{"id": "a", "weight": 2}]]}`, "a,b,2"},
		{"x.json", `{"options": {}, "nodes": [{"key": "a"}, {"key": "b"}], "edges": [{"source": "a", "target": "b", "attributes": {"weight": 2}}]}`, "a,b,2"},
		{"x.json", `{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": {"id": "a"}, "target": {"id": "b"}, "value": 2}]}`, "a,b,2"},
		{"x.gexf", `<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz"><graph><nodes><node id="a"><viz:color r="1" g="2" b="3"/></node><node id="b"/></nodes><edges><edge id="0" source="a" target="b" weight="2.5"/></edges></graph></gexf>`, "a,b,2.5"},
		{"x.gml", "graph [ directed 1 node [ id 0 label \"ä\" graphics [ x 1 ] ] node [ id 1 label \"b\" ] edge [ source 0 target 1 value 2 ] edge [ source 0 target 1 value 3 ] ]", "ä,b,3"},
		{"x.gml", "graph [ node [ id 7 ] node [ id 8 ] edge [ source 7 target 8 ] ]", "7,8"},
		{"x.net", "*Vertices 2\n1 \"a c\" 0.1 0.2\n2 b\n*Arcs :1 \"pays\"\n1 2 2.5\n", `"a c",b,2.5`},
		{"x.net", "*Vertices 3\r\n*Edges\r\n1 2\r\n2 3 4\r\n", "1,2,1 2,3,4"},
		{"x.txt", "[1, 2]\n[2, 3]\n", "1,2 2,3"},
		{"x.txt", "[('a', 'b', 2), ('b', 'c', 3)]\n", "a,b,2 b,c,3"},
		{"x.txt", "Row(src='ann', dst='bob')\nRow(src='bob', dst='cid')\n", "ann,bob bob,cid"},
		{"x.sql", "CREATE TABLE t (a int, b int);\nINSERT INTO t VALUES (1,2),(2,3);\nINSERT INTO t VALUES (3,4);\n", "1,2 2,3 3,4"},
		{"x.txt", "a [b, c]\nb [a, c]\nc [a, b]\n", "a,b a,c b,c"}, // lists of neighbours
		{"x.txt", "a: b c\nb: c\n", "a,b a,c b,c"},
		{"x.txt", "a b c\nb\nc b\nd a b c\n", "a,b a,c a,d b,c b,d c,d"},
		{"x.json", `[["a","b"],["b","c"]]`, "a,b b,c"},
		{"x.csv", "\ufeffpayer;payee;note\na;M\u00fc;\"x\ny\"\nM\u00fc;c;\"x\ny\"\n", "a,M\u00fc M\u00fc,c"},
		{"x.csv", "paper,ml,db\np1,1,0\np2,1,1\np3,0,1\n", "p1,ml ml,p2 p2,db db,p3"}, // matrices
		{"x.tsv", "\tp1\tp2\tp3\np1\t0\t2\t0\np2\t2\t0\t0.5\np3\t0\t0.5\t0\n", "p1,p2,2 p2,p3,0.5"},
		{"x.txt", "n p1 p2 p3\np1 0 1 0\np2 1 0 1\np3 0 1 0\n", "p1,p2 p2,p3"},
		{"x.txt", "0 1 0 0\n1 0 1 0\n0 1 0 1\n0 0 1 0\n", "1,2 2,3 3,4"},
		{"x.csv", "0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n", "1,2 2,3 3,4"},
		{"x.csv", "from,to,n\na@x,b@x;c@x,1\nb@x,\"a@x, c@x\",2\n", "a@x,b@x a@x,c@x b@x,c@x"},
		{"x.csv", "\ufeffAccount export\nPeriod;2024\n\npayer;payee;amount\na;b;3\nb;c;4\nc;a;5\n", "a,b,3 a,c,5 b,c,4"}, // lines above the titles
		{"x.csv", "Export\npayer,payee,amount\na,b,3\nb,c,4\n", "a,b,3 b,c,4"},
		{"x.dot", "digraph {\n a -> \"b c\" [label=\"1;2\"];\n a -> d -> e\n}\n", "a,\"b c\" a,d d,e"},
		{"x.csv", "'a','b'\n'b','c'\n", "a,b b,c"},
		{"x.graph", "% c\n3 2\n2\n1 3\n2\n", "1,2 2,3"},
		{"x.graph", "3 2 001\r\n2 5\r\n1 5 3 2.5\r\n2 2.5\r\n", "1,2,5 2,3,2.5"},
		{"x.metis", "4 2 111 2\n7 1 1 3 5\n7 1 1\n7 1 1 1 5 4 2\n7 1 1 3 2\n", "1,3,5 3,4,2"}, // sizes and two weights of nodes
		{"x.graph", "4 2 10\n9 2\n9 1\n9 4\n9 3\n", "1,2 3,4"},
		{"x.graph.gz", packed(t, "3 2\n2 3\n1\n1\n"), "1,2 1,3"},
		{"x.txt", "c a comment\np edge 3 2\ne 1 2\ne 2 3\n", "1,2 2,3"},
		{"x.csv", "payer,payee\nM\xfcller,b\nb,M\xfcller\n", "Müller,b"},
		{"x y.csv.gz", packed(t, "payer,payee\nM\xfcller,b\nb,\x80\n"), "Müller,b b,€"},
		{"x.graphml", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<graphml><graph edgedefault=\"directed\"><node id=\"\xfc\"/><node id=\"b\"/><edge source=\"\xfc\" target=\"b\"/></graph></graphml>\n", "ü,b"},
		{"x.graphml", "<graphml><graph edgedefault=\"directed\"><node id=\"\xfc\"/><node id=\"b\"/><edge source=\"\xfc\" target=\"b\"/></graph></graphml>\n", "ü,b"},
	} {
		t.Chdir(t.TempDir())
		text := []byte(c.text)
		if err := os.WriteFile(c.file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		convert := func(name string) (edges, problems string) {
			var stdout, stderr bytes.Buffer
			args := []string{"convert", name, "-o", "-", "--to", "csv", "--duplicates", "max"}
			Main(args, nil, &stdout, &stderr)
			_, edges, _ = strings.Cut(strings.TrimSpace(stdout.String()), "\n")
			return strings.ReplaceAll(edges, "\n", " "), stderr.String()
		}
		_, problems := convert(c.file)
		advice := command.FindStringSubmatch(problems)
		if (advice == nil) != (c.edges == "") {
			t.Errorf("%q: %s", c.text, problems)
		}
		if strings.Contains(problems, "weight 0 or none") {
			t.Errorf("%q: a count that is not of all lines: %s", c.text, problems)
		}
		if advice == nil {
			continue
		}
		if advice[3] != "" && (!hasNetworkX || !testgraph.Hunt && rand.IntN(2) == 0) { // each takes half a second
			continue
		}
		if _, err := exec.LookPath(advice[1][strings.LastIndexByte(advice[1], ' ')+1:]); advice[3] == "" && err != nil {
			continue
		}
		if out, err := exec.Command("sh", "-c", advice[0]).CombinedOutput(); err != nil {
			t.Errorf("%s: %v, %s", advice[0], err, out)
		}
		if edges, problems := convert(strings.Trim(advice[2]+advice[3], "'")); edges != c.edges || strings.Contains(problems, "UTF-8") {
			t.Errorf("%q by %s gives %q: %s", c.text, advice[0], edges, problems)
		}
	}
}
