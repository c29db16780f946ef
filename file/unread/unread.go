// Package unread recognizes files that heatwalk does not read as graphs or tables: formats of
// other programs, pages that a server sent in place of a file, programs and prose. Each is known
// by its beginning and has a remedy, because such a file read as an edge list would become a graph
// of words. [Recognize] knows them by magic bytes, the first line or the ending of the name, and
// [RecognizeText] knows forms of text by all of the first lines.
package unread

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Format is a kind of file that is not read.
type Format struct {
	Title  string // with its article: "a Git LFS pointer"
	Remedy string // what to do

	endings []string              // of names that say so whatever the content is
	line    func() *regexp.Regexp // matches the first line of text that is no comment; nil: no line does
	head    func() *regexp.Regexp // matches the first kilobytes, in which bytes that are no UTF-8 are U+FFFD; nil: nothing does
	test    func(head []byte) bool
}

const (
	exportSQL    = `load it into a database and export the table: sqlite3 -header -csv DB 'SELECT * FROM TABLE' > table.csv; mysql --batch -e 'SELECT * FROM TABLE' DB > table.tsv; psql -c "\copy TABLE TO 'table.csv' CSV HEADER" DB`
	copyRemedy   = `take the lines of the table: sed -n '/^COPY .*TABLE/,/^\\\./{/^\\\./d;s/^COPY[^(]*(\(.*\)) FROM.*/\1/;t head;b row;:head;s/, /\t/g;:row;p}' FILE > table.tsv`
	exportCSV    = "save its sheet as CSV"
	fetchRemedy  = "this is the answer of a server, not the file; check the address and your access, and fetch the file again"
	unpackRemedy = "unpack it and give a file in it"
	mmwrite      = "write the edges as text, or the adjacency matrix with scipy.sparse.save_npz or mmwrite"
)

// pattern returns a function that compiles expr at its first call, because compiling all patterns
// takes longer than many commands.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// byName returns a format that is recognized by endings of names alone.
func byName(title, remedy string, endings ...string) *Format {
	return &Format{Title: title, Remedy: remedy, endings: endings}
}

// byLine returns a format that is recognized by the first line of text, or by endings.
func byLine(title, remedy, expr string, endings ...string) *Format {
	return &Format{Title: title, Remedy: remedy, line: pattern(expr),
		endings: endings}
}

// byHead returns a format that is recognized by its first kilobytes, or by endings.
func byHead(title, remedy, expr string, endings ...string) *Format {
	return &Format{Title: title, Remedy: remedy, head: pattern(expr), endings: endings}
}

