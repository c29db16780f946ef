package partition

import (
	"context"
	"math/bits"

	"github.com/heatwalk/heatwalk/sparse"
)

// Ranges cuts rows 0 ≤ i < rows into consecutive ranges, one for each of several processes, and
// returns their parts+1 bounds: range p has the rows bounds[p] ≤ i < bounds[p+1]. Ranges are balanced
// by rows plus entries, because a process stores numbers for its rows and reads its entries: every
// range has at most 1/parts of all rows and entries, and one row with its entries, more. A range is
// empty if a row before it has more than the share of a range. length returns the number of entries of
// a row. Cost: two calls of length for each row, in
// increasing order.
func Ranges(rows int, length func(i int) int64, parts int) []int {
	if parts < 1 {
		panic(badParts)
	}
	total := int64(rows)
	for i := range rows {
		total += length(i)
	}
	bounds := make([]int, 1, parts+1)
	share := func(p int64) int64 { // total·p/parts, without an overflow
		return total/int64(parts)*p + total%int64(parts)*p/int64(parts)
	}
	before := int64(0) // rows and entries before row i
	for i := range rows {
		size := 1 + length(i)
		for p := len(bounds); p < parts && share(int64(p)) <= before+size/2; p++ {
			bounds = append(bounds, i)
		}
		before += size
	}
	for len(bounds) <= parts {
		bounds = append(bounds, rows)
	}
	return bounds
}

// RangesOf returns the bounds of [Ranges] for the rows of a matrix without reading its entries: the
// entries of each of its ranges are assumed to be spread evenly over the rows.
func RangesOf(a sparse.Matrix, parts int) []int {
	rows, _ := a.Dims()
	return Ranges(rows, meanLengths(a.Ranges()), parts)
}

// EntriesOf returns the number of entries in each of the ranges of rows that bounds defines, with the
// assumption of [RangesOf].
func EntriesOf(a sparse.Matrix, bounds []int) []int64 {
	length := meanLengths(a.Ranges())
	entries := make([]int64, len(bounds)-1)
	for p := range entries {
		for i := bounds[p]; i < bounds[p+1]; i++ {
			entries[p] += length(i)
		}
	}
	return entries
}

// meanLengths returns a function that returns the number of entries of row i if the rows of each range
// have as equal numbers as is possible. It must be called with increasing rows, or again from row 0.
func meanLengths(ranges []sparse.Range) func(i int) int64 {
	next, entries := 0, int64(0) // the next range, and the entries of the range of row i
	return func(i int) int64 {
		if i == 0 {
			next = 0
		}
		if next == 0 || i == ranges[next-1].Hi {
			entries = 0
			for lo := i; next < len(ranges) && ranges[next].Lo == lo; next++ { // pieces of a long row
				entries += int64(ranges[next].Entries)
			}
		}
		r := ranges[next-1]
		k, rows := int64(i-r.Lo), int64(r.Hi-r.Lo)
		return entries*(k+1)/rows - entries*k/rows
	}
}

const badParts = "partition: number of ranges is not positive"

// Ghosts counts the ghost rows of the ranges of rows that bounds defines, see [Ranges]. The ghost rows
// of a range are the rows of a block X outside of the range that the product A·X needs inside of it:
// the columns of entries there, which a process receives from others in every step. Cost:
// one sweep by one goroutine, and one bit for each row.
func Ghosts(ctx context.Context, a sparse.Matrix, bounds []int) ([]int64, error) {
	n, cols := a.Dims()
	if n != cols {
		panic(badShape)
	}
	if len(bounds) < 2 || bounds[0] != 0 || bounds[len(bounds)-1] != n {
		panic(badBounds)
	}
	ghosts := make([]int64, len(bounds)-1)
	needed := make([]uint64, (n+63)/64) // columns of the entries of range p outside of it
	p := 0
	next := func() {
		for w, word := range needed {
			ghosts[p] += int64(bits.OnesCount64(word))
			needed[w] = 0
		}
		p++
	}
	err := a.Sweep(ctx, 1, func(_ int, panel sparse.Panel) error {
		for row := panel.Lo; row < panel.Hi; row++ {
			for row >= bounds[p+1] {
				next()
			}
			lo, hi := uint32(bounds[p]), uint32(bounds[p+1]-1) // the last column, because n may be 2³²
			col, _ := panel.Row(row - panel.Lo)
			for _, j := range col {
				if j < lo || j > hi {
					needed[j>>6] |= 1 << (j & 63)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n > 0 {
		next()
	}
	return ghosts, nil
}

const badBounds = "partition: bounds of ranges do not begin at row 0 and end at the last"
