package table

import (
	"bytes"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// ReadRows sets the rows of the sample to the first lines of text, which follow the first line of data. It leaves out
// lines that cannot be split, which are reported when they are read, and comments. A line with a comment marker is data
// if it has as many fields as the titles and one of them is known to isKnown or, if isKnown is nil, the form of a row.
func (s *Sample) ReadRows(text []byte, isKnown func(id string) bool) {
	s.Text = text
	var f Fields
	for len(text) > 0 && len(s.Rows) < SampleRows {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		isMarked := IsComment(line)
		if IsBlank(line) || isMarked && isKnown == nil && !MayBeRow(line) || f.Split(line, s.Separator) != nil {
			continue
		}
		f.DropEmpty(max(2, len(s.Titles)))
		if isMarked && (len(f.Text) != len(s.Titles) || isKnown != nil && !slices.ContainsFunc(f.Strings(), isKnown)) {
			continue
		}
		s.Rows = append(s.Rows, f.Strings())
	}
}

// checkForm returns an error if a table of text has lines above its titles, or a field that goes on over several lines.
// In a table of edges, it also returns an error if fewer than half of the lines have as many fields as the first line,
// because the text is then no table.
func (c *chooser) checkForm() error {
	s := c.s
	if s.Text == nil || c.r.IsTyped {
		return nil
	}
	fits := 0
	for _, row := range s.Rows {
		if len(row) == len(s.Titles) {
			fits++
		}
	}
	areFew := len(s.Titles) > 1 && len(s.Rows) > 1 && 2*fits < len(s.Rows)
	if areFew && (c.r.Fields == nil || !Numbers(c.r.Fields)) {
		number := s.Line
		for line := range bytes.Lines(s.Text) {
			number++
			if bytes.Count(line, []byte{'"'})%2 > 0 && !IsComment(line) {
				return SplitFault(s.File, number, s.Separator, ErrQuote)
			}
		}
		if err := c.findTitles(); err != nil {
			return err
		}
		if c.r.IsEdges {
			return &input.Error{Msg: words.Counted(len(s.Titles), "field") + ", as " + words.Count(fits) + " of the " + words.Counted(len(s.Rows), "line") + " that follow", Fix: NeighboursFix}
		}
	}
	if _, err := Find(c.r.Fields, s.Titles, len(s.Titles)); (c.r.Fields == nil || err != nil) && (len(s.Titles) == 1 || c.isPadded(s.Titles)) {
		return c.findTitles()
	}
	return nil
}

// isPadded reports whether the first line has text in its first field alone, as programs for spreadsheets write a line
// above the titles of a table.
func (c *chooser) isPadded(first []string) bool {
	return first[0] != "" && all(first[1:], func(field string) bool { return field == "" }) && c.r.Header == input.AutoHeader &&
		(c.r.IsKnown == nil || !c.r.IsKnown(first[0]))
}

// findTitles returns an error if lines stand above the titles of a table: above the first line from which all lines, of
// which there must be three, have as many fields, at least two. If the first line has as many fields, the titles must
// be the first line without an empty field, and words that do not occur below. The titles are not all empty. findTitles returns nil if there is no
// such line. If the first line has as many fields by the separator of the lines below, the error names the separator.
func (c *chooser) findTitles() error {
	const most = 100 // lines above the titles
	s := c.s
	lines := bytes.Split(bytes.TrimRight(s.Text, "\n"), []byte{'\n'})
	lines = lines[:min(len(lines), SampleRows)]
	first := []byte(strings.Join(s.Titles, string(rune(s.Separator))))
	for k := range min(len(lines), most) {
		if IsBlank(lines[k]) || len(lines)-k < 3 {
			continue
		}
		sep := s.SeparatorOf(lines[k])
		fields := splitAlike(lines[k:], sep)
		if fields == nil || strings.Join(fields[0], "") == "" {
			continue
		}
		var f Fields
		isFirst := f.Split(first, sep) == nil && len(f.Text) == len(fields[0])
		switch {
		case sep != s.Separator && isFirst:
			return &input.Error{Msg: "the next lines have fields separated by " + SeparatorName(sep), Fix: "pass {delimiter=" + string(rune(sep)) + "}"}
		case isFirst && slices.Contains(fields[0], ""):
			continue
		case isFirst && (!all(fields[0], isWord) || slices.ContainsFunc(fields[0], (&Sample{Rows: fields[1:]}).recurs)):
			return nil
		}
		repair := RemoveLines(s.Line+int64(k), textio.Unpack(s.File))
		return &input.Error{Msg: "the titles of a table stand further below", Fix: "remove the lines above them: " + repair.Command, Repair: repair}
	}
	return nil
}

// splitAlike returns the fields of the lines, or nil if two lines do not have as many fields, or if they have one.
func splitAlike(lines [][]byte, sep byte) (rows [][]string) {
	var f Fields
	for _, line := range lines {
		if IsBlank(line) {
			continue
		}
		if f.Split(line, sep) != nil || rows != nil && len(f.Text) != len(rows[0]) || len(f.Text) < 2 {
			return nil
		}
		rows = append(rows, f.Strings())
	}
	return rows
}

// SplitFault returns the error about a line that cannot be split at sep, see [Fields.Split].
func SplitFault(file string, line int64, sep byte, err error) *input.Error {
	e := input.Fault(file, line, "fix the line", "%w", err)
	AddRepair(e, sep)
	return e
}
