package nodetable

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/heatwalk/heatwalk/file/parquetfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/input"
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
	file, err := parquetfile.Open(t.Name, content, size, 0, func(bytes int64) error {
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
	if len(file.Titles) == 0 {
		return nil
	}
	var columns []int // columns with text or numbers
	for i := range file.Titles {
		if file.IsText(i) {
			columns = append(columns, i)
		}
	}
	var rows [][]string
	if t.Fields == nil || t.Guess || t.Every {
		sampled := slices.Repeat([]int{-1}, len(file.Titles))
		for _, i := range columns {
			sampled[i] = i
		}
		if rows, err = file.Sample(sampled, table.SampleRows); err != nil {
			return err
		}
	}
	t.sep = table.Comma
	if err := t.choose(0, slices.Clone(file.Titles), rows); err != nil {
		return err
	}
	for i := range t.Columns {
		if !file.IsText(i) {
			t.Columns[i].Note = "neither text nor numbers"
		}
	}
	setNames(t, len(file.Titles), 0)
	if !t.Every {
		columns = columns[:0]
		for _, c := range []int{t.Node, t.At} {
			if c < 0 || c >= len(file.Titles) {
				continue
			}
			if !file.IsText(c) {
				return textio.Fault(t.Name, 0, "convert it to text or numbers",
					"column %s holds neither text nor numbers",
					input.Escape(file.Titles[c]))
			}
			columns = append(columns, c)
		}
	}
	err = t.parquetRows(file, columns, func(row Row) error {
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
			return parquetfile.ErrEnough
		}
		return nil
	})
	return cmp.Or(err, in.CheckUnchanged())
}

// parquetRows reads the given columns and calls visit with each row until visit returns an
// error. It returns that error unless it is [parquetfile.ErrEnough].
func (t *Reader) parquetRows(file *parquetfile.Reader, columns []int,
	visit func(row Row) error) error {
	text := make([][]byte, len(columns))
	row := Row{Text: make([][]byte, len(file.Titles)),
		Start: make([]int, len(file.Titles)), node: t.Node, At: t.At}
	return file.Each(columns, func(index int64, values []parquet.Value) error {
		for i, v := range values {
			text[i] = file.AppendText(text[i][:0], columns[i], v)
			row.Text[columns[i]] = text[i]
		}
		row.Line = index + 1
		return visit(row)
	})
}
