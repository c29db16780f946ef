package nodefile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Endings of files about nodes.
const (
	idsFile     = ".ids"     // ending of lists that heatwalk writes: each line is an id, verbatim; without a header
	ContentFile = ".content" // ending of LINQS collections: each line is a node, its features and its class
)

// MaxFields bounds the number of columns that a setting names.
const MaxFields = 1000

// Reader reads a table with a node in each row. The caller may set the fields of the first group; [Reader.Read] sets
// the other fields before it yields the first row.
type Reader struct {
	Name    string                                 // file name for messages
	Lookup  func(id string) (row int, isNode bool) // finds a node in the graph; nil: unknown graph
	Value   string                                 // kind of the second column, input.Label, input.Value or input.Part; "": only the node is read
	Every   bool                                   // all columns are read, as attributes
	Fields  []string                               // columns of node and value, by numbers from 1 or titles; nil: found by their titles
	Guess   bool                                   // Fields are used only if the table has them
	Wide    bool                                   // the table may have a column of 0 and 1 for each label, see WideColumns
	SkipBad bool                                   // skip and count faulty lines, except lines with an open quote
	Option  string                                 // option that names the columns, for messages; "" without such an option
	Header  input.Header
	Text    input.Text
	Options textio.Options // settings for opening the file

	Titles      []string      // titles of the header; nil without a header
	Names       []string      // names of all columns if Every is set: titles of the header, or else column 1, column 2 …
	Line        int64         // line of the header; 0 without a header
	Columns     input.Columns // use of the columns; nil if there is nothing to report
	WideColumns []int         // columns of 0 and 1, one for each label; nil: the table has a column of labels
	Node, At    int           // columns of the node and of the value; At is −1 without a value
	Known       int           // column known of predictions that heatwalk wrote, which states whether the value was given; else −1
	TitleFix    string        // setting that reads the first line as titles, as in a Fix; or ""

	in        *textio.Reader
	width     int64    // line that decides the number of fields if Every is set
	isPart    bool     // the file is a part of a table, perhaps only a header
	titled    bool     // the first row holds titles, as in Parquet
	header    []string // fields of the header in text; nil without a header
	side      string   // prefix of the ids of one side of a bipartite graph, which the table omits, see findSide; or ""
	integers  bool     // the ids of a list of nodes, for an unknown graph, are whole numbers so far
	joined    string   // first id that is another text than its number; ""
	first     int64
	sep       byte
	hasBlanks bool // the value is the rest of the line behind the node, with blanks
	fields    table.Fields
}

// Row is a row of a table. It is valid until the next row.
type Row struct {
	Line  int64
	Text  [][]byte // fields, at least one
	Start []int    // column at which each field begins, from 0
	At    int      // column of the value, or −1
	node  int
}

// Separator returns the separator of the fields.
func (t *Reader) Separator() byte { return t.sep }

// ID returns the id of the node.
func (r Row) ID() []byte { return r.Text[r.node] }

// Value returns the value of the node without blanks around it, or nil if the row has no value.
func (r Row) Value() []byte {
	if r.At < 0 {
		return nil
	}
	return r.Field(r.At)
}

// Fault returns an error about field i of a row.
func (t *Reader) Fault(row Row, i int, fix, format string,
	args ...any) *textio.Error {
	e := textio.Fault(t.Name, row.Line, fix, format, args...)
	e.Columns = t.Columns
	if i >= 0 && i < len(row.Start) && !t.titled {
		e.Column = row.Start[i] + 1
	}
	return e
}

// Field returns field i without blanks around it, empty if the row has fewer fields.
func (r Row) Field(i int) []byte {
	if i < len(r.Text) {
		return bytes.Trim(r.Text[i], table.Blank)
	}
	return nil
}

