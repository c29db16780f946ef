package nodetable

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// sampleRows is the number of rows that decide the choice of the columns.
const sampleRows = 100

// begin finds the first line of data in the first chunk of a file, decides whether it is a
// header, and chooses the columns.
func (t *Reader) begin(chunk *textio.Chunk) error {
	t.first, t.Line = 0, 0
	t.Node, t.At = 0, -1
	if t.Value != "" {
		t.At = 1
	}
	if t.Lookup == nil && !t.isList() {
		first, doubtful := table.FirstData(chunk.Data, t.separator)
		if t.first = chunk.First + int64(first); first < 0 {
			t.first = chunk.First + int64(chunk.Lines)
		}
		if doubtful >= 0 && t.Options.Warn != nil {
			t.Options.Warn(textio.Fault(t.Name, chunk.First+int64(doubtful), "if it is data, write a header line above it", "read as a comment"))
		}
	}
	lines, number := t.dataLines(chunk)
	if len(lines) == 0 {
		return nil
	}
	if t.Every && t.Lookup != nil && isVectors(lines) {
		t.first = number + 1
		lines, number = t.dataLines(chunk)
	}
	if t.sep = t.separator(lines[0]); t.Lookup != nil {
		t.first = number
	}
	if t.isList() || t.isContent() {
		return nil
	}
	first, below := t.sample(lines)
	if t.sep == table.Blanks && t.Value != "" && !t.Every && t.Fields == nil {
		if t.cutNode = !t.isTable(first, below); t.cutNode {
			first, below = t.sample(lines)
		}
	}
	if first == nil {
		return nil // Rows reports the error when it reads the line
	}
	header, err := t.choose(number, first, below)
	if header {
		t.Line = number
	}
	return err
}

// dataLines returns the first lines of data of a chunk and the number of the first.
func (t *Reader) dataLines(chunk *textio.Chunk) (lines [][]byte, first int64) {
	number := chunk.First - 1
	for line := range bytes.Lines(chunk.Data) {
		line = bytes.TrimRight(line, "\r\n")
		number++
		if number < t.first || table.IsBlank(line) || number > t.first && t.isRemark(line, lines != nil) {
			continue
		}
		if lines == nil {
			first = number
		}
		if lines = append(lines, line); len(lines) > sampleRows {
			break
		}
	}
	return lines, first
}

// sample splits the first line and the lines below it into fields. Lines that cannot be split
// are omitted.
func (t *Reader) sample(lines [][]byte) (first []string, below [][]string) {
	var f table.Fields
	for i, line := range lines {
		if t.cut(&f, line) != nil {
			continue
		}
		if i == 0 {
			first = f.Strings()
		} else {
			below = append(below, f.Strings())
		}
	}
	return first, below
}

// isTable reports whether lines with fields separated by blanks are a table of three or more
// columns with a header. Otherwise the first blank ends the node, and the value may contain
// blanks.
func (t *Reader) isTable(first []string, below [][]string) bool {
	if len(below) == 0 || len(first) < 2 || t.Header == input.NoHeader {
		return false
	}
	n := len(below[0])
	if n < 3 || n != len(first) && n != len(first)+1 || slices.ContainsFunc(below, func(row []string) bool { return len(row) != n }) {
		return false
	}
	node, value := t.byTitles(first)
	return node >= 0 && value >= 0
}

