// Package simd holds the inner loops of heatwalk: short functions over slices
// that do nearly all of the arithmetic.
//
//	Gather            sums of rows that a sparse matrix names, scaled
//	GatherOnto        the same, added to the values in dst
//	GatherTile        the same for 16-bit ids of rows that a cache holds
//	AddRows           dst = a + scale·x, by rows
//	ScaleTo           dst = alpha·x, rounded to the type of dst
//	DotColumns        a sum of products for each column
//	ResidualColumns   r − q·diag(α) and its weighted squares, by columns
//	TurnColumns       x + p·diag(α) and diag(f)·z + p·diag(β)
//	DotPanels         dot products of contiguous columns
//	AddPanels         linear combinations of contiguous columns
//	LargestGain       which item to pair with another, in a support vector machine
//	Advance           errors of items after a step of such a pair, and their extremes
//	Decode            column ids out of their code on disk
//	Checksum          CRC-32C
//	HashPairs         a sum of hashes, by which matrices are compared
//	Distances         differences of column ids, and their lengths in bits
//	Pack              numbers of four widths, bit by bit
//	Numbers           the text of an edge list
//	Cells, Entries    lines of an edge list as matrix entries
//
// Every loop has one plain Go body, generic over float32 and float64, which
// defines the result to the bit. A loop may also have an assembly twin, which
// adds and multiplies in the same order, so that both give the same bits. Products are rounded before they are added
// (T(a*b) + c): a fused multiply-add would round once less on some machines.
//
// Vector lanes of the twins run across columns, never along a sum, unless the
// plain body splits its sum likewise. Because a gather
// waits for memory, its twin prefetches the rows that it needs a fixed number
// of entries later, also beyond the last row of the call. Because the sum of a long
// row also waits for its own last addition, two long rows are summed at a time.
// Go cannot interrupt assembly, so callers pass at most some ten thousand entries
// in one call.
//
// The twins are written by the generator in gen, a module of its own, and
// chosen at run time by the features of the processor. The build tag noasm leaves
// them out.
package simd

//go:generate go -C gen run . -out ../twins_amd64.s -stubs ../twins_amd64.go -pkg simd
