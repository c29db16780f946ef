package table

import (
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// findHeader sets c.HasHeader. The first line is a header if a setting says so or names a title, if it begins with an
// untitled column or with the title of a node, or if a word is above numbers. It is also a header if a cell has a
// title of titles.txt and no cell is a number. If a title may be an id, findHeader returns an error that asks for
// {header}.
func (c *chooser) findHeader() error {
	s := c.s
	r := c.r
	titles := s.Titles
	_, areNamed := wordPairs(titles)
	isTitle := func(title string) bool { return rolesOf(title) != nil && !mayBeID(title) }
	named := slices.DeleteFunc(slices.Collect(maps.Values(r.Named)), func(field string) bool { return field == "" })
	isUnique := !slices.ContainsFunc(titles, s.recurs)
	switch {
	case r.IsTyped || r.Header == input.HasHeader || !Numbers(r.Fields) || !Numbers(named):
		c.HasHeader = true
	case r.Header == input.NoHeader || r.IsKnown != nil && r.IsKnown(titles[0]):
	case len(titles) > 1 && IsIndex(titles[0]), !r.IsEdges && IsNode(titles[0]) && !mayBeID(titles[0]):
		c.HasHeader = true
	case len(s.Rows) > 2 && len(titles) > 1 && titles[0] == "0" && titles[1] == "1" && isUnique: // as pandas titles columns
		return askHeader(titles[0])
	case slices.ContainsFunc(titles, IsNumber):
	case s.isAboveNumbers(r), r.IsEdges && areNamed > 0 && isUnique:
		c.HasHeader = true
	case slices.ContainsFunc(titles, isTitle):
		c.HasHeader = true
		for _, title := range titles {
			if isTitle(title) && s.recurs(title) {
				return askHeader(title)
			}
		}
	case r.IsEdges && NamesEnds(titles) && len(s.Rows) > 0 && isUnique:
		return askHeader(titles[0])
	case r.IsKnown == nil && len(titles) > 1 && len(s.Rows) > 0 && all(titles, isWord) && isUnique:
		c.Warning = &input.Error{Msg: "read as data: " + input.Escape(titles[0]) + ", " + input.Escape(titles[1]),
			Fix: "pass {header=yes} if the line holds titles"}
	}
	return nil
}

func askHeader(title string) error {
	return &input.Error{Msg: words.Quoted(title) + " may be a title or an id", Fix: "pass {header=yes} if the line holds titles, else {header=no}"}
}

func (s *Sample) recurs(title string) bool {
	return slices.ContainsFunc(s.Rows, func(row []string) bool { return slices.Contains(row[:min(2, len(row))], title) })
}

// isAboveNumbers reports whether a title is a word above a column of numbers. In a table of edges with fewer than two
// rows it ignores the first two columns.
func (s *Sample) isAboveNumbers(r *Request) bool {
	for i, title := range s.Titles {
		isEnd := r.IsEdges && i < 2 && len(s.Rows) < 2
		if !isEnd && isWord(title) && areNumbers(s.Values(i), r.Text) {
			return true
		}
	}
	return false
}

// isWord reports whether text begins with a letter and is neither a number nor a missing value.
func isWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	_, fault := ParseNumber([]byte(text), 64)
	return unicode.IsLetter(first) && !IsMissing(text, Missing) && fault == notNumber
}