// byTitles returns the columns with titles for the node and the value, or −1.
func (t *Reader) byTitles(titles []string) (node, value int) {
	node, value = -1, -1
	valueRank := func(title string) (rank int, is bool) {
		switch t.Value {
		case input.Label:
			return table.LabelRank(title), table.IsLabel(title)
		case input.Value:
			return table.ValueRank(title)
		case input.Part:
			return 0, table.IsPart(title)
		}
		return 0, false
	}
	best := 0
	for i, title := range titles {
		if rank, is := valueRank(title); is && (value < 0 || rank < best) {
			value, best = i, rank
		}
	}
	if value >= 0 && t.Value == input.Label && isDisplayName(titles, value) {
		name := value
		value = -1
		for i, title := range titles {
			if rank, is := valueRank(title); is && i != name && (value < 0 || rank < best) {
				value, best = i, rank
			}
		}
	}
	best = table.NodeRank("")
	ties := 0
	for i, title := range titles {
		switch rank := table.NodeRank(title); {
		case i == value:
		case rank < best:
			node, best, ties = i, rank, 0
		case rank == best && node >= 0:
			ties++
		}
	}
	if ties > 0 && best > 0 { // ambiguous: customer_id and branch_id
		node = -1
	}
	return node, value
}

// isDisplayName reports whether a column has the names that Gephi shows for nodes. They are no
// classes if the table has another column of classes.
func isDisplayName(titles []string, column int) bool {
	return titles[column] == "Label" && slices.Contains(titles, "Id") && slices.ContainsFunc(titles, func(title string) bool {
		return title != "Label" && table.IsLabel(title)
	})
}

// choose decides whether the first line is a header and which columns are read.
func (t *Reader) choose(line int64, first []string, below [][]string) (header bool, err error) {
	c := &chooser{t: t, line: line, line1: first, titles: first, below: below}
	if t.Header != input.NoHeader && len(below) > 0 && !t.cutNode && len(first) >= 1 && (t.Value != "" || t.Every) &&
		!slices.ContainsFunc(below, func(row []string) bool { return len(row) != len(first)+1 }) {
		c.titles, t.shifted = append([]string{""}, first...), true
	}
	header = t.titled || t.Header == input.HasHeader || t.Header == input.AutoHeader && c.isHeader()
	switch {
	case t.Fields != nil:
		header, err = c.byFields(header)
	case header:
		err = c.underTitles()
	default:
		t.shifted = false
		c.titles = first
		err = c.untitled()
	}
	if err != nil {
		return header, err
	}
	if header {
		t.Titles = c.titles
	} else if t.Fields == nil && c.maybeHeader() {
		t.Hint = fmt.Sprintf("pass {%s=%s} if line %d is a header; otherwise ", t.Option, fieldsOf(c.titles, t.Node, t.At), line)
	}
	c.report(header)
	return header, nil
}

// chooser chooses the columns of a table by its first line and a sample of the others.
type chooser struct {
	t      *Reader
	line   int64
	line1  []string // fields of the first line
	titles []string // line1, after an empty title if rows begin with a name, as R writes them
	below  [][]string
	guess  bool // only the ids below the first line suggest that it is a header
}

// values returns the values of a column in the sample.
func (c *chooser) values(column int) []string {
	var list []string
	for _, row := range c.below {
		if column < len(row) {
			list = append(list, row[column])
		}
	}
	return list
}

// known returns the number of values of a column that are nodes of the graph.
func (c *chooser) known(column int) (n int) {
	for _, text := range c.values(column) {
		if _, known := c.t.find(text); known {
			n++
		}
	}
	return n
}

// holdsNodes reports whether a column can be the column of the node: all values of the sample
// are nodes of the graph, and distinct.
func (c *chooser) holdsNodes(column int) bool {
	values := c.values(column)
	if c.t.Lookup == nil || len(values) == 0 || len(values) < len(c.below) || c.known(column) < len(values) {
		return false
	}
	slices.Sort(values)
	return len(slices.Compact(values)) == len(c.below)
}

// isCounter reports whether a column counts the rows from 0 or 1.
func (c *chooser) isCounter(column int) bool {
	values := c.values(column)
	if len(values) == 0 {
		return false
	}
	from, err := strconv.Atoi(values[0])
	if err != nil || from != 0 && from != 1 {
		return false
	}
	for i, text := range values {
		if whole := table.WholeNumber(text); strings.Contains(text, ".") && whole != "" {
			text = whole
		}
		if text != strconv.Itoa(from+i) {
			return false
		}
	}
	return true
}

