package graphfile

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

type unreadFormat struct {
	title   string
	endings []string
	begins  func() *regexp.Regexp // nil: the ending decides
	command string                // converts {file}; the output's name follows; nodeTitle stands for the key of GML's names
	ending  string
}

// unreadFormats are recognized but not read, and tried in this order.
var unreadFormats = []unreadFormat{
	{"a GEXF file", []string{".gexf"}, beginning(`(?:<.*)?<(?:\w+:)?gexf\b`), networkX("g = nx.read_gexf(sys.argv[1])"), ".graphml"},
	{"a GML file", []string{".gml"}, beginning(gmlHead + `graph\s*\[`), networkX(`g = nx.parse_gml(re.sub(r'(?i)graph\s*\[', 'graph [ multigraph 1 ', open(sys.argv[1]).read(), 1), label='nodeTitle')`), ".graphml"},
	{"a Pajek file", nil, beginning(pajekHead + `vertices\s+\d+\s+\*`), `awk '{ sub(/\r/, "") } /^[*]/ { e = /^[*][AEae]/ } e && /^ *[0-9]/ { print $1, $2, (NF > 2 ? $3 : 1) }' {file} > `, ".tsv"}, // NetworkX needs names
	{"a Pajek file", []string{".net", ".paj"}, beginning(pajekHead + `(?:network|vertices)\b`), networkX("g = nx.read_pajek(sys.argv[1])"), ".graphml"},
	{"a DOT file", nil, beginning(dotHead + dotBody), `sed 's/\[[^]]*]//g; s/[^{]*{//; s/}//' {file} | tr ';' '\n' | ` +
		`awk -F ' *-[->] *' '{ gsub(/^[ \t]+|[ \t]+$/, ""); for (i = 2; i <= NF; i++) print $(i - 1) "\t" $i }' > `, ".tsv"},
	{"a DOT file of Graphviz", []string{".dot", ".gv"}, beginning(dotHead), `gvpr 'E { print($.tail.name, "\t", $.head.name) }' {file} > `, ".tsv"},
	{"a DIMACS file", nil, beginning(`(?:c\b[^\n]*\n|\s)*p\s+\w+\s+\d+\s+\d`), `awk '/^[ae]/ { print $2, $3, (NF > 3 ? $4 : 1) }' {file} > `, ".tsv"},
	{"a script of Cypher", []string{".cypher", ".cql"}, beginning(`(?:create|merge|match)\s*\(`), `cypher-shell --format plain 'MATCH (a)-->(b) RETURN id(a) AS source, id(b) AS target' > `, ".csv"},
	{"JSON of a graph", nil, beginning(`\{.*(?:"(?:elements|options|attributes|metadata)"\s*:\s*[\[{]|"(?:source|target)"\s*:\s*\{|"from"\s*:|` +
		`"graph"\s*:\s*\{\s*"(?:nodes|edges|directed|type|label|id)")`), objectsWithEnds, ".jsonl"},
	{"adjacency JSON", nil, beginning(`\{.*"adjacency"\s*:`), networkX("g = nx.adjacency_graph(json.load(open(sys.argv[1])))"), ".graphml"},
	{"node-link JSON", nil, beginning(`\{.*"(?:nodes|links|edges)"\s*:\s*\[`),
		networkX("d = json.load(open(sys.argv[1])); d['edges'] = d['links'] = d.get('links') or d['edges']; d['graph'] = {}; g = nx.node_link_graph(d)"), ".graphml"},
	{"a METIS graph", []string{".graph", ".metis"}, nil, metisToMarket, ".mtx"},
	{"an object of JSON", nil, beginning(`\{\s*"`), "jq -c '.[] | arrays[]' {file} > ", ".jsonl"},
}

