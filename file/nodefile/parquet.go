package nodefile

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// mostParquet is the memory limit for the columns of a row group.
const mostParquet = 256 << 20

// parquet yields the rows of a Parquet file; row numbers from 1 take the place of lines. Fields
// of columns that are not read are empty.
func (t *Reader) parquet(in *textio.Reader, yield func(Row, error) bool) error {
	content, size := in.File()
	if content == nil {
		return textio.Fault(t.Name, 0, "decompress it to a file",
			"a Parquet file cannot be read from a pipe, or compressed with gzip or zstd")
	}
	file, err := table.OpenParquet(t.Name, content, size, 0, func(bytes int64) error {
		if bytes > mostParquet {
			return textio.Fault(t.Name, 0,
				"write it in smaller row groups, or as tab-separated text",
				"row groups of more than %d MiB", mostParquet>>20)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.titled = true
	leaves := file.Leaves()
	if len(leaves) == 0 {
		return nil
	}
	titles := make([]string, len(leaves))
	var columns []int // columns with text or numbers
	for i, leaf := range leaves {
		titles[i] = leaf.Title
		if leaf.IsText {
			columns = append(columns, i)
		}
	}
	var rows [][]string
	if t.Fields == nil || t.Guess || t.Every {
		sampled := slices.Repeat([]int{-1}, len(titles))
		for _, i := range columns {
			sampled[i] = i
		}
		if rows, err = table.SampleParquet(file, sampled, table.SampleRows); err != nil {
			return err
		}
	}
	t.sep = table.Comma
	if err := t.choose(0, slices.Clone(titles), rows); err != nil {
		return err
	}
	for i := range t.Columns {
		if !leaves[i].IsText {
			t.Columns[i].Note = "neither text nor numbers"
		}
	}
	setNames(t, len(titles), 0)
	if !t.Every {
		columns = columns[:0]
		for _, c := range []int{t.Node, t.At} {
			if c < 0 || c >= len(titles) {
				continue
			}
			if !leaves[c].IsText {
				return textio.Fault(t.Name, 0, "convert it to text or numbers",
					"column %s holds neither text nor numbers",
					input.Escape(titles[c]))
			}
			columns = append(columns, c)
		}
	}
	err = t.parquetRows(file, len(titles), columns, func(row Row) error {
		if (t.Every && t.Lookup == nil) && yield(row, nil) {
			return nil
		}
		switch id := row.ID(); {
		case len(id) == 0:
			return textio.Fault(t.Name, row.Line, "remove such rows",
				"%w", errEmpty)
		case bytes.IndexByte(id, table.Tab) >= 0:
			return textio.Fault(t.Name, row.Line, "correct it", "%w", table.ErrTab)
		case !yield(row, nil):
			return table.ErrEnough
		}
		return nil
	})
	return cmp.Or(err, in.CheckUnchanged())
}

// parquetRows reads the given columns of width and calls visit with each row until visit returns an
// error. It returns that error unless it is [table.ErrEnough].
func (t *Reader) parquetRows(file table.ParquetReader, width int, columns []int,
	visit func(row Row) error) error {
	text := make([][]byte, len(columns))
	row := Row{Text: make([][]byte, width),
		Start: make([]int, width), node: t.Node, At: t.At}
	return file.Each(columns, func(index int64, values table.ParquetRow) error {
		for i := range columns {
			text[i] = values.AppendText(text[i][:0], i)
			row.Text[columns[i]] = text[i]
		}
		row.Line = index + 1
		return visit(row)
	})
}
