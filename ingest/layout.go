package ingest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// layout is how the lines of one edge list are built. It is decided on the
// first data line and held.
type layout struct {
	sep            byte
	source, target int // positions of the fields
	weight         int // −1 if there is none
	columns        int // how many fields a line has; 0 if any number that is enough
	line           int64
	first          int64 // the first line of data; those before are comments and a header
	template       template
	simple         bool    // lines can follow the template
	market         *market // not nil for a Matrix Market file
}

// sample is how many lines are compared with a possible header.
const sample = 100

// plan decides the layout of the edge list whose text starts with the chunk.
// It returns nil if the chunk holds nothing but comments. Where bad lines are
// skipped, the first line that can be an edge decides.
func (c *Config) plan(name string, chunk *textio.Chunk, warn func(string)) (*layout, error) {
	var first *layout
	var firstErr error
	konect := ""
	if chunk.First == 1 {
		konect = konectFormat(chunk.Data)
	}
	for number, rest := chunk.First, chunk.Data; len(rest) > 0; number++ {
		end := bytes.IndexByte(rest, '\n')
		line := rest[:end]
		rest = rest[end+1:]
		if isComment(line) {
			continue
		}
		lay, err := c.planLine(name, konect != "", number, line, rest, warn)
		if first == nil {
			first, firstErr = lay, err
		}
		if err == nil {
			if konect == "bip" && warn != nil {
				warn(name + ": two kinds of nodes (bip) with numbers of their own are taken for one; if that is not meant, write the ids of one kind with a letter before")
			}
			if lay.first == lay.line {
				lay.first = first.line // bad lines before are still to be counted
			}
			return lay, nil
		}
		if !c.SkipBadLines {
			break
		}
	}
	return nil, firstErr
}

// planLine decides the layout on one line; rest is the text behind it. With an
// error, only the line of the layout is set.
func (c *Config) planLine(name string, konect bool, number int64, line, rest []byte, warn func(string)) (*layout, error) {
	lay := &layout{line: number, first: number, weight: -1, sep: blanks}
	if !konect { // where blanks and tabs may stand on one line, and in no id
		lay.sep = separator(name, bytes.TrimRight(line, blank))
	}
	var f fields
	if err := f.split(line, lay.sep); err != nil {
		return lay, &ParseError{File: name, Line: number, Msg: err.Error(), Fix: splitFix(err, fixLine)}
	}
	f.dropEmpty(2)
	switch {
	case c.Fields != nil:
		lay.source, lay.target = c.Fields[0]-1, c.Fields[1]-1
		if len(c.Fields) == 3 {
			lay.weight = c.Fields[2] - 1
		}
		if need := max(lay.source, lay.target, lay.weight) + 1; len(f.text) < need {
			return lay, &ParseError{File: name, Line: number, Msg: count(len(f.text), "field") + ", want " + lay.want(), Fix: "correct --fields"}
		}
	case len(f.text) == 4 && konect:
		lay.target, lay.weight = 1, 2 // and a time, which is passed over
	case len(f.text) > 3:
		return lay, &ParseError{File: name, Line: number, Msg: count(len(f.text), "field"), Fix: "choose with --fields=1,2 or, with a weight, --fields=1,2,3"}
	case len(f.text) < 2:
		return lay, &ParseError{File: name, Line: number, Msg: count(len(f.text), "field") + ", want 2 or 3 (source, target, weight)", Fix: fixLine}
	default:
		lay.target, lay.columns = 1, len(f.text)
		if len(f.text) == 3 {
			lay.weight = 2
		}
	}
	lay.simple = lay.columns > 0
	lay.template = template{sep: lay.sep, weighted: lay.weight >= 0, limit: 1 << 32}
	header := c.Header == HasHeader
	if c.Header == AutoHeader {
		header = lay.isHeader(&f, rest)
		if header && warn != nil {
			warn(fmt.Sprintf("%s:%d: taken as a header; --header=no if it is an edge", name, number))
		}
	}
	if header {
		lay.first++
	}
	return lay, nil
}

// fixLine is the way out of a bad line.
const fixLine = "fix the line or pass --skip-bad-lines"

// want says which fields a line should have.
func (lay *layout) want() string {
	switch {
	case lay.market != nil && lay.columns == 2:
		return "2 (row, column)"
	case lay.market != nil:
		return "3 (row, column, value)"
	case lay.columns == 2:
		return "2 (source, target)"
	case lay.columns == 3:
		return "3 (source, target, weight)"
	}
	return fmt.Sprintf("at least %d", max(lay.source, lay.target, lay.weight)+1)
}

// separator guesses what separates the fields of a line: a tab if there is
// one, but in a file called .csv if it stands beside commas like a blank; a comma
// or semicolon, if the file is called .csv or cutting there leaves fields without
// blanks, so that an id with a comma in a file separated by blanks is not taken
// apart; or else blanks. The comma of a decimal number separates nothing.
func separator(name string, line []byte) byte {
	csv := isNamed(name, ".csv")
	if bytes.IndexByte(line, tab) >= 0 && !(csv && tabsAreBlanks(line)) {
		return tab
	}
	for _, sep := range []byte{comma, semicolon} {
		if bytes.IndexByte(line, sep) < 0 || sep == comma && decimalComma(line) {
			continue
		}
		if csv {
			return sep
		}
		var f, g fields
		if f.split(line, sep) != nil || len(f.text) < 2 {
			continue
		}
		inside := false
		for _, text := range f.text {
			inside = inside || bytes.IndexByte(text, ' ') >= 0
		}
		if !inside || g.split(line, blanks) != nil || len(g.text) < 2 || len(g.text) > 3 {
			return sep
		}
	}
	return blanks
}

