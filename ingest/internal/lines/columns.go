package lines

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest/internal/parse"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// SampleLines is how many lines are compared with a possible header.
const SampleLines = 100

// head is the first data line of an edge list, from which the layout follows.
type head struct {
	c      *Settings
	name   string
	konect bool
	lay    *Layout
	titles []string   // fields of the first line
	below  [][]string // fields of the next lines
	shift  int        // 1: the lines below have a field more, the name of their row, before those of the header
}

// layoutFrom decides the layout on one line; rest is the text behind it. With an
// error, only the line of the layout is set.
func (c *Settings) layoutFrom(name string, konect bool, number int64, line, rest []byte) (*Layout, error) {
	lay := &Layout{line: number, first: number, source: -1, target: -1, weight: -1, sep: table.Blanks}
	lay.sep, lay.comma = c.separatorOf(name, konect, line), c.Text.HasDecimalComma()
	if c.attributeLayout(name, lay, line, rest) {
		(&head{c: c, lay: lay}).separateKinds()
		return lay, nil
	}
	var f table.Fields
	if err := f.Split(line, lay.sep); err != nil {
		return lay, textio.Fault(name, number, table.SplitFix(err, FixLine), "%w", err)
	}
	f.DropEmpty(2)
	h := &head{c: c, name: name, konect: konect, lay: lay, titles: f.Strings()}
	h.sample(rest)
	if err := h.refuse(); err != nil {
		return lay, err
	}
	header, err := h.choose()
	if err == nil {
		err = h.checkForm()
	}
	if err != nil {
		return lay, err
	}
	if header {
		lay.first++
	}
	lay.numeric = h.numericIDs(header)
	lay.template = parse.Template{Sep: lay.sep, Weighted: lay.columns == 3, Limit: 1 << 32}
	lay.simple = lay.source == 0 && lay.target == 1 && (lay.columns == 2 || lay.columns == 3)
	h.separateKinds()
	return lay, nil
}

// separatorOf returns the separator of the fields of a line. Lines of KONECT mix blanks
// and tabs, which stand in no id.
func (c *Settings) separatorOf(name string, konect bool, line []byte) byte {
	if konect && c.Text.Delimiter == "" {
		return table.Blanks
	}
	return table.SeparatorOf(c.Text, name, bytes.TrimRight(line, table.Blank))
}

// numericIDs reports whether the ids of the first lines are integers.
func (h *head) numericIDs(header bool) bool {
	rows := h.below
	if !header {
		rows = append([][]string{h.titles}, rows...)
	}
	lay := h.lay
	isInteger := func(row []string, i int) bool { return i < len(row) && table.IsInteger([]byte(row[i])) }
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(row []string) bool {
		return !isInteger(row, lay.source) || !isInteger(row, lay.target)
	})
}

// sample splits the lines below the head.
func (h *head) sample(rest []byte) {
	var f table.Fields
	for len(rest) > 0 && len(h.below) < SampleLines {
		end := bytes.IndexByte(rest, '\n')
		line := rest[:end]
		rest = rest[end+1:]
		marked := table.IsComment(line)
		if marked && !table.MayBeRow(line) || f.Split(line, h.lay.sep) != nil {
			continue // faults are reported when the line is read
		}
		if f.DropEmpty(max(2, len(h.titles))); marked && (len(f.Text) != len(h.titles) || table.IsInteger(f.Text[0][1:])) {
			continue
		}
		h.below = append(h.below, f.Strings())
	}
}

// fault is an error about the head.
func (h *head) fault(fix, format string, args ...any) error {
	return textio.Fault(h.name, h.lay.line, fix, format, args...)
}

// warn reports something odd about a line, or about the whole file for line 0, with its remedy.
func (h *head) warn(line int64, msg, fix string) {
	h.c.Warn(&textio.Error{File: h.name, Line: line, Msg: msg, Fix: fix})
}

