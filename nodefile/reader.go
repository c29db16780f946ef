package nodefile

import (
	"context"
	"io"
	"iter"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Lookup finds the row of an id; *shard.Nodes is one.
type Lookup interface {
	Lookup(id string) (row int, ok bool)
	Len() int
}

// reader reads one of these files.
type reader struct {
	path  string
	nodes Lookup // the graph; nil: not known
	stdin io.Reader
	warn  func(string)

	name  string // for messages
	lines table.Nodes

	hasTitles bool  // the first row holds titles for sure
	columns   []int // those that are wanted of Parquet, set with the first row; nil: all
}

// read opens the file and yields its data lines; an error comes last. Of Parquet the
// first line is that of the titles.
func (t *reader) read(ctx context.Context) iter.Seq2[table.Row, error] {
	isParquet := table.IsNamed(t.path, ".parquet") || table.IsNamed(t.path, ".pq")
	return func(yield func(table.Row, error) bool) {
		in, err := textio.Open(ctx, t.path, &textio.Options{Stdin: t.stdin, Warn: t.warn, Any: isParquet})
		if err != nil {
			t.name = t.path
			yield(table.Row{}, Translate(t.path, err))
			return
		}
		defer in.Close()
		t.name = in.Name()
		t.lines.Name = t.name
		if t.nodes != nil {
			t.lines.Known = func(id string) bool {
				_, known := t.nodes.Lookup(id)
				return known
			}
		}
		rows := t.lines.Rows(in)
		if isParquet {
			rows = t.parquet(in)
		}
		for row, err := range rows {
			if err != nil {
				yield(table.Row{}, Translate(t.name, err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}
