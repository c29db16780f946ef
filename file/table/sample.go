package table

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/internal/input"
)

// SampleRows is the number of rows that decide the choice of columns.
const SampleRows = 100

// Sample is the beginning of a table. The choice of columns depends on nothing else.
type Sample struct {
	Titles    []string   // fields of the first line, which may be a header
	Rows      [][]string // fields of the lines below it, at most SampleRows
	Text      []byte     // all lines below it that are in memory, for a second occurrence of a title
	Separator byte       // of the fields in Text
}

// all reports whether all elements of a list have a form.
func all[E any](list []E, hasForm func(E) bool) bool {
	return !slices.ContainsFunc(list,
		func(element E) bool { return !hasForm(element) })
}

// IsAbove reports whether all lines below have n fields.
func (s *Sample) IsAbove(n int) bool {
	return len(s.Rows) > 0 &&
		all(s.Rows, func(row []string) bool { return len(row) == n })
}

// NamesEnds reports whether titles name the ends of an edge.
func NamesEnds(s *Sample) bool { return s.pairs() != nil }

// Ends returns the columns whose titles name the ends of an edge, or −1 if none or several do.
func Ends(titles []string) (source, target int) {
	pairs := (&Sample{Titles: titles}).pairs()
	if len(pairs) != 1 {
		return -1, -1
	}
	return pairs[0][0], pairs[0][1]
}

// NameRows adds an empty title for the names of rows that R writes below a header with one title
// less.
func (s *Sample) NameRows() {
	if s.IsAbove(len(s.Titles) + 1) {
		s.Titles = append([]string{""}, s.Titles...)
	}
}

// IsNumber reports whether a text is a finite decimal number.
func IsNumber(text string) bool {
	_, fault := ParseNumber([]byte(text), 64)
	return fault == ""
}

func hasDigit(text string) bool {
	return strings.ContainsAny(text, "0123456789")
}

// Recurs reports whether the title of one of some columns is a value of one of them below.
func (s *Sample) Recurs(columns ...int) bool {
	var f Fields
	for _, title := range columns {
		text := s.Titles[title]
		isIn := func(row []string) bool {
			return slices.ContainsFunc(columns,
				func(i int) bool { return i < len(row) && row[i] == text })
		}
		if text == "" {
			continue
		}
		if slices.ContainsFunc(s.Rows, isIn) {
			return true
		}
		for line := range bytes.Lines(s.Text) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			if bytes.Contains(line, []byte(text)) &&
				f.Split(line, s.Separator) == nil && isIn(f.Strings()) {
				return true
			}
		}
	}
	return false
}

// HasIntegers reports whether a column holds whole numbers in any form, apart from words for missing values.
// Then equal numbers are one id. The titles are a row too if they are no header.
func HasIntegers(s *Sample, column int, hasHeader bool) bool {
	c := s.column(column)
	if !hasHeader {
		c.values = append(c.values, s.Titles[column])
	}
	c.values = slices.DeleteFunc(c.values,
		func(text string) bool { return IsMissing(text, Missing) })
	return c.all(isWhole)
}

// choose returns the columns that the fields of an option name, see [Choose].
func (s *Sample) choose(fields []string, option string) ([]int, error) {
	columns, err := ChooseWithin(fields, s.Titles, len(s.Titles))
	if err != nil {
		return nil, &input.Error{Msg: err.Error(), Fix: "correct {" + option + "}"}
	}
	return columns, nil
}

// nameColumns returns columns with their titles, or without a header their numbers.
func nameColumns(titles []string, hasHeader bool) input.Columns {
	titles = slices.Clone(titles)
	for i := range titles {
		if !hasHeader {
			titles[i] = "column " + strconv.Itoa(i+1)
		}
	}
	return input.IgnoreAll(titles)
}

// areTitles reports whether all fields of the first line can be titles of attributes: different words
// that do not occur again below. The first may be that of row numbers.
func (s *Sample) areTitles() bool {
	for i, title := range s.Titles {
		isTitle := IsTitle(title) && !IsMissing(title, Missing) ||
			i == 0 && len(s.Titles) > 1 && IsIndex(title)
		if !isTitle || slices.Contains(s.Titles[:i], title) ||
			slices.Contains(s.column(i).values, title) {
			return false
		}
	}
	return len(s.Rows) > 0
}

