// Package clock parses times of edges: dates and clock times of ISO 8601, numbers of steps, and times in a format that a
// setting names. A store keeps their unit and a number, see [shard.Times].
package clock

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Formats are the formats of times in settings: dates of ISO 8601, also years and months, seconds or milliseconds since 1970, seconds
// since a start, and orders of day, month and year.
var Formats = strings.Fields("iso unix unixms seconds dmy mdy ymd")

// Time is a time of an edge. A day with an offset is the day in UTC.
type Time struct {
	Value     uint16
	Unit      string // see package shard
	Precision string // "year" or "month" if Value is its first day, else ""
	HasOffset bool   // the text has an offset from UTC other than 0
}

// Form is the format of the times in a column.
type Form struct {
	column string // of a setting
	format string // one of Formats, or ""
}

// Split returns the column of a setting COLUMN or COLUMN:FORMAT, and the form of its times.
func Split(setting string) (column string, form Form) {
	place := strings.LastIndexByte(setting, ':')
	if place < 1 || !slices.Contains(Formats, setting[place+1:]) {
		return setting, Form{column: setting}
	}
	return setting[:place], Form{column: setting[:place], format: setting[place+1:]}
}

// Fix is the remedy for a time with a fault.
func (f Form) Fix() string {
	return fmt.Sprintf("pass {time-format=%s:FORMAT} with one of %s", f.column, strings.Join(Formats, ", "))
}

// clock matches hours and minutes, perhaps with seconds.
var clock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,4}):([0-5][0-9])(:[0-5][0-9]([.,][0-9]+)?)?$`)
})

// numbers matches the numbers of a date, which a time of day may follow.
var numbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+)[-/. ]+([0-9]+)[-/. ]+([0-9]+)([ T].*)?$`)
})

// Among returns the form of times in a column with the given texts. If one of them is a date, a year is its first day and not a
// step.
func (f Form) Among(texts []string) Form {
	isDate := func(text string) bool {
		_, isDate := table.ParseTime(text)
		return isDate
	}
	if f.format == "" && slices.ContainsFunc(texts, isDate) {
		f.format = "iso"
	}
	return f
}

// Parse parses a time. Without a format it is a date of ISO 8601, which is a day, hours and minutes, which are minutes, or
// a whole number from 0 to 65535, which is a step.
func (f Form) Parse(text string) (t Time, fault string) {
	n, err := strconv.ParseFloat(text, 64)
	switch f.format {
	case "iso":
		if table.IsYear(text) {
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
	if parts := clock().FindStringSubmatch(text); parts != nil {
		hours, _ := strconv.Atoi(parts[1])
		minutes, _ := strconv.Atoi(parts[2])
		return stepOf(float64(60*hours+minutes), shard.MinuteUnit)
	}
	if date, isDate := table.ParseTime(text); isDate {
		t, fault = dayOf(date)
		if table.IsMonth(text) {
			t.Precision = "month"
		}
		return t, fault
	}
	if err != nil {
		return t, noTime
	}
	return stepOf(n, shard.StepUnit)
}

// parseOrdered parses a date of three numbers in the order of the format, perhaps with a time of day and an offset.
func (f Form) parseOrdered(text string) (t Time, fault string) {
	parts := numbers().FindStringSubmatch(text)
	if parts == nil {
		return t, "is not a date of three numbers"
	}
	var part [3]int // year, month, day
	for i, letter := range f.format {
		part[strings.IndexRune("ymd", letter)], _ = strconv.Atoi(parts[1+i])
	}
	if year := &part[0]; *year < 100 { // as strptime does
		*year += 1900
		if *year < 1969 {
			*year += 100
		}
	}
	date := time.Date(part[0], time.Month(part[1]), part[2], 0, 0, 0, 0, time.UTC)
	if int(date.Month()) != part[1] || date.Day() != part[2] {
		return t, "is not a date in the order " + f.format
	}
	if clock, hasClock := table.ParseTime(date.Format(time.DateOnly) + parts[4]); hasClock {
		date = clock
	}
	return dayOf(date)
}

// ParseRange returns the first and the last time that a text names among times of a unit: of a year or a month two days, else
// the same.
func ParseRange(text, unit string) (bounds [2]int, t Time, fault string) {
	form := Form{}
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

// stepOf returns a number of a unit as a time.
func stepOf(n float64, unit string) (t Time, fault string) {
	switch {
	case !(n >= 0 && n <= math.MaxUint16):
		return t, noTime
	case n != math.Trunc(n):
		return t, "is no whole number; multiply all times, for example hours by 60"
	}
	return Time{Value: uint16(n), Unit: unit}, ""
}

const noTime = "is not a time; times are dates such as 2024-01-31, 11:26, or whole numbers from 0 to 65535"

// dayOf returns a date as a day of UTC.
func dayOf(date time.Time) (t Time, fault string) {
	days := math.Floor(date.Sub(shard.FirstDay).Hours() / 24)
	if days < 0 || days > math.MaxUint16 {
		return t, "is before 1900-01-01 or after " + shard.DateOf(math.MaxUint16)
	}
	_, offset := date.Zone()
	return Time{Value: uint16(days), Unit: shard.DayUnit, HasOffset: offset != 0}, ""
}