// isIndex reports whether the first column numbers the rows: its title is empty or a word for
// an index, and its values count from 0 or 1.
func (c *chooser) isIndex() bool {
	return len(c.titles) > 1 && table.IsIndex(c.titles[0]) && (c.isCounter(0) || len(c.below) == 0)
}

// isHeader decides whether the first line is a header: it holds no node of the graph, and it
// has known titles or differs in form from all ids below it.
func (c *chooser) isHeader() bool {
	t, first := c.t, c.titles
	node, value := t.byTitles(first)
	at := max(node, 0)
	if t.Fields != nil && table.Numbers(t.Fields) {
		if n, _ := strconv.Atoi(t.Fields[0]); n <= len(first) {
			at, node = n-1, -1
			if table.NodeRank(first[at]) == 0 {
				node = at
			}
		}
	}
	ids := c.values(at)
	if t.Lookup == nil {
		if node >= 0 && table.IsNode(first[node]) {
			return true
		}
	} else {
		for _, i := range []int{at, len(first) - len(c.line1)} { // line1 begins there if rows have names
			if _, known := t.find(first[i]); known {
				return false
			}
		}
	}
	if t.isPart && (slices.Equal(first, t.Titles) || len(c.below) == 0 && node >= 0 && (value >= 0 || t.Value == "")) {
		return true
	}
	if t.Every {
		return node >= 0 || areWords(c.titles)
	}
	if len(c.below) == 0 { // a header alone, or one row
		return node >= 0 && value >= 0
	}
	if table.IsIndex(first[0]) && len(first) > 1 && (t.Value != "" || node >= 0) {
		return true
	}
	used := false // the label of the first line occurs again below it
	if col := value; t.Value != "" {
		if col < 0 {
			col = 1
		}
		used = col < len(first) && slices.Contains(c.values(col), first[col])
	}
	switch {
	case used:
		return false
	case node >= 0 && (len(first) > 1 || table.IsNode(first[node])), value >= 0:
		return true
	}
	hasDigit := func(text string) bool { return strings.ContainsAny(text, "0123456789") }
	isInteger := func(text string) bool { return table.IsInteger([]byte(text)) }
	all := func(is func(string) bool) bool {
		return len(ids) > 0 && !slices.ContainsFunc(ids, func(text string) bool { return !is(text) })
	}
	allKnown := t.Lookup == nil || c.known(at) > 0
	if t.Value == "" && t.Lookup != nil {
		// In a list of one column such a line may be a wrong id.
		return len(first) > 1 && c.known(at) > 0 && areWords(c.titles) && !slices.ContainsFunc(first, hasDigit)
	}
	c.guess = allKnown && !isInteger(first[at]) && (all(isInteger) ||
		len(first) > 1 && len(ids) > 1 && !slices.ContainsFunc(first, hasDigit) && all(hasDigit) && (t.Lookup == nil || c.known(at) == len(ids)))
	return c.guess
}

// maybeHeader reports whether the first line may be a header with unknown titles: it holds no node
// of the graph, no digit, and a label that no other row has.
func (c *chooser) maybeHeader() bool {
	t := c.t
	if t.Lookup == nil || t.Value == "" || t.Option == "" || len(c.below) == 0 || max(t.Node, t.At) >= len(c.titles) {
		return false
	}
	_, known := t.find(c.titles[t.Node])
	return !known && !slices.Contains(c.values(t.At), c.titles[t.At]) &&
		!slices.ContainsFunc(c.titles, func(text string) bool { return strings.ContainsAny(text, "0123456789") })
}

// areWords reports whether no field of the first line is a number.
func areWords(titles []string) bool {
	return !slices.ContainsFunc(titles, func(text string) bool {
		_, fault := table.ParseNumber([]byte(text), 64)
		return fault == ""
	})
}

