package table

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// leastTimes is the number of different times in a column that never falls.
const leastTimes = 8

// mayBeTimes reports whether a column holds whole numbers or clock times that never fall.
func (c column) mayBeTimes() bool {
	isTime := func(text string) bool {
		return isWhole(text) || strings.Contains(text, ":") && strings.Trim(text, "0123456789:") == ""
	}
	return c.rows >= leastTimes && c.all(isTime) && slices.IsSortedFunc(c.values, compareIDs)
}

// compareIDs compares numbers by value, and other text by length and bytes.
func compareIDs(a, b string) int {
	first, _ := ParseNumber([]byte(a), 64)
	second, _ := ParseNumber([]byte(b), 64)
	return cmp.Or(cmp.Compare(first, second), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// hasClock reports whether the first of three columns may be the time of the next two: it never falls, and the others
// look like two nodes. These share many values, and either none with the first column, or they are in order on every
// line, or at least half are shared, never on one line, on many lines or unlike the first column.
func hasClock(s *Sample) bool {
	if !s.column(0).mayBeTimes() {
		return false
	}
	const lines = 2000
	s = lengthen(s, lines)
	clock := s.column(0)
	source := s.column(1)
	target := s.column(2)
	ids := len(source.distinct()) + len(target.distinct())
	shared := source.countShared(target)
	if !clock.mayBeTimes() || shared < 3 || 6*shared < ids {
		return false
	}
	if clock.countShared(source)+clock.countShared(target) == 0 {
		return true
	}
	isOrdered := len(s.Rows) > 2*leastTimes &&
		all(s.Rows, func(row []string) bool { return compareIDs(row[1], row[2]) < 0 })
	isLoop := func(row []string) bool { return row[1] == row[2] }
	isApart := 4*clock.countShared(source) <= len(clock.distinct())
	return isOrdered || 3*shared >= ids && !slices.ContainsFunc(s.Rows, isLoop) &&
		(isApart || len(s.Rows) >= 2*ids)
}

// lengthen returns a sample with more rows of the text, up to a number, that have a field for each title.
func lengthen(s *Sample, rows int) *Sample {
	longer := &Sample{Titles: s.Titles, Rows: s.Rows[:1]}
	var f Fields
	for line := range bytes.Lines(s.Text) {
		if len(longer.Rows) == rows {
			break
		}
		isRow := f.Split(bytes.TrimRight(line, "\n"), s.Separator) == nil
		if isRow && len(f.Text) == len(s.Titles) {
			longer.Rows = append(longer.Rows, f.Strings())
		}
	}
	return longer
}