// Read opens the file at path and yields its rows, see [Reader.Rows]. It stops after an error. A directory of parts
// is one table, see [PartFiles].
func (t *Reader) Read(ctx context.Context, path string) iter.Seq2[Row, error] {
	parts := PartFiles(path)
	t.isPart = parts != nil
	if !t.isPart {
		parts = []string{path}
	}
	t.Titles = nil
	t.Names = nil
	t.Columns = nil
	return func(yield func(Row, error) bool) {
		for _, file := range parts {
			for row, err := range t.readFile(ctx, file) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

func (t *Reader) readFile(ctx context.Context, path string) iter.Seq2[Row, error] {
	isParquet := slices.Contains(table.ParquetEndings, table.Extension(path))
	t.Options.Any, t.Options.Text = true, t.Text
	return func(yield func(Row, error) bool) {
		t.Name = path
		in, err := textio.Open(ctx, path, &t.Options)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer in.Close()
		t.Name = in.Name()
		t.in = in
		if !isParquet {
			t.Rows(in)(yield)
		} else if err := t.parquet(in, yield); err != nil {
			yield(Row{}, err)
		}
	}
}

// Rows yields the rows of an open text file without the header. It stops after an error.
//
// Fields are separated by tabs if the first line contains a tab, otherwise by commas or semicolons as in an edge
// list, and otherwise by blanks. If blanks separate a node from its value, the value may contain blanks: "n1 Graph
// Theory". In a list of ids the whole line is an id, except in a .csv file or if a tab ends the id.
func (t *Reader) Rows(in *textio.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if t.Name == "" {
			t.Name = in.Name()
		}
		if err := cmp.Or(refuseGraph(t, in.Peek(textio.HeadBytes)), in.CheckText()); err != nil {
			yield(Row{}, err)
			return
		}
		head, err := in.Head()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			t.titled = head.First == 0
			if t.titled {
				t.Text.Delimiter = "\t"
			}
			err = t.begin(head)
		}
		if err != nil {
			yield(Row{}, err)
			return
		}
		remarks, skipped, headers := int64(0), int64(0), int64(0)
		first, firstSkipped, firstHeader := int64(0), int64(0), int64(0)
		defer func() {
			if headers > 0 && t.Options.Warn != nil {
				t.Options.Warn(table.HeaderWarning(t.Name, firstHeader, headers))
			}
			if remarks > 0 && t.Options.Warn != nil {
				t.Options.Warn(table.RemarkWarning(t.Name, first, remarks))
			}
			if skipped > 0 {
				t.warn(firstSkipped, "", "%s that cannot be read left out", words.Counted(skipped, "line"))
			}
		}()
		for line, err := range in.Lines() {
			if err != nil {
				yield(Row{}, err)
				return
			}
			switch {
			case line.Number < t.first || line.Number == t.Line ||
				table.IsBlank(line.Text):
				continue
			case line.Number > t.first && t.isRemark(line.Text):
				if remarks++; remarks == 1 {
					first = line.Number
				}
				continue
			case t.header != nil && t.fields.IsRow(line.Text, t.sep, t.header):
				if headers++; headers == 1 {
					firstHeader = line.Number
				}
				continue
			}
			row, bad := t.split(line)
			if bad != nil && errors.Is(bad, errEmpty) && t.isWithoutValue(row) {
				continue // neither a node nor a value, such as an edge in a table with nodes
			}
			if bad != nil && t.SkipBad && !errors.Is(bad, table.ErrQuote) {
				if skipped++; skipped == 1 {
					firstSkipped = line.Number
				}
				continue
			}
			if bad != nil {
				yield(Row{}, bad)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (t *Reader) isWithoutValue(row Row) bool {
	columns := []int{row.At}
	if t.Every {
		columns, _ = table.Find(t.Fields, t.Titles, len(row.Text)) // none if Fields are wrong, which the caller reports
	}
	return len(columns) > 0 && !slices.ContainsFunc(columns, func(i int) bool { return i < 0 || i >= len(row.Text) || !table.IsBlank(row.Text[i]) })
}

// Find returns the row of an id. If the graph does not have the id and it is a whole number, Find looks up its
// digits, see [table.PlainInteger], and then the digits with .0 and .00 appended.
func Find(lookup func(id string) (row int, isNode bool),
	id string) (row int, isNode bool) {
	row, isNode = lookup(id)
	plain := table.PlainInteger(id)
	for _, spelling := range []string{plain, plain + ".0", plain + ".00"} {
		if !isNode && table.IsInteger(plain) {
			row, isNode = lookup(spelling)
		}
	}
	return row, isNode
}

// isRemark reports whether a line is a comment. A line with a comment marker is data if its id is in the graph or, if
// the graph is unknown, if it has the form of a row.
func (t *Reader) isRemark(line []byte) bool {
	if !table.IsComment(line) || isList(t.Name) {
		return false
	}
	if t.Lookup == nil {
		return !table.MayBeRow(line) ||
			!t.Every && t.Value == "" &&
				bytes.ContainsAny(bytes.Trim(line, table.Blank), " ")
	}
	f := &t.fields
	if f.Split(line, t.sep) != nil || len(f.Text) == 0 {
		return true
	}
	id := f.Text[min(t.Node, len(f.Text)-1)]
	return !t.isNode()(string(bytes.Trim(id, table.Blank)))
}

func isList(name string) bool {
	return table.IsNamed(name, idsFile)
}

func isContent(name string) bool {
	return table.IsNamed(name, ContentFile)
}

// separator returns the separator of the fields by the first line.
func (t *Reader) separator(line []byte) byte {
	switch {
	case isList(t.Name):
		return table.Tab
	case t.Text.Separator() != 0:
		return t.Text.Separator()
	case isContent(t.Name):
		if bytes.IndexByte(line, table.Tab) >= 0 {
			return table.Tab
		}
		return table.Blanks
	case t.Value == "" && !t.Every && !table.IsNamed(t.Name, ".csv"):
		return table.Tab
	}
	sep := table.SeparatorOf(t.Text, t.Name, line)
	if isAlone := t.Value == "" && (!t.Every || t.Lookup == nil); table.IsNamed(t.Name, ".csv") &&
		(isAlone && (sep == table.Blanks || sep == table.Bar) ||
			sep == table.Blanks && len(bytes.Fields(line)) == 1) {
		return table.Comma // the first row has one field
	}
	return sep
}

// split splits a line into its fields and checks the id.
func (t *Reader) split(line textio.Line) (Row, *textio.Error) {
	f := &t.fields
	if err := f.Split(line.Text, t.sep); err != nil {
		fix := "fix the line"
		if bytes.IndexByte(line.Text, t.sep) < 0 {
			fix = "separate the fields by " + table.SeparatorName(t.sep)
		}
		e := textio.Fault(t.Name, line.Number, fix, "%w", err)
		table.AddRepair(e, t.sep)
		return Row{}, e
	}
	node := min(t.Node, len(f.Text)-1)
	row := Row{Line: line.Number, Text: f.Text, Start: f.Start, At: t.At,
		node: node}
	if len(bytes.Trim(f.Text[node], table.Blank)) == 0 &&
		!(t.Every && t.Lookup == nil) {
		return row, t.Fault(row, node, "fix the line", "%w", errEmpty)
	}
	if f.Padded[node] { // blanks belong to an id that is in the graph, or else in a list of heatwalk
		isVerbatim := t.Lookup == nil && isList(t.Name)
		if t.Lookup != nil {
			_, isVerbatim = t.Lookup(string(f.Text[node]))
		}
		if !isVerbatim {
			f.Text[node] = bytes.Trim(f.Text[node], table.Blank)
		}
	}
	if t.Every {
		if t.Names == nil {
			setNames(t, len(f.Text), line.Number)
		}
		if len(f.Text) != len(t.Names) {
			return row, textio.Fault(t.Name, line.Number, "give each line a value for every column, empty where it is missing",
				"%s, but line %d has %d", words.Counted(len(f.Text), "field"),
				t.width, len(t.Names))
		}
	}
	if err := t.joinInteger(row); err != nil {
		return row, err
	}
	if t.side != "" {
		f.Text[node] = append([]byte(t.side), f.Text[node]...)
	}
	switch {
	case t.Value == "":
	case isContent(t.Name):
		row.At = len(f.Text) - 1
	case t.hasBlanks && len(f.Text) > 2:
		row.Text = append(f.Text[:1],
			bytes.Trim(line.Text[f.Start[1]:], table.Blank))
	}
	for i, text := range row.Text {
		if bytes.IndexByte(text, table.Tab) >= 0 {
			return row, t.Fault(row, i, "fix the line", "%w", table.ErrTab)
		}
	}
	return row, nil
}

// joinInteger replaces the id of a row by its digits if the list of nodes has whole numbers. It returns an error about
// text below a replaced id, because all ids of a list must be read in one way.
func (t *Reader) joinInteger(row Row) *textio.Error {
	id := string(row.ID())
	plain := table.PlainInteger(id)
	switch {
	case !t.integers || table.IsInteger(id) || table.IsMissing(id, table.Missing):
	case table.IsInteger(plain):
		t.joined = cmp.Or(t.joined, id)
		row.Text[row.node] = []byte(plain)
	case t.joined != "":
		return t.Fault(row, row.node, "write all ids as text, or as whole numbers", "%s is text, and %s above was read as a whole number",
			words.Quoted(id), words.Quoted(t.joined))
	default:
		t.integers = false
	}
	return nil
}

// setNames names the columns by their titles, or else by their numbers.
func setNames(t *Reader, fields int, line int64) {
	t.Names = t.Titles
	t.width = t.Line
	if t.Titles != nil {
		return
	}
	for t.width = line; len(t.Names) < fields; {
		t.Names = append(t.Names, "column "+strconv.Itoa(len(t.Names)+1))
	}
}

var errEmpty = errors.New("empty id")