// byFields chooses the columns that the settings name.
func (c *chooser) byFields(header bool) (bool, error) {
	t := c.t
	columns, err := table.Choose(t.Fields, c.titles)
	if err != nil {
		return false, textio.Fault(t.Name, c.line, "correct {"+t.Option+"}", "%w", err)
	}
	if most := slices.Max(columns); most >= len(c.titles) && !(header && len(c.below) > 0 && most < len(c.below[0])) {
		return false, textio.Fault(t.Name, c.line, "correct {"+t.Option+"}", "%s, but column %d was requested", table.Counted(len(c.titles), "column"), most+1)
	}
	if t.Node = columns[0]; len(columns) > 1 {
		t.At = columns[1]
	}
	return header || !table.Numbers(t.Fields), nil
}

// underTitles chooses the columns of a table with a header by their titles. A column of row
// numbers is skipped unless no other column holds nodes of the graph. If the titles are
// ambiguous and the table has more columns than are read, the error requests the option, to
// avoid a wrong guess.
func (c *chooser) underTitles() error {
	t := c.t
	index := c.isIndex()
	node, value := t.byTitles(c.titles)
	if t.Every {
		if node < 0 {
			var err error
			if node, err = c.attributeNode(); err != nil {
				return err
			}
		}
		t.Node = node
		return nil
	}
	var rest []int // columns that no title names
	for i := range c.titles {
		if i != node && i != value && !(i == 0 && index) && !strings.HasPrefix(c.titles[i], table.IndexOfPandas) {
			rest = append(rest, i)
		}
	}
	if node < 0 && len(c.titles) > 1 && table.IsIndex(c.titles[0]) && value != 0 {
		// pandas writes ids in the index without a title. Row numbers are ids only if no other
		// column can hold the ids.
		others := slices.DeleteFunc(slices.Clone(rest), func(i int) bool { return i == 0 })
		only := len(others) == 0 || value < 0 && len(others) == 1 && t.Value != ""
		if !index || only || c.holdsNodes(0) && !slices.ContainsFunc(others, c.holdsNodes) {
			node, rest = 0, others
		}
	}
	if t.Value == "" {
		if node < 0 {
			if len(rest) != 1 {
				return c.undecided(index)
			}
			node = rest[0]
		}
		t.Node = node
		return nil
	}
	switch {
	case node >= 0 && value >= 0:
	case node < 0 && value >= 0 && len(rest) == 1:
		node = rest[0]
	case node >= 0 && value < 0 && len(rest) == 1:
		value = rest[0]
	case node < 0 && value < 0 && len(rest) == 2:
		if node, value = rest[0], rest[1]; !c.holdsNodes(node) && c.holdsNodes(value) {
			node, value = value, node
		}
	case len(c.titles) == 1:
		fix := "write node<TAB>" + t.Value + " on each line"
		if at := strings.IndexAny(c.titles[0], "|^~:"); at >= 0 {
			fix = "pass {delimiter=" + c.titles[0][at:at+1] + "}"
		}
		return textio.Fault(t.Name, c.line, fix, "one column, want two: node and %s", t.Value)
	default:
		return c.undecided(index)
	}
	t.Node, t.At = node, value
	return c.checkNodes()
}

// checkNodes returns an error if the chosen column holds no nodes of the graph but another
// column does, because a title such as id may belong to row numbers.
func (c *chooser) checkNodes() error {
	t := c.t
	if t.Lookup == nil || len(c.below) == 0 || c.known(t.Node) > 0 || t.Option == "" {
		return nil
	}
	for i := range c.titles {
		if i != t.Node && i != t.At && c.holdsNodes(i) {
			return textio.Fault(t.Name, c.line, fmt.Sprintf("pass {%s=%s}", t.Option, fieldsOf(c.titles, i, t.At)),
				"column %s holds ids of the graph, %s does not", table.Quoted(c.titles[i]), table.Quoted(c.titles[t.Node]))
		}
	}
	return nil
}