// choose settles which columns the lines have, and whether the head is a header.
func (h *head) choose() (header bool, err error) {
	named, isNamed := table.FindEdges(h.titles)
	if isNamed && h.isAbove(len(h.titles)+1) {
		h.shift = 1
	}
	switch {
	case h.c.Fields != nil:
		return h.chooseFields()
	case h.c.Weight != "":
		return h.chooseWeight(named, isNamed)
	case isNamed && h.c.Header != nodefile.NoHeader && (h.c.Header == nodefile.HasHeader || h.isTitled(named)):
		h.take(named)
		h.warnUnweighted()
		return true, nil
	}
	from := 0
	if h.c.Header != nodefile.NoHeader && h.hasIndex() {
		from = 1
	}
	guess := table.EdgeColumns{Source: from, Target: from + 1, Weight: -1}
	if len(h.titles) == from+3 {
		guess.Weight = from + 2
	}
	switch h.c.Header {
	case nodefile.HasHeader:
		header = true
	case nodefile.AutoHeader:
		header = from > 0 || h.isGuessed(guess) || len(h.titles) > 3 && h.isAboveNumbers()
	}
	if header && len(h.titles) >= 2 {
		return true, h.chooseUntitled(from, guess)
	}
	return false, h.choosePlain(guess)
}

// hasIndex reports whether the first column of a header numbers the rows.
func (h *head) hasIndex() bool {
	n := len(h.titles)
	return n > 2 && table.IsIndex(h.titles[0]) && (isCount(h.titles[1:]) || !isNumber(h.titles[n-1]))
}

// take makes columns of the header those of the layout.
func (h *head) take(c table.EdgeColumns) {
	lay := h.lay
	lay.columns = len(h.titles) + h.shift
	lay.source, lay.target = c.Source+h.shift, c.Target+h.shift
	if c.Weight >= 0 {
		lay.weight = c.Weight + h.shift
	}
	lay.titles = h.listed()
	lay.Columns = c.Report(h.titles)
}

// listed returns the titles for a message, cut at 200 bytes. A column without a title is named
// "row", because it numbers or names the rows.
func (h *head) listed() string {
	titles := slices.Clone(h.titles)
	if titles[0] == "" {
		titles[0] = "row"
	}
	if h.shift > 0 {
		titles = append([]string{"row"}, titles...)
	}
	text := strings.Join(titles, ", ")
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}

// chooseFields settles the columns as the settings name them.
func (h *head) chooseFields() (header bool, err error) {
	lay, fields := h.lay, h.c.Fields
	columns, err := table.Choose(fields, h.titles)
	if err != nil {
		fix := "correct {fields}"
		if allIntegers := !slices.ContainsFunc(fields, func(f string) bool { return !table.IsInteger([]byte(f)) }); allIntegers {
			fix = "columns count from 1"
		} else if len(h.titles) > 1 {
			_, fix = table.Unnamed(h.titles)
		}
		return true, h.fault(fix, "%v", err)
	}
	c := table.EdgeColumns{Source: columns[0], Target: columns[1], Weight: -1}
	if len(columns) == 3 {
		c.Weight = columns[2]
	}
	if !table.Numbers(fields) {
		h.take(c)
		return true, nil
	}
	defer func() {
		if err == nil {
			h.reportFields(c, header)
		}
	}()
	lay.source, lay.target, lay.weight = c.Source, c.Target, c.Weight
	if need := slices.Max(columns) + 1; len(h.titles)+h.shift < need {
		return false, h.fault("correct {fields}", "%s, want %s", table.Counted(len(h.titles), "field"), lay.want())
	}
	if h.shift > 0 || h.c.Header != nodefile.AutoHeader {
		return h.shift > 0 || h.c.Header == nodefile.HasHeader, nil
	}
	for other := range h.titles { // a column that is not used may show it too
		if guess := c; guess.Weight < 0 && other != c.Source && other != c.Target {
			guess.Weight = other
			header = header || h.isGuessed(guess)
		}
	}
	return header || h.isTitled(c) || h.isGuessed(c), nil
}

// reportFields reports the uses of columns that the settings choose by their numbers.
func (h *head) reportFields(c table.EdgeColumns, header bool) {
	titles := slices.Clone(h.titles)
	for i := range titles {
		if !header {
			titles[i] = fmt.Sprintf("column %d", i+1)
		}
	}
	if h.shift > 0 {
		titles = append([]string{""}, titles...)
	}
	if header || len(titles) > 3 || len(titles) == 3 && c.Weight < 0 {
		h.lay.Columns = c.Report(titles)
	}
}

