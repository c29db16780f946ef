package nodetable

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// begin finds the first line of data in the first chunk of a file, decides whether it is a
// header, and chooses the columns.
func (t *Reader) begin(chunk *textio.Chunk) error {
	t.first = 0
	t.Line = 0
	t.Node = 0
	t.At = -1
	if t.Value != "" {
		t.At = 1
	}
	if sep := table.DeclaredSeparator(chunk.Data); sep != "" && !isList(t.Name) {
		t.first = chunk.First + 1
		if t.Text.Delimiter == "" {
			t.Text.Delimiter = sep
		}
	}
	if t.Lookup == nil && !isList(t.Name) {
		first, doubtful := table.FirstData(chunk.Data, t.separator)
		t.first = chunk.First + int64(first)
		if first < 0 {
			t.first = chunk.First + int64(chunk.Lines)
		}
		if doubtful >= 0 {
			t.warn(chunk.First+int64(doubtful),
				"if it is data, write a header line above it", "read as a comment")
		}
	}
	lines, numbers := t.dataLines(chunk)
	titles := t.countTitles(lines, numbers)
	lines = lines[titles:]
	if len(lines) == 0 {
		return nil
	}
	number := numbers[titles]
	t.sep = t.separator(lines[0])
	if t.Lookup != nil || titles > 0 {
		t.first = number
	}
	if isList(t.Name) {
		t.checkTitle(lines, number)
	}
	if isList(t.Name) || isContent(t.Name) {
		return nil
	}
	var rows [][]string
	for i, line := range lines {
		if t.fields.Split(line, t.sep) == nil {
			rows = append(rows, t.fields.Strings())
		} else if i == 0 {
			return nil // Rows reports the error when it reads the line
		}
	}
	t.hasBlanks = t.sep == table.Blanks && t.Value != "" && !t.Every &&
		t.Fields == nil && !isTable(t, rows[0], rows[1:])
	for i, row := range rows {
		if t.hasBlanks && len(row) > 2 {
			rows[i] = []string{row[0], strings.Join(row[1:], " ")}
		}
	}
	return t.choose(number, rows[0], rows[1:])
}

// checkTitle skips the first line of a list that heatwalk or another program wrote if it is no node of the graph, unlike
// all lines below. If the graph is not known, it warns of a first line with the form of a title.
func (t *Reader) checkTitle(lines [][]byte, number int64) {
	s := &table.Sample{Titles: []string{string(lines[0])}}
	nodes := 0
	for _, line := range lines[1:] {
		s.Rows = append(s.Rows, []string{string(line)})
		if t.Lookup != nil {
			if _, isNode := Find(t.Lookup, string(line)); isNode {
				nodes++
			}
		}
	}
	isTitle := table.IsListTitle(s)
	if t.Lookup != nil {
		_, isNode := Find(t.Lookup, s.Titles[0])
		isTitle = !isNode && nodes > 0 && nodes == len(s.Rows)
	}
	switch {
	case !isTitle:
	case t.Lookup != nil:
		t.Line = number
		t.warn(number, "", "%s is read as a title; no node has this id",
			words.Quoted(lines[0]))
	default:
		t.warn(number, "", "%s is read as a node; if it is a title, remove the line", words.Quoted(lines[0]))
	}
}

// warn calls Options.Warn with a warning about a line, unless it is nil.
func (t *Reader) warn(line int64, fix, format string, args ...any) {
	if t.Options.Warn != nil {
		t.Options.Warn(textio.Fault(t.Name, line, fix, format, args...))
	}
}

// isTable reports whether lines with fields separated by blanks are a table of three or more
// columns with a header. Otherwise the value may contain blanks.
func isTable(t *Reader, first []string, rows [][]string) bool {
	s := &table.Sample{Titles: first, Rows: rows}
	s.NameRows()
	return t.Header != input.NoHeader && len(s.Titles) > 2 &&
		s.IsAbove(len(s.Titles)) && s.NamesBoth(t.Value)
}

