package lines

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// others are formats that are known and not read: how a line of their beginning
// looks, their endings, and what to do.
var others = []struct {
	line    *regexp.Regexp
	endings []string
	what    string
	fix     string
}{
	{regexp.MustCompile(`^\s*(\{\s*("|'|$)|\[\s*(\{|\[|$))`), []string{".json", ".jsonl"}, "a JSON file",
		"write its edges as text; of node-link data, networkx.write_edgelist(networkx.node_link_graph(json.load(file)), path)"},
	{regexp.MustCompile(`^(>>graph6<<|>>digraph6<<)`), []string{".g6", ".graph6"}, "a graph6 file", "networkx.write_edgelist(networkx.read_graph6(file), path) makes an edge list of it"},
	{regexp.MustCompile(`^>>sparse6<<`), []string{".s6", ".sparse6"}, "a sparse6 file", "networkx.write_edgelist(networkx.read_sparse6(file), path) makes an edge list of it"},
	{regexp.MustCompile(`^#BVGraph`), []string{".properties"}, "the properties of a BVGraph", bvFix},
	{regexp.MustCompile(`^(strict )?(di)?graph\b.*\{`), []string{".dot", ".gv"}, "a DOT file", "networkx.write_edgelist(networkx.nx_pydot.read_dot(file), path) makes an edge list of it"},
	{regexp.MustCompile(`^p (edge|col|sp|max|min) +[0-9]+ +[0-9]+\s*$`), []string{".dimacs"}, "a DIMACS file", "take the ends of each edge from its lines that begin with e or a"},
	{nil, []string{".lgl"}, "igraph's LGL format", "g.write_ncol(path) makes an edge list of it"},
}

const bvFix = "it.unimi.dsi.webgraph.ArcListASCIIGraph writes its edges as text"

// unread returns what a file is that begins with text, and what to do with it, if it has
// a format that is known and not read.
func unread(name string, text []byte) (what, fix string, known bool) {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		for _, o := range others {
			if slices.Contains(o.endings, table.Extension(name)) || o.line != nil && o.line.Match(line) {
				return o.what, o.fix, true
			}
		}
		// DIMACS begins with comments of its own.
		if !table.IsComment(line) && !strings.HasPrefix(string(line), "c ") {
			return "", "", false
		}
		text = rest
	}
	return "", "", false
}

// WebGraph is unread for the bit stream of a BVGraph, which has the ending of METIS files;
// its properties are beside it.
func WebGraph(ctx context.Context, name string) (what, fix string, known bool) {
	stem := name[:strings.LastIndex(strings.ToLower(name), table.Extension(name))]
	properties, err := textio.ReadFile(ctx, stem+".properties", 1<<20)
	return "a BVGraph", bvFix, err == nil && bytes.Contains(properties, []byte("BVGraph"))
}
