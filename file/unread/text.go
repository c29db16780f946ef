package unread

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// HeadBytes is the length of the beginning of a text that [RecognizeText] examines.
const HeadBytes = 64 << 10

const (
	adjacencyRemedy = "write one edge a line: awk -F'SEPARATOR' '{for (i = 2; i <= NF; i++) if ($i != \"\") print $1 FS $i}' FILE > edges.txt; if the lists hold arcs, pass {directed}"
	matrixRemedy    = "in Python, scipy.sparse.save_npz('graph.npz', scipy.sparse.csr_matrix(pandas.read_csv(FILE, sep=r'BETWEEN', %s).fillna(0).values)) makes a graph of it; {nodes=FILE} gives the ids"
	dimacsRemedy    = "keep the lines of the edges: sed -E '/^[cnp]( |$)/d; s/^[ae] //' FILE > edges.txt; arcs (a) are {directed}"
)

// texts are forms of text that could be taken for an edge list; the first that matches counts. Each
// test examines all lines, because an edge list that is refused is worse than a form that is missed.
var texts = []*textFormat{
	{"a multi-line adjacency list of NetworkX",
		"networkx.write_edgelist(networkx.read_multiline_adjlist(file), path) makes an edge list of it", isMultiline},
	{"a TGF file, with nodes above edges",
		"keep the lines below #: sed '1,/^#/d' FILE > edges.txt", isTGF},
	{"a dictionary of Python",
		"networkx.write_edgelist(networkx.Graph(dictionary), path) makes an edge list of it", matchLines(dictionary)},
	{"a list of edges in brackets",
		"write each edge without brackets, for example by sed 's/[][() ]//g' FILE > edges.csv", isBracketed},
	{"a list of edges between tuples",
		"networkx.convert_node_labels_to_integers(graph) before writing gives them numbers", matchLines(tuples)},
	{"a node and a list in brackets on each line",
		"write one edge a line, as networkx.write_edgelist does", matchLines(listed)},
	{"a DIMACS file", dimacsRemedy, matchLines(dimacs)},
	{"a Harwell-Boeing file",
		"scipy.sparse.save_npz(path, scipy.io.hb_read(file)) makes a graph of it", matchLines(harwell)},
	{"a table of vectors of word2vec",
		"give it as attributes of nodes, with {node-features}", isWord2vec},
	{"an edge index of two lines, sources above targets",
		"numpy.savetxt(path, edge_index.T, fmt='%d') makes an edge list of it", isEdgeIndex},
	{"edges with an arrow between source and target",
		"pass {fields=1,3}, or with a weight {fields=1,3,4}; leave out semicolons at the ends of lines first: sed 's/;[[:space:]]*$//' FILE > edges.txt", matchLines(arrows)},
	{"edges with an arrow between source and target",
		"put a blank in its place: sed -E 's/(-+>|--|=>|→);?/ /; s/;$//' FILE > edges.txt", matchLines(joined)},
	{"a sparse matrix as SciPy, MATLAB or Octave prints it",
		"write all entries of it: scipy.sparse.save_npz(path, matrix), or writematrix([i j v], 'edges.csv') with [i,j,v] = find(matrix)", matchLines(printed)},
	{"triples of OpenKE, below their number",
		"leave the number out: sed 1d FILE > triples.txt; pass {fields=1,2}, and {kind=3} to keep the relations", matchLines(counted)},
	{"a SIF file or triples, with the kind of an edge between its ends",
		"if each line has three fields pass {fields=1,3}, and {kind=2} to keep the kinds; else write one edge a line", isSIF},
	{"triples of numbers, or edges with a weight",
		"of triples pass {fields=1,3}, and {kind=2} to keep the kinds; {fields=1,2,3} makes the third column the weight", isNumberedTriples},
	{"an adjacency matrix with ids", fmt.Sprintf(matrixRemedy, "index_col=0"),
		isNamedMatrix},
	{"an adjacency matrix without ids",
		fmt.Sprintf(matrixRemedy, "header=None"), isMatrix},
	{"a list of neighbours behind each node",
		"write one edge a line, as networkx.write_edgelist does", matchLines(neighbours)},
	{"a node and a list of its neighbours in one cell",
		`write one edge a line: awk -F'SEPARATOR' '{gsub(/["\r]/, ""); n = split(substr($0, length($1) + 2), list, /[,;| ]+/); for (i = 1; i <= n; i++) if (list[i] != "") print $1 FS list[i]}' FILE > edges.txt`, isCellList},
	{"a matrix of the NOS format",
		"in Python, scipy.sparse.save_npz('graph.npz', scipy.sparse.csr_matrix(numpy.loadtxt(FILE, skiprows=3))) makes a graph of it", matchLines(nos)},
	{"an adjacency list", adjacencyRemedy, isAdjacencyList},
}

