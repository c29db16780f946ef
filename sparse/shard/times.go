package shard

import (
	"math"
	"strconv"
	"time"

	"github.com/heatwalk/heatwalk/internal/table"
)

// firstDay is day 0.
var firstDay = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// dateOf returns the date of a day.
func dateOf(day uint16) string { return firstDay.AddDate(0, 0, int(day)).Format(time.DateOnly) }

// Text returns a time as a date or as the number of a step.
func (t *Times) Text(time uint16) string {
	if t.Unit == "day" {
		return dateOf(time)
	}
	return strconv.Itoa(int(time))
}

const (
	leastSeconds = 1e8  // a number from here on counts seconds since 1970
	leastMillis  = 1e11 // a number from here on counts milliseconds
)

// ParseTime parses a time: a date year-month-day with or without a time of day, seconds or milliseconds since 1970 (a
// number of 1e8 or more), which are days, or a number from 0 to 65535, which is a step.
func ParseTime(text string) (t uint16, unit, fault string) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if n >= leastMillis {
			n /= 1000
		}
		switch {
		case n >= leastSeconds:
			return dayOf(time.Unix(int64(n), 0).UTC())
		case n >= 0 && n <= math.MaxUint16:
			return uint16(n), "step", ""
		}
		return 0, "", noTime
	}
	if day, ok := table.DateOf(text); ok {
		return dayOf(day)
	}
	return 0, "", noTime
}

const noTime = "is not a time; times are dates such as 2024-01-31, seconds since 1970 or numbers from 0 to 65535"

// dayOf returns a date as a day.
func dayOf(date time.Time) (t uint16, unit, fault string) {
	days := math.Floor(date.Sub(firstDay).Hours() / 24)
	if days < 0 || days > math.MaxUint16 {
		return 0, "", "is before 1900-01-01 or after " + dateOf(math.MaxUint16)
	}
	return uint16(days), "day", ""
}
