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
	table.Nodes
	path  string
	nodes Lookup // the graph
	stdin io.Reader
	warn  func(string)
}

// read opens the file and yields its data lines; an error comes last. Of Parquet the
// first line is that of the titles.
func (t *reader) read(ctx context.Context) iter.Seq2[table.Row, error] {
	t.Lookup = t.nodes.Lookup
	return func(yield func(table.Row, error) bool) {
		for row, err := range t.Read(ctx, t.path, textio.Options{Stdin: t.stdin, Warn: t.warn}) {
			if !yield(row, Translate(t.Name, err)) {
				return
			}
		}
	}
}
