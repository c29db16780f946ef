// Package clock parses times of edges: dates, hours and minutes, seconds, and numbers of steps. A store keeps their unit and a
// number, see [shard.Times].
package clock

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

const (
	leastSeconds = 1e8  // a number from here on counts seconds since 1970
	leastMillis  = 1e11 // a number from here on counts milliseconds
)

// Form is the notation of the times in a column, as far as it does not follow from each of them.
type Form struct {
	column   string           // of a setting
	orders   table.DateOrders // that dates can have; 0: no date has been seen
	isGiven  bool             // a setting has the order
	hasStart bool             // numbers are seconds since a start
	dates    int              // numbers that can be dates
	numbers  int
}

// orders has the names of orders of dates in settings.
var orders = map[string]table.DateOrders{
	"dmy": table.DayFirst, "mdy": table.MonthFirst, "ymd": table.YearFirst, "my": table.MonthYear,
}

// Split returns the column of a setting COLUMN or COLUMN:ORDER, and the form of its times.
func Split(setting string) (column string, form Form) {
	place := strings.LastIndexByte(setting, ':')
	order, isGiven := orders[setting[place+1:]]
	if place < 1 || !isGiven {
		return setting, Form{column: setting}
	}
	return setting[:place], Form{column: setting[:place], orders: order, isGiven: true}
}

// OrderFix is the remedy for a time with the fault [Ambiguous].
func (f Form) OrderFix() string {
	return fmt.Sprintf("pass {time=%[1]s:dmy} if the day is first, else {time=%[1]s:mdy}, {time=%[1]s:ymd} or {time=%[1]s:my}", f.column)
}

// Observe takes note of a time of the column.
func (f *Form) Observe(text string) {
	n, err := strconv.ParseFloat(text, 64)
	_, possible, _ := f.dateOf(text, err == nil)
	if err == nil {
		f.hasStart = f.hasStart || n > math.MaxUint16 && n < leastSeconds
		f.numbers++
	}
	if possible == 0 {
		return
	}
	f.orders = possible
	if err == nil {
		f.dates++
	}
}

// dateOf parses a date in the orders of the column. A number is one only if it has the digits of a month, a day or more.
func (f Form) dateOf(text string, isNumber bool) (time.Time, table.DateOrders, bool) {
	text = table.PlainInteger(text)
	if isNumber && (len(text) < len("202401") || len(text)%2 != 0) {
		return time.Time{}, 0, false
	}
	return table.ParseDate(text, cmp.Or(f.orders, table.AnyOrder))
}

// clock matches hours and minutes, perhaps with seconds.
var clock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,4}):([0-5][0-9])(:[0-5][0-9]([.,][0-9]+)?)?$`)
})

// Parse parses a time: a date or a month, or the time since 1970 in seconds (a number of 1e8 or more) or a power of 1000
// of them, which are days; hours and minutes, or seconds since a start, which are minutes; or a whole number from 0 to
// 65535, which is a step. In a column with a number from 65536 to 1e8 all numbers are seconds since a start, unless most
// are dates in digits.
func (f Form) Parse(text string) (t uint16, unit, fault string) {
	n, err := strconv.ParseFloat(text, 64)
	if parts := clock().FindStringSubmatch(text); parts != nil {
		hours, _ := strconv.Atoi(parts[1])
		minutes, _ := strconv.Atoi(parts[2])
		return stepOf(float64(60*hours+minutes), shard.MinuteUnit)
	}
	date, possible, isAmbiguous := f.dateOf(text, err == nil)
	haveDigits := 2*f.dates > f.numbers // the dates
	isNumber := err == nil && !f.isGiven && (!haveDigits || possible == 0 && n >= leastSeconds)
	switch {
	case isAmbiguous && !isNumber:
		return 0, "", Ambiguous
	case possible > 0 && !isNumber:
		return dayOf(date)
	case isNumber:
		for n >= leastMillis {
			n /= 1000
		}
		if n >= leastSeconds {
			return dayOf(time.Unix(int64(n), 0).UTC())
		}
		if f.hasStart {
			return stepOf(math.Floor(n/60), shard.MinuteUnit)
		}
		return stepOf(n, shard.StepUnit)
	}
	if _, orders, _ := table.ParseDate(text, table.AnyOrder); orders > 0 {
		return 0, "", "has another order of day, month and year than the times before it"
	}
	return 0, "", noTime
}

// ParseRange returns the first and the last time that a text names: of a month two days, else the same.
func ParseRange(text string) (bounds [2]int, unit, fault string) {
	var form Form
	form.Observe(text)
	first, unit, fault := form.Parse(text)
	bounds = [2]int{int(first), int(first)}
	if unit == shard.DayUnit && table.IsMonth(text) {
		bounds[1] += shard.FirstDay.AddDate(0, 0, bounds[0]).AddDate(0, 1, -1).Day() - 1
	}
	if fault == Ambiguous {
		fault += "; write the year first, as in 2024-01-31"
	}
	return bounds, unit, fault
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

// Ambiguous is the fault of a date whose first number may be the day, the month or the year.
const Ambiguous = "may begin with the day, the month or the year"

// dayOf returns a date as a day.
func dayOf(date time.Time) (t uint16, unit, fault string) {
	days := math.Floor(date.Sub(shard.FirstDay).Hours() / 24)
	if days < 0 || days > math.MaxUint16 {
		return 0, "", "is before 1900-01-01 or after " + shard.DateOf(math.MaxUint16)
	}
	return uint16(days), shard.DayUnit, ""
}
