package ingest

import (
	"context"

	"github.com/heatwalk/heatwalk/graphfile"
)

// Source is an input of [Run] whose edges are made rather than read from a file of
// edges.
type Source struct {
	Name  string // for messages
	Bytes int64  // of memory that it takes itself, as long as the run lasts

	// Most bounds what Read will send; nil if that is not known before.
	Most func(ctx context.Context) (*Most, error)

	// Read visits nodes and edges in batches; hold is told how many bytes it keeps
	// beside them, whenever that has grown. It returns what was read for them.
	Read func(ctx context.Context, visit func(b *graphfile.Batch) error, hold func(bytes int64) error) ([]FileReport, error)

	Option string // of the store, which says what its edges are; "" for none
}

// Most bounds what a [Source] sends.
type Most struct {
	Nodes, Lines int64
	Text         int64 // bytes of the ids of all nodes
	Held         int64 // bytes that it keeps while it is read
	Weighted     bool
}