// attributeNode returns the column of the node of a table of attributes without such a title:
// the only column that holds nodes of the graph, or the first column if the graph is not known.
func (c *chooser) attributeNode() (int, error) {
	if c.t.Lookup == nil || len(c.below) == 0 {
		return 0, nil
	}
	var nodes []int
	for i := range c.titles {
		if c.holdsNodes(i) {
			nodes = append(nodes, i)
		}
	}
	switch {
	case len(nodes) == 1:
		return nodes[0], nil
	case len(nodes) == 0 && !c.isIndex():
		return 0, nil // its ids are reported as unknown
	}
	return 0, c.undecided(c.isIndex())
}

// untitled chooses the columns of a table without a header: the first, or the first two. A
// column of row numbers is skipped if the next column holds nodes of the graph instead.
func (c *chooser) untitled() error {
	t := c.t
	rows := append([][]string{c.titles}, c.below...)
	all := &chooser{t: t, titles: c.titles, below: rows}
	if t.Every && t.Lookup == nil || len(c.titles) < 2 || t.Lookup == nil {
		return nil
	}
	wanted := 1
	if t.Value != "" || t.Every {
		wanted = 2
	}
	if len(c.titles) > wanted && len(rows) > 1 && all.isCounter(0) && all.known(0) < len(rows) && all.holdsNodes(1) {
		t.Node = 1
		if t.Value != "" {
			t.At = 2
		}
		return nil
	}
	if t.Value == "" || t.Every || len(rows) < 2 || all.known(0) > 0 {
		return nil
	}
	for i := 1; i < len(c.titles); i++ { // none of the ids is in the graph
		if value := c.likelyValue(0, i); t.Option != "" && !all.holdsNodes(i) && c.holdsNodes(i) { // below a header
			return textio.Fault(t.Name, c.line, fmt.Sprintf("pass {%s=%s}", t.Option, fieldsOf(c.titles, i, value)),
				"column %s holds ids of the graph, %s does not", table.Quoted(c.titles[i]), table.Quoted(c.titles[0]))
		}
		if all.holdsNodes(i) && t.Option != "" {
			value := c.valueNextTo(i)
			return textio.Fault(t.Name, c.line, fmt.Sprintf("pass {%s=%d,%d}", t.Option, i+1, value+1), "column %d holds ids of the graph, column 1 does not", i+1)
		}
	}
	return nil
}

// valueNextTo returns the likely column of the value if node is that of the node.
func (c *chooser) valueNextTo(node int) int {
	if len(c.titles) == 2 {
		return 1 - node
	}
	if node+1 < len(c.titles) {
		return node + 1
	}
	return node - 1
}

// report sets the description of the columns.
func (c *chooser) report(header bool) {
	t := c.t
	titles := c.titles
	if !header {
		n := len(titles)
		if t.Node == 0 && (t.At < 0 && n == 1 || t.At == 1 && n <= 2) {
			return // nothing to report about the usual columns without titles
		}
		titles = make([]string, n)
		for i := range titles {
			titles[i] = "column " + strconv.Itoa(i+1)
		}
	}
	t.Columns = input.Named(titles)
	for i := range t.Columns {
		switch {
		case i == t.Node && !(t.Every && t.Lookup == nil):
			t.Columns[i].Use = input.Node
		case i == t.At:
			t.Columns[i].Use = t.Value
		case i == 0 && (header && c.isIndex() || !header && t.Node == 1), header && strings.HasPrefix(titles[i], table.IndexOfPandas):
			t.Columns[i].Use = input.Index
		}
	}
	if c.guess && t.Options.Warn != nil {
		t.Options.Warn(textio.Fault(t.Name, c.line, "", "read as a header; no node has the id %s", table.Quoted(c.titles[t.Node])))
	}
}
