package graphfile

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

type marketHead struct {
	Field         string // PatternField, IntegerField or realField
	Symmetry      string // General, Symmetric or Skew
	Rows, Entries uint64
}

// Fields (types of the values) and symmetries of Matrix Market files. A file with symmetry general lists all entries;
// other files list the entries on the diagonal and on one side of it, usually below.
const (
	PatternField = "pattern" // no values
	IntegerField = "integer"
	realField    = "real"

	General   = "general"
	Symmetric = "symmetric"
	Skew      = "skew-symmetric"
)

const bannerStart = "%%MatrixMarket"

// banner matches the first line of a Matrix Market file. It allows a single % or a blank after %%, as some programs
// write.
var banner = textio.Pattern(`(?i)^%+ ?MatrixMarket\b`)

func (h marketHead) String() string {
	return fmt.Sprintf("%s matrix coordinate %s %s\n%d %d %d\n", bannerStart,
		h.Field, h.Symmetry, h.Rows, h.Rows, h.Entries)
}

func appendMarketEntry(line []byte, row, col uint32) []byte {
	line = strconv.AppendUint(line, uint64(row)+1, 10)
	return strconv.AppendUint(append(line, ' '), uint64(col)+1, 10)
}

// IsMarket reports whether a file is a Matrix Market file, by the beginning of the content or by the ending of the
// name.
func IsMarket(name string, head []byte) bool {
	return banner().Match(head) || table.IsNamed(name, ".mtx")
}

// MarketReader parses the lines of a Matrix Market file: a head with field, symmetry and size of a square matrix,
// then an entry on each line. Rows and columns count from 0 here and from 1 in files. The caller adds the remedy to
// errors about entries.
type MarketReader struct {
	Name   string // file name for messages
	Signed bool   // values may be negative
	marketHead

	began    bool
	sizeLine int64
}

// Line parses line number of the file, the next line of the head, and reports whether the head is complete. A matrix
// of more than limit rows is an error.
func (r *MarketReader) Line(line []byte, number int64,
	limit int) (last bool, bad *textio.Error) {
	switch {
	case !r.began:
		r.began = true
		return false, r.banner(line)
	case table.IsComment(line):
		return false, nil
	}
	return true, r.size(line, number, limit)
}

func (r *MarketReader) banner(line []byte) *textio.Error {
	fault := func(fix, format string, args ...any) *textio.Error {
		return textio.Fault(r.Name, 1, fix, format, args...)
	}
	fields := bytes.Fields(bytes.ToLower(line))
	if len(fields) > 1 && string(fields[0]) == "%%" ||
		len(fields) > 1 && string(fields[0]) == "%" {
		fields = fields[1:]
	}
	if len(fields) != 5 || !banner().Match(line) || string(fields[1]) != "matrix" {
		return fault("begin the file with it, or fetch it again", `first line is %s, want "%%%%MatrixMarket matrix coordinate …"`, words.Quoted(bytes.TrimRight(line, table.Blank)))
	}
	if string(fields[2]) != "coordinate" {
		return fault("write it as coordinate",
			"format %s is not supported; coordinate is", words.Quoted(fields[2]))
	}
	r.Field = string(fields[3])
	r.Symmetry = string(fields[4])
	switch r.Field {
	case "unsigned-integer": // SciPy writes this for unsigned arrays
		r.Field = IntegerField
	case "double":
		r.Field = realField
	}
	if !slices.Contains([]string{PatternField, IntegerField, realField}, r.Field) {
		return fault("write it as one of them",
			"field %s is not supported; real, integer and pattern are",
			words.Quoted(fields[3]))
	}
	switch {
	case !slices.Contains([]string{General, Symmetric, Skew}, r.Symmetry):
		return fault("write it as general",
			"symmetry %s is not supported; general, symmetric and skew-symmetric are", words.Quoted(fields[4]))
	case r.Symmetry == Skew && r.Field == PatternField:
		return fault("write it as real, or as general",
			"a pattern cannot be skew-symmetric")
	case r.Symmetry == Skew && !r.Signed:
		return fault(table.NegativeFix, "half of the entries of a skew-symmetric matrix are negative")
	}
	return nil
}