// Evidence is how surely a first line is a header.
type Evidence int

const (
	IsData    Evidence = iota // the first line is data
	Undecided                 // both are possible
	IsHeader                  // the first line is a header
)

// Evidence compares the first line with the lines below it, in the columns of ids. The line is a
// header if none of its fields recurs and one has the form of a title: it names a kind of node,
// or its form differs from that of all ids below in digits, in a common prefix, or in case. A
// difference in length alone has to hold for all columns.
func (s *Sample) Evidence(columns ...int) Evidence {
	if len(s.Rows) == 0 || s.Recurs(columns...) {
		return IsData
	}
	if isCount(s.Titles) && len(s.Titles) <= 3 {
		return IsHeader
	}
	forms := 0
	lengths := 0
	for _, i := range columns {
		title := s.Titles[i]
		ids := s.column(i).distinct()
		if title == "" || IsNumber(title) || len(ids) == 0 ||
			compareForm(title, ids) == IsData {
			return IsData
		}
		if isThing(title) || len(ids) > 1 && compareForm(title, ids) == IsHeader { // one id differs by chance
			forms++
		}
		if n := len(ids[0]); len(ids) > 2 && n != len(title) &&
			all(ids, func(id string) bool { return len(id) == n }) {
			lengths++
		}
	}
	if forms > 0 || lengths == len(columns) {
		return IsHeader
	}
	return Undecided
}

// IsListTitle reports whether the first line of a list is its title: it names a kind of node or a label, and has another form than
// all ids below.
func IsListTitle(s *Sample) bool {
	ids := s.column(0).distinct()
	return len(ids) > 1 && (isThing(s.Titles[0]) || IsLabel(s.Titles[0])) && !s.Recurs(0) &&
		compareForm(s.Titles[0], ids) == IsHeader
}

// compareForm compares the form of a title with that of all ids below it. It returns IsData if all
// have digits.
func compareForm(title string, ids []string) Evidence {
	isUpper := func(text string) bool {
		r, _ := utf8.DecodeRuneInString(text)
		return unicode.IsUpper(r)
	}
	isLower := func(text string) bool {
		r, _ := utf8.DecodeRuneInString(text)
		return unicode.IsLower(r)
	}
	prefix := ids[0]
	for !strings.HasPrefix(ids[len(ids)-1], prefix) { // ids are sorted
		prefix = prefix[:len(prefix)-1]
	}
	switch {
	case len(prefix) > 0 && len(ids) > 2 && !strings.HasPrefix(title, prefix) &&
		!hasDigit(prefix):
		return IsHeader
	case hasDigit(title) && all(ids, hasDigit):
		if isThing(strings.TrimRight(title, "0123456789_ .-")) {
			return Undecided
		}
		return IsData
	case all(ids, isWhole), !hasDigit(title) && all(ids, hasDigit):
		return IsHeader
	case isLower(title) && all(ids, isUpper), isUpper(title) && all(ids, isLower):
		return IsHeader
	case strings.ToUpper(title) != title &&
		all(ids, func(id string) bool { return len(id) > 1 && strings.ToUpper(id) == id && strings.ToLower(id) != id }):
		return IsHeader
	}
	return Undecided
}

// isCount reports whether titles are 0, 1, 2 and so on, as pandas numbers columns without names.
func isCount(titles []string) bool {
	for i, title := range titles {
		if title != strconv.Itoa(i) {
			return false
		}
	}
	return true
}

// IsTitleRow reports whether a line is a title above a table, as spreadsheets have them: at most one cell
// above the header of several. isHeader reports whether a line is a header above other text.
func IsTitleRow(line, text []byte, separator func(line []byte) byte,
	isHeader func(line, text []byte) bool) bool {
	for len(text) > 0 {
		var next []byte
		next, text, _ = bytes.Cut(text, []byte{'\n'})
		if sep := separator(next); cells(next, sep) > 1 {
			return cells(line, sep) < 2 && isHeader(next, text)
		}
	}
	return false
}

// cells returns the number of fields of a line that are not empty, 0 if it cannot be split.
func cells(line []byte, sep byte) (count int) {
	var f Fields
	if f.Split(line, sep) != nil {
		return 0
	}
	for _, text := range f.Text {
		if !IsBlank(text) {
			count++
		}
	}
	return count
}