// chooseWeight settles the columns where the settings name the weight alone: the titles have to
// name the ends.
func (h *head) chooseWeight(c table.EdgeColumns, isNamed bool) (header bool, err error) {
	if !isNamed {
		return true, h.unnamed()
	}
	weight, err := table.Choose([]string{h.c.Weight}, h.titles)
	if err == nil && weight[0] >= len(h.titles) {
		err = fmt.Errorf("the header %s has no column %s", table.Quote(h.titles), h.c.Weight)
	}
	if err != nil {
		return true, h.fault("correct {weight}", "%v", err)
	}
	c.Weight = weight[0]
	h.take(c)
	return true, nil
}

// chooseUntitled settles the columns under a header whose titles name no ends of an
// edge: where there are but two and perhaps a weight, those are meant.
func (h *head) chooseUntitled(from int, guess table.EdgeColumns) error {
	data := h.titles[from:]
	switch {
	case from > 0 && len(data) <= 3 && isCount(data): // pandas numbers columns that have no names
		if len(data) == 3 && h.isTime(from+2, h.below) {
			guess.Weight = -1
		}
	case len(data) == 2:
	case len(data) == 3 && table.IsWeight(data[2]):
	case len(data) == 3 && table.IsTime(data[2]):
		guess.Weight = -1
	default:
		return h.unnamed()
	}
	h.take(guess)
	if h.c.Header == nodefile.AutoHeader && from == 0 {
		h.warn(h.lay.line, "taken as a header", "pass {header=no} if it is an edge")
	}
	return nil
}

// isCount reports whether titles are 0, 1, 2 and so on.
func isCount(titles []string) bool {
	for i, title := range titles {
		if title != fmt.Sprint(i) {
			return false
		}
	}
	return true
}

// choosePlain settles the columns of a file without a header.
func (h *head) choosePlain(guess table.EdgeColumns) error {
	lay, n := h.lay, len(h.titles)
	switch {
	case n < 2:
		fix := FixLine
		if len(h.below) == 0 || h.isAbove(n) {
			fix = "write source and target on each line, with a separator between"
		}
		if at := strings.IndexAny(h.titles[0], "|^~"); n == 1 && at > 0 && at+1 < len(h.titles[0]) {
			fix = "pass {delimiter=" + h.titles[0][at:at+1] + "}"
		}
		return h.fault(fix, "%s, want 2 or 3 (source, target, weight)", table.Counted(n, "field"))
	case n == 4 && h.konect:
		lay.source, lay.target, lay.weight = 0, 1, 2 // and a time, which is passed over
		return nil
	case n > 3:
		return h.manyFields()
	}
	lay.source, lay.target, lay.weight, lay.columns = guess.Source, guess.Target, guess.Weight, n
	if n == 3 && !h.konect && h.isTime(2, append(h.below, h.titles)) {
		lay.weight = -1
		t, _ := table.TimeOf(h.titles[2])
		lay.Columns = input.Columns{{Title: "column 1", Use: input.Source}, {Title: "column 2", Use: input.Target}, {Title: "column 3", Note: "times"}}
		h.warn(0, fmt.Sprintf("the third column looks like times (%s is %s) and is left out", h.titles[2], t.Format("2006-01-02")), "{fields=1,2,3} makes it the weight")
	}
	return nil
}

// isTime reports whether a column of all rows holds times.
func (h *head) isTime(column int, rows [][]string) bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(row []string) bool {
		if column >= len(row) {
			return true
		}
		_, is := table.TimeOf(row[column])
		return !is
	})
}

// isAbove reports whether all lines below have n fields.
func (h *head) isAbove(n int) bool {
	return len(h.below) > 0 && !slices.ContainsFunc(h.below, func(row []string) bool { return len(row) != n })
}

func isNumber(text string) bool {
	_, fault := table.ParseNumber([]byte(text), 64)
	return fault == ""
}

// isTitled reports whether the head has titles of an edge's ends, which occur nowhere
// below.
func (h *head) isTitled(c table.EdgeColumns) bool {
	if max(c.Source, c.Target) >= len(h.titles) {
		return false
	}
	source, target := h.titles[c.Source], h.titles[c.Target]
	if _, named := table.FindEdges([]string{source, target}); !named {
		return false
	}
	if len(h.below) == 0 { // an empty part of a larger table
		return true
	}
	return !slices.ContainsFunc(h.below, func(row []string) bool {
		return slices.ContainsFunc([]int{c.Source + h.shift, c.Target + h.shift}, func(i int) bool {
			return i < len(row) && (row[i] == source || row[i] == target)
		})
	})
}

