package table

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
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

// areTimes reports whether a column can hold times but no weights and hardly ids: clock times, dates, seconds since 1970,
// or numbers that rise by a constant step of 20 or more with few gaps.
func (c column) areTimes() bool {
	if !c.mayBeTimes() {
		return false
	}
	step := 0
	var numbers []int
	for i, text := range c.values {
		n, _ := strconv.Atoi(PlainInteger(text))
		numbers = append(numbers, n)
		for rest := n - numbers[max(i-1, 0)]; rest != 0; {
			step, rest = rest, step%rest
		}
	}
	times := len(c.distinct())
	hasStep := step >= 20 && times >= leastTimes && numbers[len(numbers)-1]-numbers[0] <= 2*step*times
	return hasStep || !c.all(isWhole) || c.all(isTime) || c.all(IsDate)
}

// hasClock reports whether the first of three columns may be the time of the next two: it never falls, and the others
// look like two nodes, because they share values. If the first column may hold ids too, lines are not in the order of
// source and target, and the others are in order on each line, or share at least half of their values, never on one
// line, and few with the first column.
func hasClock(s *Sample) bool {
	s = lengthen(s)
	clock := s.column(0)
	source := s.column(1)
	target := s.column(2)
	times := len(clock.distinct())
	ids := len(source.distinct()) + len(target.distinct())
	shared := source.countShared(target)
	if !clock.mayBeTimes() || times < 3 || shared < 3 || 6*shared < ids {
		return false
	}
	if clock.areTimes() || !target.all(IsNumber) {
		return true
	}
	areSorted := slices.IsSortedFunc(s.Rows, func(a, b []string) int {
		return cmp.Or(compareIDs(a[0], b[0]), compareIDs(a[1], b[1]), -1)
	})
	if !areSorted && all(s.Rows, func(row []string) bool { return compareIDs(row[1], row[2]) < 0 }) {
		return true
	}
	isLoop := func(row []string) bool { return row[1] == row[2] }
	common := clock.countShared(source)
	isApart := 4*common <= times || 4*common <= 3*times && len(s.Rows) >= 2*ids
	areEdges := areSorted && len(s.Rows) >= 2*times
	return isApart && 3*shared >= ids && !areEdges && !slices.ContainsFunc(s.Rows, isLoop)
}

// lengthen returns a sample with more rows of the text that have a field for each title.
func lengthen(s *Sample) *Sample {
	const rows = 2000
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
