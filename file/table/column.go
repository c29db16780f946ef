package table

import (
	"slices"
	"strconv"
)

// column is the content of a column of a [Sample].
type column struct {
	values []string // that are not empty
	rows   int      // number of rows, with empty values
}

// column returns the content of column i.
func (s *Sample) column(i int) column {
	c := column{rows: len(s.Rows)}
	for _, row := range s.Rows {
		if i < len(row) && row[i] != "" {
			c.values = append(c.values, row[i])
		}
	}
	return c
}

// distinct returns the distinct values in byte order.
func (c column) distinct() []string {
	values := slices.Sorted(slices.Values(c.values))
	return slices.Compact(values)
}

// areDistinct reports whether there is a different text in each of three or more rows.
func (c column) areDistinct() bool {
	return c.rows > 2 && len(c.distinct()) == c.rows && !c.all(IsNumber)
}

// hardlyRecurs reports whether nine of ten values differ.
func (c column) hardlyRecurs() bool { return 10*len(c.distinct()) >= 9*len(c.values) }

// isNearlyDistinct reports whether nine of ten of three or more values differ, as names do.
func (c column) isNearlyDistinct() bool {
	return len(c.values) > 2 && c.hardlyRecurs()
}

// isConstant reports whether two or more rows all have the same value, and no row is empty.
func (c column) isConstant() bool {
	return c.rows > 1 && len(c.values) == c.rows && len(c.distinct()) == 1
}

// all reports whether there are values, each of which is of a form.
func (c column) all(is func(text string) bool) bool {
	return len(c.values) > 0 && all(c.values, is)
}

// holdsNumbers reports whether there is a number in every row, perhaps with a decimal comma, and not
// a time in all of them.
func (c column) holdsNumbers() bool {
	return len(c.values) == c.rows && !c.all(isTime) && c.all(isNumeric)
}

// isCounter reports whether the values count the rows from 0 or 1.
func (c column) isCounter() bool {
	return len(c.values) > 0 &&
		(PlainInteger(c.values[0]) == "0" || PlainInteger(c.values[0]) == "1") &&
		c.isConsecutive()
}

// isConsecutive reports whether every value is the integer after that of the row above.
func (c column) isConsecutive() bool {
	if len(c.values) == 0 || len(c.values) < c.rows {
		return false
	}
	first, err := strconv.Atoi(PlainInteger(c.values[0]))
	for i, text := range c.values {
		if err != nil || PlainInteger(text) != strconv.Itoa(first+i) {
			return false
		}
	}
	return true
}

// uncountable returns why the numbers of a column without a title are no weights, or "": times,
// dates, years, or line numbers.
func (c column) uncountable() string {
	isYear := func(text string) bool {
		return len(text) == 4 && text >= "1800" && text < "2100" && IsInteger(text)
	}
	switch {
	case c.all(isTime):
		return "times"
	case c.all(IsDate):
		return "dates"
	case c.all(isYear):
		return "years"
	case c.rows > 3 && c.isCounter(): // fewer numbers may count by chance
		return "line numbers"
	}
	return ""
}

// areDates reports whether the values are dates or clock times in digits and signs, which are no
// ids; a number of seconds may be one.
func (c column) areDates() bool {
	return c.all(func(text string) bool { return IsDate(text) && !IsInteger(text) })
}

// arePeriods reports whether the values are dates or other periods, see [isPeriod], or missing.
func (c column) arePeriods() bool {
	return c.all(func(text string) bool { return isPeriod(text) || IsMissing(text, Missing) })
}

// countShared returns the number of values that two columns have in common.
func (c column) countShared(other column) (count int) {
	values := other.distinct()
	for _, id := range c.distinct() {
		if _, isID := slices.BinarySearch(values, id); isID {
			count++
		}
	}
	return count
}
