package nodefile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// begin finds the first line of data, decides whether it is a header, and chooses the columns.
func (t *Reader) begin(chunk *textio.Chunk) error {
	t.first = 0
	t.Line = 0
	t.Node = 0
	t.At = -1
	t.Known = -1
	t.header = nil
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
	titles := 0
	if t.Every && t.Lookup != nil && areVectors(lines) { // skip the counts of word2vec
		titles = 1
	}
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
			return nil // Rows reports the error
		}
	}
	t.hasBlanks = t.sep == table.Blanks && t.Value != "" && !t.Every &&
		t.Fields == nil && (t.Header == input.NoHeader || !(&table.Sample{Titles: rows[0], Rows: rows[1:]}).NamesNode())
	for i, row := range rows {
		if t.hasBlanks && len(row) > 2 {
			rows[i] = []string{row[0], strings.Join(row[1:], " ")}
		}
	}
	if err := t.choose(number, rows[0], rows[1:]); err != nil {
		return err
	}
	if t.Lookup == nil && t.Titles == nil && len(rows[0]) == 1 && !t.Every {
		t.checkTitle(lines, number)
	}
	return nil
}

// checkTitle warns if the first line of a list of nodes may be a title. If the graph is known and all lines but the
// first are nodes, it skips the first line. If the graph is unknown, it warns if all lines but the first have digits.
func (t *Reader) checkTitle(lines [][]byte, number int64) {
	const digits = "0123456789"
	title := string(lines[0])
	if t.Lookup != nil {
		isForeign := func(line []byte) bool { _, isNode := Find(t.Lookup, string(line)); return !isNode }
		if len(lines) > 1 && isForeign(lines[0]) && !slices.ContainsFunc(lines[1:], isForeign) {
			t.Line = number
			t.warn(number, "", "%s is read as a title; no node has this id", words.Quoted(title))
		}
		return
	}
	hasDigit := func(line []byte) bool { return bytes.ContainsAny(line, digits) }
	isTitle := !hasDigit(lines[0]) && len(lines) > 1
	for _, line := range lines[1:] {
		isTitle = isTitle && hasDigit(line)
	}
	if isTitle {
		t.warn(number, "", "%s is read as a node; if it is a title, remove the line", words.Quoted(title))
	}
}

func (t *Reader) warn(line int64, fix, format string, args ...any) {
	if t.Options.Warn != nil {
		t.Options.Warn(textio.Fault(t.Name, line, fix, format, args...))
	}
}

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

// findSide returns the prefix of the ids of one side of a bipartite graph, such as user_id: for user_id:1, if a column of
// the table has this title and ids without the prefix. It returns "" otherwise, also if a cell is a node as it is.
func (t *Reader) findSide(s *table.Sample) string {
	isNode := func(id string) bool { _, isNode := Find(t.Lookup, id); return isNode }
	side := ""
	for i, title := range s.Titles {
		for _, row := range s.Rows {
			if i >= len(row) || title == "" {
				continue
			}
			if isNode(row[i]) {
				return ""
			}
			if side == "" && isNode(title+":"+row[i]) {
				side = title + ":"
			}
		}
	}
	return side
}

func (t *Reader) choose(line int64, first []string, rows [][]string) error {
	s := &table.Sample{Titles: first, Rows: rows, Separator: t.sep}
	header := s.DropTitles(t.titled)
	if t.Header != input.NoHeader && !t.hasBlanks && (t.Value != "" || t.Every) {
		s.NameRows()
	}
	r := &table.Request{Value: t.Value, Fields: t.Fields, Option: t.Option, Header: t.Header, Wide: t.Wide, IsTyped: t.titled, Text: t.Text}
	if t.Every {
		r.Fields = nil
		r.Attributes = t.Fields
	}
	if t.Lookup != nil {
		r.IsKnown = func(id string) bool { _, isNode := Find(t.Lookup, id); return isNode }
		if t.side = t.findSide(s); t.side != "" && r.Header == input.AutoHeader {
			r.Header = input.HasHeader
			r.Named = map[string]string{input.Node: strings.TrimSuffix(t.side, ":")}
		}
	}
	if _, err := table.Find(t.Fields, s.Titles, len(s.Titles)); t.Guess && err != nil {
		r.Fields = nil
	}
	if t.isPart && slices.Equal(s.Titles, t.Titles) {
		r.Header = input.HasHeader
	}
	c, err := s.Choose(r)
	var fault *input.Error
	if errors.As(err, &fault) {
		fault.File = t.Name
		fault.Line = line
		return fault
	}
	t.Node = c.Column[input.Node]
	t.WideColumns = c.Wide
	if s.Titles[t.Node]+":" != t.side {
		t.side = ""
	}
	t.At = -1
	if t.Value != "" {
		t.At = c.Column[t.Value]
	}
	t.Known = -1
	if c.HasHeader && t.Value != "" && r.Fields == nil && s.Titles[0] == input.Node && slices.Contains(s.Titles, "reached") {
		t.Known = slices.Index(s.Titles, "known")
	}
	t.Columns = c.Columns
	t.integers = t.Lookup == nil && !t.Every && t.Value == "" && table.HasIntegers(s, t.Node, c.HasHeader)
	switch {
	case c.HasHeader:
		t.header = header
		t.Titles = s.Titles
		t.Line = line
	case t.Option != "" && t.Value != "" && !strings.ContainsAny(first[t.Node], "0123456789"): // no id
		t.TitleFix = "{" + t.Option + "=" + table.FieldList(s.Titles, t.Node, t.At) + "}"
	}
	if c.Warning != nil {
		t.warn(line, c.Warning.Fix, "%s", c.Warning.Msg)
	}
	return nil
}