// textFormat is a form of text that is not read.
type textFormat struct {
	title, remedy string
	matches       func(t *text) bool
}

// text is the beginning of a file of text.
type text struct {
	lines  []string   // that are not blank and no comments
	fields [][]string // of each line, without quotes
	hash   int        // the number of lines above the first line that is # alone; 0: none
	isCut  bool       // more text follows
}

// RecognizeText returns the form of a text by its first [HeadBytes] bytes, or fewer if the file is
// shorter; nil if it may be an edge list.
func RecognizeText(head []byte) *Format {
	if bytes.HasPrefix(head, []byte("%%MatrixMarket")) ||
		bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	t := textOf(head)
	for _, f := range texts {
		if len(t.lines) > 0 && f.matches(t) {
			return &Format{Title: f.title,
				Remedy: separators(t.lines[0]).Replace(f.remedy)}
		}
	}
	return nil
}

// matchLines returns a test of all lines.
func matchLines(expr func() *regexp.Regexp) func(t *text) bool {
	return func(t *text) bool { return expr().MatchString(strings.Join(t.lines, "\n") + "\n") }
}

// textOf returns the lines of the head of a file that are no comments, and their fields. If the
// head ends before the file does, the last line is left out, because it may be cut.
func textOf(head []byte) *text {
	t := &text{isCut: len(head) >= HeadBytes}
	content := string(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	if end := strings.LastIndexByte(content, '\n'); t.isCut && end > 0 {
		content = content[:end]
	}
	for line := range strings.SplitSeq(content, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "#" && t.hash == 0:
			t.hash = len(t.lines)
		case line == "", line[0] == '#', line[0] == '%',
			strings.HasPrefix(line, "//"):
		default:
			t.lines = append(t.lines, line)
			t.fields = append(t.fields, fieldsOf(line))
		}
	}
	return t
}

// separatorOf returns the separator of the fields of a line outside quotes: tabs, or else semicolons, commas
// or blanks.
func separatorOf(line string) string {
	line = quoted().ReplaceAllString(line, "")
	for _, separator := range []string{"\t", ";", ","} {
		if strings.Contains(line, separator) {
			return separator
		}
	}
	return " "
}

// separators puts the separator of a line into a remedy, as awk and pandas write it.
func separators(line string) *strings.Replacer {
	separator := separatorOf(line)
	return strings.NewReplacer("SEPARATOR", strings.ReplaceAll(separator, "\t", `\t`), "BETWEEN", strings.NewReplacer("\t", `\t`, " ", `\s+`).Replace(separator))
}

// fieldsOf splits a line at its tabs, or else at semicolons, commas or blanks; those in quotes become line breaks.
func fieldsOf(line string) []string {
	separator := separatorOf(line)
	if separator == " " {
		return strings.Fields(line)
	}
	line = quoted().ReplaceAllStringFunc(line,
		func(cell string) string { return strings.ReplaceAll(cell, separator, "\n") })
	fields := strings.Split(line, separator)
	for i, field := range fields {
		fields[i] = strings.Trim(field, ` "`)
	}
	return fields
}

// all reports whether every line, or every field, matches.
func all[T any](list []T, matches func(item T) bool) bool {
	return !slices.ContainsFunc(list, func(item T) bool { return !matches(item) })
}

// isInteger reports whether a field is an integer of 64 bits.
func isInteger(field string) bool {
	_, err := strconv.ParseInt(field, 10, 64)
	return err == nil
}

// isNumber reports whether a field is a number.
func isNumber(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err == nil
}

// isWord reports whether a field is text: not a number, a date or an arrow.
func isWord(field string) bool {
	return !isNumber(field) && strings.ContainsFunc(field, unicode.IsLetter)
}

