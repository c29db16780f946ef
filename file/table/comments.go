package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Above the first line of data, a line that begins with #, %, ! or // is a comment. Below it, such a line is data if it
// has the form of a row, because ids such as hashtags may begin so; otherwise it is skipped and reported.

// IsBlank reports whether a line is empty or consists of blanks. It also reports true for the number of rows below a
// table of psql, as in (12 rows), and for a rule in a table of psql or Markdown, as in ---+--- and |---|---|.
func IsBlank(line []byte) bool {
	line = bytes.Trim(line, Blank)
	count, isFooter := bytes.CutPrefix(line, []byte("("))
	count, _, hasUnit := bytes.Cut(count, []byte(" row"))
	return len(line) == 0 || isFooter && hasUnit && IsInteger(count) || isRule(line)
}

func isRule(line []byte) bool {
	return strings.IndexByte("-+|", line[0]) >= 0 && bytes.Contains(line, []byte("---")) &&
		bytes.ContainsAny(line, "+|") && len(bytes.Trim(line, "-+|: ")) == 0
}

// markers begin comments, beside //. Annotations of genes have comments with !.
const markers = "#%!"

// IsComment reports whether a line is blank (see [IsBlank]), begins with #, %, ! or //, or is a line such as
// sep=; of Excel.
func IsComment(line []byte) bool {
	line = bytes.TrimLeft(line, Blank)
	return IsBlank(line) || len(line) < 8 && DeclaredSeparator(line) != "" ||
		strings.IndexByte(markers, line[0]) >= 0 ||
		len(line) > 1 && line[0] == '/' && line[1] == '/'
}

// DeclaredSeparator returns the separator that Excel declares in the first line of a file, for example ; in sep=;, or
// "".
func DeclaredSeparator(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	sep, isDeclared := bytes.CutPrefix(bytes.Trim(bytes.TrimRight(line, "\r"), `"`), []byte("sep="))
	if !isDeclared || len(sep) != 1 {
		return ""
	}
	return string(sep)
}

// MayBeRow reports whether a line that begins with a comment marker may be a row: text that is not a number follows
// the marker without a blank.
func MayBeRow(line []byte) bool {
	line = bytes.TrimLeft(line, Blank)
	text := bytes.TrimPrefix(line, []byte("//"))
	if len(line) > 0 && strings.IndexByte(markers, line[0]) >= 0 {
		text = line[1:]
	}
	if len(text) == 0 || len(text) == len(line) ||
		strings.IndexByte(Blank+"#%!/", text[0]) >= 0 {
		return false
	}
	id := text
	if end := bytes.IndexAny(text, Blank+",;"); end >= 0 {
		id = text[:end]
	}
	return !IsInteger(id)
}

// IsTitleComment reports whether fields are titles after a comment marker, for example "#source" and "target".
func IsTitleComment(fields [][]byte) bool {
	titles := (&Fields{Text: fields}).Strings()
	if len(titles) == 0 {
		return false
	}
	titles[0] = strings.TrimLeft(titles[0], markers+"/ ")
	return NamesEnds(titles) || IsNode(titles[0])
}

// FirstData returns the index of the first line of data in the head of a file, from 0, or −1. Usually this is the
// first line without a comment marker. An earlier line is data if its first field is known to isKnown. If isKnown is
// nil, it is data if it has the form of a row and its id occurs again below, such as "#go<TAB>#rust" above a line with
// the id "#go". separator must return the separator of the fields of a line. doubtful is the index of a comment that
// has the form of a row, or −1.
func FirstData(head []byte, separator func(line []byte) byte, isKnown func(id string) bool) (first, doubtful int) {
	doubtful = -1
	var f Fields
	for i := 0; len(head) > 0; i++ {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte{'\n'})
		if !IsComment(line) {
			return i, doubtful
		}
		sep := separator(line)
		if i >= SampleRows || isKnown == nil && !MayBeRow(line) || f.Split(line, sep) != nil {
			continue
		}
		if isKnown != nil {
			if len(f.Text) > 0 && isKnown(f.Strings()[0]) {
				return i, -1
			}
			continue
		}
		if f.DropEmpty(2); len(f.Text) < 2 || IsTitleComment(f.Text) {
			continue
		}
		ids := f.Strings()[:1]
		if IsComment(f.Text[1]) {
			ids = f.Strings()[:2]
		}
		if recurs(ids, head, sep) {
			return i, -1
		}
		if doubtful < 0 {
			doubtful = i
		}
	}
	return -1, doubtful
}

// TitlesAbove returns the titles of the columns in a comment right above the first line of data, without its marker, as
// in files of STRING, BioGRID and PSI-MI TAB. The comment must have as many fields as the line, none of them a number.
// It must have at least three fields, or two if they are titles of a node and its value; if blanks separate fields, they
// must name the ends of an edge. TitlesAbove returns nil for other comments.
func TitlesAbove(comment, line []byte, separator func(line []byte) byte) []byte {
	if !IsComment(comment) || IsBlank(comment) {
		return nil
	}
	titles := bytes.TrimLeft(comment, markers+"/ ")
	sep := separator(line)
	var f, g Fields
	if f.Split(titles, sep) != nil || g.Split(line, sep) != nil {
		return nil
	}
	fields := f.Strings()
	isName := func(text string) bool { return text != "" && !IsNumber(text) }
	areFew := len(fields) < 2 || len(fields) == 2 && !(IsNode(fields[0]) && hasRole(fields[1], input.Label, input.Value, "split"))
	if areFew || len(fields) != len(g.Text) || NamesEnds(g.Strings()) || separator(titles) != sep ||
		!all(fields, isName) || sep == Blanks && !NamesEnds(fields) {
		return nil
	}
	return titles
}

func recurs(ids []string, text []byte, sep byte) bool {
	var f Fields
	for line := range bytes.Lines(text) {
		if f.Split(bytes.TrimSuffix(line, []byte{'\n'}), sep) != nil {
			continue
		}
		fields := f.Strings()
		for _, field := range fields[:min(len(fields), 2)] {
			if field != "" && slices.Contains(ids, field) {
				return true
			}
		}
	}
	return false
}

// HeaderWarning returns the warning about n lines that repeat the header, the first of which is line.
func HeaderWarning(name string, line, n int64) error {
	return fmt.Errorf("%s:%d: skipped %s equal to the header", name, line, words.Counted(n, "line"))
}

// RemarkWarning returns the warning about n comments below the first line of data, the first of which is line.
func RemarkWarning(name string, line, n int64) error {
	return fmt.Errorf("%s:%d: skipped %s below the first line of data; they begin with #, %%, ! or // and are not rows", name, line, words.Counted(n, "comment"))
}
