package shard

import (
	"fmt"
	"strconv"
	"time"
)

// Units of times.
const (
	DayUnit    = "day"    // days since FirstDay
	MinuteUnit = "minute" // minutes since midnight, or since a start
	StepUnit   = "step"   // any number
)

// FirstDay is day 0.
var FirstDay = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// Text returns a time as a date, as hours and minutes, or as the number of a step.
func (t *Times) Text(time uint16) string {
	switch t.Unit {
	case DayUnit:
		return DateOf(time)
	case MinuteUnit:
		return fmt.Sprintf("%d:%02d", time/60, time%60)
	}
	return strconv.Itoa(int(time))
}

// DateOf returns the date of a day.
func DateOf(day uint16) string {
	return FirstDay.AddDate(0, 0, int(day)).Format(time.DateOnly)
}
