// Package shard is the store on disk: a directory that holds one graph as a compressed sparse matrix, its degrees and
// the names of its nodes. A store is written once and then read in sweeps.
//
// # Writing
//
// [Create] takes rows one after another and keeps one frame of rows in memory:
//
//	w, err := shard.Create("graph", nil)
//	if err != nil {
//		return err
//	}
//	defer w.Abort()
//	for _, row := range rows {
//		if err := w.Append(row, nil, nil); err != nil {
//			return err
//		}
//	}
//	return w.Commit(ctx)
//
// The renaming of one small file makes a whole store appear; a store that is replaced is valid until then. An
// undirected store holds both directions of every edge in one matrix. A directed store holds the rows, then, after
// [Writer.BeginIn], the columns, so that the transpose can be swept too.
//
// # Reading
//
// [Open] returns a [Store], which is a [sparse.Matrix]. A sweep gives the same bits as a sweep over the same matrix in
// memory. As far as Options.Memory allows, frames stay in memory, in their form on disk. The other frames are read in
// every sweep; the memory is one chunk of frames for each worker. [sparse.FindLayout] finds a faster layout in memory
// for many sweeps.
//
// # Order
//
// Rows may have an order of their own, which makes a store smaller and its sweeps faster, see [Nodes.Reorder]. Blocks
// and vectors are in the order of the rows; results are written in the order of the ids. [Nodes.Rows] converts between
// these orders.
//
// # Layout
//
//	manifest                JSON: counts, options, inputs, all files with CRC
//	ID-0000.shard …         frames of coded rows
//	ID.index                the place of every frame
//	ID.degrees              the sums of the rows
//	ID.nodes                the ids, in their order
//	ID.order                the position of each row in that order, if it differs from the row
//
// docs/format.md gives every byte. A frame holds at most [sparse.MaxRange] entries.
//
// # Trust
//
// Bytes from the disk are checked before they are used. The error for damage is a [*CorruptError] that names the file
// and the byte. [Verify] reads and checks everything. If the files of a store are written or touched while they are
// read, the error is [ErrChanged]. If a store is renamed or replaced, it is read to the end as it was opened.
//
// A [Store] and a [Nodes] are safe for concurrent use, a [Writer] is not.
package shard
