package table

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/parquet-go/parquet-go"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// mostParquet bounds what is held of a Parquet file about nodes at once: pages of two
// columns, unpacked.
const mostParquet = 32 << 20

// errEnough ends the reading of a file of which no more is wanted.
var errEnough = errors.New("table: no more rows are wanted")

// parquet yields the titles of a Parquet file, then its rows, whose lines count from 1.
// Columns that are not wanted are empty.
func (t *Nodes) parquet(in *textio.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		content, size := in.File()
		if content == nil {
			yield(Row{}, &textio.Error{File: t.Name, Msg: "Parquet is read from a file, which is not compressed as a whole", Fix: "give it as one"})
			return
		}
		file, err := OpenParquet(t.Name, content, size, 0, func(bytes int64) error {
			if bytes > mostParquet {
				return &textio.Error{File: t.Name, Msg: fmt.Sprintf("pages of more than %d MiB", mostParquet>>20), Fix: "write it in smaller row groups, or as tab-separated text"}
			}
			return nil
		})
		if err != nil {
			yield(Row{}, err)
			return
		}
		t.Titled = true
		row := Row{Text: make([][]byte, len(file.Titles)), Start: make([]int, len(file.Titles))}
		for i, title := range file.Titles {
			row.Text[i] = []byte(title)
		}
		if len(row.Text) == 0 || !yield(row.Of(t.Node), nil) {
			return
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
				yield(Row{}, &textio.Error{File: t.Name, Msg: fmt.Sprintf("column %s holds neither text nor numbers", file.Titles[c]), Fix: "write it as one or the other"})
				return
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
				return &textio.Error{File: t.Name, Line: row.Line, Msg: "empty id", Fix: "leave such rows out"}
			case bytes.IndexByte(id, Tab) >= 0:
				return &textio.Error{File: t.Name, Line: row.Line, Msg: ErrTab.Error(), Fix: "correct it"}
			case !yield(one, nil):
				return errEnough
			}
			return nil
		})
		if err == nil {
			err = in.Unchanged()
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(Row{}, err)
		}
	}
}
