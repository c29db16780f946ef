package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
)

// Blank contains the bytes that may surround a field.
const Blank = " \t\r"

// Separators of fields. Blanks stands for any run of blanks and tabs.
const (
	Tab       = '\t'
	Comma     = ','
	Semicolon = ';'
	Bar       = '|'
	Blanks    = ' '
)

// SeparatorName names a separator in messages.
func SeparatorName(sep byte) string {
	name := map[byte]string{Tab: "TAB", Comma: "comma", Semicolon: "semicolon",
		Blanks: "blank"}[sep]
	return cmp.Or(name, strconv.Quote(string(rune(sep))))
}

// manyFields bounds the fields of a line, because the positions of short fields need more memory than their text.
const manyFields = 1 << 17

// Faults of lines that cannot be split.
var (
	ErrQuote    = errors.New("a quote is not closed on this line")
	ErrQuoteEnd = errors.New("something follows a closing quote")
	ErrTab      = errors.New("a field holds a TAB")
	ErrFields   = fmt.Errorf("more than %d fields", manyFields)
)

// Fields holds the fields of one line. The slices share memory with the line, and are valid until the next Split.
type Fields struct {
	Text   [][]byte
	Start  []int  // column of each field, from 0
	Padded []bool // whether blanks surround the field, outside of quotes

	unquoted []byte
}

// Split splits a line at its separators, see the package documentation.
func (f *Fields) Split(line []byte, sep byte) error {
	f.Text = f.Text[:0]
	f.Start = f.Start[:0]
	f.Padded = f.Padded[:0]
	f.unquoted = f.unquoted[:0]
	line = bytes.TrimRight(line, "\r") // part of the line end
	if sep == Tab {
		return f.splitTabs(line)
	}
	for position := 0; ; {
		if len(f.Text) == manyFields {
			return ErrFields
		}
		start := position
		for position < len(line) && isBlank(line[position]) {
			position++
		}
		if position == len(line) && sep == Blanks {
			return nil
		}
		if position < len(line) && line[position] == '"' {
			text, end, err := f.readQuoted(line, position)
			if err != nil {
				return err
			}
			f.add(text, position, false)
			for position = end; position < len(line) && isBlank(line[position]); position++ {
			}
			switch {
			case position == len(line):
				return nil
			case sep == Blanks && position > end:
				continue
			case sep != Blanks && line[position] == sep:
				position++
				continue
			}
			return ErrQuoteEnd
		}
		end := -1
		if sep == Blanks {
			end = bytes.IndexAny(line[position:], Blank)
		} else {
			end = bytes.IndexByte(line[position:], sep)
		}
		last := end < 0
		if last {
			end = len(line) - position
		}
		field := line[position : position+end]
		text := trimNoBreak(bytes.TrimRight(field, Blank))
		padded := sep != Blanks && (position > start || len(text) < len(field)) ||
			len(text) < len(bytes.TrimRight(field, Blank))
		f.add(text, position+max(0, bytes.Index(field, text)), padded)
		if last {
			return nil
		}
		position += end + 1
	}
}

// noBreak is the blank that office programs and web pages put around text.
const noBreak = "\u00a0"

// trimNoBreak removes blanks around a text that begins or ends with a no-break space.
func trimNoBreak(text []byte) []byte {
	if bytes.HasPrefix(text, []byte(noBreak)) ||
		bytes.HasSuffix(text, []byte(noBreak)) {
		return bytes.Trim(text, Blank+noBreak)
	}
	return text
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r'
}

func (f *Fields) add(text []byte, position int, padded bool) {
	f.Text = append(f.Text, text)
	f.Start = append(f.Start, position)
	f.Padded = append(f.Padded, padded)
}

