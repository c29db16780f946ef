package lines

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/heatwalk/heatwalk/ingest/internal/parse"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// bannerStart is how a Matrix Market file begins.
const bannerStart = "%%MatrixMarket"

const fetchAgain = "fetch the file again"

// Market is the head of a Matrix Market coordinate file, whose rows count from 1.
type Market struct {
	Rows, Entries uint64
	Symmetry      string // "general", "symmetric" or "skew-symmetric"

	name     string
	pattern  bool
	integer  bool
	sizeLine int64
}

// isMarket reports whether an input is to be read as a Matrix Market file: it
// says so, or it is called .mtx.
func isMarket(name string, head *textio.Chunk) bool {
	return bytes.HasPrefix(bytes.ToLower(head.Data[:min(len(head.Data), len(bannerStart))]), bytes.ToLower([]byte(bannerStart))) || table.IsNamed(name, ".mtx")
}

// banner reads the first line.
func (m *Market) banner(line []byte) *textio.Error {
	fault := func(fix, format string, args ...any) *textio.Error {
		return textio.Fault(m.name, 1, fix, format, args...)
	}
	words := bytes.Fields(bytes.ToLower(line))
	if len(words) != 5 || string(words[0]) != "%%matrixmarket" || string(words[1]) != "matrix" {
		return fault("begin the file with it, or fetch it again", `first line is %s, want "%%%%MatrixMarket matrix coordinate …"`, table.Quoted(bytes.TrimRight(line, table.Blank)))
	}
	if string(words[2]) != "coordinate" {
		return fault("write it as coordinate", "format %s is not supported; coordinate is", table.Quoted(words[2]))
	}
	switch string(words[3]) {
	case "pattern":
		m.pattern = true
	case "integer":
		m.integer = true
	case "real":
	default:
		return fault("write it as one of them", "field %s is not supported; real, integer and pattern are", table.Quoted(words[3]))
	}
	m.Symmetry = string(words[4])
	switch m.Symmetry {
	case "general", "symmetric":
	case "skew-symmetric":
		if m.pattern {
			return fault("write it as real, or as general", "a pattern cannot be skew-symmetric")
		}
	default:
		return fault("write it as general", "symmetry %s is not supported; general, symmetric and skew-symmetric are", table.Quoted(words[4]))
	}
	return nil
}

// size reads the line with the numbers of rows, columns and entries.
func (m *Market) size(line []byte, number int64, maxNodes int) *textio.Error {
	const fix = "correct the line of sizes, or fetch the file again"
	words := bytes.Fields(line)
	if len(words) != 3 {
		return textio.Fault(m.name, number, fix, "%s, want 3 (rows, columns, entries)", table.Counted(len(words), "field"))
	}
	var n [3]uint64
	for i, word := range words {
		v, err := strconv.ParseUint(string(word), 10, 63)
		if err != nil {
			return textio.Fault(m.name, number, fix, "size %s is not a number of rows, columns or entries", table.Quoted(word))
		}
		n[i] = v
	}
	m.Rows, m.Entries, m.sizeLine = n[0], n[2], number
	switch {
	case n[0] != n[1]:
		return textio.Fault(m.name, number, "", "%d×%d; an adjacency matrix is square", n[0], n[1])
	case n[0] > uint64(maxNodes):
		return textio.Fault(m.name, number, "", "%d rows; limit %d", n[0], maxNodes)
	}
	return nil
}

// marketLayout reads the head of a Matrix Market file and decides its layout.
func (c *Settings) marketLayout(in *textio.Reader, sum *Tally) (*Layout, error) {
	m := &Market{name: in.Name()}
	for first := true; ; {
		chunk, err := in.Head()
		if errors.Is(err, io.EOF) {
			return nil, textio.Fault(m.name, 0, fetchAgain, "ends before its sizes")
		}
		if err != nil {
			return nil, err
		}
		number := chunk.First
		for rest := chunk.Data; len(rest) > 0; number++ {
			end := bytes.IndexByte(rest, '\n')
			line := rest[:end]
			rest = rest[end+1:]
			if first {
				first = false
				if bad := m.banner(line); bad != nil {
					return nil, bad
				}
				continue
			}
			if table.IsComment(line) {
				continue
			}
			if bad := m.size(line, number, c.MaxNodes); bad != nil {
				return nil, bad
			}
			lay := &Layout{sep: table.Blanks, target: 1, weight: 2, columns: 3, line: number, first: number + 1, simple: true, Market: m}
			if m.pattern {
				lay.weight, lay.columns = -1, 2
			}
			lay.template = parse.Template{Sep: table.Blanks, Weighted: !m.pattern, Whole: m.integer, Base: 1, Limit: m.Rows, Lower: m.Symmetry != "general", Strict: m.Symmetry == "skew-symmetric"}
			return lay, nil
		}
		sum.pass(chunk)
		in.Drop()
	}
}

// edge reads one entry from its fields: it appends its codes to p.code and
// returns its weight. Of a skew-symmetric matrix the positive one of the
// entries (i, j) and (j, i) is kept.
func (m *Market) edge(p *Parser, number int64) (weight float64, bad *textio.Error) {
	f := &p.fields
	fault := func(field int, format string, args ...any) (float64, *textio.Error) {
		e := textio.Fault(m.name, number, FixLine, format, args...)
		if field >= 0 {
			e.Column = f.Start[field] + 1
		}
		return 0, e
	}
	var index [2]uint64
	for i, what := range [...]string{"row", "column"} {
		v, err := strconv.ParseUint(string(f.Text[i]), 10, 64)
		if err != nil {
			return fault(i, "%s %s is not a number", what, table.Quoted(f.Text[i]))
		}
		if v < 1 || v > m.Rows {
			return fault(-1, "%s %d; indices run from 1 to %d", what, v, m.Rows)
		}
		index[i] = v
	}
	u, v := uint32(index[0]-1), uint32(index[1]-1)
	weight = 1
	if !m.pattern {
		text := f.Text[2]
		var wrong string
		if weight, wrong = table.ParseNumber(text, 64); wrong == "" && m.integer && weight != math.Trunc(weight) {
			wrong = "is no integer, as line 1 declares"
		}
		if wrong != "" {
			return fault(2, "weight %s %s", table.Quoted(text), wrong)
		}
		if weight < 0 && m.Symmetry != "skew-symmetric" {
			return fault(2, "weight %s %s", cut(text), table.Negative)
		}
		weight += 0 // −0 becomes 0
	}
	switch {
	case m.Symmetry == "general":
	case u < v:
		return fault(-1, "(%d,%d) lies above the diagonal of a %s file", index[0], index[1], m.Symmetry)
	case u == v && m.Symmetry == "skew-symmetric":
		return fault(-1, "(%d,%d) lies on the diagonal of a skew-symmetric file", index[0], index[1])
	}
	if weight < 0 {
		u, v, weight = v, u, -weight
	}
	p.code = append(p.code, u, v)
	return weight, nil
}

// Complete compares the number of entries read, bad ones included, with the
// number declared.
func (m *Market) Complete(read int64) error {
	if uint64(read) == m.Entries {
		return nil
	}
	return textio.Fault(m.name, 0, fetchAgain, "%s, line %d declares %d", table.Counted(read, "entry"), m.sizeLine, m.Entries)
}
