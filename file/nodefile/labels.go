package nodefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// LabelConfig holds the settings of [ReadLabels]. Nil means the zero value.
type LabelConfig struct {
	SkipUnknown bool        // skip nodes that are not in the graph, otherwise an error
	SkipBad     bool        // skip faulty lines with a warning, otherwise an error
	Set         string      // noun for all nodes in messages; default: "the graph"
	Text        input.Text  // form of the text
	Fields      []string    // columns of node and label, by numbers from 1 or titles; nil: found by their titles, or the first two
	Option      string      // option that names a column in messages; default: label-fields
	Like        *Labels     // labels of another table, whose columns are used if this table has their titles; may be nil
	Missing     []string    // words for a missing label in any case, besides the empty text; nil: -1 and the words of [table.Missing], if all other labels are numbers
	MinusOne    bool        // -1 is a label
	Several     bool        // a node may have several labels, each on a line of its own
	Separator   string      // text between labels on one line if Several is set; "": one label a line
	Fix         string      // remedy for nodes that are not in the graph; default: the options of ingest
	Stdin       io.Reader   // content of the path "-"; nil: os.Stdin
	Warn        func(error) // called with warnings; may be nil
}

// ErrSeveral is wrapped by the error about a node with several labels if LabelConfig.Several is not set.
var ErrSeveral = errors.New("several labels of a node")

// Labels holds the known classes of some nodes.
type Labels struct {
	File       string   // file name for messages
	Node       int      // column of the nodes, from 0
	NodeTitle  string   // its title; "" without titles
	Row        []int    // labelled nodes in the order of the ids; a node with several labels once for each
	Class      []int    // for each entry of Row, an index of Names
	Names      []string // class names in the order of their first nodes, see [Labels.Sort]
	Unlabelled int      // lines without a label: empty, blank, or a word for a missing label
	Unknown    int      // lines skipped because their node is not in the graph
	Repeated   int      // lines that repeat an earlier one
	MinusOne   bool     // a line has the number -1, read as a missing label

	MissingWords []string      // words read as missing labels, in byte order
	Columns      input.Columns // use of the columns; nil if there is nothing to report
}

func (l *Labels) titleOf(uses ...string) string {
	for i, column := range l.Columns {
		if slices.Contains(uses, column.Use) &&
			column.Title != "column "+strconv.Itoa(i+1) {
			return column.Title
		}
	}
	return ""
}

// Title returns the title of the column of the labels, or "".
func (l *Labels) Title() string {
	return l.titleOf(input.Label, input.Value)
}

// Sizes returns the number of labels of each class.
func (l *Labels) Sizes() []int {
	sizes := make([]int, len(l.Names))
	for _, c := range l.Class {
		sizes[c]++
	}
	return sizes
}

// Trainable returns a [*ParseError] if the labels have fewer than two classes.
func (l *Labels) Trainable() error {
	if len(l.Names) >= 2 {
		return nil
	}
	e := textio.Fault(l.File, 0, "", "no training labels")
	if len(l.Names) == 1 {
		e.Msg = fmt.Sprintf("all %d training labels are %q; two classes are needed",
			len(l.Row), l.Names[0])
		if len(l.Row) == 1 {
			e.Msg = fmt.Sprintf("the only training label is %q; two classes are needed", l.Names[0])
		}
		if l.MinusOne {
			e.Fix = "-1 means no label; rename that class"
		}
	}
	return e
}

// LabelsOf returns the labels of the rows of a file, or nil if no row has a class. class[i] is the class of row i, or
// "".
func LabelsOf(file string, class []string) *Labels {
	l := &Labels{File: file}
	all := classes{}
	for row, name := range class {
		if name != "" {
			l.Row = append(l.Row, row)
			l.Class = append(l.Class, all.add(&l.Names, name))
		}
	}
	if l.Row == nil {
		return nil
	}
	return l
}

