package nodefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// LabelConfig are the settings of [ReadLabels]; nil stands for the zero value.
type LabelConfig struct {
	SkipUnknown bool        // pass over lines of nodes that are not in the graph; default: an error
	Header      Header      // default: decide from the text
	Fields      []string    // the columns of node and label, numbers from 1 or titles of a header; nil: by their titles, or the first two
	Missing     []string    // words that stand for no label, beside the empty one; nil: [MissingLabels]
	Several     bool        // a node may have several labels, each on a line of its own
	Fix         string      // what to do about nodes that are not in the graph, for messages; default: that of a graph which is made
	Stdin       io.Reader   // what "-" reads; nil: os.Stdin
	Warn        func(error) // called with each warning about the file; may be nil
}

// ErrSeveral is wrapped by the error about a node with several labels where each has one.
var ErrSeveral = errors.New("several labels of a node")

// Labels are the known classes of some nodes.
type Labels struct {
	File       string   // for messages
	Row        []int    // the labelled nodes, in the order of the file; one with several labels once for each
	Class      []int    // of each of them, a position in Names
	Names      []string // the classes, in byte order
	Unlabelled int      // lines without a label: empty, or a word that stands for none
	Unknown    int      // lines passed over for a node that is not in the graph
	Repeated   int      // lines that say again what an earlier one says
	MinusOne   bool     // a line has the label -1, which stands for none
}

// Trainable returns a [*ParseError] unless labels are of two classes, which learning needs.
func (l *Labels) Trainable() error {
	if len(l.Names) >= 2 {
		return nil
	}
	e := &ParseError{File: l.File, Msg: "no training labels"}
	if len(l.Names) == 1 {
		e.Msg = fmt.Sprintf("all %d training labels are %q; two classes are needed", len(l.Row), l.Names[0])
		if len(l.Row) == 1 {
			e.Msg = fmt.Sprintf("the only training label is %q; two classes are needed", l.Names[0])
		}
		if l.MinusOne {
			e.Fix = "-1 stands for no label, give that class another name"
		}
	}
	return e
}

// MissingLabels are the words that stand for no label: -1, and those that pandas
// and R write for a value that is not there.
var MissingLabels = append([]string{"-1"}, table.Missing...)

// ReadLabels reads a file of lines node<TAB>label; commas, semicolons and
// blanks separate too, what follows the label is passed over. An empty label and
// the words of Missing stand for none. Of a LINQS .content file the label is the
// last field of a line.
//
// Under a header the columns go by their titles (node, id, …; label, class, …), in
// any order. The first line is a header if its node is not in the graph, its label
// stands nowhere else, and it holds a usual title or its id is no integer while all
// others are.
//
// It is an error if a node that is not in the graph has a line (unless those
// are to be skipped; if none is in the graph, always), if a node has two
// labels, unless it may have Several, or if nothing is labelled.
func ReadLabels(ctx context.Context, path string, nodes Lookup, c *LabelConfig) (*Labels, error) {
	if c == nil {
		c = &LabelConfig{}
	}
	r := &labelReader{
		c: c, t: &nodetable.Reader{Columns: 2, Lookup: nodes.Lookup, Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn}}, label: 1, missing: c.Missing,
		labels: &Labels{}, classes: map[string]int{}, at: make([]uint32, nodes.Len()), integers: true,
		unknown: nodetable.Unknown{Nodes: nodes},
	}
	if r.missing == nil {
		r.missing = MissingLabels
	}
	if table.IsNamed(path, nodetable.ContentFile) {
		r.t.Columns, r.label = nodetable.MaxFields, lastField
	} else if c.Fields != nil {
		r.t.Columns = nodetable.MaxFields
	}
	lines := 0
	for row, err := range r.t.Read(ctx, path) {
		if err != nil {
			return nil, err
		}
		lines++
		if lines == 1 {
			is, err := r.begin(row)
			if err != nil {
				return nil, err
			}
			r.t.Wanted = []int{r.t.Node, r.label}
			if is {
				continue
			}
		}
		if lines == 2 {
			r.shift(row)
		}
		if err := r.add(r.line(row)); err != nil {
			return nil, err
		}
	}
	return r.end()
}

// lastField is the place of a label in a line of any length.
const lastField = -1

// line returns what a row says.
func (r *labelReader) line(row nodetable.Row) labelLine {
	label := r.label
	if label == lastField {
		label = len(row.Text) - 1
	}
	return labelLine{row.Line, string(row.Text[min(r.t.Node, len(row.Text)-1)]), string(row.Field(label))}
}

// begin settles the columns by the first line and reports whether that is a header,
// or may be one, which is told in the end.
func (r *labelReader) begin(row nodetable.Row) (isHeader bool, err error) {
	if r.label == lastField {
		return false, nil
	}
	for _, text := range row.Text {
		r.titles = append(r.titles, strings.Trim(string(text), table.Blank))
	}
	if r.c.Fields != nil {
		columns, err := table.Choose(r.c.Fields, r.titles)
		if err != nil || max(columns[0], columns[1]) >= len(r.titles) {
			return false, &ParseError{File: r.t.Name, Line: row.Line, Msg: fmt.Sprintf("%s, fewer than the setting of the columns names", table.Counted(len(r.titles), "field")), Fix: "correct {label-fields}"}
		}
		r.t.Node, r.label = columns[0], columns[1]
		if r.t.Titled || !table.Numbers(r.c.Fields) {
			return true, nil
		}
	}
	if _, known := r.t.Lookup(r.line(row).id); !r.t.Titled && (r.c.Header == NoHeader || r.c.Header == AutoHeader && known) {
		return false, nil
	}
	node, label := table.FindLabels(r.titles)
	switch {
	case r.c.Fields != nil:
	case node >= 0 && label >= 0:
		r.t.Node, r.label = node, label
		if node != 0 || label != 1 {
			r.t.Columns = nodetable.MaxFields
		}
	case label < 0 && node >= 0 && len(r.titles) > 2 && table.IsNode(r.titles[node]): // and not only the first
		msg := fmt.Sprintf("the header %s names no label", table.Quote(r.titles))
		return false, &ParseError{File: r.t.Name, Line: row.Line, Msg: msg, Fix: fmt.Sprintf("pass {label-fields=%d,N} with the number N of its column", node+1)}
	}
	if r.c.Header == AutoHeader && !r.t.Titled {
		r.head = r.line(row)
	}
	return true, nil
}