// tabsAreBlanks reports whether the tabs of a line stand around fields that commas
// separate.
func tabsAreBlanks(line []byte) bool {
	var f fields
	return f.split(line, comma) == nil && len(f.text) > 1 && len(f.text[1]) > 0 &&
		!slices.ContainsFunc(f.text, func(text []byte) bool { return bytes.IndexByte(text, tab) >= 0 })
}

// decimalComma reports whether semicolons separate the fields of a line, the third
// of which is a number with a decimal comma: an error, but a clear one.
func decimalComma(line []byte) bool {
	var f fields
	if f.split(line, semicolon) != nil || len(f.text) != 3 {
		return false
	}
	whole, fraction, cut := bytes.Cut(f.text[2], []byte{comma})
	digits := func(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }
	return cut && digits(whole) && digits(fraction)
}

// cut finds the fields of a line of the usual form: the source is
// line[:source], the target line[source+1:target], the weight line[weight:]. A
// line with a quote, a comment, blanks around a field or another number of
// fields is not of that form, which says nothing about it.
func (lay *layout) cut(line []byte) (source, target, weight int, ok bool) {
	if !lay.simple || len(line) == 0 || line[0] <= '/' {
		return 0, 0, 0, false // #, % and / come before
	}
	if lay.sep != tab && (bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, tab) >= 0) {
		return 0, 0, 0, false
	}
	source = bytes.IndexByte(line, lay.sep)
	if source < 1 {
		return 0, 0, 0, false
	}
	target = bytes.IndexByte(line[source+1:], lay.sep) + source + 1
	if target == source { // there is none
		target = len(line)
	}
	weight = target + 1
	if (weight > len(line)) != (lay.weight < 0) || target == source+1 {
		return 0, 0, 0, false
	}
	if lay.weight >= 0 && bytes.IndexByte(line[weight:], lay.sep) >= 0 {
		return 0, 0, 0, false
	}
	ok = line[source-1] > ' ' && line[source+1] > ' ' && line[target-1] > ' '
	return source, target, weight, ok
}

// isNamed reports whether a file's name has an extension, perhaps before that
// of a compression.
func isNamed(name, extension string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return filepath.Ext(name) == extension
}

// titles are pairs of words that head the columns of edge lists.
var titles = map[string]string{
	"source": "target", "src": "dst", "from": "to", "fromnodeid": "tonodeid", "node1": "node2",
	"node_1": "node_2", "id1": "id2", "id_1": "id_2", "u": "v", "head": "tail", "start": "end",
}

// valueWords are words in place of a weight that are values all the same, wrong
// ones, and head no column.
var valueWords = map[string]bool{
	"nan": true, "inf": true, "infinity": true, "na": true, "n/a": true, "null": true, "nil": true, "none": true,
}

// isTitle reports whether a weight can only be meant to head its column: it does
// not begin as a number would, and stands for no value.
func isTitle(weight []byte) bool {
	first, _ := utf8.DecodeRune(weight)
	return len(weight) > 0 && !unicode.IsDigit(first) && !strings.ContainsRune("+-.,", first) && !valueWords[strings.ToLower(string(weight))]
}

// isHeader reports whether the first data line is a header: its ids are no
// numbers while those of the next lines are, or its weight is a title while
// theirs are numbers, or its ids are a usual pair of titles and occur nowhere
// below.
func (lay *layout) isHeader(head *fields, rest []byte) bool {
	integers := func(f *fields) bool { return canonical(f.text[lay.source]) && canonical(f.text[lay.target]) }
	isNumber := func(b []byte) bool { _, fault := parseNumber(b); return fault == "" }
	need := max(lay.source, lay.target, lay.weight) + 1
	title := bytes.ToLower(head.text[lay.source])
	usual := titles[string(title)] == string(bytes.ToLower(head.text[lay.target])) && len(title) > 0
	words := !canonical(head.text[lay.source]) && !canonical(head.text[lay.target])
	noWeight := lay.weight >= 0 && isTitle(head.text[lay.weight])
	var f fields
	lines := 0
	for len(rest) > 0 && lines < sample {
		end := bytes.IndexByte(rest, '\n')
		line := rest[:end]
		rest = rest[end+1:]
		if isComment(line) {
			continue
		}
		if f.split(line, lay.sep) != nil || len(f.text) < need {
			continue // reported when it is read
		}
		lines++
		words = words && integers(&f)
		noWeight = noWeight && isNumber(f.text[lay.weight])
		for _, i := range []int{lay.source, lay.target} {
			usual = usual && !bytes.Equal(f.text[i], head.text[lay.source]) && !bytes.Equal(f.text[i], head.text[lay.target])
		}
	}
	return lines > 0 && (words || noWeight || usual)
}
