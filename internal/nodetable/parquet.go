package nodetable

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/parquet-go/parquet-go"

	"github.com/heatwalk/heatwalk/internal/parquetfile"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// mostParquet bounds what is held of a Parquet file about nodes at once: pages of two
// columns, unpacked.
const mostParquet = 32 << 20

// errEnough ends the reading of a file of which no more is wanted.
var errEnough = errors.New("nodetable: no more rows are wanted")

// parquet yields the titles of a Parquet file, then its rows, whose lines count from 1.
// Columns that are not wanted are empty.
func (t *Reader) parquet(in *textio.Reader, yield func(Row, error) bool) error {
	content, size := in.File()
	if content == nil {
		return textio.Fault(t.Name, 0, "give it as one", "Parquet is read from a file, which is not compressed as a whole")
	}
	file, err := parquetfile.Open(t.Name, content, size, 0, func(bytes int64) error {
		if bytes > mostParquet {
			return textio.Fault(t.Name, 0, "write it in smaller row groups, or as tab-separated text", "pages of more than %d MiB", mostParquet>>20)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.Titled = true
	row := Row{Text: make([][]byte, len(file.Titles)), Start: make([]int, len(file.Titles))}
	for i, title := range file.Titles {
		row.Text[i] = []byte(title)
	}
	if len(row.Text) == 0 || !yield(row.Of(t.Node), nil) {
		return nil
	}
	columns := t.Wanted
	for i := range file.Titles {
		if t.Wanted == nil && file.IsText(i) {
			columns = append(columns, i)
		}
		row.Text[i] = nil
	}
	for _, c := range columns {
		if !file.IsText(c) {
			return textio.Fault(t.Name, 0, "write it as one or the other", "column %s holds neither text nor numbers", file.Titles[c])
		}
	}
	text := make([][]byte, len(columns))
	err = file.Each(columns, func(at int64, values []parquet.Value) error {
		for i, v := range values {
			text[i] = file.AppendText(text[i][:0], columns[i], v)
			row.Text[columns[i]] = text[i]
		}
		row.Line = at + 1
		one := row.Of(min(t.Node, len(row.Text)-1))
		switch id := one.ID(); {
		case len(id) == 0:
			return textio.Fault(t.Name, row.Line, "leave such rows out", "empty id")
		case bytes.IndexByte(id, table.Tab) >= 0:
			return textio.Fault(t.Name, row.Line, "correct it", "%w", table.ErrTab)
		case !yield(one, nil):
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return cmp.Or(err, in.Unchanged())
}