// formats are all formats; the first that matches counts.
var formats = []*Format{
	byLine("a Git LFS pointer", "fetch the file itself with git lfs pull", `^version https?://(git-lfs\.github\.com|hawser\.github\.com)/spec/`),
	byLine("a git-annex pointer", "fetch the file itself with git annex get", `^(\.\./)*(\.git)?/?annex/objects/`),
	byLine("an HTML page", fetchRemedy, `(?i)^\s*<(!doctype html|html|head|body)\b`),
	byLine("an HTTP answer", fetchRemedy, `^(HTTP/[0-9.]+ [0-9]{3}\b|30[1278] (Moved (Permanently|Temporarily)|(Temporary|Permanent) Redirect)\b|((Moved( Permanently| Temporarily)?|Found|See Other|(Temporary|Permanent) Redirect)\. )?(Redirecting|Moved) to (/|https?://))`),
	byHead("an error message", fetchRemedy, `<Error><Code>|(?i)^\s*(error:? *)?([1-5][0-9]{2}[:,]? )?(access (is )?denied|permission denied|forbidden|unauthori[sz]ed|not (yet )?found|`+
		`(file|page|object) not found|no such (file|key|bucket)\b.*|bad (gateway|request)|(internal server|service) (error|unavailable)|gateway time-?out|`+
		`too many requests|(rate|quota|download)( limit| quota)? exceeded.*|moved (permanently|temporarily)|request (timed out|blocked).*|authentication required|login required|please (log|sign) in.*)[.!]*\s*(\n.*){0,10}$`),
	byHead("a dump of PostgreSQL", copyRemedy, `(?i)^(--.*\n|\s)*(-- PostgreSQL database dump|copy \S+ ?\()`),
	byLine("SQL", exportSQL, `(?i)^\s*(insert (ignore )?into\b|create (table|database|schema)\b|drop (table|database)\b|begin( transaction)?;|start transaction;|set [a-z_.@]+ ?=|pragma |select .*\bfrom\b|use `+"`?[a-z_0-9]+`?;"+`|lock tables\b|/\*!)`),
	byLine("an SQL dump", exportSQL, `^--( |$)`),
	byLine("RDF triples", "write subject, predicate and object of the triples that are edges, separated by tabs, and pass --fields=1,3 --kind=2 for the kinds", `(?i)^(@(prefix|base)\s|(prefix|base)\s+\S*\s*<[^>]*>|(<[^>]*>|_:\S+)\s+<[^>]*>\s+(<[^>]*>|_:\S+|").*\.\s*$)`, ".nt", ".ttl", ".nq", ".trig", ".n3"),
	byLine("a UCINET DL file", "export an edge list of two columns, separated by tabs", `(?i)^dl(\s*$|[\s,]+(n|nr|nc|nm|format)\s*=|[\s,]+(data|labels?)\s*:)`, ".dl"),
	byLine("a VNA file", "write its *Tie data as an edge list", `(?i)^\*(node|tie) (data|properties)`, ".vna"),
	byLine("a GDF file", "write the lines below edgedef> as CSV, with the header node1,node2", `(?i)^(nodedef|edgedef)\s*>`, ".gdf"),
	byHead("a CX file of Cytoscape", "in Cytoscape export the network as Cytoscape.js JSON", `^\s*\[\s*\{\s*"(numberVerification|CXVersion)"`, ".cx", ".cx2"),
	byLine("a JSON file", "write its edges as text, or node-link data as networkx.node_link_data does", `^\s*\[\s*\[`),
	byHead("the properties of a BVGraph", "give the .graph file that it describes", `^#BVGraph`, ".properties"),
	byLine("a DOT file", "networkx.write_edgelist(networkx.nx_pydot.read_dot(file), path) makes an edge list of it", `^(strict )?(di)?graph\b.*\{`, ".dot", ".gv"),
	byName("an adjacency list of NetworkX",
		"networkx.write_edgelist(networkx.read_adjlist(file), path) makes an edge list of it", ".adjlist"),
	byHead("a graph6 file", "networkx.write_edgelist(networkx.read_graph6(file), path) makes an edge list of it", `^>>graph6<<`, ".g6", ".graph6"),
	byHead("a sparse6 file", "networkx.write_edgelist(networkx.read_sparse6(file), path) makes an edge list of it", `^>>sparse6<<`, ".s6", ".sparse6"),
	byHead("a digraph6 file", "write one edge a line: showg -q -l1 -e FILE | sed '1s/^[0-9]* [0-9]*//' > edges.txt, with nauty, and pass {directed}", `^>>digraph6<<`, ".d6", ".digraph6"),
	byName("a serialised graph of the GAP benchmark suite",
		"give the .el or .wel file that its converter read", ".sg", ".wsg"),
	byLine("a DIMACS file", dimacsRemedy, `^p +[a-z]+( +[0-9]+){2,3}\s*$`, ".dimacs"),
	byName("igraph's LGL format",
		"g.write_ncol(path) makes an edge list of it", ".lgl"),
	byLine("a file of Tulip (TLP)", "keep the ends of the edges: sed -n 's/^(edge [0-9]* \\([0-9]*\\) \\([0-9]*\\)).*/\\1 \\2/p' FILE > edges.txt", `^\s*\(tlp\b`, ".tlp"),
	byLine("a LEMON graph (LGF)", "keep the ends of the edges: awk '/^@/ {edges = /^@(arcs|edges)/; n = 0; next} edges && NF && n++ {print $1, $2}' FILE > edges.txt; arcs are {directed}", `^@(nodes|arcs|edges|attributes)\b`, ".lgf"),
	byLine("a LEDA graph", "keep the ends of the edges and their values: sed -n 's/^\\([0-9]*\\) \\([0-9]*\\) [0-9]* |{\\(.*\\)}|.*/\\1 \\2 \\3/p' FILE > edges.txt; edges are {directed} if line 4 is -1", `^LEDA\.GRAPH`, ".lgr", ".leda"),
	byHead("a Scotch graph", "Scotch's gcv -is -oc FILE FILE.graph makes a METIS file of it", `^0\s*\n[0-9]+\s+[0-9]+\s*\n[01]\s+[01]{3}\s*\n`),
	byLine("a matrix of MCL", "mcxdump -imx FILE > edges.tsv lists its edges", `^\(mcl(header|matrix)\b`, ".mci"),
	byHead("a matrix of Octave", "awk '/^# rows/ {n = $3} /^# nnz/ {m = $3} /^# columns/ {print \"%%MatrixMarket matrix coordinate real general\"; print n, $3, m} /^[0-9]/' FILE > matrix.mtx makes a Matrix Market file of it", `^(#.*\n)*# type: sparse `),
	byLine("an XML file", "write it as tab-separated text, a graph as GraphML", `^\s*<graph(\s*>| [^>]*>)\s*$`),
	byHead("a table as a database shows it on the screen", `write it as CSV: in psql \copy (SELECT …) TO 'table.csv' CSV HEADER; mysql --batch, or .mode csv of sqlite3 and duckdb`, `^\s*(.*\|.*\r?\n)?[+|]?-+([+|]-+)+[+|]?\r?\n|^(shape: .*\n)?[┌╭]`),
	byHead("a PDF file", "give the text in it", `^%PDF-`),
	byHead("a script", "give the file that it writes", `^#!/`),
	byHead("a tar archive", unpackRemedy, `^(?s:.{200,257})ustar`),
	byHead("a spreadsheet", exportCSV, `(?s)^PK\x03\x04.{20,26}(\[Content_Types\]\.xml|_rels/|xl/|docProps/|mimetype.*application/vnd\.oasis)`, ".xlsx", ".ods"),
	byHead("an old Excel or Office file", exportCSV, `^\x{FFFD}\x{FFFD}\x11\x{0871}`, ".xls"),
	byHead("a file of PyTorch", mmwrite, `(?s)^PK\x03\x04.{20,26}[-\w ./]*data\.pkl`),
	{Title: "a zip archive", Remedy: unpackRemedy, test: isOtherZip},
	byHead("a 7z, rar or xz archive", unpackRemedy, `^(7z\x{FFFD}|Rar!\x1a\x07)`),
	byHead("a MATLAB file", "in MATLAB, writematrix([i j v], 'edges.csv') with [i,j,v] = find(A); in Python, scipy.io.loadmat and scipy.sparse.save_npz", `^MATLAB (5\.0|7\.3) MAT-file`),
	byHead("an HDF5 file", mmwrite, `^\x{FFFD}HDF\r\n`),
	byHead("an R data file", "in R, write.csv(edges, path, row.names = FALSE)", `^(RD[XA][23]\n|X\n\x00\x00\x00)`, ".rds", ".rdata", ".rda"),
	byHead("a pickle of Python", mmwrite, `^\x{FFFD}[\x02-\x05]`, ".pkl", ".pickle", ".gpickle"),
	byHead("an SQLite database", "export the table as CSV: sqlite3 -header -csv FILE 'SELECT * FROM TABLE' > table.csv", `^SQLite format 3\x00`),
	byHead("a DuckDB database", "write the table of edges as Parquet: duckdb FILE \"COPY edges TO 'edges.parquet'\"", `^(?s:.{4,8})DUCK`),
	byHead("an Arrow or Feather file", "write it as Parquet", `^(ARROW1|FEA1|\x{FFFD}{4}(?s:..)\x00\x00)`),
	byHead("an ORC or Avro file", "write it as Parquet", `^(ORC|Obj\x01)`),
}

