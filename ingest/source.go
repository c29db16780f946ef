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

	// Most bounds the edges that Read will send; nil if they are not known before.
	Most func(ctx context.Context) (*Most, error)

	// Read visits nodes and edges in batches. It calls hold with the bytes that it keeps in
	// addition to them, whenever these have grown, and returns reports of the files that it read.
	Read func(ctx context.Context, visit graphfile.Visitor, hold graphfile.Holder) ([]FileReport, error)

	Option string // name of an option of the store that describes its edges; "" for none
}

// Most bounds the nodes and edges of a [Source].
type Most struct {
	Nodes, Lines int64
	Text         int64 // bytes of the ids of all nodes
	Held         int64 // bytes that it keeps while it is read
	Weighted     bool
}