// isGuessed reports whether the lines below show that the head is a header: its ids are no numbers
// while theirs are, or its weight is a title while theirs are numbers, perhaps with a decimal
// comma.
func (h *head) isGuessed(c table.EdgeColumns) bool {
	need := max(c.Source, c.Target, c.Weight) + 1
	if len(h.titles) < need {
		return false
	}
	isInteger := func(text string) bool { return table.IsInteger([]byte(text)) }
	words := !isInteger(h.titles[c.Source]) && !isInteger(h.titles[c.Target])
	noWeight := c.Weight >= 0 && table.IsTitle(h.titles[c.Weight])
	lines := 0
	for _, row := range h.below {
		if len(row) < need {
			continue
		}
		lines++
		words = words && isInteger(row[c.Source]) && isInteger(row[c.Target])
		noWeight = noWeight && (isNumber(row[c.Weight]) || table.IsDecimalComma([]byte(row[c.Weight])))
	}
	return lines > 0 && (words || noWeight)
}

// attributeLayout settles the layout of NetworkX's edge lists, whose lines end in a
// dictionary: {} or {'weight': 3}. There are weights if the first lines have any.
func (c *Settings) attributeLayout(name string, lay *Layout, line, rest []byte) bool {
	ids, _, ok := cutAttributes(line)
	sep := table.SeparatorOf(c.Text, name, ids)
	var f table.Fields
	if !ok || f.Split(ids, sep) != nil || len(f.Text) != 2 || c.Fields != nil && !table.Numbers(c.Fields) {
		return false
	}
	lay.sep, lay.source, lay.target, lay.columns, lay.attributes = sep, 0, 1, 2, true
	switch {
	case c.Fields == nil && (hasWeight(line) || hasWeight(rest)):
		lay.weight, lay.columns = 2, 3
	case c.Fields != nil:
		lay.columns = 0 // weights may be passed over
		if len(c.Fields) == 3 {
			lay.weight = 2
		}
	}
	return true
}

// cutAttributes takes a dictionary off the end of a line, and the separator before it.
func cutAttributes(line []byte) (ids, attributes []byte, ok bool) {
	const separators = table.Blank + ",;"
	line = bytes.TrimRight(line, table.Blank)
	at := bytes.IndexByte(line, '{')
	if at < 1 || line[len(line)-1] != '}' || !bytes.ContainsRune([]byte(separators), rune(line[at-1])) {
		return nil, nil, false
	}
	return bytes.TrimRight(line[:at], separators), line[at:], true
}

// weightKeys are how Python and JSON write the key of a weight.
var weightKeys = [][]byte{[]byte(`'weight':`), []byte(`"weight":`)}

func hasWeight(text []byte) bool {
	return bytes.Contains(text, weightKeys[0]) || bytes.Contains(text, weightKeys[1])
}

// weightOf returns the text of the weight in a dictionary, "1" if it has none, as
// NetworkX counts it. NumPy's numbers stand in parentheses: np.float64(3.0).
func weightOf(attributes []byte) []byte {
	for _, key := range weightKeys {
		if _, value, ok := bytes.Cut(attributes, key); ok {
			value = value[:bytes.IndexAny(value, ",}")]
			if open := bytes.IndexByte(value, '('); open >= 0 {
				value = bytes.TrimRight(value[open+1:], ") ")
			}
			return bytes.Trim(value, table.Blank)
		}
	}
	return []byte("1")
}

// split cuts a line into its fields. Of one with a dictionary, the weight becomes the
// third, or without weights the text that it has too much.
func (lay *Layout) split(f *table.Fields, line []byte) error {
	if !lay.attributes {
		return f.Split(line, lay.sep)
	}
	ids, attributes, ok := cutAttributes(line)
	if !ok {
		return f.Split(line, lay.sep)
	}
	if err := f.Split(ids, lay.sep); err != nil {
		return err
	}
	if lay.weight >= 0 || hasWeight(attributes) {
		f.Text, f.Start, f.Padded = append(f.Text, weightOf(attributes)), append(f.Start, len(line)-len(attributes)), append(f.Padded, false)
	}
	return nil
}
