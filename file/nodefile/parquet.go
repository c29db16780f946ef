package nodefile

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// unreadNote is the [input.Column].Note of columns of Parquet that are not read.
const unreadNote = "neither text nor numbers"

// mostParquet limits the bytes of the columns of a row group.
const mostParquet = 256 << 20

// parquet yields the rows of a Parquet file, with row numbers from 1 as line numbers. Fields of columns that are not
// read are empty.
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
	s, err := table.SampleParquet(file, t.Fields == nil || t.Guess || t.Every)
	if err != nil {
		return err
	}
	s.File = t.Name
	t.sep = table.Comma
	if err := t.choose(s, t.Header); err != nil {
		return err
	}
	for i := range t.Columns {
		if !leaves[i].IsText {
			t.Columns[i].Note = unreadNote
		}
	}
	setNames(t, len(leaves), 0)
	var columns []int
	for i, leaf := range leaves {
		isRead := i == t.Node || i == t.At || i == t.Known || slices.Contains(t.WideColumns, i)
		switch {
		case leaf.IsText && (isRead || t.Every):
			columns = append(columns, i)
		case isRead && !t.Every:
			return textio.Fault(t.Name, 0, "convert it to text or numbers",
				"column %s holds neither text nor numbers", input.Escape(leaf.Title))
		}
	}
	row := Row{Text: make([][]byte, len(leaves)), Start: make([]int, len(leaves)), node: t.Node, At: t.At}
	err = file.Each(columns, func(index int64, values table.ParquetRow) error {
		for i, c := range columns {
			row.Text[c] = values.AppendText(row.Text[c][:0], i)
			if c == t.Node && t.side != "" && len(row.Text[c]) > 0 {
				row.Text[c] = slices.Insert(row.Text[c], 0, []byte(t.side)...)
			}
		}
		row.Line = index + 1
		switch id := row.ID(); {
		case len(id) == 0 && !(t.Every && t.Lookup == nil):
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
