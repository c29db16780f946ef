package lines

import (
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
)

// Tally counts lines.
type Tally struct {
	Lines, Comments int64
	Rounded         int64 // weights that are integers which float64 does not hold
	RoundedLine     int64 // of the first of them
	Padded          int64 // ids with blanks around them
	PaddedLine      int64 // of the first of them
}

// round takes note of a weight that is rounded.
func (t *Tally) round(line int64) { t.Add(Tally{Rounded: 1, RoundedLine: line}) }

// pad takes note of an id with blanks around it.
func (t *Tally) pad(line int64) { t.Add(Tally{Padded: 1, PaddedLine: line}) }

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
}

// Faults are the bad lines of one part of a file.
type Faults struct {
	First []*nodefile.ParseError // MaxListed of them at the most
	Count int64
}

// MaxListed is how many bad lines an error lists.
const MaxListed = 10

func (f *Faults) add(e *nodefile.ParseError) {
	f.Count++
	if len(f.First) < MaxListed {
		f.First = append(f.First, e)
	}
}

// NotRead is the error for a file of a format that is known and not read.
func NotRead(name, what, fix string) error {
	return &nodefile.ParseError{File: name, Msg: what + ", which is not read", Fix: fix}
}