const (
	gmlHead   = `(?:#[^\n]*\n|[a-z]\w*\s+(?:"[^"]*"|[-+.\d][^\s\[]*)|\s)*` // comments, and keys with plain values
	pajekHead = `(?:[%#][^\n]*|\s)*\*`                                     // comments

	dotHead = `(?://[^\n]*\n|/\*.*?\*/|#[^\n]*\n|\s)*(?:strict\s+)?(?:di)?graph\b[^\n{]*\{`

	// dotBody is a whole file with plain names, without the lists, subgraphs, ports and comments that lines of sed and awk
	// do not understand.
	dotBody = `(?:[^{}"':/#<\[\]]|\[[^\n\]]*\]|"[\w .@]*")*\}\s*\z`

	// objectsWithEnds is the command that writes all objects with a source and a target as lines.
	objectsWithEnds = `jq -c '.. | objects | select((.source // .from) != null and (.target // .to) != null)' {file} > `

	// metisToMarket writes each edge in the line of its larger end, below the diagonal. In a line, s sizes and weights of
	// the node precede its neighbours, and with w = 1 each neighbour is followed by the weight of the edge.
	metisToMarket = `awk '{ sub(/\r/, "") } /^%/ { next } !n { n = $1; w = $3 % 10; s = int($3 / 100) + (NF > 3 ? $4 : int($3 / 10) % 10); ` +
		`print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, $2; next } ` +
		`{ r++; for (i = s + 1; i <= NF; i += 1 + w) if ($i <= r) print r, $i, (w ? $(i + 1) : 1) }' {file} > `
)

// gmlTitle finds the key by which NetworkX names the nodes of a GML file.
var gmlTitle = regexp.MustCompile(`(?is)\bnode\b.*?\b(label|name)\s+"`)

func beginning(expr string) func() *regexp.Regexp { return textio.Pattern(`(?is)\A` + expr) }

// networkX returns a command that reads a graph with a Python statement and writes it as GraphML, without values that
// GraphML cannot represent, such as lists.
func networkX(read string) string {
	return `python3 -c "import json, re, sys, networkx as nx; ` + read + `; ` +
		`[d.pop(k) for d in [*g.nodes.values(), *g.edges.values()] for k in [*d] if type(d[k]) not in (bool, int, float, str)]; ` +
		`nx.write_graphml(g, sys.argv[2])" {file} `
}

func indexOf(ending string) int {
	return slices.IndexFunc(unreadFormats, func(f unreadFormat) bool { return slices.Contains(f.endings, ending) })
}

// IsUnread reports whether files with an ending are graphs in one of the unreadFormats.
func IsUnread(ending string) bool { return indexOf(ending) >= 0 }

// CheckRead returns an error if a file is a graph in a format that this package does not read, as head or the name
// says. The remedy is a command that converts the file.
func CheckRead(name string, head []byte) error {
	head = trimStart(head)
	i := slices.IndexFunc(unreadFormats, func(f unreadFormat) bool { return f.begins != nil && f.begins().Match(head) })
	if i < 0 {
		i = indexOf(table.Extension(name))
	}
	if i < 0 || areEdges(head) {
		return nil
	}
	title := "id"
	if match := gmlTitle.FindSubmatch(head); match != nil {
		title = strings.ToLower(string(match[1]))
	}
	f := &unreadFormats[i]
	stem, _, _ := strings.Cut(filepath.Base(name), ".")
	command := strings.Replace(f.command, "nodeTitle", title, 1)
	if unpack := textio.Unpack(name); unpack != "" && f.ending != ".graphml" { // NetworkX unpacks
		command = unpack + strings.Replace(command, " {file}", "", 1)
	}
	fix := "convert it: " + command + input.ShellWord(stem+f.ending)
	switch {
	case f.begins == nil:
		fix += ", or rename it to " + input.ShellWord(stem+".tsv") + " if its lines are edges"
	case f.ending != ".graphml":
		fix += ", and pass {directed} if edges have directions"
	}
	return input.Fault(name, 0, fix, "%s, which is not read", f.title)
}
