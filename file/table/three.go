package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// checkThree returns a question if three columns of edges that are read by position may be two ends and a column of
// times or row numbers. A last column of times or row numbers is no weight. An earlier column of times is no end if
// the last column has whole numbers. An earlier column of row numbers is no end if the other columns share their ids
// with each other and not with it.
func (c *chooser) checkThree(free []int) error {
	const fewest = 5 // rows; the weights of three or four edges are often 1, 2, 3, 4
	for k := len(free) - 1; k >= 0; k-- {
		column := free[k]
		values := c.values(column)
		isLast := k == len(free)-1
		if isLast && c.HasHeader && hasRole(c.s.Titles[column], input.Weight) {
			return nil
		}
		others := slices.DeleteFunc(slices.Clone(free), func(i int) bool { return i == column })
		areIDs := isLast || all(c.values(others[1]), IsInteger[string])
		isCounter := len(values) >= fewest && (values[0] == "0" || values[0] == "1") && areRowNumbers(values)
		isCounter = isCounter && (isLast || c.shareNone(column, others) || c.shareMost(others[0], others[1]) && !c.shareMost(column, others[0]))
		switch {
		case !areIDs:
		case areTimes(values) && (isLast || areSorted(values)) && !areTimes(c.values(others[0])):
			return c.askTimes(column, others, values)
		case isCounter:
			fields := c.fieldSetting(others...)
			return &input.Error{Msg: "column " + words.Count(column+1) + " may have row numbers",
				Fix: "pass " + fields + ", or " + c.fieldSetting(free...) + " for weights"}
		}
	}
	return nil
}

// areTimes reports whether values differ and all are dates in digits, such as 20240131, years from 1900 to 2099, or seconds or
// milliseconds since 1970, or smaller fractions of a second, in the years from 1990 to 2039. Numbers of cards begin with
// the digits of later microseconds.
func areTimes(values []string) bool {
	const first, last = 631152000, 2208988800 // seconds of the years 1990 and 2040
	isTime := func(text string) bool {
		if len(text) == len("20240131150405") {
			text = text[:8] + "T" + text[8:]
		}
		if _, isDate := ParseTime(text); isDate {
			return true
		}
		n, err := strconv.ParseFloat(text, 64)
		isSince := func(unit float64) bool { return n >= first*unit && n < last*unit }
		return err == nil && !strings.ContainsAny(text, "eE") && slices.ContainsFunc([]float64{1, 1e3, 1e6, 1e9}, isSince)
	}
	isYear := func(text string) bool {
		return len(text) == 4 && (text[:2] == "19" || text[:2] == "20") && IsInteger(text)
	}
	isFirst := func(text string) bool { return text == values[0] }
	return len(values) > 1 && !all(values, isFirst) && (all(values, isTime) || len(values) > 2 && all(values, isYear))
}

// areSorted reports whether three numbers or more never fall or never rise.
func areSorted(values []string) bool {
	var numbers []float64
	for _, text := range values {
		n, _ := strconv.ParseFloat(text, 64)
		numbers = append(numbers, n)
	}
	isRising := slices.IsSorted(numbers)
	slices.Reverse(numbers)
	return len(values) > 2 && (isRising || slices.IsSorted(numbers))
}

// shareNone reports whether no value of a column occurs in one of the others.
func (c *chooser) shareNone(column int, others []int) bool {
	values := map[string]bool{}
	for _, i := range others {
		for _, text := range c.values(i) {
			values[text] = true
		}
	}
	return !slices.ContainsFunc(c.values(column), func(text string) bool { return values[text] })
}

// shareMost reports whether at least half of the distinct values of each of two columns occur in the other. There must
// be four such values.
func (c *chooser) shareMost(i, j int) bool {
	const fewest = 4
	first := map[string]bool{}
	for _, text := range c.values(i) {
		first[text] = true
	}
	second := map[string]bool{}
	shared := 0
	for _, text := range c.values(j) {
		if !second[text] && first[text] {
			shared++
		}
		second[text] = true
	}
	return shared >= fewest && 2*shared >= max(len(first), len(second))
}

func (c *chooser) askTimes(column int, others []int, values []string) error {
	ends := c.fieldSetting(others...)
	name := c.fieldList(column)
	fix := "pass "
	for _, format := range []string{"", "unix", "unixms"} {
		form := TimeForm{format: format}
		if all(values, func(text string) bool { _, fault := form.Parse(text); return fault == "" }) {
			setting := "{time=" + name + "}"
			if format != "" {
				setting = "{time-format=" + name + ":" + format + "}"
			}
			fix += ends + " " + setting + " to keep the times, or "
			break
		}
	}
	fix += ends + " to leave them out, or " + c.fieldSetting(c.freeEnds()...) + " for weights"
	return &input.Error{Msg: "column " + words.Count(column+1) + " may have times", Fix: fix}
}

// fieldSetting returns the setting that names the columns of edges.
func (c *chooser) fieldSetting(columns ...int) string {
	return "{" + c.r.Option + "=" + c.fieldList(columns...) + "}"
}

// fieldList returns columns as the value of an option: numbers if the table has no header.
func (c *chooser) fieldList(columns ...int) string {
	if c.HasHeader {
		return FieldList(c.s.Titles, columns...)
	}
	return FieldList(make([]string, len(c.s.Titles)), columns...)
}
