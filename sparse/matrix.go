package sparse

import (
	"context"
	"encoding/binary"
	"sort"
)

// MaxRange is the largest number of entries, and of rows, of a range. It is part of the store format, because the bits
// of the sum over a longer row depend on it.
const MaxRange = 1 << 14

// Matrix is a sparse matrix that is read in sweeps. The columns of a row increase strictly, except in a store with
// codes, where equal columns may follow each other, see [Joined]. A row of more than [MaxRange] entries is visited in
// pieces; [EachRow] and [RowSums] visit whole rows. Implementations must be safe for concurrent sweeps; package
// test/testgraph checks the contract.
type Matrix interface {
	// Dims returns the number of rows and columns.
	Dims() (r, c int)

	// NNZ returns the number of stored entries.
	NNZ() int64

	// Ranges returns the ranges that [Cut] computes from the lengths of the rows. The slice must not be changed.
	Ranges() []Range

	// SweepRows calls visit once for every range that has one of the rows lo ≤ i < hi. It uses at most workers
	// goroutines; 0 means one for each processor. worker is the number of the goroutine, which gets ranges in
	// increasing order. The panel is valid during the call only. The first error ends the sweep. A cancelled context
	// ends it within one range.
	SweepRows(ctx context.Context, lo, hi, workers int,
		visit PanelVisitor) error
}

// Sweep visits all ranges of a, as [Matrix.SweepRows] does.
func Sweep(ctx context.Context, a Matrix, workers int, visit PanelVisitor) error {
	rows, _ := a.Dims()
	return a.SweepRows(ctx, 0, rows, workers, visit)
}

// PanelVisitor is called with the panels of a sweep by several goroutines, see [Matrix].
type PanelVisitor = func(worker int, p Panel) error

func rangesOf(ranges []Range, lo, hi int) (first, count int) {
	first = sort.Search(len(ranges),
		func(i int) bool { return ranges[i].Hi > lo })
	last := sort.Search(len(ranges),
		func(i int) bool { return ranges[i].Lo >= hi })
	return first, max(0, last-first)
}

// Range is a run of consecutive whole rows, or one piece of a row that is longer than [MaxRange].
type Range struct {
	Lo, Hi  int // the rows Lo ≤ i < Hi
	Entries int // number of stored entries
	Piece   int // number of the piece of row Lo, from 0; 0 for whole rows
	Pieces  int // number of pieces of row Lo; 1 for whole rows
}

// Panel is one range in memory, in CSR layout. Row Lo+i has the columns Col[Ptr[i]−Ptr[0]:Ptr[i+1]−Ptr[0]]. The panel
// of a piece of a long row has one row.
type Panel struct {
	Range
	Index int       // index among the ranges of the matrix
	Ptr   []int64   // Hi − Lo + 1 positions; the first need not be 0
	Col   []uint32  // Entries column ids
	Val   []float64 // Entries values; nil if every stored entry is 1
	Kinds []byte    // kind of each entry; nil: none
	Times []byte    // time of each entry, two bytes each in little endian; nil: none
}

// Row returns the columns and the values of row Lo+i. The values are nil if all values are 1.
func (p Panel) Row(i int) (col []uint32, val []float64) {
	lo, hi := p.Ptr[i]-p.Ptr[0], p.Ptr[i+1]-p.Ptr[0]
	if p.Val != nil {
		val = p.Val[lo:hi]
	}
	return p.Col[lo:hi], val
}

// AppendCodes appends to dst the codes of row Lo+i, which are kind + 256·time, and returns the result. Codes increase
// among equal columns. If the panel has no kinds and no times, it returns nil.
func (p Panel) AppendCodes(dst []uint32, i int) []uint32 {
	if p.Kinds == nil && p.Times == nil {
		return nil
	}
	for e := p.Ptr[i] - p.Ptr[0]; e < p.Ptr[i+1]-p.Ptr[0]; e++ {
		code := uint32(0)
		if p.Kinds != nil {
			code = uint32(p.Kinds[e])
		}
		if p.Times != nil {
			code += uint32(binary.LittleEndian.Uint16(p.Times[2*e:])) << 8
		}
		dst = append(dst, code)
	}
	return dst
}

// Cut returns the ranges of a matrix whose row i has length(i) entries. It is greedy from the first row: a range takes
// whole rows until [MaxRange] entries or MaxRange rows. A longer row is cut into pieces of MaxRange entries; the last
// piece may be shorter.
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
				ranges = append(ranges,
					Range{Lo: i, Hi: i + 1, Entries: entries, Piece: p,
						Pieces: pieces})
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
