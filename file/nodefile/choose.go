package nodefile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// begin finds the first line of data, decides whether it is a header, and chooses the columns.
func (t *Reader) begin(chunk *textio.Chunk) error {
	t.Line = 0
	t.Node = 0
	t.At = -1
	t.Known = -1
	t.header = nil
	if t.Value != "" {
		t.At = 1
	}
	t.first = chunk.First
	text := chunk.Data
	first := 0
	if !isList(t.Name) {
		if sep := table.DeclaredSeparator(text); sep != "" && t.Text.Delimiter == "" {
			t.Text.Delimiter = sep
		}
		var doubtful int
		first, doubtful = table.FirstData(text, t.separator, t.isNode())
		if doubtful >= 0 {
			t.warn(chunk.First+int64(doubtful),
				"if it is data, write a header line above it", "read as a comment")
		}
		if first < 0 {
			t.first += int64(chunk.Lines)
			return nil
		}
	}
	var above, line []byte
	for i := 0; i <= first || table.IsBlank(line); i++ {
		if len(text) == 0 {
			return nil
		}
		above = line
		t.first = chunk.First + int64(i)
		line, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	if t.Every && t.Lookup != nil && areVectors(line, text) { // skip the counts of word2vec
		t.first++
		line, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	t.sep = t.separator(line)
	if isList(t.Name) {
		t.checkTitle(line, text)
	}
	if isList(t.Name) || isContent(t.Name) {
		return nil
	}
	s := &table.Sample{File: t.Name, Line: t.first, Separator: t.sep, SeparatorOf: t.separator}
	header := t.Header
	rows := text
	if titles := table.TitlesAbove(above, line, t.separator); titles != nil && t.Header == input.AutoHeader {
		rows = chunk.Data[len(chunk.Data)-len(text)-len(line)-1:]
		line = titles
		s.Line--
		header = input.HasHeader
	}
	if t.fields.Split(line, t.sep) != nil {
		return nil // Rows reports the error
	}
	s.Titles = t.fields.Strings()
	s.ReadRows(rows, t.isNode())
	t.hasBlanks = t.sep == table.Blanks && t.Value != "" && !t.Every && t.Fields == nil &&
		(t.Header == input.NoHeader || !(&table.Sample{Titles: s.Titles, Rows: s.Rows}).NamesNode())
	if t.hasBlanks {
		for _, row := range append(s.Rows, s.Titles) {
			if len(row) > 2 {
				row[1] = strings.Join(row[1:], " ")
			}
		}
		for i, row := range s.Rows {
			s.Rows[i] = row[:min(len(row), 2)]
		}
		s.Titles = s.Titles[:min(len(s.Titles), 2)]
	}
	if t.Value == "" && !t.Every {
		s.Text = nil // lines may have any number of fields
	}
	if err := t.choose(s, header); err != nil {
		return err
	}
	if t.Lookup == nil && t.Titles == nil && len(s.Titles) == 1 && !t.Every {
		t.checkTitle(line, text)
	}
	return nil
}

// isNode returns a function that reports whether an id is in the graph, or nil if the graph is unknown.
func (t *Reader) isNode() func(id string) bool {
	if t.Lookup == nil {
		return nil
	}
	return func(id string) bool {
		_, isNode := Find(t.Lookup, id)
		return isNode
	}
}

// checkTitle warns if the first line of a list of nodes may be a title. If the graph is known and all lines but the
// first are nodes, it skips the first line. If the graph is unknown, it warns if all lines but the first have digits.
func (t *Reader) checkTitle(first, text []byte) {
	const digits = "0123456789"
	var lines [][]byte
	for line := range bytes.Lines(text) {
		if !table.IsBlank(line) && len(lines) < table.SampleRows {
			lines = append(lines, bytes.TrimRight(line, "\r\n"))
		}
	}
	first = bytes.TrimRight(first, "\r")
	if len(lines) == 0 {
		return
	}
	if t.Lookup != nil {
		isForeign := func(line []byte) bool { return !t.isNode()(string(line)) }
		if isForeign(first) && !slices.ContainsFunc(lines, isForeign) {
			t.Line = t.first
			t.warn(t.first, "", "%s is read as a title; no node has this id", words.Quoted(first))
		}
		return
	}
	hasNoDigit := func(line []byte) bool { return !bytes.ContainsAny(line, digits) }
	if hasNoDigit(first) && !slices.ContainsFunc(lines, hasNoDigit) {
		t.warn(t.first, "", "%s is read as a node; if it is a title, remove the line", words.Quoted(first))
	}
}

func (t *Reader) warn(line int64, fix, format string, args ...any) {
	if t.Options.Warn != nil {
		t.Options.Warn(textio.Fault(t.Name, line, fix, format, args...))
	}
}

// findSide returns the prefix of the ids of one side of a bipartite graph, such as user_id: for user_id:1, if a column of
// the table has this title and ids without the prefix. It returns "" otherwise, also if a cell is a node as it is.
func (t *Reader) findSide(s *table.Sample) string {
	isNode := t.isNode()
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

// choose chooses the columns of a table by its sample. header is t.Header, or states that the titles of the sample are
// the header.
func (t *Reader) choose(s *table.Sample, header input.Header) error {
	first := s.Titles
	repeated := s.DropTitles(t.titled)
	if t.Header != input.NoHeader && !t.hasBlanks && (t.Value != "" || t.Every) {
		s.NameRows()
	}
	r := &table.Request{Value: t.Value, Fields: t.Fields, Option: t.Option, Header: header, Wide: t.Wide, IsTyped: t.titled, Text: t.Text, IsKnown: t.isNode()}
	if t.Every {
		r.Fields = nil
		r.Attributes = t.Fields
	}
	if t.Lookup != nil {
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
	if err != nil {
		return err
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
		t.header = repeated
		t.Titles = s.Titles
		t.Line = s.Line
	case t.Option != "" && t.Value != "" && !strings.ContainsAny(first[t.Node], "0123456789"): // no id
		t.TitleFix = "{" + t.Option + "=" + table.FieldList(s.Titles, t.Node, t.At) + "}"
	}
	if c.Warning != nil {
		t.warn(s.Line, c.Warning.Fix, "%s", c.Warning.Msg)
	}
	return nil
}
