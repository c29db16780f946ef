package table

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// findHeader sets c.HasHeader: the first line is a header if a setting says so or names a title; if a cell has a title of the
// list and no cell is a number; or if a word is above numbers. It returns a question if a title of the list, or 0, 1 and so
// on, may be ids.
func (c *chooser) findHeader() error {
	s := c.s
	r := c.r
	titles := s.Titles
	node := max(0, slices.IndexFunc(titles, IsNode))
	if node == 0 && len(titles) > 1 && IsIndex(titles[0]) {
		node = 1
	}
	isTitle := func(title string) bool { return rolesOf(title) != nil && !mayBeID(title) }
	isNumber := slices.ContainsFunc(titles, IsNumber)
	switch {
	case r.IsTyped || r.Header == input.HasHeader || r.namesTitles():
		c.HasHeader = true
	case r.Header == input.NoHeader, r.IsKnown != nil && r.IsKnown(titles[node]):
	case IsIndex(titles[0]) && len(titles) > 1, !r.IsEdges && node == 0 && IsNode(titles[0]) && !mayBeID(titles[0]):
		c.HasHeader = true
	case s.isNumbered() && len(s.Rows) > 2 && all(s.Rows, func(row []string) bool {
		return !slices.ContainsFunc(row[:min(2, len(row))], func(id string) bool { return id == "0" || id == "1" })
	}):
		return c.askHeader(words.Quoted(titles[0]) + " and " + words.Quoted(titles[1]) + " may be numbers of columns, as pandas writes them")
	case isNumber:
	case s.isAboveNumbers(r):
		c.HasHeader = true
	case slices.ContainsFunc(titles, isTitle):
		again := slices.IndexFunc(titles, func(title string) bool { return isTitle(title) && s.recurs(title) })
		if again >= 0 {
			return c.askHeader(words.Quoted(titles[again]) + " is a title, and occurs again below")
		}
		c.HasHeader = true
	case NamesEnds(titles) && r.IsEdges && len(s.Rows) > 0 && !slices.ContainsFunc(titles, s.recurs):
		return c.askHeader(words.Quoted(titles[0]) + " may be a title or an id")
	case s.Separator == Tab && isMixed(titles) && all(s.Rows, isMixed):
		c.warn("read as data: "+input.Escape(titles[0])+", "+input.Escape(titles[1]), "pass {delimiter=' '} if blanks separate fields too")
	case r.IsKnown == nil && len(titles) > 1 && s.isAbove(len(titles)) && !slices.ContainsFunc(titles, s.recurs):
		c.warn("read as data: "+input.Escape(titles[0])+", "+input.Escape(titles[1]), "pass {header=yes} if the line holds titles")
	}
	return nil
}

// isAboveNumbers reports whether a word of the first line is above numbers alone. One number may be the end of an edge.
func (s *Sample) isAboveNumbers(r *Request) bool {
	for i, title := range s.Titles {
		isEnd := r.IsEdges && i < 2 && len(s.Rows) < 2
		if !isEnd && isWord(title) && areNumbers(s.Values(i), r.Text) {
			return true
		}
	}
	return false
}

// mixed matches a line with a tab behind a word, and a blank between a word and a number.
var mixed = regexp.MustCompile(`^[^ \t]+\t[^ \t]+ [-+.0-9e]+$`)

// isMixed reports whether blanks may separate fields of a row in addition to tabs.
func isMixed(row []string) bool { return mixed.MatchString(strings.Join(row, "\t")) }

// isWord reports whether a text begins with a letter, and is no word for a number.
func isWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	_, fault := ParseNumber([]byte(text), 64)
	return unicode.IsLetter(first) && !IsMissing(text, Missing) && fault == notNumber
}

// isNumbered reports whether the titles are 0, 1 and so on, as pandas numbers columns without names.
func (s *Sample) isNumbered() bool {
	for i, title := range s.Titles {
		if title != strconv.Itoa(i) && (i < 2 || !isWord(title)) {
			return false
		}
	}
	return len(s.Titles) == 2 || len(s.Titles) == 3
}

// askHeader returns the question whether the first line is a header.
func (c *chooser) askHeader(problem string) error {
	return &input.Error{Msg: problem, Fix: "pass {header=yes} if the line holds titles, else {header=no}"}
}
