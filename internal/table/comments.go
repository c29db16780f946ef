package table

import (
	"bytes"
	"fmt"
)

// A line that begins with #, % or // is a comment above the first line of data. Below it,
// the line is data if it has the form of a row, because ids may begin with these
// characters, for example hashtags; else it is skipped and reported.

// IsBlank reports whether a line is empty or consists of blanks.
func IsBlank(line []byte) bool { return len(bytes.Trim(line, Blank)) == 0 }

// IsComment reports whether a line is blank, begins with #, % or //, or is Excel's sep=;.
func IsComment(line []byte) bool {
	line = bytes.TrimLeft(line, Blank)
	return len(line) == 0 || len(line) < 8 && DeclaredSeparator(line) != "" || line[0] == '#' || line[0] == '%' || len(line) > 1 && line[0] == '/' && line[1] == '/'
}

// DeclaredSeparator returns the separator that Excel writes into the first line of a file, for
// example ; in sep=; or "" without such a line.
func DeclaredSeparator(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	sep, is := bytes.CutPrefix(bytes.Trim(bytes.TrimRight(line, "\r"), `"`), []byte("sep="))
	if !is || len(sep) != 1 {
		return ""
	}
	return string(sep)
}

// MayBeRow reports whether a line that begins with a comment marker may be a row, the
// marker being part of its first field: text must follow the marker without a blank.
func MayBeRow(line []byte) bool {
	line = bytes.TrimLeft(line, Blank)
	if len(line) < 2 {
		return false
	}
	switch next := line[1]; line[0] {
	case '#', '%':
		return !isBlank(next) && next != '#' && next != '%' && next != '!'
	case 's':
		return false
	}
	return len(line) > 2 && !isBlank(line[2]) && line[2] != '/'
}

// IsTitleComment reports whether fields are titles behind a comment marker, for example
// "#source" and "target", as some tools write headers.
func IsTitleComment(fields [][]byte) bool {
	titles := make([]string, len(fields))
	for i, text := range fields {
		titles[i] = string(bytes.Trim(text, Blank))
	}
	if len(titles) == 0 {
		return false
	}
	titles[0] = string(bytes.TrimLeft([]byte(titles[0]), "#%/ "))
	return (&Sample{Titles: titles}).pairs() != nil || IsNode(titles[0])
}

// FirstData finds the first line of data in the head of a file; separator returns the separator
// of the fields of a line, whose number is the same in all lines unless anyWidth is set. first is
// the index of the line from 0, or −1. It is the first line without a comment marker, or an earlier
// line with a marker that has the form of a row and whose id occurs again as an id. For example, in a file of hashtags "#go<TAB>#rust" is data
// if another line has the id "#go". doubtful is the index of an earlier line that has the form
// of a row but is read as a comment, or −1.
func FirstData(head []byte, separator func(line []byte) byte, anyWidth bool) (first, doubtful int) {
	first, doubtful = -1, -1
	var above, below [][]byte // candidates above the first line without a marker, and the lines from it on
	var index []int           // of the candidates
	for i := 0; len(head) > 0 && len(below) < SampleRows; i++ {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte{'\n'})
		switch {
		case first >= 0:
			below = append(below, line)
		case !IsComment(line):
			if first = i; index == nil {
				return first, -1
			}
			below = append(below, line)
		case !IsBlank(line) && MayBeRow(line):
			above, index = append(above, line), append(index, i)
		}
	}
	if index == nil {
		return first, -1
	}
	var f Fields
	model := append(below, above...)[0]
	sep := separator(model)
	if f.Split(model, sep) != nil {
		return first, -1
	}
	f.DropEmpty(2)
	width := len(f.Text)
	if width < 2 && first < 0 {
		return first, -1
	}
	ids := map[string]bool{} // of other lines
	more := false            // rows with a marker stand among the data too
	numeric := first >= 0    // all ids below are integers
	for i, line := range append(below, above...) {
		if IsBlank(line) || f.Split(line, sep) != nil {
			continue
		}
		if f.DropEmpty(width); len(f.Text) != width && !anyWidth {
			continue
		}
		from := 0
		if i >= len(below) {
			from = 1
		} else if IsComment(line) {
			more = more || MayBeRow(line)
		}
		for k, text := range f.Text[from:] {
			ids[string(text)] = true
			numeric = numeric && (from > 0 || k > 1 || IsComment(line) || IsInteger(text))
		}
	}
	if numeric {
		return first, -1
	}
	for i, line := range above {
		if f.Split(line, sep) != nil {
			continue
		}
		if f.DropEmpty(width); len(f.Text) != width && !anyWidth || IsTitleComment(f.Text) {
			continue
		}
		more = more || ids[string(f.Text[0])]
		if doubtful < 0 {
			doubtful = index[i]
		}
	}
	if more && doubtful >= 0 {
		return doubtful, -1
	}
	return first, doubtful
}

// RemarkWarning returns the warning about n comments below the first line of data, the
// first of them on the given line.
func RemarkWarning(name string, line, n int64) error {
	return fmt.Errorf("%s:%d: skipped %s below the first line of data; they begin with #, %% or // and are not rows", name, line, Counted(n, "comment"))
}