// splitTabs splits a line at tabs. It removes quotes around a field if the quotes inside are doubled, and blanks
// around an integer. Other fields stay as they are.
func (f *Fields) splitTabs(line []byte) error {
	for position := 0; ; {
		if len(f.Text) == manyFields {
			return ErrFields
		}
		end := bytes.IndexByte(line[position:], Tab)
		last := end < 0
		if last {
			end = len(line) - position
		}
		text := line[position : position+end]
		start := position
		inner, isQuoted := f.unquote(text)
		padded := !isQuoted && len(text) > 0 &&
			(isBlank(text[0]) || isBlank(text[len(text)-1]) ||
				len(trimNoBreak(text)) < len(text))
		if isQuoted {
			text = inner
			start++
		} else if padded {
			if bare := bytes.Trim(text, Blank); len(bare) == 0 || IsInteger(bare) {
				start += bytes.Index(text, bare)
				text = bare
			}
		}
		f.add(text, start, padded)
		if last {
			return nil
		}
		position += end + 1
	}
}

func (f *Fields) unquote(field []byte) (text []byte, ok bool) {
	n := len(field)
	if n < 2 || field[0] != '"' || field[n-1] != '"' {
		return nil, false
	}
	text = field[1 : n-1]
	if bytes.IndexByte(text, '"') < 0 {
		return text, true
	}
	start := len(f.unquoted)
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			if i++; i == len(text) || text[i] != '"' {
				f.unquoted = f.unquoted[:start]
				return nil, false
			}
		}
		f.unquoted = append(f.unquoted, text[i])
	}
	return f.unquoted[start:], true
}

// readQuoted returns the text of the quoted field at position, and the position after the field.
func (f *Fields) readQuoted(line []byte,
	position int) (text []byte, end int, err error) {
	position++
	first := len(f.unquoted)
	isPiece := true // without quotes inside, the text is a piece of the line
	for start := position; ; {
		i := bytes.IndexByte(line[position:], '"')
		if i < 0 {
			return nil, 0, ErrQuote
		}
		i += position
		if i+1 < len(line) && line[i+1] == '"' {
			isPiece = false
			f.unquoted = append(f.unquoted, line[position:i+1]...)
			position = i + 2
			continue
		}
		text = line[start:i]
		if !isPiece {
			f.unquoted = append(f.unquoted, line[position:i]...)
			text = f.unquoted[first:]
		}
		if bytes.IndexByte(text, Tab) >= 0 {
			return nil, 0, ErrTab
		}
		return text, i + 1, nil
	}
}

// OffsetOf returns the offset of field i in the line. ok is false if the field is not a part of the line, because
// quotes were removed.
func (f *Fields) OffsetOf(i int, line []byte) (start int, ok bool) {
	text := f.Text[i]
	start = cap(line) - cap(text)
	return start, len(text) > 0 && start >= 0 && start < len(line) &&
		&line[start] == &text[0]
}

// DropEmpty removes an empty last field, left by a separator at the end of the line, if there are more than n fields.
func (f *Fields) DropEmpty(n int) {
	if last := len(f.Text) - 1; last >= n && len(f.Text[last]) == 0 {
		f.Text = f.Text[:last]
		f.Start = f.Start[:last]
		f.Padded = f.Padded[:last]
	}
}

// Strings returns copies of the fields without blanks around them.
func (f *Fields) Strings() []string {
	list := make([]string, len(f.Text))
	for i, text := range f.Text {
		list[i] = string(bytes.Trim(text, Blank))
	}
	return list
}

// Mark is the byte-order mark. It begins some files, and occurs inside files that were joined.
const Mark = "\ufeff"

// IsRow reports whether a line has the given fields, apart from quotes and blanks around them and a byte-order mark.
// It splits the line only if the line contains the longest field.
func (f *Fields) IsRow(line []byte, sep byte, fields []string) bool {
	longest := ""
	for _, field := range fields {
		if len(field) > len(longest) {
			longest = field
		}
	}
	return longest != "" && bytes.Contains(line, []byte(longest)) && f.Split(bytes.TrimPrefix(line, []byte(Mark)), sep) == nil &&
		slices.Equal(f.Strings(), fields)
}

