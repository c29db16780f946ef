package partition

import "github.com/heatwalk/heatwalk/sparse"

// Ranges cuts rows 0 ≤ i < rows into consecutive ranges, one for each of several processes. It returns parts+1 bounds:
// range p has the rows bounds[p] ≤ i < bounds[p+1]. length must return the number of entries of a row. Ranges are
// balanced by rows plus entries, because a process stores numbers for its rows and reads its entries. The rows and
// entries of a range exceed 1/parts of all rows and entries by at most one row with its entries. A range is empty if a
// row before it has more than the share of a range. Cost: two calls of length for each row, in increasing order.
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
	cost := int64(0) // rows and entries before row i
	for i := range rows {
		size := 1 + length(i)
		for p := len(bounds); p < parts && share(int64(p)) <= cost+size/2; p++ {
			bounds = append(bounds, i)
		}
		cost += size
	}
	for len(bounds) <= parts {
		bounds = append(bounds, rows)
	}
	return bounds
}

// rangesEach is the number of ranges of a process if rows are sorted by their lengths. With so many ranges all
// processes get similar numbers of rows.
const rangesEach = 256

// Divide cuts the rows of a matrix into ranges for several processes, by [Ranges]. Process p of P gets the ranges p,
// p+P, …, see [sparse.NewDivision]. Each process gets one range, so that neighbours among the rows stay together. If
// one of these ranges would have more than 1.5 times the mean number of rows, for example because rows are sorted by
// their lengths, each process gets 256 ranges instead. Divide does not read entries: it assumes that the entries of
// each range of the matrix are spread evenly over its rows.
func Divide(a sparse.Matrix, processes int) (bounds []int) {
	rows, _ := a.Dims()
	length := meanLengths(a.Ranges())
	bounds = Ranges(rows, length, processes)
	for p := range processes {
		if 2*(bounds[p+1]-bounds[p])*processes > 3*rows {
			return Ranges(rows, length, processes*rangesEach)
		}
	}
	return bounds
}

// meanLengths returns a function that estimates the number of entries of row i. The entries of a range are spread
// evenly over its rows. The function must be called with increasing rows, or again from row 0.
func meanLengths(ranges []sparse.Range) func(i int) int64 {
	// next is the next range, and the other variables describe the range of row i.
	next := 0
	entries := int64(0)
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
		k := int64(i - r.Lo)
		rows := int64(r.Hi - r.Lo)
		return entries*(k+1)/rows - entries*k/rows
	}
}

const badParts = "partition: number of ranges is not positive"
