package nodetable

import (
	"bytes"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// begin finds the first line of data in the first chunk of a file, decides whether it is a
// header, and chooses the columns.
func (t *Reader) begin(chunk *textio.Chunk) error {
	t.first, t.Line = 0, 0
	t.Node, t.At = 0, -1
	if t.Value != "" {
		t.At = 1
	}
	if sep := table.DeclaredSeparator(chunk.Data); sep != "" && !t.isList() {
		t.first = chunk.First + 1
		if t.Text.Delimiter == "" {
			t.Text.Delimiter = sep
		}
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
	lines, numbers := t.dataLines(chunk)
	if len(lines) == 0 {
		return nil
	}
	titles := 1 // the counts of word2vec
	if !t.Every || t.Lookup == nil || !isVectors(lines) {
		titles = t.countTitles(lines, numbers[0])
	}
	lines = lines[titles:]
	number := numbers[titles]
	if titles > 0 {
		t.first = number
	}
	if t.sep = t.separator(lines[0]); t.Lookup != nil {
		t.first = number
	}
	if t.isList() || t.isContent() {
		return nil
	}
	first, rows := t.sample(lines)
	if t.sep == table.Blanks && t.Value != "" && !t.Every && t.Fields == nil {
		if t.cutNode = !t.isTable(first, rows); t.cutNode {
			first, rows = t.sample(lines)
		}
	}
	if first == nil {
		return nil // Rows reports the error when it reads the line
	}
	return t.choose(number, first, rows)
}

// dataLines returns the first lines of data of a chunk and their numbers.
func (t *Reader) dataLines(chunk *textio.Chunk) (lines [][]byte, numbers []int64) {
	number := chunk.First - 1
	for line := range bytes.Lines(chunk.Data) {
		line = bytes.TrimRight(line, "\r\n")
		number++
		if number < t.first || table.IsBlank(line) || number > t.first && t.isRemark(line, lines != nil) {
			continue
		}
		numbers = append(numbers, number)
		if lines = append(lines, line); len(lines) > table.SampleRows {
			break
		}
	}
	return lines, numbers
}

// countTitles counts the titles of a table, as spreadsheets have them: lines of one cell above a header
// of several. The first of them is on line number.
func (t *Reader) countTitles(lines [][]byte, number int64) int {
	var f table.Fields
	for i := 1; i < min(len(lines), 10) && t.Header == input.AutoHeader && t.Fields == nil && (t.Value != "" || t.Every); i++ {
		sep := t.separator(lines[i])
		if table.Cells(&f, lines[i], sep) < 2 {
			continue
		}
		if s := (&table.Sample{Titles: f.Strings()}); table.Cells(&f, lines[0], sep) > 1 || !s.NamesBoth(t.Value) {
			break
		}
		if t.Options.Warn != nil {
			t.Options.Warn(textio.Fault(t.Name, number, "", "%s is skipped as a title of the table", table.Quoted(bytes.TrimSpace(lines[0]))))
		}
		return i
	}
	return 0
}

// sample splits the first line and the lines below it into fields. Lines that cannot be split
// are omitted.
func (t *Reader) sample(lines [][]byte) (first []string, rows [][]string) {
	var f table.Fields
	for i, line := range lines {
		if t.cut(&f, line) != nil {
			continue
		}
		if i == 0 {
			first = f.Strings()
		} else {
			rows = append(rows, f.Strings())
		}
	}
	return first, rows
}

// isTable reports whether lines with fields separated by blanks are a table of three or more
// columns with a header. Otherwise the first blank ends the node, and the value may contain
// blanks.
func (t *Reader) isTable(first []string, rows [][]string) bool {
	if len(rows) == 0 || len(first) < 2 || t.Header == input.NoHeader {
		return false
	}
	n := len(rows[0])
	if n < 3 || n != len(first) && n != len(first)+1 || slices.ContainsFunc(rows, func(row []string) bool { return len(row) != n }) {
		return false
	}
	s := &table.Sample{Titles: first, Rows: rows}
	s.NameRows()
	return s.NamesBoth(t.Value)
}

// choose decides whether the first line, with the given number, is a header and which columns are
// read.
func (t *Reader) choose(line int64, first []string, rows [][]string) error {
	s := &table.Sample{Titles: first, Rows: rows, Separator: t.sep}
	if t.Header != input.NoHeader && !t.cutNode && (t.Value != "" || t.Every) {
		s.NameRows()
	}
	o := table.NodeOptions{Value: t.Value, Every: t.Every, Fields: t.Fields, Option: t.Option, Header: t.Header}
	if t.Lookup != nil {
		o.IsKnown = func(id string) bool { _, known := t.find(id); return known }
	}
	if t.titled || t.isPart && (slices.Equal(s.Titles, t.Titles) || len(rows) == 0 && s.NamesBoth(t.Value)) {
		o.Header = input.HasHeader
	}
	c, err := s.ChooseNodes(o)
	var fault *input.Error
	if errors.As(err, &fault) {
		if fault.File = t.Name; !t.titled {
			fault.Line = line
		}
		return fault
	}
	if t.Node, t.At, t.Columns, t.Hint = c.Node, c.Value, c.Columns, c.Hint; c.HasHeader {
		t.Titles = s.Titles
		t.Line = line
	}
	for _, w := range c.Warnings {
		if w.File, w.Line = t.Name, line; t.Options.Warn != nil {
			t.Options.Warn(w)
		}
	}
	return nil
}
