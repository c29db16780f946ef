package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// oddIDs are texts that programs confuse with each other. Each is a different node.
var oddIDs = []string{
	"12E1", "120", "1E4", "10E3", "10000", "2310009E13", "1.2E1", "12", "7", "007", "+7", "Ann", "Ann ", " Ann", "a0", "\ufeffa0", "Anna", "Anna\u200b", "An\u00adna",
	"Jos\u00e9", "Jose\u0301", "x\fy", "x y", "x\u00a0y", "NA", "null", "#1", "%x", "a,b", "a;b", `say "x"`, "it's", "-1", "-0", "1e+05x",
}

func quoted(id string) string { return `"` + strings.ReplaceAll(id, `"`, `""`) + `"` }

func TestIDsAreTexts(t *testing.T) {
	workplace(t)
	var csv, tsv, lines, nodes, edges, labels bytes.Buffer
	csv.WriteString("source,target\n")
	tsv.WriteString("source\ttarget\n")
	labels.WriteString("node\tlabel\n")
	for i, id := range oddIDs {
		next := oddIDs[(i+1)%len(oddIDs)]
		fmt.Fprintf(&csv, "%s,%s\n", quoted(id), quoted(next))
		fmt.Fprintf(&tsv, "%s\t%s\n", quoted(id), quoted(next))
		fmt.Fprintf(&labels, "%s\t%d\n", quoted(id), i%2)
		line, err := json.Marshal(map[string]string{"source": id, "target": next})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", line)
		escape := func(id string) string {
			var text strings.Builder
			_ = xml.EscapeText(&text, []byte(strings.ReplaceAll(id, "\f", "\u200c"))) // XML has no form feed
			return text.String()
		}
		fmt.Fprintf(&nodes, "<node id=\"%s\"/>\n", escape(id))
		fmt.Fprintf(&edges, "<edge source=\"%s\" target=\"%s\"/>\n", escape(id), escape(next))
	}
	files := map[string]string{
		"e.csv": csv.String(), "e.tsv": tsv.String(), "e.jsonl": lines.String(), "labels.tsv": labels.String(),
		"e.graphml": `<graphml><graph edgedefault="undirected">` + nodes.String() + edges.String() + "</graph></graphml>",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := slices.Sorted(slices.Values(oddIDs))
	check := func(path, out string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := Main([]string{"convert", path, "-o", out, "--json"}, nil, &stdout, &stderr); code != 0 {
			t.Errorf("%s → %s: %s", path, out, &stderr)
			return
		}
		list, err := os.ReadFile(out + ".ids")
		if err != nil {
			t.Fatal(err)
		}
		ids := strings.Split(strings.TrimSuffix(string(list), "\n"), "\n")
		for i, id := range ids {
			if strings.HasPrefix(id, `"`) {
				id = strings.ReplaceAll(id[1:len(id)-1], `""`, `"`)
			}
			ids[i] = strings.ReplaceAll(id, "x\u200cy", "x\fy")
		}
		slices.Sort(ids)
		if !slices.Equal(ids, want) {
			t.Errorf("%s → %s: ids %+q, want %+q", path, out, ids, want)
		}
		if !strings.Contains(stdout.String(), "look alike and are different nodes") {
			t.Errorf("%s: no warning", path)
		}
		succeed(t, nil, io.Discard, "info", path, "--nodes", out+".ids", "--unknown-ids", "error")
		if !strings.Contains(path, "graphml") { // graphml has another id for x\fy
			succeed(t, nil, io.Discard, "info", path, "--labels", "labels.tsv")
		}
	}
	for _, in := range []string{"e.csv", "e.tsv", "e.jsonl", "e.graphml"} {
		for i, ending := range []string{".csv", ".tsv", ".parquet", ".graphml"} {
			if ending == ".graphml" && !strings.Contains(in, "graphml") {
				continue // GraphML refuses a form feed
			}
			out := fmt.Sprintf("%s%d%s", in, i, ending)
			check(in, out)
			check(out, out+".mtx")
		}
	}
}
