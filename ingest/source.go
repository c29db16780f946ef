package ingest

import (
	"context"

	"github.com/heatwalk/heatwalk/file/graphfile"
)

// Source is an input of [Run] whose edges are made rather than read from a file of
// edges.
type Source struct {
	Name  string // for messages
	Bytes int64  // of memory that it takes itself, as long as the run lasts

	// Read visits nodes and edges in batches. It calls hold with the bytes that it keeps in
	// addition to them, whenever these have grown, and returns reports of the files that it read.
	Read func(ctx context.Context, visit graphfile.Visitor, hold graphfile.Holder) ([]FileReport, error)

	Option string // names of options of the store that describe its edges, separated by blanks; "" for none
}