// SeparatorOf returns the separator in the settings or, without one, the result of [Separator]. If numbers have a
// decimal comma, it prefers a tab or a semicolon in the line to a comma.
func SeparatorOf(t input.Text, name string, line []byte) byte {
	if sep := t.Separator(); sep != 0 {
		return sep
	}
	sep := Separator(name, line)
	if sep == Comma && t.HasDecimalComma() {
		switch {
		case bytes.IndexByte(line, Tab) >= 0:
			return Tab
		case bytes.IndexByte(line, Semicolon) >= 0:
			return Semicolon
		}
	}
	return sep
}

// Separator guesses the separator of the fields of a line in the file called name. The separator is a tab if the line
// contains a tab, except in a .csv file whose tabs surround fields separated by commas. Otherwise it is a comma, a
// semicolon or a vertical bar (as in psql) if the file is a .csv file or the resulting fields contain no blanks.
// Otherwise it is blanks. A decimal comma is not a separator.
func Separator(name string, line []byte) byte {
	csv := IsNamed(name, ".csv")
	if bytes.IndexByte(line, Tab) >= 0 && !(csv && tabsAreBlanks(line)) {
		return Tab
	}
	for _, sep := range []byte{Comma, Semicolon, Bar} {
		if bytes.IndexByte(line, sep) < 0 || sep == Comma && decimalComma(line) {
			continue
		}
		if csv {
			return sep
		}
		var f, g Fields
		if f.Split(line, sep) != nil || len(f.Text) < 2 {
			continue
		}
		hasBlank := slices.ContainsFunc(f.Text,
			func(text []byte) bool { return bytes.IndexByte(text, ' ') >= 0 })
		if !hasBlank || g.Split(line, Blanks) != nil || len(g.Text) < 2 ||
			len(g.Text) > 3 {
			return sep
		}
	}
	return Blanks
}

func tabsAreBlanks(line []byte) bool {
	var f Fields
	return f.Split(line, Comma) == nil && len(f.Text) > 1 && len(f.Text[1]) > 0 &&
		!slices.ContainsFunc(f.Text,
			func(text []byte) bool { return bytes.IndexByte(text, Tab) >= 0 })
}

func decimalComma(line []byte) bool {
	var f Fields
	return f.Split(line, Semicolon) == nil && len(f.Text) > 2 && all(f.Text, func(text []byte) bool {
		return bytes.IndexByte(text, Comma) < 0 || IsNumber(string(PlainNumber(text, input.Text{Thousands: "."})))
	})
}

// IsNamed reports whether a file name has an extension, perhaps followed by the extension of a compression.
func IsNamed(name, extension string) bool {
	return Extension(name) == extension
}

// Extension returns the extension of a file name in lower case, without the extension of a compression: .csv for
// e.csv.gz.
func Extension(name string) string {
	name = strings.ToLower(name)
	for _, ending := range []string{".gz", ".zst", ".bgz"} {
		name = strings.TrimSuffix(name, ending)
	}
	return filepath.Ext(name)
}

// AppendField appends a field of a comma-separated line, quoted if a reader would otherwise read different text.
func AppendField[S []byte | string](dst []byte, text S) []byte {
	if !IsComment([]byte(text)) &&
		!strings.ContainsAny(string(text), "\",; \t\r\n") {
		return append(dst, text...)
	}
	return AppendQuoted(dst, text)
}

// AppendTabbed appends a field of a tab-separated line, quoted if it contains quotes or a line break. [Fields.Split],
// and pandas, R and DuckDB with their defaults, read the same text back.
func AppendTabbed[S []byte | string](dst []byte, text S) []byte {
	for i := range len(text) {
		switch text[i] {
		case '"', '\t', '\r', '\n':
			return AppendQuoted(dst, text)
		}
	}
	return append(dst, text...)
}

// AppendQuoted appends a field in quotes.
func AppendQuoted[S []byte | string](dst []byte, s S) []byte {
	text := []byte(s)
	dst = append(dst, '"')
	for _, c := range text {
		if c == '"' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
