package classify

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// mostBins is the largest number of bins of a column, so that a code fits one byte beside the code of missing values, as in
// LightGBM and scikit-learn.
const mostBins = 255

// bins has the values of all columns as codes of bins. Bin b of a column of numbers holds the values x with cuts[b−1] < x ≤
// cuts[b]. Bin b of a column of categories holds the value categories[b]. After these bins follows a bin for missing values,
// and in a column of categories for rare values too.
type bins struct {
	columns []binColumn
}

// countOf returns the number of bins of some columns, missing values included.
func (b *bins) countOf(columns []int) (count int) {
	for _, j := range columns {
		count += b.columns[j].count + 1
	}
	return count
}

type binColumn struct {
	column     int       // in the rows that were binned
	count      int       // number of bins without the bin of missing values; also the code of missing values
	code       [][]uint8 // by item, for each model or once for all
	cuts       []float32 // increasing; nil: categories
	categories []float32 // increasing; nil: numbers
}

// add adds the columns of x that are not constant. x has a block of all items for each model, or one for all models. first is
// the number of the first column.
func (b *bins) add(x []*sparse.Block[float32], first int, isCategory []bool) {
	rows := x[0].Rows
	for j := range x[0].Cols {
		present := make([]float32, 0, rows*len(x))
		for _, values := range x {
			for i := range rows {
				if v := values.Row(i)[j]; v == v {
					present = append(present, v)
				}
			}
		}
		slices.Sort(present)
		c := binColumn{column: first + j}
		if isCategory != nil && isCategory[j] {
			c.categories = frequentValues(present)
			c.count = len(c.categories)
		} else if len(present) > 0 {
			c.cuts = quantileCuts(present)
			c.count = len(c.cuts) + 1
		}
		if c.count == 0 || c.count == 1 && len(present) == rows*len(x) {
			continue
		}
		for _, values := range x {
			code := make([]uint8, rows)
			for i := range code {
				code[i] = c.codeOf(values.Row(i)[j])
			}
			c.code = append(c.code, code)
		}
		b.columns = append(b.columns, c)
	}
}

// codeFor returns the codes of the items for a model.
func (c *binColumn) codeFor(model int) []uint8 {
	if len(c.code) == 1 {
		return c.code[0]
	}
	return c.code[model]
}

func (c *binColumn) codeOf(x float32) uint8 {
	if x != x {
		return uint8(c.count)
	}
	if c.categories == nil {
		bin, _ := slices.BinarySearch(c.cuts, x)
		return uint8(bin)
	}
	return uint8(categoryOf(c.categories, x))
}

// categoryOf returns the position of x in the increasing list of categories, or the length of the list if x is missing or
// not in the list.
func categoryOf(categories []float32, x float32) int {
	if bin, isListed := slices.BinarySearch(categories, x); isListed {
		return bin
	}
	return len(categories)
}

// quantileCuts returns the cuts between bins of about equal numbers of the sorted values. A value that fills a bin has the
// bin for itself, and with at most mostBins distinct values each value has.
func quantileCuts(sorted []float32) (cuts []float32) {
	distinct := 1
	for i := 1; i < len(sorted); i++ {
		if sorted[i] != sorted[i-1] {
			distinct++
		}
	}
	left := len(sorted) // values without a bin
	filled := 0         // values of the last bin
	for i := 1; i < len(sorted); i++ {
		filled++
		if sorted[i] == sorted[i-1] {
			continue
		}
		if distinct > mostBins && filled*(mostBins-len(cuts)) < left {
			continue
		}
		cuts = append(cuts, cutBetween(sorted[i-1], sorted[i]))
		left -= filled
		filled = 0
		if len(cuts) == mostBins-1 {
			break
		}
	}
	return cuts
}

// cutBetween returns the middle of two values a < b, or a if the middle in single precision is not finite or is b.
func cutBetween(a, b float32) float32 {
	middle := float32((float64(a) + float64(b)) / 2)
	if middle >= b || math.IsInf(float64(middle), 0) || middle != middle {
		return a
	}
	return middle
}

// frequentValues returns the values that occur most often in the sorted list, at most mostBins, in increasing order. Of
// equally frequent values the smallest are taken.
func frequentValues(sorted []float32) (categories []float32) {
	type run struct {
		value float32
		count int
	}
	var runs []run
	for i, x := range sorted {
		if i == 0 || x != sorted[i-1] {
			runs = append(runs, run{value: x})
		}
		runs[len(runs)-1].count++
	}
	slices.SortStableFunc(runs, func(a, b run) int { return b.count - a.count })
	for _, r := range runs[:min(len(runs), mostBins)] {
		categories = append(categories, r.value)
	}
	slices.Sort(categories)
	return categories
}
