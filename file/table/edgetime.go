package table

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// TimeFormats are the formats of times in settings: dates, years and months of ISO 8601; seconds or milliseconds
// since 1970; seconds since a start; and orders of day, month and year in dates.
var TimeFormats = strings.Fields("iso unix unixms seconds dmy mdy ymd")

// EdgeTime is the time of an edge. A day with an offset is converted to the day in UTC.
type EdgeTime struct {
	Value     uint16
	Unit      string // unit of package shard
	Precision string // "year" or "month" if Value is its first day, else ""
	HasOffset bool   // the text has an offset from UTC other than 0
}

// TimeForm is the format of the times in a column.
type TimeForm struct {
	column string
	format string // one of TimeFormats, or ""
}

// SplitTimeSetting splits COLUMN or COLUMN:FORMAT into the column and the format of its times.
func SplitTimeSetting(setting string) (column string, form TimeForm) {
	place := strings.LastIndexByte(setting, ':')
	if place < 1 || !slices.Contains(TimeFormats, setting[place+1:]) {
		return setting, TimeForm{column: setting}
	}
	return setting[:place], TimeForm{column: setting[:place], format: setting[place+1:]}
}

// Fix returns the remedy for a text that cannot be parsed: the formats that parse it.
func (f TimeForm) Fix(text string) string {
	var fixes []string
	for _, format := range TimeFormats {
		if _, fault := (TimeForm{format: format}).Parse(text); fault == "" {
			fixes = append(fixes, "{time-format="+f.column+":"+format+"}")
		}
	}
	if fixes == nil {
		return "leave out {time}, or write times as 2024-01-31"
	}
	return "pass " + strings.Join(fixes, " or ")
}

var clockPattern = textio.Pattern(`^([0-9]{1,4}):([0-5][0-9])(:[0-5][0-9]([.,][0-9]+)?)?$`)

var datePattern = textio.Pattern(`^([0-9]+)[-/. ]+([0-9]+)[-/. ]+([0-9]+)([ T].*)?$`)

// Among returns f for a column with the given texts. If f has no format and one of the texts is a date, a year in the
// column is read as the first day of the year, and otherwise as a step.
func (f TimeForm) Among(texts []string) TimeForm {
	isDate := func(text string) bool {
		_, isDate := ParseTime(text)
		return isDate
	}
	if f.format == "" && slices.ContainsFunc(texts, isDate) {
		f.format = "iso"
	}
	return f
}

// Parse parses a time. If no format is set, it reads a date of ISO 8601 as a day, hours and minutes as minutes, and a
// whole number from 0 to 65535 as a step. fault says what is wrong with text, or is "".
func (f TimeForm) Parse(text string) (t EdgeTime, fault string) {
	n, err := strconv.ParseFloat(text, 64)
	switch f.format {
	case "iso":
		if len(text) == len("2006") && IsInteger(text) && text >= "1800" && text <= "2200" {
			t, fault = dayOf(time.Date(int(n), 1, 1, 0, 0, 0, 0, time.UTC))
			t.Precision = "year"
			return t, fault
		}
	case "unix", "unixms", "seconds":
		switch {
		case err != nil || math.Abs(n) > 1e15:
			return t, "is not a number"
		case f.format == "seconds":
			return stepOf(math.Floor(n/60), shard.MinuteUnit)
		case f.format == "unixms":
			n /= 1000
		}
		return dayOf(time.Unix(int64(math.Floor(n)), 0).UTC())
	case "dmy", "mdy", "ymd":
		return f.parseOrdered(text)
	}
	if parts := clockPattern().FindStringSubmatch(text); parts != nil {
		hours, _ := strconv.Atoi(parts[1])
		minutes, _ := strconv.Atoi(parts[2])
		return stepOf(float64(60*hours+minutes), shard.MinuteUnit)
	}
	if date, isDate := ParseTime(text); isDate {
		t, fault = dayOf(date)
		if _, err := time.Parse("2006-01", text); err == nil {
			t.Precision = "month"
		}
		return t, fault
	}
	if err != nil {
		return t, notATime
	}
	return stepOf(n, shard.StepUnit)
}

// parseOrdered parses three numbers in the order of the format, perhaps followed by a time of day and an offset.
func (f TimeForm) parseOrdered(text string) (t EdgeTime, fault string) {
	parts := datePattern().FindStringSubmatch(text)
	if parts == nil {
		return t, "is not a date of three numbers"
	}
	var part [3]int
	for i, letter := range f.format {
		part[strings.IndexRune("ymd", letter)], _ = strconv.Atoi(parts[1+i])
	}
	if part[0] < 100 {
		part[0] = fullYear(part[0])
	}
	date := time.Date(part[0], time.Month(part[1]), part[2], 0, 0, 0, 0, time.UTC)
	if int(date.Month()) != part[1] || date.Day() != part[2] {
		return t, "is not a date in the order " + f.format
	}
	if clock, hasClock := ParseTime(date.Format(time.DateOnly) + parts[4]); hasClock {
		date = clock
	}
	return dayOf(date)
}

// ParseTimeRange parses a time in the given unit. It returns its first and last value, which differ for a year or a
// month.
func ParseTimeRange(text, unit string) (bounds [2]int, t EdgeTime, fault string) {
	form := TimeForm{}
	if unit == shard.DayUnit {
		form.format = "iso"
	}
	t, fault = form.Parse(text)
	first := shard.FirstDay.AddDate(0, 0, int(t.Value))
	last := first
	switch t.Precision {
	case "year":
		last = first.AddDate(1, 0, -1)
	case "month":
		last = first.AddDate(0, 1, -1)
	}
	return [2]int{int(t.Value), int(t.Value) + int(last.Sub(first).Hours()/24)}, t, fault
}

func stepOf(n float64, unit string) (t EdgeTime, fault string) {
	switch {
	case !(n >= 0 && n <= math.MaxUint16):
		return t, notATime
	case n != math.Trunc(n):
		return t, "is no whole number; multiply all times, for example hours by 60"
	}
	return EdgeTime{Value: uint16(n), Unit: unit}, ""
}

const notATime = "is not a time; times are dates such as 2024-01-31, 11:26, or whole numbers from 0 to 65535"

func dayOf(date time.Time) (t EdgeTime, fault string) {
	days := math.Floor(date.Sub(shard.FirstDay).Hours() / 24)
	if days < 0 || days > math.MaxUint16 {
		return t, "is before 1900-01-01 or after " + shard.DateOf(math.MaxUint16)
	}
	_, offset := date.Zone()
	return EdgeTime{Value: uint16(days), Unit: shard.DayUnit, HasOffset: offset != 0}, ""
}
