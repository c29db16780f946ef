package tablefile

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// Column is a column of an output: a title, and a function for its value in a row of type R. One of the four
// functions must be set; it determines the kind of the values.
type Column[R any] struct {
	Title    string
	Optional bool // empty texts and NaN are missing values
	Digits   int  // significant digits of numbers as text; 0: as many as give the number back

	Text   func(row R) string
	Number func(row R) float64
	Whole  func(row R) int
	Truth  func(row R) bool
}

// appendTo appends the value of a row as text, quoted by quote. For a missing value it appends the text missing; if
// that is "", it appends a quoted empty text.
func (c *Column[R]) appendTo(line []byte, row R, quote func([]byte, string) []byte,
	missing string) []byte {
	switch {
	case c.Truth != nil:
		return strconv.AppendBool(line, c.Truth(row))
	case c.Whole != nil:
		return strconv.AppendInt(line, int64(c.Whole(row)), 10)
	case c.Number != nil:
		x := c.Number(row)
		if c.Optional && math.IsNaN(x) {
			return append(line, missing...)
		}
		return strconv.AppendFloat(line, x, 'g', cmp.Or(c.Digits, -1), 64)
	}
	text := c.Text(row)
	if c.Optional && text == "" && missing != "" {
		return append(line, missing...)
	}
	return quote(line, text)
}

func (c *Column[R]) float(row R) float64 {
	switch {
	case c.Number != nil:
		return c.Number(row)
	case c.Whole != nil:
		return float64(c.Whole(row))
	case c.Truth(row):
		return 1
	}
	return 0
}

// rowFile writes rows in a format. close flushes the buffer, and does not close the underlying writer.
type rowFile[R any] struct {
	write func(row R) error
	close func() error
}

// newText writes a header and lines, with quotes where pandas, R and DuckDB need them.
func newText[R any](w io.Writer, ending string, columns []Column[R]) rowFile[R] {
	sep := byte('\t')
	quote := table.AppendTabbed[string]
	if ending == ".csv" {
		sep = ','
		quote = table.AppendField[string]
	}
	out := bufio.NewWriterSize(w, bufferBytes)
	end := func(line []byte) error {
		line[len(line)-1] = '\n' // replaces the last separator
		_, err := out.Write(line)
		return err
	}
	var titles []byte
	for i := range columns {
		titles = append(quote(titles, columns[i].Title), sep)
	}
	_ = end(titles) // bufio keeps the first error
	return rowFile[R]{close: out.Flush, write: func(row R) error {
		line := out.AvailableBuffer()
		for i := range columns {
			line = append(columns[i].appendTo(line, row, quote, ""), sep)
		}
		return end(line)
	}}
}

// LineEndings lists the endings of tables that [WriteLines] writes.
var LineEndings = []string{".tsv", ".csv"}

// WriteLines writes a table of n rows of text in the format of a file ending, by default the first of [LineEndings].
// line(i, cells) stores row i in cells, one element for each title.
func WriteLines(ctx context.Context, w io.Writer, ending string, titles []string, n int,
	line func(i int, cells []string)) error {
	columns := make([]Column[[]string], len(titles))
	for i, title := range titles {
		text := func(cells []string) string { return cells[i] }
		columns[i] = Column[[]string]{Title: title, Text: text}
	}
	cells := make([]string, len(titles))
	return writeAllRows(ctx, newText(w, ending, columns), n, func(i int) []string {
		line(i, cells)
		return cells
	})
}

func writeAllRows[R any](ctx context.Context, file rowFile[R], n int,
	row func(i int) R) error {
	for i := range n {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if err := file.write(row(i)); err != nil {
			return err
		}
	}
	return file.close()
}

// NumberEndings lists the endings of files of [WriteNumbers].
var NumberEndings = append(slices.Clone(LineEndings), ".npz")

// WriteNumbers writes columns of numbers and truth values. If the ending is one of [LineEndings], it writes a line
// for each node in the given order, with the id first. If it is .npz, it writes each column as an array of a NumPy
// archive, with the nodes in the order 0, 1, 2 ….
func WriteNumbers(ctx context.Context, w io.Writer, ending string, order []int,
	id func(i int) string, columns []Column[int]) error {
	if ending != ".npz" {
		columns = append([]Column[int]{{Title: "node", Text: id}}, columns...)
		file := newText(w, ending, columns)
		return writeAllRows(ctx, file, len(order), func(i int) int { return order[i] })
	}
	archive := npy.NewArchive(w)
	values := make([]float64, len(order))
	for _, c := range columns {
		for i := range values {
			values[i] = c.float(i)
		}
		err := writeMember(archive, c.Title, func(w io.Writer) error {
			return writeArray(w, 1, func(int) []float64 { return values }, len(values))
		})
		if err != nil {
			return err
		}
	}
	return archive.Close()
}