// Recognize returns the format of a file by the beginning of its content, a few kilobytes if it
// has as many, or by its name; nil if it is none of these.
func Recognize(name string, head []byte) *Format {
	line := firstLine(head)
	for _, f := range formats {
		if f.matches(name, head, line) {
			return f
		}
	}
	return nil
}

// matches reports whether a file has the format; line is its first line that is no comment.
func (f *Format) matches(name string, head, line []byte) bool {
	if f.line != nil && f.line().Match(line) || f.head != nil && f.head().Match(head) || f.test != nil && f.test(head) {
		return true
	}
	return slices.Contains(f.endings, endingOf(name))
}

// endingOf returns the ending of a name in small letters, without that of a compression.
func endingOf(name string) string {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		name = strings.TrimSuffix(name, packed)
	}
	return filepath.Ext(name)
}

// firstLine returns the first line that is no comment. DIMACS files begin with comments of their
// own.
func firstLine(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte{'\n'})
		text := bytes.TrimSpace(line)
		switch {
		case len(text) == 0, text[0] == '#' && !bytes.HasPrefix(text, []byte("#!")),
			text[0] == '%', bytes.HasPrefix(text, []byte("//")):
		case len(text) == 1 && text[0] == 'c', bytes.HasPrefix(text, []byte("c ")):
		default:
			return bytes.TrimRight(line, "\r")
		}
	}
	return nil
}

// isOtherZip reports whether a zip archive holds no arrays of NumPy, with which .npz files begin.
func isOtherZip(head []byte) bool {
	const fixed = 30 // bytes before the name of the first member
	if len(head) < fixed || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return false
	}
	n := int(head[26]) | int(head[27])<<8
	ending := filepath.Ext(string(head[fixed:min(len(head), fixed+n)]))
	return ending != "" && ending != ".npy"
}
