package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
)

// SampleRows is the number of rows that decide whether the first line is a header.
const SampleRows = 1000

// Sample is the beginning of a table, which alone determines the choice of columns.
type Sample struct {
	Titles    []string   // fields of the first line, which may be a header
	Rows      [][]string // fields of the lines below, at most SampleRows
	Separator byte       // separator of the fields

	// Of text.
	File        string
	Line        int64                  // line of Titles
	Text        []byte                 // the lines below that are in memory; nil: the form of the lines is right
	SeparatorOf func(line []byte) byte // separator of the fields of a line
}

func all[E any](list []E, hasForm func(E) bool) bool {
	return !slices.ContainsFunc(list, func(element E) bool { return !hasForm(element) })
}

func (s *Sample) isAbove(n int) bool {
	return len(s.Rows) > 0 && all(s.Rows, func(row []string) bool { return len(row) == n })
}

// NameRows adds an empty title for the row names of R, if the rows have one field more than the header.
func (s *Sample) NameRows() {
	const first = 100 // later rows may be bad
	if (&Sample{Rows: s.Rows[:min(first, len(s.Rows))]}).isAbove(len(s.Titles) + 1) {
		s.Titles = append([]string{""}, s.Titles...)
	}
}

// NamesNode reports whether the first line has three or more titles, among them a title of the node, and all rows
// have as many fields.
func (s *Sample) NamesNode() bool {
	s.NameRows()
	return len(s.Titles) > 2 && s.isAbove(len(s.Titles)) && withTitle(s.Titles, nodeRole.titles) != nil
}

// DropTitles removes rows equal to the titles, which joined files repeat, and returns the titles. If isTyped is set
// (see [Request]) or no title is a word, it does nothing and returns nil, because pandas writes the titles 0 and 1.
// It must be called before NameRows.
func (s *Sample) DropTitles(isTyped bool) []string {
	if isTyped || !slices.ContainsFunc(s.Titles, isWord) {
		return nil
	}
	s.Rows = slices.DeleteFunc(s.Rows, func(row []string) bool {
		return len(row) == len(s.Titles) && strings.TrimPrefix(row[0], Mark) == s.Titles[0] && slices.Equal(row[1:], s.Titles[1:])
	})
	return s.Titles
}

// IsNumber reports whether a text is a finite decimal number.
func IsNumber(text string) bool {
	_, fault := ParseNumber([]byte(text), 64)
	return fault == ""
}

// Values returns the values of column i that are not missing.
func (s *Sample) Values(i int) (list []string) {
	for _, row := range s.Rows {
		if i < len(row) && !IsMissing(row[i], Missing) {
			list = append(list, row[i])
		}
	}
	return list
}

func areNumbers(values []string, t input.Text) bool {
	return len(values) > 0 && all(values, func(text string) bool { return isNumeric(text, t) })
}

// isNumeric reports whether text is a number without a leading zero. The number may be infinite, or may need other
// settings than t to be read.
func isNumeric(text string, t input.Text) bool {
	_, fault := ParseNumberIn([]byte(text), t)
	return !HasLeadingZero(text) && (fault != notNumber || IsNumber(text) || NumberFix([]byte(text)) != "")
}

// HasIntegers reports whether all values of a column are whole numbers, such as 3, 3.0 or 1e+05, or words for missing
// values. Equal numbers are then the same id. Without a header, the titles count as a row.
func HasIntegers(s *Sample, column int, hasHeader bool) bool {
	values := s.Values(column)
	if title := s.Titles[column]; !hasHeader && !IsMissing(title, Missing) {
		values = append(values, title)
	}
	return len(values) > 0 && all(values, func(text string) bool { return IsInteger(PlainInteger(text)) })
}

func nameColumns(titles []string, hasHeader bool) input.Columns {
	titles = slices.Clone(titles)
	for i := range titles {
		if !hasHeader {
			titles[i] = "column " + strconv.Itoa(i+1)
		}
	}
	return input.IgnoreAll(titles)
}
