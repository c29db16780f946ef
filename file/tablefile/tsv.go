package tablefile

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/internal/table"
)

// newTSV returns a writer of predictions as tab-separated text: a header, then a line for each
// node. Missing scores are empty cells. Text is quoted if pandas, R and DuckDB need quotes to
// read it back.
func newTSV(w io.Writer, c *Columns) predictionFile {
	return newLines(w, c, '\t')
}

// newCSV is newTSV with commas.
func newCSV(w io.Writer, c *Columns) predictionFile {
	return newLines(w, c, ',')
}

// LineEndings lists the endings of tables that [WriteLines] writes.
var LineEndings = []string{".tsv", ".csv"}

// WriteLines writes a table of n rows as text in the format of a file ending, or in the first of
// [LineEndings] for an unknown ending. line(i, cells) stores row i in cells, one for each title.
func WriteLines(ctx context.Context, w io.Writer, ending string, titles []string,
	n int, line func(i int, cells []string)) error {
	sep := byte('\t')
	if ending == ".csv" {
		sep = ','
	}
	out := bufio.NewWriterSize(w, bufferBytes)
	cells := slices.Clone(titles)
	for i := -1; i < n; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if i >= 0 {
			line(i, cells)
		}
		if _, err := out.Write(appendLine(out.AvailableBuffer(), sep, cells)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// appendCell appends a field of a line with the given separator, a tab or a comma.
func appendCell(line []byte, sep byte, text string) []byte {
	if sep == ',' {
		return table.AppendField(line, text)
	}
	return table.AppendTabbed(line, text)
}

func appendLine(line []byte, sep byte, cells []string) []byte {
	for i, text := range cells {
		if i > 0 {
			line = append(line, sep)
		}
		line = appendCell(line, sep, text)
	}
	return append(line, '\n')
}

// newLines returns a writer of predictions as text.
func newLines(w io.Writer, c *Columns, sep byte) predictionFile {
	out := bufio.NewWriterSize(w, bufferBytes)
	_, _ = out.Write(appendLine(nil, sep, c.header())) // bufio keeps the first error
	return predictionFile{close: out.Flush, write: func(p *Prediction, order []int) error {
		line := appendCell(out.AvailableBuffer(), sep, p.Node)
		line = appendCell(append(line, sep), sep, p.Label)
		line = strconv.AppendBool(append(line, sep), p.Reached)
		line = append(strconv.AppendBool(append(line, sep), p.Known), sep)
		if x, has := p.probability(c.number); has {
			line = appendScore(line, x)
		}
		for _, class := range order {
			if c.Top > 0 {
				line = append(line, sep)
				if p.Scores != nil {
					line = appendCell(line, sep, c.Classes[class])
				}
			}
			line = append(line, sep)
			if p.Scores != nil {
				line = appendScore(line, p.Scores[class])
			}
		}
		_, err := out.Write(append(line, '\n'))
		return err
	}}
}

// NumberEndings lists the endings of files of [WriteNumbers].
var NumberEndings = append(slices.Clone(LineEndings), ".npz")

// NumberColumn is a column of numbers of nodes, or of false and true as 0 and 1.
type NumberColumn struct {
	Title   string
	Logical bool
	Values  []float64
}

// WriteNumbers writes columns as the arrays of a NumPy archive for the ending .npz, and else as
// [WriteLines] does, with node order[i] on line i.
func WriteNumbers(ctx context.Context, w io.Writer, ending string, order []int,
	id func(i int) string, columns []NumberColumn) error {
	titles := []string{"node"}
	archive := npy.NewArchive(w)
	for _, c := range columns {
		titles = append(titles, c.Title)
		if ending != ".npz" {
			continue
		}
		err := writeMember(archive, c.Title, func(w io.Writer) error {
			return writeArray(w, 1, func(int) []float64 { return c.Values },
				len(c.Values))
		})
		if err != nil {
			return err
		}
	}
	if ending == ".npz" {
		return archive.Close()
	}
	return WriteLines(ctx, w, ending, titles, len(order), func(i int, cells []string) {
		cells[0] = id(order[i])
		for k, c := range columns {
			cells[k+1] = strconv.FormatFloat(c.Values[order[i]], 'g', -1, 64)
			if c.Logical {
				cells[k+1] = strconv.FormatBool(c.Values[order[i]] != 0)
			}
		}
	})
}
