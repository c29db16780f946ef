package lines

import (
	"bytes"
	"math"
	"strconv"

	"slices"
	"strings"
	"unicode"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// Tally counts the lines of an input and the peculiarities that a run reports.
type Tally struct {
	Lines, Comments int64
	Rounded         Count // weights that are integers and not exact in float64
	Padded          Count // ids with blanks around them
	RoundedIDs      Count // ids that look like rounded numbers, see IsRounded
	Weightless      Count // edges without a weight in a file with weights
	Zeros           Count
	Blanks          Count // lines with a blank end and a weight that is not 0
	Remarks         Count // comments after the first line of data; Comments includes them
	Headers         Count // repetitions of the header

	// For source and target in columns whose first lines have whole numbers: ids such as 2.0, which were read as
	// digits, and ids that are no whole numbers. If a column has both, its ids are text.
	Joined, Texts [2]Example
}

// Example is a number of lines, and the first such line with its id.
type Example struct {
	Count
	ID string
}

func (e *Example) add(other Example) {
	if other.N > 0 && (e.N == 0 || other.First < e.First) {
		e.ID = other.ID
	}
	e.Count.add(other.Count)
}

// addForm counts an id that is not written as digits in a column of whole numbers.
func (t *Tally) addForm(end int, id string, line int64) {
	example := Example{Count{1, line}, id}
	switch {
	case table.IsMissing(id, table.Missing):
	case table.IsInteger(table.PlainInteger(id)):
		t.Joined[end].add(example)
	default:
		t.Texts[end].add(example)
	}
}

// Count is a number of lines and the number of the first such line in the text.
type Count struct{ N, First int64 }

func (c *Count) add(d Count) {
	if d.N > 0 && (c.N == 0 || d.First < c.First) {
		c.First = d.First
	}
	c.N += d.N
}

func (t *Tally) addComments(chunk *textio.Chunk) {
	t.Lines += int64(chunk.Lines)
	t.Comments += int64(chunk.Lines)
}

func (t *Tally) Add(u Tally) {
	t.Lines += u.Lines
	t.Comments += u.Comments
	t.Rounded.add(u.Rounded)
	t.Padded.add(u.Padded)
	t.RoundedIDs.add(u.RoundedIDs)
	t.Weightless.add(u.Weightless)
	t.Zeros.add(u.Zeros)
	t.Blanks.add(u.Blanks)
	t.Remarks.add(u.Remarks)
	t.Headers.add(u.Headers)
	for end := range t.Joined {
		t.Joined[end].add(u.Joined[end])
		t.Texts[end].add(u.Texts[end])
	}
}

// IsRounded reports whether an id is a number of at least 2⁵³ with an exponent or a decimal point, as
// programs write integers that they have read as floats.
func IsRounded(id []byte) bool {
	if len(id) == 0 || id[0] < '1' || id[0] > '9' {
		return false
	}
	hasSign := bytes.Contains(id, []byte("e+")) || bytes.Contains(id, []byte("E+"))
	if !hasSign && bytes.IndexByte(id, '.') < 0 {
		return false
	}
	value, err := strconv.ParseFloat(string(id), 64)
	return err == nil && value >= 1<<53 && value == math.Trunc(value)
}

// Faults holds the bad lines of an input or of a part of it. Count is their number.
type Faults struct {
	Kinds []Fault // in the order of their first lines
	Count int64
}

// Fault is a kind of bad lines, whose messages differ only in numbers and quoted text.
type Fault struct {
	First *textio.Error
	Count int64
	kind  string
}

// add adds a bad line to its kind.
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

// Add adds bad lines of one kind. In the file, they must follow the bad lines that f has.
func (f *Faults) Add(more Fault) {
	f.Count += more.Count
	kind := slices.IndexFunc(f.Kinds,
		func(fault Fault) bool { return fault.kind == more.kind })
	if kind < 0 {
		f.Kinds = append(f.Kinds, more)
		return
	}
	f.Kinds[kind].Count += more.Count
}
