package shard

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/internal/table"
)

// firstDay is day 0.
var firstDay = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// dateOf returns the date of a day.
func dateOf(day uint16) string {
	return firstDay.AddDate(0, 0, int(day)).Format(time.DateOnly)
}

// Units of times.
const (
	dayUnit    = "day"    // since 1900-01-01
	minuteUnit = "minute" // since midnight, or since a start
	stepUnit   = "step"   // any number
)

// Text returns a time as a date, as hours and minutes, or as the number of a step.
func (t *Times) Text(time uint16) string {
	switch t.Unit {
	case dayUnit:
		return dateOf(time)
	case minuteUnit:
		return fmt.Sprintf("%d:%02d", time/60, time%60)
	}
	return strconv.Itoa(int(time))
}

const (
	leastSeconds = 1e8  // a number from here on counts seconds since 1970
	leastMillis  = 1e11 // a number from here on counts milliseconds
)

// TimeForm is how the times of a column are written, as far as it does not follow from each of them.
type TimeForm struct {
	order    table.DateOrder
	hasStart bool // numbers are seconds since a start
}

// Observe takes note of a time of the column.
func (f *TimeForm) Observe(text string) {
	if n, isNumber := numberOf(text); isNumber {
		f.hasStart = f.hasStart || n > math.MaxUint16 && n < leastSeconds
	} else if _, order, _, _ := table.ParseDate(text, table.NoOrder); f.order == table.NoOrder {
		f.order = order
	}
}

// numberOf returns the number that a time is, unless it is a date of eight digits.
func numberOf(text string) (n float64, isNumber bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && len(text) == len("20240131") {
		_, _, isDate, _ := table.ParseDate(text, table.NoOrder)
		return n, !isDate
	}
	return n, err == nil
}

// clock matches hours and minutes, perhaps with seconds.
var clock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,4}):([0-5][0-9])(:[0-5][0-9]([.,][0-9]+)?)?$`)
})

// Parse parses a time: a date or a month, or seconds or milliseconds since 1970 (a number of 1e8 or more), which are
// days; hours and minutes, or seconds since a start, which are minutes; or a whole number from 0 to 65535, which is a
// step. In a column with a number from 65536 to 1e8 all numbers are seconds since a start.
func (f TimeForm) Parse(text string) (t uint16, unit, fault string) {
	if n, isNumber := numberOf(text); isNumber {
		if n >= leastMillis {
			n /= 1000
		}
		switch {
		case n >= leastSeconds:
			return dayOf(time.Unix(int64(n), 0).UTC())
		case f.hasStart:
			return stepOf(math.Floor(n/60), minuteUnit)
		}
		return stepOf(n, stepUnit)
	}
	if parts := clock().FindStringSubmatch(text); parts != nil {
		hours, _ := strconv.Atoi(parts[1])
		minutes, _ := strconv.Atoi(parts[2])
		return stepOf(float64(60*hours+minutes), minuteUnit)
	}
	switch date, _, isDate, isAmbiguous := table.ParseDate(text, f.order); {
	case isDate:
		return dayOf(date)
	case isAmbiguous:
		return 0, "", AmbiguousTime
	}
	return 0, "", noTime
}

// stepOf returns a number of a unit as a time.
func stepOf(n float64, unit string) (uint16, string, string) {
	switch {
	case !(n >= 0 && n <= math.MaxUint16):
		return 0, "", noTime
	case n != math.Trunc(n):
		return 0, "", "is no whole number; multiply all times, for example hours by 60"
	}
	return uint16(n), unit, ""
}

const noTime = "is not a time; times are dates such as 2024-01-31, 11:26, seconds since 1970 or since a start, or numbers from 0 to 65535"

// AmbiguousTime is the fault of a date whose first number may be the day or the month, and AmbiguousFix its remedy.
const (
	AmbiguousTime = "may begin with the day or the month"
	AmbiguousFix  = `write the year first: sed -E 's#([0-9]+)[/-]([0-9]+)[/-]([0-9]{4})#\3-\2-\1#g' FILE > dated.csv where the day is first, and \3-\1-\2 where the month is`
)

// dayOf returns a date as a day.
func dayOf(date time.Time) (t uint16, unit, fault string) {
	days := math.Floor(date.Sub(firstDay).Hours() / 24)
	if days < 0 || days > math.MaxUint16 {
		return 0, "", "is before 1900-01-01 or after " + dateOf(math.MaxUint16)
	}
	return uint16(days), dayUnit, ""
}
