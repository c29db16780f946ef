package ingest

import (
	"bytes"
	"errors"
	"fmt"
)

// blank trims what may surround a field.
const blank = " \t\r"

// isComment reports whether a line says nothing: it is blank or begins with
// #, % or //.
func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, blank)
	return len(line) == 0 || line[0] == '#' || line[0] == '%' || len(line) > 1 && line[0] == '/' && line[1] == '/'
}

// Separators, with the names they have in messages.
const (
	tab       = '\t'
	comma     = ','
	semicolon = ';'
	blanks    = ' ' // any run of blanks and tabs
)

func separatorName(sep byte) string {
	switch sep {
	case tab:
		return "TAB"
	case comma:
		return "comma"
	case semicolon:
		return "semicolon"
	}
	return "blank"
}

// manyFields bounds the fields of a line, whose places take more memory than its
// text where they are short.
const manyFields = 1 << 17

var (
	errQuote    = errors.New("a quote is not closed on this line")
	errQuoteEnd = errors.New("something follows a closing quote")
	errTab      = errors.New("a field holds a TAB")
	errFields   = fmt.Errorf("more than %d fields", manyFields)
)

// splitFix returns the way out of a line that cannot be split; fix is that of
// others. What follows a field that goes on over lines could be taken for edges if
// its first line were skipped.
func splitFix(err error, fix string) string {
	if errors.Is(err, errQuote) {
		return "close it, or put fields that go on over several lines into one"
	}
	return fix
}

// fields is one line cut at its separators. The slices share memory with the
// line, or with the store of unquoted text.
type fields struct {
	text     [][]byte
	start    []int // column of each field, from 0
	unquoted []byte
}

// split cuts a line, trims each field, and takes quotes off. Files with tabs
// keep their quotes: there they belong to the text. It forgets the line before.
func (f *fields) split(line []byte, sep byte) error {
	f.text, f.start = f.text[:0], f.start[:0]
	f.unquoted = f.unquoted[:0]
	at := 0
	for {
		if len(f.text) == manyFields {
			return errFields
		}
		for at < len(line) && (line[at] == ' ' || line[at] == '\r' || line[at] == '\t' && sep != tab) {
			at++
		}
		if at == len(line) && sep == blanks {
			return nil
		}
		if at < len(line) && line[at] == '"' && sep != tab {
			text, end, err := f.quoted(line, at)
			if err != nil {
				return err
			}
			f.text, f.start = append(f.text, text), append(f.start, at)
			for at = end; at < len(line) && bytes.IndexByte([]byte(blank), line[at]) >= 0; at++ {
			}
			switch {
			case at == len(line):
				return nil
			case sep == blanks && at > end:
				continue
			case sep != blanks && line[at] == sep:
				at++
				continue
			}
			return errQuoteEnd
		}
		end := -1
		if sep == blanks {
			end = bytes.IndexAny(line[at:], blank)
		} else {
			end = bytes.IndexByte(line[at:], sep)
		}
		if end < 0 {
			f.text, f.start = append(f.text, bytes.Trim(line[at:], blank)), append(f.start, at)
			return nil
		}
		f.text, f.start = append(f.text, bytes.Trim(line[at:at+end], blank)), append(f.start, at)
		at += end + 1
	}
}

// quoted reads the quoted field that starts at line[at], where two quotes
// stand for one, and returns its text and the position behind it.
func (f *fields) quoted(line []byte, at int) (text []byte, end int, err error) {
	at++
	from := len(f.unquoted)
	whole := true // no quote inside: the text is a piece of the line
	for start := at; ; {
		i := bytes.IndexByte(line[at:], '"')
		if i < 0 {
			return nil, 0, errQuote
		}
		i += at
		if i+1 < len(line) && line[i+1] == '"' {
			whole = false
			f.unquoted = append(f.unquoted, line[at:i+1]...)
			at = i + 2
			continue
		}
		text = line[start:i]
		if !whole {
			f.unquoted = append(f.unquoted, line[at:i]...)
			text = f.unquoted[from:]
		}
		if bytes.IndexByte(text, tab) >= 0 {
			return nil, 0, errTab
		}
		return bytes.Trim(text, blank), i + 1, nil
	}
}

// dropEmpty forgets an empty last field, as a separator at the end of the line
// leaves, if there are more than n.
func (f *fields) dropEmpty(n int) {
	if last := len(f.text) - 1; last >= n && len(f.text[last]) == 0 {
		f.text, f.start = f.text[:last], f.start[:last]
	}
}