// dataLines returns the first lines of data of a chunk and their numbers.
func (t *Reader) dataLines(chunk *textio.Chunk) (lines [][]byte, numbers []int64) {
	number := chunk.First - 1
	for line := range bytes.Lines(chunk.Data) {
		line = bytes.TrimRight(line, "\r\n")
		number++
		if number < t.first || table.IsBlank(line) ||
			number > t.first && t.isRemark(line, lines != nil) {
			continue
		}
		numbers = append(numbers, number)
		lines = append(lines, line)
		if len(lines) > table.SampleRows {
			break
		}
	}
	return lines, numbers
}

// countTitles counts the lines above a table that are not part of it: the counts of word2vec, or titles
// as spreadsheets have them.
func (t *Reader) countTitles(lines [][]byte, numbers []int64) (count int) {
	if t.Every && t.Lookup != nil && areVectors(lines) {
		return 1
	}
	hasTitles := func(line, _ []byte) bool {
		var f table.Fields
		return f.Split(line, t.separator(line)) == nil &&
			(&table.Sample{Titles: f.Strings()}).NamesBoth(t.Value)
	}
	for t.Header == input.AutoHeader && t.Fields == nil &&
		(t.Value != "" || t.Every) && count < len(lines) &&
		table.IsTitleRow(lines[count], bytes.Join(lines[count+1:], []byte{'\n'}),
			t.separator, hasTitles) {
		t.warn(numbers[count], "", "%s is skipped as a title of the table",
			words.Quoted(bytes.TrimSpace(lines[count])))
		count++
	}
	return count
}

// hasFields reports whether a table has columns with nodes of the graph, and with a value, in the places of the options.
func hasFields(s *table.Sample, o *table.NodeOptions) bool {
	columns, err := table.ChooseWithin(o.Fields, s.Titles, len(s.Titles))
	return err == nil && columns != nil &&
		slices.ContainsFunc(s.Rows, func(row []string) bool {
			return columns[0] < len(row) && o.IsKnown(row[columns[0]])
		})
}

// choose decides whether the first line, with the given number, is a header and which columns are
// read.
func (t *Reader) choose(line int64, first []string, rows [][]string) error {
	s := &table.Sample{Titles: first, Rows: rows, Separator: t.sep}
	if t.Header != input.NoHeader && !t.hasBlanks && (t.Value != "" || t.Every) {
		s.NameRows()
	}
	o := table.NodeOptions{Value: t.Value, Every: t.Every, Fields: t.Fields,
		Option: t.Option, Header: t.Header, Attributes: t.Attributes, IsClass: t.IsClass}
	if t.Lookup != nil {
		o.IsKnown = func(id string) bool { _, isNode := Find(t.Lookup, id); return isNode }
	}
	if t.Guess && !hasFields(s, &o) {
		o.Fields = nil
		nodes := o
		nodes.Value = ""
		c, err := s.ChooseNodes(nodes)
		if value := slices.Index(s.Titles, t.Fields[len(t.Fields)-1]); err == nil && value >= 0 { // the value has this title alone
			o.Fields = []string{strconv.Itoa(c.Node + 1), strconv.Itoa(value + 1)}
		}
	}
	if t.titled || t.isPart && (slices.Equal(s.Titles, t.Titles) ||
		len(rows) == 0 && s.NamesBoth(t.Value)) {
		o.Header = input.HasHeader
	}
	c, err := s.ChooseNodes(o)
	if recoded := textio.RecodeTitles(s.Titles); recoded != nil && (c.HasHeader || err != nil) {
		s.Titles = recoded
		c, err = s.ChooseNodes(o)
		c.Warnings = append(c.Warnings, textio.TitleWarning)
	}
	var fault *input.Error
	if errors.As(err, &fault) {
		fault.File = t.Name
		fault.Line = line
		return fault
	}
	t.Node = c.Node
	t.At = c.Value
	t.Columns = c.Columns
	t.integers = t.Lookup == nil && !t.Every && t.Value == "" &&
		t.Node < len(first) && table.HasIntegers(s, t.Node, c.HasHeader)
	if c.HasHeader {
		t.Titles = s.Titles
		t.Line = line
	}
	for _, w := range c.Warnings {
		warning := *w
		warning.File = t.Name
		warning.Line = line
		if t.Options.Warn != nil {
			t.Options.Warn(&warning)
		}
	}
	return nil
}
