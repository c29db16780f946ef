package sparse

import "context"

// MaxRange is the largest number of entries, and of rows, of one range.
// The bits of a sum over a row longer than this depend on it, so it is part
// of the store's format.
const MaxRange = 1 << 14

// Matrix is a sparse matrix that is read in sweeps. Columns of a row are in
// strictly increasing order. Implementations are safe for concurrent sweeps;
// package sparsetest checks the whole contract.
type Matrix interface {
	// Dims returns the number of rows and columns.
	Dims() (r, c int)

	// NNZ returns the number of stored entries.
	NNZ() int64

	// Ranges returns the ranges in the order of their rows, as [Cut] makes
	// them from the lengths of the rows. The slice must not be changed.
	Ranges() []Range

	// Sweep calls visit once for every range, from at most workers goroutines
	// (0: one for each processor); worker numbers the goroutine, to which ranges
	// come in increasing order. The panel is valid during the call. The first
	// error ends the sweep; a cancelled context ends it within one range.
	Sweep(ctx context.Context, workers int, visit func(worker int, p Panel) error) error
}

// Resident is a [Matrix] that may read entries from a disk in its sweeps, as a store does.
// Any other one has them in memory.
type Resident interface {
	Matrix

	// Resident reports whether entries stay in memory once they were read: sweeps over
	// few columns at a time cost no more than over all at once then.
	Resident() bool
}

// Range is a run of consecutive whole rows, or one piece of a row that is
// longer than [MaxRange].
type Range struct {
	Lo, Hi  int // the rows Lo ≤ i < Hi
	Entries int // the number of stored entries
	Piece   int // which piece of row Lo this is; 0 for whole rows
	Pieces  int // how many pieces row Lo has; 1 for whole rows
}

// Panel is one range in memory, in CSR layout. Row Lo+i has Ptr[i+1] − Ptr[i]
// entries; Col and Val hold the entries of the whole panel, so those of row
// Lo+i are Col[Ptr[i]−Ptr[0]:Ptr[i+1]−Ptr[0]]. A piece of a long row is a
// panel with one row, the piece's share of it.
type Panel struct {
	Range
	Index int       // the position among the matrix's ranges
	Ptr   []int64   // Hi − Lo + 1 positions; the first need not be 0
	Col   []uint32  // Entries column ids
	Val   []float64 // Entries values; nil if every stored entry is 1
}

// Row returns the columns and values of row Lo+i; the values are nil if all
// are 1.
func (p Panel) Row(i int) (col []uint32, val []float64) {
	lo, hi := p.Ptr[i]-p.Ptr[0], p.Ptr[i+1]-p.Ptr[0]
	if p.Val != nil {
		val = p.Val[lo:hi]
	}
	return p.Col[lo:hi], val
}

// Cut cuts rows into ranges, greedily from the first row: as many whole rows
// as fit into MaxRange entries and MaxRange rows; a row of more than MaxRange
// entries into pieces of MaxRange, the last one shorter. length gives the
// number of entries of row i < rows.
func Cut(rows int, length func(i int) int64) []Range {
	var ranges []Range
	open := Range{Pieces: 1}
	flush := func(next int) {
		if open.Hi > open.Lo {
			ranges = append(ranges, open)
		}
		open = Range{Lo: next, Hi: next, Pieces: 1}
	}
	for i := range rows {
		n := length(i)
		if n > MaxRange {
			flush(i)
			pieces := int((n + MaxRange - 1) / MaxRange)
			for p := range pieces {
				entries := int(min(n-int64(p)*MaxRange, MaxRange))
				ranges = append(ranges, Range{Lo: i, Hi: i + 1, Entries: entries, Piece: p, Pieces: pieces})
			}
			flush(i + 1)
			continue
		}
		if open.Entries+int(n) > MaxRange || open.Hi-open.Lo == MaxRange {
			flush(i)
		}
		open.Hi++
		open.Entries += int(n)
	}
	flush(rows)
	return ranges
}