// isMultiline reports whether each node has the number of its neighbours, which follow on lines of
// their own, with or without a dictionary.
func isMultiline(t *text) bool {
	// of all nodes, and those that are missing of the last one
	neighbours := 0
	following := 0
	for _, line := range t.lines {
		fields := strings.Fields(line)
		isNeighbour := len(fields) == 1 || strings.HasPrefix(fields[1], "{")
		if isNeighbour != (following > 0) {
			return false
		}
		if isNeighbour {
			following--
			neighbours++
			continue
		}
		count, err := strconv.Atoi(fields[1])
		if err != nil || len(fields) > 2 || count < 0 || count > 1<<20 {
			return false
		}
		following = count
	}
	return neighbours > 0 && (following == 0 || t.isCut)
}

// isTGF reports whether # alone separates nodes from edges between them.
func isTGF(t *text) bool {
	if t.hash == 0 || t.hash == len(t.lines) {
		return false
	}
	nodes := map[string]bool{}
	for _, line := range t.lines[:t.hash] {
		nodes[strings.Fields(line)[0]] = true
	}
	return len(nodes) == t.hash && all(t.lines[t.hash:], func(line string) bool {
		ends := strings.Fields(line)
		return len(ends) > 1 && nodes[ends[0]] && nodes[ends[1]]
	})
}

// The regular expressions of forms. A key or an item is a number, a text in quotes or a
// tuple of these; names such as (2,4-D)-acid or {6F96-8B86} are none.
const (
	item  = `(-?[0-9][0-9.e+-]*|'[^']*'|"[^"]*")`
	tuple = `\(\s*` + item + `(\s*,\s*` + item + `)*\s*,?\s*\)`
)

var (
	quoted     = pattern(`"[^"]*"`)
	dictionary = pattern(`^([a-z_A-Z.]+ ?= ?)?([a-zA-Z]+\(.*)?\{\s*(` + item + `|` + tuple + `)\s*:`)
	tuples     = pattern(`^(` + tuple + `[ \t,;]+` + tuple + `([ \t,;].*)?\n)+$`)
	listed     = pattern(`^(.*\n)?([^\s,;\[{(]+[ \t,;:]+"?(\[[^\[\]:]*\]|\([^()]*,[^()]*\)|\{\}|\{\s*` + item + `\s*[:,}].*\}|(frozen)?set\(.*\))"?,?\n)+$`)
	dimacs     = pattern(`^(c( .*)?\n)*(n( +\S+){1,2}\n)*((e( +[0-9]+){2}|a( +[0-9]+){3}|a( +[0-9]+){5})\n){2,}$`)
	harwell    = pattern(`^(.*\n)?[0-9 ]+\n(?i:[rcpi][suhzr][ae])( +[0-9]+){3,4}\n\(`) // counts, type and size, formats of Fortran
	neighbours = pattern(`^([^\s,;]+:([ \t,;].*)?\n)+$`)
	counted    = pattern(`^[0-9]+\n(-?[0-9]+[ \t,;]+-?[0-9]+[ \t,;]+-?[0-9]+\n)+$`)
	nos        = pattern(`^1\n[0-9]+ +[0-9]+\n([0-9]+ +)+[0-9]+\n(-?[0-9.e+-]+( +-?[0-9.e+-]+)+\n)+$`)
	arrows     = pattern(`^(([^\t\n]+\t|[^\s,;]+[ ,;]+)"?(-+>|<-+>?|--?|→|↔|=>|\||>)"?[ \t,;].*\n)+$`)
	joined     = pattern(`^([^\s,;]+(-+>|--|=>|→)[^\s,;]+;?\n)+$`)
	printed    = pattern(`^(<.*\n|with .*\n|Coords.*\n)*(\([0-9]+, *[0-9]+\)[ \t]+(-> *)?\S+\n)+(:.*\n)?`)
	opened     = pattern(`^([a-z_A-Z.]+ ?= ?)?[a-zA-Z]*[\[({]`)
	nested     = pattern(`^([a-z_A-Z.]+ ?= ?)?[a-zA-Z]*[\[(]+[\[(]`)
)

