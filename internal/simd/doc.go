// Package simd holds the inner loops of heatwalk: short functions over slices
// that do nearly all of the arithmetic.
//
//	Gather            sums of rows that a sparse matrix names, scaled
//	GatherOnto        the same, added to what is there
//	GatherTile        the same for 16-bit ids of rows that a cache holds
//	AddRows           dst = a + scale·x, by rows
//	ScaleTo           dst = alpha·x, rounded to the type of dst
//	DotColumns        a sum of products for each column
//	ResidualColumns   r − q·diag(α) and its weighted squares, by columns
//	TurnColumns       x + p·diag(α) and diag(f)·z + p·diag(β)
//	DotPanels         products of columns that stand by themselves
//	AddPanels         combinations of such columns
//	LargestGain       which item to pair with another, in a support vector machine
//	Advance           errors of items after a step of such a pair, and their extremes
//	Decode            column ids out of their code on disk
//	Checksum          CRC-32C
//	HashPairs         a sum of hashes, by which matrices are compared
//	Distances         those of column ids, and how many bits they have
//	Pack              numbers of four widths, bit by bit
//	Numbers           the text of an edge list
//	Cells, Entries    what lines of an edge list become
//
// Every loop has one plain Go body, generic over float32 and float64, which
// defines the result to the bit. An assembly twin may stand beside it for a
// processor that has one; it adds and multiplies in the same order, so that
// both give the same bits. Products are rounded before they are added
// (T(a*b) + c): a fused multiply-add would round once less on some machines.
//
// Vector lanes of the twins run across columns, never along a sum, unless the
// plain body splits its sum likewise. A gather
// waits for memory, so its twin keeps many rows under way: it prefetches
// those that it will need a fixed number of entries later, also beyond the
// end of the rows at hand. The sum of a long row waits for itself as well, and
// two of them are added in turn. Go cannot interrupt assembly; callers keep a call
// to some ten thousand entries.
//
// The twins are written by the generator in gen, a module of its own, and
// chosen at run time by what the processor has. The build tag noasm leaves
// them out.
package simd

//go:generate go -C gen run . -out ../twins_amd64.s -stubs ../twins_amd64.go -pkg simd
