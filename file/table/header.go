package table

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// A first line is a header if a setting says so, or names a column by its title; if a cell has a title of the list, and
// no cell is a number; or if a cell of text is above numbers alone. Titles that are as likely ids, for example u and v,
// do not make a header.

// findHeader sets c.HasHeader. It returns a question where a title of the list may be an id.
func (c *chooser) findHeader() error {
	s := c.s
	r := c.r
	titles := s.Titles
	isNode := slices.IndexFunc(titles, IsNode)
	if isNode < 0 && len(titles) > 1 && IsIndex(titles[0]) {
		isNode = 1
	}
	isNumbered := s.isNumbered()
	switch {
	case r.IsTyped || r.Header == input.HasHeader || r.namesTitles():
		c.HasHeader = true
		return nil
	case r.Header == input.NoHeader, r.IsKnown != nil && r.IsKnown(titles[max(isNode, 0)]):
		return nil
	case IsIndex(titles[0]) && len(titles) > 1 && (s.counts(0) || s.counts(1) || len(titles) > 2):
		c.HasHeader = true
		return nil
	case isNumbered && len(s.Rows) > 2 && all(s.Rows, func(row []string) bool {
		return !slices.ContainsFunc(row[:min(2, len(row))], func(id string) bool { return id == "0" || id == "1" })
	}):
		return c.askHeader(words.Quoted(titles[0]) + " and " + words.Quoted(titles[1]) + " may be numbers of columns, as pandas writes them")
	case slices.ContainsFunc(titles, IsNumber) && (c.r.IsEdges || isNode != 0 || mayBeID(titles[0])):
		return nil
	}
	doubtful := ""
	for _, title := range titles {
		switch {
		case rolesOf(title) == nil:
		case mayBeID(title):
			doubtful = title
		case s.recurs(title):
			return c.askHeader(words.Quoted(title) + " is a title, and occurs again below")
		default:
			c.HasHeader = true
		}
	}
	for i, title := range titles {
		isEnd := c.r.IsEdges && i < 2 && len(s.Rows) < 2 // one number may be an id
		c.HasHeader = c.HasHeader || !isEnd && isWord(title) && areNumbers(s.Values(i), r.Text)
	}
	if first, _ := numberedPair(titles); first >= 0 && c.r.IsEdges && !s.startWith(first, strings.TrimSuffix(titles[first], "1")) {
		doubtful = titles[first]
	}
	for i, title := range titles {
		if !strings.ContainsAny(title, digits) && isWord(title) && s.haveDigits(i) && doubtful == "" {
			doubtful = title
		}
	}
	isElsewhere := slices.ContainsFunc(titles, s.recurs)
	switch {
	case c.HasHeader || isElsewhere || !s.isAbove(len(titles)):
	case doubtful != "" && rolesOf(doubtful) == nil && len(titles) > 3: // position decides nothing
		c.HasHeader = true
	case doubtful != "" && r.IsKnown == nil:
		return c.askHeader(words.Quoted(doubtful) + " may be a title or an id")
	case s.Separator == Tab && isMixed(titles) && all(s.Rows, isMixed):
		c.warn("read as data: "+input.Escape(titles[0])+", "+input.Escape(titles[1]), "pass {delimiter=' '} if blanks separate fields too")
	case r.IsKnown == nil && len(titles) > 1:
		c.isDoubtful = all(titles, isWord)
		c.warn("read as data: "+input.Escape(titles[0])+", "+input.Escape(titles[1]), "pass {header=yes} if the line holds titles")
	}
	return nil
}

// mixed matches a line with a tab behind a word, and a blank between a word and a number.
var mixed = regexp.MustCompile(`^[^ \t]+\t[^ \t]+ [-+.0-9e]+$`)

// isMixed reports whether blanks may separate fields of a row in addition to tabs.
func isMixed(row []string) bool { return mixed.MatchString(strings.Join(row, "\t")) }

// digits are those of ids.
const digits = "0123456789"

// haveDigits reports whether there are two or more values of column i, all with digits.
func (s *Sample) haveDigits(i int) bool {
	values := s.Values(i)
	return len(values) > 1 && all(values, func(text string) bool { return strings.ContainsAny(text, digits) })
}

// startWith reports whether all values of column i begin with a text, and go on with digits.
func (s *Sample) startWith(i int, prefix string) bool {
	return all(s.Values(i), func(text string) bool {
		number, hasPrefix := strings.CutPrefix(text, prefix)
		return hasPrefix && number != "" && strings.Trim(number, digits) == ""
	})
}

// isWord reports whether a text begins with a letter, and is no word for a number.
func isWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	_, fault := ParseNumber([]byte(text), 64)
	return unicode.IsLetter(first) && !IsMissing(text, Missing) && fault == notNumber
}

// findTitleRow returns an error about lines of one cell above titles of the list, as spreadsheets have them.
func (c *chooser) findTitleRow() error {
	isSingle := func(row []string) bool {
		return len(slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return cell == "" })) < 2
	}
	titles := slices.IndexFunc(c.s.Rows, func(row []string) bool { return !isSingle(row) })
	if c.r.IsTyped || len(c.roles) == 1 || !isSingle(c.s.Titles) || titles < 0 ||
		!NamesEnds(c.s.Rows[titles]) && !slices.ContainsFunc(c.s.Rows[titles], IsNode) {
		return nil
	}
	return &input.Error{Msg: words.Quoted(c.s.Titles[0]) + " is a title above the table", Fix: fmt.Sprintf("remove it: tail -n +%d {file} > {copy}", titles+2)}
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

// askHeader returns the question whether the first line is a header, with the further settings that each answer needs.
func (c *chooser) askHeader(problem string) error {
	settings := func(flag string, header input.Header) string {
		r := *c.r
		r.Header = header
		_, err := c.s.Choose(&r)
		var question *input.Error
		if errors.As(err, &question) {
			if fields, isSetting := strings.CutPrefix(question.Fix, "pass {"); isSetting {
				return flag + " with {" + fields
			}
		}
		return flag
	}
	return &input.Error{Msg: problem, Fix: "pass " + settings("{header=yes}", input.HasHeader) + " if the line holds titles, else " + settings("{header=no}", input.NoHeader)}
}