// isBracketed reports whether brackets enclose every line, or all lines together.
func isBracketed(t *text) bool {
	depth := 0
	for _, line := range t.lines {
		line = strings.TrimRight(line, ",; ")
		if depth == 0 && (!opened().MatchString(line) ||
			!strings.ContainsAny(line, ", \t")) {
			return false
		}
		for i, c := range line {
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			if depth < 0 || depth == 0 && i < len(line)-
				1 && strings.ContainsRune(")]}", c) {
				return false
			}
		}
	}
	return depth == 0 || t.isCut && nested().MatchString(t.lines[0])
}

// isWord2vec reports whether lines of a word and a vector follow the number of the words and the
// length of the vectors.
func isWord2vec(t *text) bool {
	length, isCounts := countsOf(t.fields)
	return isCounts && (t.isCut ||
		t.fields[0][0] == strconv.Itoa(len(t.lines)-1)) &&
		all(t.fields[1:], func(fields []string) bool {
			return all(fields[1:], isNumber) &&
				!(length == 2 && isInteger(fields[1]))
		})
}

// IsVectors reports whether lines of an id and a vector follow the numbers of rows and columns, as word2vec
// writes them.
func IsVectors(lines [][]byte) bool {
	var fields [][]string
	for _, line := range lines {
		fields = append(fields, strings.Fields(string(line)))
	}
	_, isCounts := countsOf(fields)
	return isCounts
}

// countsOf returns the length of vectors if the first line is two numbers, the second of which is the number
// of fields behind the id on all lines below.
func countsOf(fields [][]string) (length int, is bool) {
	if len(fields) < 2 || len(fields[0]) != 2 || !isInteger(fields[0][0]) {
		return 0, false
	}
	length, err := strconv.Atoi(fields[0][1])
	return length, err == nil && length > 1 &&
		all(fields[1:], func(row []string) bool { return len(row) == length+1 })
}

// isEdgeIndex reports whether the text is two lines with the same number of integers, or begins with
// a long line of integers.
func isEdgeIndex(t *text) bool {
	const fewest, long = 4, 1000
	first := t.fields[0]
	if t.isCut && len(t.lines) == 1 {
		first = first[:len(first)-1] // the last one may be cut
		return len(first) >= long && all(first, isInteger) &&
			slices.ContainsFunc(first,
				func(field string) bool { return len(field) > 1 })
	}
	return len(t.lines) == 2 && len(first) >= fewest &&
		len(first) == len(t.fields[1]) && all(slices.Concat(t.fields...), isInteger)
}

// column returns the distinct fields at position i of the lines.
func column(fields [][]string, i int) map[string]bool {
	set := map[string]bool{}
	for _, line := range fields {
		set[line[i]] = true
	}
	return set
}

// overlap returns the number of texts that two sets have in common.
func overlap(a, b map[string]bool) (count int) {
	for text := range a {
		if b[text] {
			count++
		}
	}
	return count
}

// isSIF reports whether every line has a word, of few kinds, between two words or two integers that share
// values. Of a header no word occurs again.
func isSIF(t *text) bool {
	if !all(t.fields, func(fields []string) bool { return len(fields) == 3 && isWord(fields[1]) }) {
		return false
	}
	sources := column(t.fields, 0)
	kinds := column(t.fields, 1)
	targets := column(t.fields, 2)
	names := slices.Concat(slices.Collect(maps.Keys(sources)),
		slices.Collect(maps.Keys(targets)))
	isShared := overlap(sources, targets) > 0
	areFew := 2*len(kinds) <= len(t.lines) || isShared && len(kinds) < len(names)
	isAgain := slices.ContainsFunc(slices.Concat(t.fields[1:]...),
		func(field string) bool { return slices.Contains(t.fields[0], field) })
	return isAgain && areFew &&
		overlap(kinds, sources)+overlap(kinds, targets) == 0 &&
		(all(names, isWord) || isShared && all(names, isInteger))
}

// isTriple reports whether fields are three integers.
func isTriple(fields []string) bool {
	return len(fields) == 3 && all(fields, isInteger)
}

