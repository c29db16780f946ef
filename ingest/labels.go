package ingest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/graphfile"
)

// LabelConfig are the settings of [ReadLabels]; nil stands for the zero value.
type LabelConfig struct {
	UnknownIDs UnknownIDs   // default: an error
	Header     Header       // default: decide from the text
	MinusOne   bool         // -1 is a class like others
	Stdin      io.Reader    // what "-" reads; nil: os.Stdin
	Warn       func(string) // told of what is odd but accepted; nil: nobody
}

// Labels are the known classes of some nodes.
type Labels struct {
	File       string   // for messages
	Row        []int    // the labelled nodes, in the order of the file
	Class      []int    // of each of them, a position in Names
	Names      []string // the classes, in byte order
	Unlabelled int      // lines without a label: empty, -1 or NA
	Unknown    int      // lines passed over for a node that is not in the graph
	Repeated   int      // lines that say again what an earlier one says

	minusOne bool // some label is -1
}

// Sizes returns how many labels each of Names has.
func (l *Labels) Sizes() []int {
	size := make([]int, len(l.Names))
	for _, c := range l.Class {
		size[c]++
	}
	return size
}

// ReadLabels reads a file of lines node<TAB>label; commas, semicolons and
// blanks separate too, what follows the label is passed over. An empty label,
// NA and, unless it is a class, -1 stand for none. Of a LINQS .content file the
// label is the last field of a line. The first line is passed over as a header if
// its node is not in the graph, its label stands nowhere else, and it holds a
// usual title (node, id, …; label, class, …) or its id is no integer while all
// others are.
//
// It is an error if a node that is not in the graph has a line (unless those
// are to be skipped; if none is in the graph, always), if a node has two
// labels, or if nothing is labelled.
func ReadLabels(ctx context.Context, path string, nodes Lookup, c *LabelConfig) (*Labels, error) {
	if c == nil {
		c = &LabelConfig{}
	}
	t := &table{path: path, columns: 2, nodes: nodes, stdin: c.Stdin, warn: c.Warn}
	header := c.Header
	isContent := graphfile.Extension(path) == contentFile
	if isContent {
		t.columns, header = maxFields, NoHeader
	}
	r := &labelReader{t: t, labels: &Labels{}, minusOne: c.MinusOne, classes: map[string]int{}, at: make([]uint32, nodes.Len()), integers: true}
	first := true
	var head labelLine
	for row, err := range t.read(ctx) {
		if err != nil {
			return nil, err
		}
		line := labelLine{row.line, string(row.id()), string(row.field(1))}
		if isContent {
			line.label = string(row.text[len(row.text)-1])
		}
		if first {
			first = false
			if header == HasHeader {
				continue
			}
			if _, known := nodes.Lookup(line.id); !known && header == AutoHeader {
				head = line
				continue
			}
		}
		if err := r.add(line); err != nil {
			return nil, err
		}
	}
	r.labels.File = t.name
	if head.line > 0 {
		if !r.isHeader(head) {
			r.addUnknown(head)
		} else if c.Warn != nil {
			c.Warn(fmt.Sprintf("%s:%d: taken as a header; no node is called %s", t.name, head.line, quote([]byte(head.id))))
		}
	}
	if err := r.unknownError(c.UnknownIDs); err != nil {
		return nil, err
	}
	l := r.finish()
	if len(l.Row) == 0 {
		msg := "no labels"
		if l.Unlabelled > 0 {
			msg = fmt.Sprintf("no labels: %s, all of them empty, -1 or NA", count(l.Unlabelled, "line"))
		}
		return nil, &ParseError{File: l.File, Msg: msg, Fix: "write a line node<TAB>label for each node whose label is known"}
	}
	return l, nil
}

// Trainable returns an error unless there are two classes.
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
		if l.minusOne {
			e.Fix = "-1 stands for no label, give that class another name"
		}
	}
	return e
}

// labelLine is one line of a labels file.
type labelLine struct {
	line      int64
	id, label string
}