func (r *MarketReader) size(line []byte, number int64, limit int) *textio.Error {
	const fix = "correct the line of sizes, or fetch the file again"
	fields := bytes.Fields(line)
	if len(fields) != 3 {
		return textio.Fault(r.Name, number, fix,
			"%s, want 3 (rows, columns, entries)",
			words.Counted(len(fields), "field"))
	}
	var n [3]uint64
	for i, word := range fields {
		v, err := strconv.ParseUint(string(word), 10, 63)
		if err != nil {
			return textio.Fault(r.Name, number, fix,
				"size %s is not a number of rows, columns or entries",
				words.Quoted(word))
		}
		n[i] = v
	}
	r.Rows = n[0]
	r.Entries = n[2]
	r.sizeLine = number
	switch {
	case n[0] != n[1]:
		return textio.Fault(r.Name, number, "",
			"%d×%d; an adjacency matrix is square", n[0], n[1])
	case n[0] > uint64(limit):
		return textio.Fault(r.Name, number, "", "%d rows; limit %d", n[0], limit)
	}
	return nil
}

// Entry parses an entry, of value 1 if the field is PatternField. For a skew-symmetric matrix it returns the positive
// entry among (i, j) and (j, i), the arc of a directed graph.
func (r *MarketReader) Entry(f *table.Fields,
	number int64) (row, col uint32, value float64, bad *textio.Error) {
	fault := func(field int, format string, args ...any) (uint32, uint32, float64, *textio.Error) {
		e := textio.Fault(r.Name, number, "", format, args...)
		if field >= 0 {
			e.Column = f.Start[field] + 1
		}
		return 0, 0, 0, e
	}
	var index [2]uint64
	for i, what := range [...]string{"row", "column"} {
		v, err := strconv.ParseUint(string(f.Text[i]), 10, 64)
		if err != nil {
			return fault(i, "%s %s is not a number", what, words.Quoted(f.Text[i]))
		}
		if v < 1 || v > r.Rows {
			return fault(-1, "%s %d; indices run from 1 to %d", what, v, r.Rows)
		}
		index[i] = v
	}
	row = uint32(index[0] - 1)
	col = uint32(index[1] - 1)
	value = 1
	if r.Field != PatternField {
		text := f.Text[2]
		var wrong string
		value, wrong = table.ParseNumber(text, 64)
		if wrong == "" && r.Field == IntegerField && value != math.Trunc(value) {
			wrong = "is not an integer, as line 1 declares"
		}
		if wrong != "" {
			return fault(2, "weight %s %s", words.Quoted(text), wrong)
		}
		if value < 0 && r.Symmetry != Skew && !r.Signed {
			row, col, value, bad = fault(2, "weight %s %s",
				text[:min(len(text), 64)], table.Negative)
			bad.Fix = table.NegativeFix
			return row, col, value, bad
		}
		value += 0 // −0 becomes 0
	}
	switch {
	case row < col && r.Symmetry == Symmetric: // SciPy does the same
		row, col = col, row
	case row == col && r.Symmetry == Skew:
		return fault(-1, "(%d,%d) lies on the diagonal of a skew-symmetric file",
			index[0], index[1])
	case value < 0 && r.Symmetry == Skew:
		row, col, value = col, row, -value
	}
	return row, col, value, nil
}

// Complete returns an error if entries, the number of good and bad entries, differs from the number in the head.
func (r *MarketReader) Complete(entries int64) error {
	if uint64(entries) == r.Entries {
		return nil
	}
	return textio.Fault(r.Name, 0, fetchAgain, "%s, line %d declares %d",
		words.Counted(entries, "entry"), r.sizeLine, r.Entries)
}