// isNumberedTriples reports whether the middle one of three integers is a number of few, counted from 0 or 1, and the
// others share values and differ much, or there are several lines of a source and a number, unlike edges with a weight.
func isNumberedTriples(t *text) bool {
	const least, few, many = 20, 10, 4 // lines; lines of a kind, lines of a target at the most
	n := len(t.lines)
	if n < least || !all(t.fields, isTriple) {
		return false
	}
	sources := column(t.fields, 0)
	kinds := column(t.fields, 1)
	targets := column(t.fields, 2)
	pairs := map[string]bool{}
	isCounted := true
	for _, fields := range t.fields {
		pairs[fields[0]+" "+fields[1]] = true
		kind, _ := strconv.Atoi(fields[1])
		isCounted = isCounted && kind >= 0 && kind <= many*len(kinds)
	}
	return isCounted && few*len(kinds) <= n && many*len(kinds) <= len(sources) &&
		(many*len(targets) >= n || few*len(pairs) <= (few-1)*n) &&
		many*overlap(sources, targets) >= len(targets)
}

// isNamedMatrix reports whether rows of an id and numbers stand under the ids of the columns, which
// are those of the rows. R writes no title above the ids of the rows.
func isNamedMatrix(t *text) bool {
	names := t.fields[0]
	rows := t.fields[1:]
	if len(rows) < 2 || len(names) < 3 {
		return false
	}
	if len(rows[0]) == len(names) {
		names = names[1:]
	}
	for i, row := range rows {
		if i >= len(names) || len(row) != len(names)+1 || row[0] != names[i] ||
			!all(row[1:], isCell) {
			return false
		}
	}
	return !isNumber(t.fields[0][0]) || len(rows[0]) > len(t.fields[0]) // an edge, for example 1,2,3 above 2,3,1
}

// isCell reports whether a field may be an element of a matrix.
func isCell(field string) bool {
	return field == "" || isNumber(field)
}

// isMatrix reports whether the lines are a square of numbers, symmetric or with a 0 for each row, if there are
// three symmetric and with the same diagonal, or the beginning of a wide one.
func isMatrix(t *text) bool {
	const wide = 100
	n := len(t.lines)
	if !all(t.fields, func(row []string) bool { return len(row) == len(t.fields[0]) && all(row, isCell) }) {
		return false
	}
	if t.isCut && len(t.fields[0]) > wide {
		return n > 1
	}
	if n < 3 || n != len(t.fields[0]) {
		return false
	}
	isSymmetric := true
	zeros := 0
	for i, row := range t.fields {
		for j, cell := range row {
			isSymmetric = isSymmetric && cell == t.fields[j][i]
			if v, _ := strconv.ParseFloat(cell, 64); v == 0 {
				zeros++
			}
		}
	}
	if n == 3 {
		return isSymmetric && t.fields[0][0] == t.fields[1][1] &&
			t.fields[1][1] == t.fields[2][2]
	}
	return isSymmetric || zeros >= n
}

// isCellList reports whether the second of two cells has several nodes, all of which are first cells of lines.
func isCellList(t *text) bool {
	nodes := column(t.fields, 0)
	hasList := false
	return all(t.fields, func(fields []string) bool {
		if len(fields) != 2 {
			return false
		}
		list := strings.FieldsFunc(fields[1], func(r rune) bool { return strings.ContainsRune(",;| \n", r) })
		hasList = hasList || len(list) > 1
		return len(list) < 2 || all(list, func(node string) bool { return nodes[node] })
	}) && hasList
}

// isAdjacencyList reports whether each line is a node of its own and its neighbours, of lengths that
// differ, and some line is no edge, even with a weight.
func isAdjacencyList(t *text) bool {
	nodes := column(t.fields, 0)
	areAlike := all(t.fields,
		func(fields []string) bool { return len(fields) == len(t.fields[0]) })
	mayBeEdges := all(t.fields,
		func(fields []string) bool { return len(fields) == 2 || len(fields) == 3 })
	if len(nodes) < len(t.lines) || len(nodes) < 3 || areAlike || mayBeEdges {
		return false
	}
	listed := 0
	neighbours := 0
	for _, fields := range t.fields {
		for _, field := range fields[1:] {
			if neighbours++; nodes[field] {
				listed++
			}
		}
	}
	return neighbours > 1 &&
		(listed == neighbours || t.isCut && 2*listed >= neighbours)
}
