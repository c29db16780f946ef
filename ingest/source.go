package ingest

import (
	"context"

	"github.com/heatwalk/heatwalk/file/graphfile"
)

// Source is an input of [Run] whose edges are computed instead of read from a file of edges.
type Source struct {
	Name  string // name in messages
	Bytes int64  // memory that the source takes during the whole run

	// Read visits nodes and edges in batches. Whenever its memory has grown, it must call hold with the bytes
	// that it keeps in addition to the batches. It returns reports about the files that it read.
	Read func(ctx context.Context, visit graphfile.Visitor, hold graphfile.Holder) ([]FileReport, error)

	Option string // names of options of the store that describe its edges, separated by blanks; "" for none
}