// labelReader collects labels.
type labelReader struct {
	t        *table
	labels   *Labels
	minusOne bool           // is a class
	classes  map[string]int // in order of first appearance
	names    []string
	lines    []int64  // of each label
	at       []uint32 // by row: 1 + the position of its label; 0 if it has none

	total     int // lines
	unknown   int // of them, with an id that is not in the graph
	firstLine labelLine
	integers  bool // all ids are integers
}

// add takes one line.
func (r *labelReader) add(line labelLine) error {
	row, known := r.t.nodes.Lookup(line.id)
	if !known {
		r.addUnknown(line)
		return nil
	}
	r.total++
	r.integers = r.integers && canonical([]byte(line.id))
	l := r.labels
	if line.label == "" || line.label == "-1" && !r.minusOne || line.label == "NA" {
		l.Unlabelled++
		l.minusOne = l.minusOne || line.label == "-1"
		return nil
	}
	class, ok := r.classes[line.label]
	if !ok {
		class = len(r.names)
		r.classes[line.label] = class
		r.names = append(r.names, line.label)
	}
	if before := int(r.at[row]) - 1; before >= 0 {
		if l.Class[before] != class {
			return &ParseError{
				File: r.t.name, Line: line.line,
				Msg: fmt.Sprintf("%s is %s here, %s on line %d", quote([]byte(line.id)), line.label, r.names[l.Class[before]], r.lines[before]),
				Fix: "keep one of the lines",
			}
		}
		l.Repeated++
		return nil
	}
	l.Row, l.Class = append(l.Row, row), append(l.Class, class)
	r.lines = append(r.lines, line.line)
	r.at[row] = uint32(len(l.Row))
	return nil
}

// addUnknown takes a line whose id is not in the graph.
func (r *labelReader) addUnknown(line labelLine) {
	r.total++
	r.unknown++
	r.integers = r.integers && canonical([]byte(line.id))
	if r.firstLine.line == 0 || line.line < r.firstLine.line {
		r.firstLine = line
	}
}

// labelTitles are words that head a column of labels.
var labelTitles = map[string]bool{"label": true, "labels": true, "class": true, "category": true, "group": true, "community": true, "subject": true, "y": true}

// isHeader reports whether the first line, whose id is not in the graph, is a
// header.
func (r *labelReader) isHeader(head labelLine) bool {
	if _, used := r.classes[head.label]; used || r.total == r.unknown {
		return false
	}
	return isNodeTitle([]byte(head.id)) || labelTitles[strings.ToLower(head.label)] || r.integers && !canonical([]byte(head.id))
}

// unknownError returns the error for ids that are not in the graph.
func (r *labelReader) unknownError(policy UnknownIDs) error {
	r.labels.Unknown = r.unknown
	first := r.firstLine
	switch {
	case r.unknown == 0:
	case r.unknown == r.total:
		return noneKnown(r.t.name, r.total, first.id)
	case policy != SkipUnknown:
		return someUnknown(r.t.name, first.line, first.id, r.unknown, r.total, "give nodes without edges with --nodes, or pass --unknown-ids=skip to go on")
	}
	return nil
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

// noneKnown is the error for a file about another graph.
func noneKnown(name string, total int, first string) error {
	msg := fmt.Sprintf("none of %d ids is in the graph (first %s)", total, quote([]byte(first)))
	if total == 1 {
		msg = fmt.Sprintf("%s is not in the graph", quote([]byte(first)))
	}
	return &ParseError{File: name, Msg: msg, Fix: "does one file count from 0 and the other from 1?"}
}

// someUnknown is the error for some ids that are not in the graph.
func someUnknown(name string, line int64, id string, unknown, total int, fix string) error {
	verb := "are"
	if unknown == 1 {
		verb = "is"
	}
	return &ParseError{
		File: name, Line: line,
		Msg: fmt.Sprintf("%s is not in the graph (%d of %d ids %s not)", quote([]byte(id)), unknown, total, verb),
		Fix: fix,
	}
}
