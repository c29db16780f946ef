package lines

import (
	"slices"
	"strings"
	"unicode"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// Tally counts lines.
type Tally struct {
	Lines, Comments int64
	Rounded         int64 // weights that are integers which float64 does not hold
	RoundedLine     int64 // line of the first rounded weight
	Padded          int64 // ids with blanks around them
	PaddedLine      int64 // line of the first padded id
	Remarks         int64 // comments below the first line of data, Comments among them
	RemarkLine      int64 // the first of these lines
}

// pass takes note of a chunk of comments.
func (t *Tally) pass(chunk *textio.Chunk) {
	t.Lines += int64(chunk.Lines)
	t.Comments += int64(chunk.Lines)
}

// Add adds the counts of other lines.
func (t *Tally) Add(u Tally) {
	t.Lines += u.Lines
	t.Comments += u.Comments
	if u.Rounded > 0 && (t.Rounded == 0 || u.RoundedLine < t.RoundedLine) {
		t.RoundedLine = u.RoundedLine
	}
	t.Rounded += u.Rounded
	if u.Padded > 0 && (t.Padded == 0 || u.PaddedLine < t.PaddedLine) {
		t.PaddedLine = u.PaddedLine
	}
	t.Padded += u.Padded
	if u.Remarks > 0 && (t.Remarks == 0 || u.RemarkLine < t.RemarkLine) {
		t.RemarkLine = u.RemarkLine
	}
	t.Remarks += u.Remarks
}

// Faults are the bad lines of one part of a file.
type Faults struct {
	Kinds []Fault // in the order of their first lines
	Count int64   // of all lines
}

// Fault is a kind of bad lines: their messages are equal apart from numbers and quoted text.
type Fault struct {
	First *textio.Error // of the first line
	Count int64
	kind  string
}

func (f *Faults) add(e *textio.Error) {
	isQuoted := false
	f.Add(Fault{First: e, Count: 1, kind: strings.Map(func(r rune) rune {
		if r == '"' {
			isQuoted = !isQuoted
		}
		if isQuoted || !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(e.Msg, `\"`, ""))})
}

// Add adds bad lines of one kind that follow the others in the file.
func (f *Faults) Add(more Fault) {
	f.Count += more.Count
	at := slices.IndexFunc(f.Kinds, func(fault Fault) bool { return fault.kind == more.kind })
	if at < 0 {
		f.Kinds = append(f.Kinds, more)
		return
	}
	f.Kinds[at].Count += more.Count
}