// ReadLabels reads a table with a node and its label in each row, as delimited text or Parquet.
//
// Columns are chosen by the rules of docs/tables.md: c.Fields, else the titles of a header in any order, else the
// only two columns. A NumPy array (.npy) has one integer for each node, in the order of the ids, and -1 for a node
// without a label. In a LINQS .content file the label is the last field of a line.
//
// A node has no label if its label is empty, blank or a word in c.Missing. If c.Missing is nil, NA, NaN, null and -1
// are missing labels among numbers, and classes among other text. Classes that are equal as numbers, for example 1
// and 1.0, are one class with the first of their names; 01 is another class.
//
// Of predictions that heatwalk wrote, ReadLabels reads the rows whose column known is true, and warns; with c.Fields it
// reads all rows.
//
// ReadLabels calls c.Warn if classes differ in the case of letters only and, if c.Missing is nil, if a class is -1 or
// a word such as unknown.
//
// ReadLabels returns an error if it cannot choose the columns, if no node is labelled, if a node has two labels and
// c.Several is not set, and if a node is not in the graph; if c.SkipUnknown is set, only if no node is in the graph.
func ReadLabels(ctx context.Context, path string, nodes Lookup,
	c *LabelConfig) (*Labels, error) {
	c = cmp.Or(c, &LabelConfig{})
	return newLabelReader(c, nodes).read(ctx, path, nodes)
}

func newLabelReader(c *LabelConfig, nodes Lookup) *labelReader {
	r := &labelReader{
		c: c, labels: &Labels{}, last: make([]uint32, nodes.Len()),
		t: &Reader{
			Lookup: nodes.Lookup, Value: input.Label, Fields: c.Fields,
			Option: cmp.Or(c.Option, "label-fields"), Text: c.Text, SkipBad: c.SkipBad, Wide: c.Several,
			Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn},
		},
		unknown: Unknown{Nodes: nodes, Set: c.Set, Option: "label-fields"},
	}
	if c.Like != nil {
		r.t.Option = ""
		if node := c.Like.titleOf(input.Node); node != "" {
			r.t.Guess = true
			r.t.Fields = []string{node, c.Like.Title()}
		}
	}
	return r
}