// shift moves the columns by one if the lines have one more before those of the
// header: R writes the names of rows so.
func (r *labelReader) shift(row nodetable.Row) {
	if len(row.Text) != len(r.titles)+1 || r.label == lastField {
		return
	}
	_, here := r.t.Lookup(string(row.Text[r.t.Node]))
	if _, behind := r.t.Lookup(string(row.Text[r.t.Node+1])); behind && !here {
		r.t.Node++
		r.label++
	}
}

// end checks and numbers what was read.
func (r *labelReader) end() (*Labels, error) {
	r.labels.File = r.t.Name
	if r.head.line > 0 {
		switch titled, is := r.isHeader(); {
		case !is:
			r.addUnknown(r.head)
		case !titled && r.c.Warn != nil:
			r.c.Warn(&ParseError{File: r.t.Name, Line: r.head.line, Msg: "taken as a header; no node is called " + table.Quoted(r.head.id)})
		}
	}
	if err := r.unknownError(); err != nil {
		return nil, err
	}
	l := r.finish()
	if len(l.Row) == 0 {
		msg := "no labels"
		if l.Unlabelled > 0 {
			msg = fmt.Sprintf("no labels: %s, all of them empty, -1, NA or the like", table.Counted(l.Unlabelled, "line"))
		}
		return nil, &ParseError{File: l.File, Msg: msg, Fix: "write a line node<TAB>label for each node whose label is known"}
	}
	return l, nil
}

// labelLine is one line of a labels file.
type labelLine struct {
	line      int64
	id, label string
}

// labelReader collects labels.
type labelReader struct {
	c       *LabelConfig
	t       *nodetable.Reader
	label   int       // the field with the label
	missing []string  // words that stand for no label
	titles  []string  // the fields of the first line
	head    labelLine // the first line, if it may be a header
	labels  *Labels
	classes map[string]int // in order of first appearance
	names   []string
	lines   []int64  // of each label
	at      []uint32 // by row: 1 + the position of its last label; 0 if it has none
	before  []uint32 // of each label: 1 + the position of the one of the same node before it; 0 if it is the first

	unknown  nodetable.Unknown // lines
	integers bool              // all ids are integers
}

// add takes one line.
func (r *labelReader) add(line labelLine) error {
	row, known := r.t.Lookup(line.id)
	if !known {
		r.addUnknown(line)
		return nil
	}
	r.unknown.Total++
	r.integers = r.integers && table.IsInteger([]byte(line.id))
	l := r.labels
	if line.label == "" || slices.Contains(r.missing, line.label) {
		l.Unlabelled++
		l.MinusOne = l.MinusOne || line.label == "-1"
		return nil
	}
	class, ok := r.classes[line.label]
	if !ok {
		class = len(r.names)
		r.classes[line.label] = class
		r.names = append(r.names, line.label)
	}
	for next := r.at[row]; next > 0; next = r.before[next-1] {
		before := next - 1
		if l.Class[before] == class {
			l.Repeated++
			return nil
		}
		if !r.c.Several {
			return &ParseError{
				File: r.t.Name, Line: line.line,
				Msg: fmt.Sprintf("%s is %s here, %s on line %d", table.Quoted(line.id), line.label, r.names[l.Class[before]], r.lines[before]),
				Fix: "keep one of the lines", Err: ErrSeveral,
			}
		}
	}
	l.Row, l.Class = append(l.Row, row), append(l.Class, class)
	r.before = append(r.before, r.at[row])
	r.lines = append(r.lines, line.line)
	r.at[row] = uint32(len(l.Row))
	return nil
}

// addUnknown takes a line whose id is not in the graph.
func (r *labelReader) addUnknown(line labelLine) {
	r.unknown.Add(line.line, []byte(line.id))
	r.integers = r.integers && table.IsInteger([]byte(line.id))
}

// isHeader reports whether the first line, whose id is not in the graph, is a
// header, and whether its titles say so.
func (r *labelReader) isHeader() (titled, is bool) {
	head := r.head
	titled = table.IsNode(head.id) || table.IsLabel(head.label)
	if r.unknown.Total == r.unknown.Count { // nothing is known of the other lines, if there are any
		return titled, titled && r.unknown.Total > 0
	}
	if _, used := r.classes[head.label]; used {
		return false, false
	}
	return titled, titled || r.integers && !table.IsInteger([]byte(head.id))
}

// unknownError returns the error for ids that are not in the graph.
func (r *labelReader) unknownError() error {
	r.labels.Unknown = r.unknown.Count
	fix := cmp.Or(r.c.Fix, "give nodes without edges with {nodes}, or pass {unknown-ids=skip} to go on")
	return r.unknown.Err(r.t.Name, r.c.SkipUnknown, fix)
}

// finish numbers the classes by name.
func (r *labelReader) finish() *Labels {
	l := r.labels
	l.Names = slices.Sorted(slices.Values(r.names))
	number := make([]int, len(r.names))
	for i, name := range r.names {
		number[i], _ = slices.BinarySearch(l.Names, name)
	}
	for i, class := range l.Class {
		l.Class[i] = number[class]
	}
	return l
}
