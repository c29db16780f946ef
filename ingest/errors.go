package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// ParseError is something wrong with the content of a file. Of the place, what
// is known is set; Line and Column count from 1.
type ParseError struct {
	File   string
	Line   int64
	Column int
	Byte   int64  // offset in the text, from 0; set instead of Line where that tells more
	AtByte bool   // whether Byte is set
	Msg    string // what is wrong
	Fix    string // the way out; may be empty
	Err    error  // what it wraps; may be nil
}

// Error returns file, place, fault and way out in one line.
func (e *ParseError) Error() string {
	text := e.Place() + ": " + e.Msg
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Place returns file:line:column, file:line, file@byte or the file alone.
func (e *ParseError) Place() string {
	switch {
	case e.AtByte:
		return fmt.Sprintf("%s@%d", e.File, e.Byte)
	case e.Line > 0 && e.Column > 0:
		return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	case e.Line > 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return e.File
}

// Unwrap returns Err.
func (e *ParseError) Unwrap() error { return e.Err }

// maxListed is how many bad lines an error lists, maxBad after how many no
// more are looked for.
const (
	maxListed = 10
	maxBad    = 1000
)

// BadLines is returned for a file with several bad lines: the first ten in the
// order of the file, and how many there are.
type BadLines struct {
	First []*ParseError
	Count int64
	More  bool // the reading stopped at Count; there may be more
}

// Error returns one line for each listed error and a last one with the count
// of the others.
func (e *BadLines) Error() string {
	var text strings.Builder
	for i, p := range e.First {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(p.Error())
	}
	if rest := e.Count - int64(len(e.First)); rest > 0 {
		lines, least := "lines", ""
		if rest == 1 {
			lines = "line"
		}
		if e.More {
			least = "at least "
		}
		fmt.Fprintf(&text, "\n%s: %s%d more bad %s", e.First[0].File, least, rest, lines)
	}
	return text.String()
}

// Unwrap returns the listed errors.
func (e *BadLines) Unwrap() []error {
	all := make([]error, len(e.First))
	for i, p := range e.First {
		all[i] = p
	}
	return all
}

// InputError is a wrong choice of inputs or options, found before any data was
// used.
type InputError struct {
	Place string // the input or the flag; may be empty
	Msg   string
	Fix   string // may be empty
}

// Error returns place, fault and way out in one line.
func (e *InputError) Error() string {
	text := e.Msg
	if e.Place != "" {
		text = e.Place + ": " + text
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// MemoryError is returned when the edges do not fit the limit.
type MemoryError struct {
	Need, Limit int64 // bytes; Need is what was asked when the limit was met
	Unordered   bool  // rows in the order of the ids would fit
}

// Error says what was asked and what to do.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("--max-memory: the edges need at least %d bytes, the limit is %d; allow more%s", e.Need, e.Limit, e.Else())
}

// Else is what to do if no more memory can be allowed; "" if nothing helps.
func (e *MemoryError) Else() string {
	if e.Unordered {
		return ", or pass --order none"
	}
	return ""
}

// DiskError is returned when a disk has less room than the work will take.
type DiskError struct {
	Dir        string // a directory on that disk
	What       string // what does not fit
	Need, Free int64  // bytes
}

// Error says what is needed and what to do.
func (e *DiskError) Error() string {
	return e.Text(func(bytes int64) string { return fmt.Sprintf("%d bytes", bytes) })
}

// Text is Error with numbers of bytes as format writes them.
func (e *DiskError) Text(format func(bytes int64) string) string {
	fix := "make room, or write to another disk"
	if e.What == diskTemp {
		fix = "make room, or name another disk with --temp-dir"
	}
	return fmt.Sprintf("%s: %s may need %s, %s are free; %s", e.Dir, e.What, format(e.Need), format(e.Free), fix)
}

// translate turns an error of reading into one of this package.
func translate(path string, err error) error {
	var text *textio.Error
	switch {
	case errors.As(err, &text):
		e := &ParseError{File: text.File, Line: text.Line, Msg: text.What, Fix: text.Fix, Err: err}
		if text.Line == 0 && text.Byte >= 0 {
			e.Byte, e.AtByte = text.Byte, true
		}
		return e
	case errors.Is(err, textio.ErrDirectory):
		return &InputError{Place: path, Msg: "a directory", Fix: "list its files"}
	case errors.Is(err, textio.ErrTerminal):
		return &InputError{Msg: "waiting for input on a terminal", Fix: "give a file or pipe"}
	}
	return err
}

// faults collects the bad lines of one part of a file.
type faults struct {
	first []*ParseError
	count int64
}

func (f *faults) add(e *ParseError) {
	f.count++
	if len(f.first) < maxListed {
		f.first = append(f.first, e)
	}
}

// join returns the error for the bad lines of the parts of a file, given in
// its order, or nil. Whatever follows the part with which maxBad is reached is
// left out, because how far others had read does not depend on the data alone.
// Where no line of the file is good there is nothing to skip.
func join(parts []faults, good bool) error {
	all := &BadLines{}
	for _, p := range parts {
		all.Count += p.count
		all.First = append(all.First, p.first[:min(len(p.first), maxListed-len(all.First))]...)
		if all.More = all.Count >= maxBad; all.More {
			break
		}
	}
	if !good {
		for _, e := range all.First {
			e.Fix = withoutSkipping(e.Fix, all.Count)
		}
	}
	switch {
	case all.Count == 0:
		return nil
	case all.Count == 1:
		return all.First[0]
	}
	slices.SortStableFunc(all.First, func(a, b *ParseError) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// withoutSkipping returns the way out of the bad lines of a file that has no others.
func withoutSkipping(fix string, lines int64) string {
	switch {
	case fix == fixLine && lines > 1:
		return "no line is good; fix them"
	case fix == fixLine:
		return "fix the line"
	}
	fix = strings.TrimSuffix(fix, ", or pass --skip-bad-lines")
	return strings.Replace(fix, "fix the line, leave", "leave", 1)
}

// quote quotes what came from a file, cut at 64 bytes.
func quote(b []byte) string {
	if len(b) > 64 {
		return fmt.Sprintf("%q…", b[:64])
	}
	return fmt.Sprintf("%q", b)
}

// count returns "1 field", "2 fields".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