func (r *labelReader) read(ctx context.Context, path string,
	nodes Lookup) (*Labels, error) {
	if isArray(path) {
		return r.readArray(ctx, path, nodes)
	}
	for row, err := range r.t.Read(ctx, path) {
		if err == nil {
			err = r.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.end(nodes)
}

// end decides which words among numbers are missing labels, and sorts the labels.
func (r *labelReader) end(nodes Lookup) (*Labels, error) {
	l := r.labels
	areNumbers := len(l.Names) == 0 || l.Numeric() > 0
	for _, d := range r.deferred {
		if areNumbers {
			r.skip(d.label)
		} else if err := r.keep(d.row, d.label, Row{Line: d.line, Text: [][]byte{[]byte(d.id)}}); err != nil {
			return nil, err
		}
	}
	l.File, l.Columns, l.Unknown = r.t.Name, r.t.Columns, r.unknown.Count
	l.Node = r.t.Node
	if r.t.Titles != nil {
		l.NodeTitle = r.t.Titles[r.t.Node]
	}
	if r.c.Missing == nil && !r.isValue {
		l.warnOfWords(r.c.Warn, !r.c.MinusOne)
	}
	if !r.isValue {
		r.classes.warn(l.File, r.c.Warn)
	}
	l.warnOfAlike(r.c.Warn)
	fix := cmp.Or(r.c.Fix,
		"list nodes without edges with {nodes}, or skip unknown ids with {unknown-ids=skip}")
	if err := r.unknown.Err(r.t.Name, r.c.SkipUnknown, fix); err != nil {
		return nil, err
	}
	l.Sort(nodes)
	word := "label"
	if r.isValue {
		word = "number"
	}
	const rename = "to read predictions too, name the columns with {label-fields}"
	if r.predicted > 0 && len(l.Row) == 0 {
		return nil, textio.Fault(l.File, 0, rename, "no %ss: all %s are predictions, with known = false", word, words.Counted(r.predicted, "row"))
	}
	if r.predicted > 0 && r.c.Warn != nil {
		r.c.Warn(textio.Fault(l.File, 0, rename, "the file has predictions: %s with known = false left out", words.Counted(r.predicted, "row")))
	}
	if len(l.Row) == 0 {
		msg := "no " + word + "s"
		if l.Unlabelled > 0 {
			msg += fmt.Sprintf(": %s without one",
				words.Counted(l.Unlabelled, "line"))
			if l.MissingWords != nil {
				msg += fmt.Sprintf(" (%s)", strings.Join(l.MissingWords, ", "))
			}
		}
		return nil, textio.Fault(l.File, 0,
			fmt.Sprintf("write a line node<TAB>%[1]s for each node whose %[1]s is known", word), "%s", msg)
	}
	return l, nil
}

// classes numbers the names of classes. Names that are one whole number, such as 1 and 1.0, are one class.
type classes struct {
	code   map[string]int  // class by name, and by table.ClassKey
	joined map[string]bool // names of a class that already had another name
	pair   [2]string       // the first name of such a class, and the name
}

func (c *classes) add(names *[]string, label string) (class int) {
	if c.code == nil {
		c.code = map[string]int{}
		c.joined = map[string]bool{}
	}
	if class, isKnown := c.code[label]; isKnown && label == (*names)[class] {
		return class
	}
	key := table.ClassKey(label)
	class, isKnown := c.code[key]
	if !isKnown {
		class = len(*names)
		*names = append(*names, label)
	} else {
		if len(c.joined) == 0 {
			c.pair = [2]string{(*names)[class], label}
		}
		c.joined[label] = true
	}
	c.code[key] = class
	c.code[label] = class
	return class
}

// warn warns of names that are one class.
func (c *classes) warn(file string, warn func(error)) {
	if len(c.joined) > 0 && warn != nil {
		warn(textio.Fault(file, 0, "write them with a letter if they are different", "%s and %s are one class, because they are one whole number (%s)",
			words.Quoted(c.pair[0]), words.Quoted(c.pair[1]), words.Counted(len(c.joined), "such pair")))
	}
}

// warnOfWords warns of classes that look like missing labels and, if minusOne is set, of a class -1 among classes
// that are not numbers.
func (l *Labels) warnOfWords(warn func(error), minusOne bool) {
	var list, quoted []string
	nodes := 0
	isWord := func(name string) bool {
		return table.IsMissing(name, table.Doubtful) || minusOne && table.ClassKey(name) == "-1" && l.Numeric() == 0
	}
	for _, class := range l.Class {
		if isWord(l.Names[class]) {
			nodes++
		}
	}
	for _, name := range l.Names {
		if isWord(name) {
			list = append(list, name)
			quoted = append(quoted, words.Quoted(name))
		}
	}
	if list != nil && warn != nil {
		warn(textio.Fault(l.File, 0, "if there is no label there, pass {missing="+strings.Join(list, ",")+"}",
			"read as a class: %s, with %s", strings.Join(quoted, ", "), words.Counted(nodes, "node")))
	}
}

func (l *Labels) warnOfAlike(warn func(error)) {
	if warn == nil {
		return
	}
	same := map[string]string{}
	if warning := table.AlikeWarning(l.File, "class", slices.Values(l.Names), func(name string) bool { return slices.Contains(l.Names, name) }); warning != nil {
		warn(warning)
	}
	for _, name := range l.Names {
		folded := strings.ToLower(name)
		if first, isKnown := same[folded]; isKnown {
			warn(textio.Fault(l.File, 0, "if they are one class, write them alike",
				"the classes %s and %s differ only in the case of letters",
				words.Quoted(first), words.Quoted(name)))
			continue
		}
		same[folded] = name
	}
}

// Respell renames classes: a class that equals one of names as a number gets that name, for example 1 instead of 1.0.
// Classes of two files can then be compared by name.
func (l *Labels) Respell(names []string) {
	spelling := map[string]string{}
	for _, name := range names {
		spelling[table.ClassKey(name)] = name
	}
	for i, name := range l.Names {
		l.Names[i] = cmp.Or(spelling[table.ClassKey(name)], name)
	}
}

type labelReader struct {
	c        *LabelConfig
	t        *Reader
	labels   *Labels
	classes  classes
	lines    []int64
	last     []uint32 // for each row, 1 + index of its last label, or 0
	previous []uint32 // for each label, 1 + index of the previous label of the same node, or 0
	isValue  bool     // labels must be numbers

	predicted int             // rows with a prediction
	numbers   map[float64]int // values by number
	unit      string          // unit of the values so far, see [table.SplitAmount]

	deferred []deferredLabel

	unknown Unknown
}

// deferredLabel is a word that is a missing label if all other labels are numbers. Only the end of the table decides
// this.
type deferredLabel struct {
	id    string
	row   int
	label string
	line  int64
}

// maxName limits the bytes of a class name, because predictions repeat it for every node.
const maxName = 64 << 10

func (r *labelReader) add(line Row) error {
	if i := r.t.Known; i >= 0 && !strings.EqualFold(string(line.Field(i)), "true") {
		r.predicted++
		return nil
	}
	if line.At >= 0 && len(line.Value()) == 0 && !r.t.isNode()(string(line.ID())) {
		r.skip("") // for example a line of totals
		return nil
	}
	row, isNode := r.unknown.Find(r.t.Lookup, line.Line, line.ID())
	if !isNode {
		return nil
	}
	if r.t.WideColumns != nil {
		return r.addWide(row, line)
	}
	labels := []string{string(line.Value())}
	if r.c.Separator != "" {
		labels = strings.Split(labels[0], r.c.Separator)
	}
	for _, label := range labels {
		label = strings.TrimSpace(label)
		if label == "" && len(labels) > 1 {
			continue
		}
		if err := r.label(row, label, line); err != nil {
			return err
		}
	}
	return nil
}

// addWide adds the labels of a row with a column of 0 and 1 for each label.
func (r *labelReader) addWide(row int, line Row) error {
	count := 0
	for _, i := range r.t.WideColumns {
		switch text := string(line.Field(i)); text {
		case "1", "1.0":
			count++
			if err := r.keep(row, r.t.Titles[i], line); err != nil {
				return err
			}
		case "0", "0.0", "":
		default:
			return r.t.Fault(line, i, "fix the line", "%s is neither 0 nor 1", words.Quoted(text))
		}
	}
	if count == 0 {
		r.skip("")
	}
	return nil
}

func (r *labelReader) skip(label string) {
	l := r.labels
	l.Unlabelled++
	l.MinusOne = l.MinusOne || table.ClassKey(label) == "-1"
	if position, isListed := slices.BinarySearch(l.MissingWords,
		label); strings.TrimSpace(label) != "" && !isListed {
		l.MissingWords = slices.Insert(l.MissingWords, position, label)
	}
}

func (r *labelReader) label(row int, label string, line Row) error {
	r.unknown.TitleFix = r.t.TitleFix
	if _, isClass := r.classes.code[label]; !isClass {
		key := table.ClassKey(label)
		isWord := table.IsMissing(label, table.Missing)
		switch {
		case table.IsMissing(label, r.c.Missing), table.IsMissing(key, r.c.Missing), r.isValue && isWord:
			r.skip(label)
			return nil
		case r.c.Missing == nil && (isWord || key == "-1" && !r.c.MinusOne && !r.isValue):
			r.deferred = append(r.deferred, deferredLabel{string(line.ID()), row, label, line.Line})
			return nil
		}
	}
	return r.keep(row, label, line)
}

func (r *labelReader) keep(row int, label string, line Row) error {
	l := r.labels
	class, ok := r.classes.code[label]
	if len(label) > maxName {
		return r.t.Fault(line, line.At, "shorten it",
			"a class name of %d bytes, more than 64 KiB", len(label))
	}
	switch {
	case ok && (r.isValue || label == l.Names[class]):
	case r.isValue:
		var err error
		if class, err = r.addNumber(label, line); err != nil {
			return err
		}
	default:
		class = r.classes.add(&l.Names, label)
	}
	for next := r.last[row]; next > 0; next = r.previous[next-1] {
		earlier := next - 1
		if l.Class[earlier] == class {
			l.Repeated++
			return nil
		}
		if !r.c.Several {
			return &ParseError{
				File: r.t.Name, Line: line.Line,
				Msg: fmt.Sprintf("%s is %s here, %s on line %d",
					words.Quoted(line.ID()), label, l.Names[l.Class[earlier]],
					r.lines[earlier]),
				Fix: "keep one of the lines", Err: ErrSeveral,
			}
		}
	}
	l.Row = append(l.Row, row)
	l.Class = append(l.Class, class)
	r.previous = append(r.previous, r.last[row])
	r.lines = append(r.lines, line.Line)
	r.last[row] = uint32(len(l.Row))
	return nil
}
