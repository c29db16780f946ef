package table

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Missing lists the words for a missing label, number or attribute, in addition to the empty text.
// Letters may be of any case.
var Missing = strings.Fields(`NA N/A #N/A NaN NaT null None <NA> ? . - -- ND unknown unlabeled unlabelled missing \N 0000-00-00`)

// MayBeClass lists the words of [Missing] that could be the name of a class.
var MayBeClass = strings.Fields("unknown unlabeled unlabelled missing None ? -")

// IsMissing reports whether text is blank or, whatever the case of its letters, one of the words.
func IsMissing(text string, words []string) bool {
	return strings.TrimSpace(text) == "" ||
		slices.ContainsFunc(words,
			func(word string) bool { return strings.EqualFold(word, text) })
}

// HasLeadingZero reports whether text is digits behind a zero, as in postal codes. Such text is no
// number, because its zeros would be lost.
func HasLeadingZero(text string) bool {
	return len(text) > 1 && text[0] == '0' && strings.Trim(text, "0123456789") == ""
}

// ClassKey returns a text that is equal for names of the same class: names that are equal as
// numbers, for example 1 and 1.0, are one class. Names with leading zeros are text.
func ClassKey(name string) string {
	if integer := PlainInteger(name); IsInteger(integer) || HasLeadingZero(name) {
		return integer // exact also beyond 2⁵³
	}
	if v, fault := ParseNumber([]byte(name), 64); fault == "" {
		return strconv.FormatFloat(v+0, 'f', -1, 64)
	}
	return name
}

// Form is the form of a text that is not a plain number.
type Form int

// The forms of text.
const (
	Word  Form = iota
	Money      // a number with a comma, a currency, a percent sign or a bound, for example 1,234, $5, 3 % or <0.001
	Unit       // a number with a unit behind a blank, for example 5 kg
)

// forms matches Money and Unit.
var forms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(`^[<>≤≥~≈=]{0,2}_*[-+]?(?:(?:\pL{0,3}\p{Sc}|[A-Z]{3}_)_*[-+]?)?`+
		`(?:[0-9]{1,3}(?:[,.'’ \x{a0}\x{202f}][0-9]{3})+|[0-9]+)?(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?`+
		`_*(?:%|‰|\pL{0,3}\p{Sc}|_([\pLµ°²³/]{1,6}))?\*?$`, "_", `[\s\x{a0}\x{202f}]`))
})

// FormOf returns the form of a text that is not a number.
func FormOf(text []byte) Form {
	text = bytes.ToValidUTF8(text, []byte("€")) // which is none in an encoding that is not known
	if !bytes.ContainsAny(text, "0123456789") {
		return Word
	}
	switch unit := forms().FindSubmatchIndex(text); {
	case unit == nil:
		return Word
	case unit[2] >= 0:
		return Unit
	}
	return Money
}

// IsInteger reports whether text is an integer as a program would print it:
// digits without leading zeros, perhaps behind a minus sign.
func IsInteger[S []byte | string](text S) bool {
	if len(text) > 1 && text[0] == '-' {
		text = text[1:]
		if text[0] == '0' {
			return false
		}
	}
	if len(text) == 0 || text[0] == '0' && len(text) > 1 {
		return false
	}
	for i := range len(text) {
		if text[i]-'0' > 9 {
			return false
		}
	}
	return true
}

// isDecimalComma reports whether text is a number with a comma before its
// fraction.
func isDecimalComma(text string) bool {
	integer, fraction, _ := strings.Cut(text, ",")
	areDigits := func(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
	return areDigits(strings.TrimPrefix(integer, "-")) && areDigits(fraction)
}

// noTitles are words in columns of numbers that are no titles.
var noTitles = strings.Fields("NA N/A <NA> NaN null None nil inf infinity")

// IsTitle reports whether a field in a column of numbers can only be the title of the
// column: it does not begin as a number would, and is no word for a missing value.
func IsTitle(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return text != "" && !unicode.IsDigit(first) &&
		!strings.ContainsRune("+-.,{", first) &&
		!IsMissing(text, noTitles)
}

// Years of times: a whole number is a time if it counts the seconds or milliseconds from
// 1970 to one of these years.
const firstYear, lastYear = 1990, 2100

// isTime reports whether text is a whole number of seconds or milliseconds since 1970 in the years from 1990 to 2099, or a
// date year-month-day with or without a time of day.
func isTime(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		_, isDate := parseDate(text, []string{time.DateOnly})
		return isDate
	}
	isNear := func(t time.Time) bool { return t.UTC().Year() >= firstYear && t.UTC().Year() < lastYear }
	return isNear(time.Unix(n, 0)) || isNear(time.UnixMilli(n))
}

// CompareIntegers compares canonical integers of any length.
func CompareIntegers(a, b []byte) int {
	switch negA, negB := a[0] == '-', b[0] == '-'; {
	case negA && negB:
		return CompareIntegers(b[1:], a[1:])
	case negA:
		return -1
	case negB:
		return 1
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
}

// PlainInteger returns the digits of a whole number: 3 for 3.0, which pandas writes for integers in a column
// with gaps, 100000 for 1e+05, which R writes, and 1 for 1.000e+00 of NumPy and Octave. Other text, and digits
// behind a zero or a plus sign, are returned as they are.
func PlainInteger(text string) string {
	v, fault := ParseNumber([]byte(text), 64)
	if fault != "" || v != math.Trunc(v) || IsInteger(text) || text[0] == '+' ||
		len(text) > 1 && text[0] == '0' && text[1]-'0' <= 9 {
		return text
	}
	return strconv.FormatFloat(v+0, 'f', 0, 64)
}

// isWhole reports whether text is a whole number, see [PlainInteger].
func isWhole(text string) bool {
	return IsInteger(PlainInteger(text))
}

// Layouts of dates, which a time of day may follow, and those of months.
var (
	dateLayouts = strings.Split("2006-01-02|2006-1-2|2006/1/2|2006.1.2|20060102|2006010215|200601021504|20060102150405|2.1.2006|"+
		"2 Jan 2006|2 January 2006|2-Jan-2006|2-Jan-06|Jan 2, 2006|January 2, 2006|Jan 2 2006|January 2 2006|"+
		time.ANSIC+"|"+time.RubyDate+"|"+time.RFC1123+"|"+time.RFC1123Z, "|")
	monthLayouts = strings.Split("2006-1|2006/1|1/2006|2006M01|Jan 2006|January 2006|Jan-06", "|")
)

// DateOrders is a set of orders of day, month and year.
type DateOrders int

// The orders of dates such as 31/01/2024 or 310124. Months are numbers such as 202401, and in MonthYear 012024.
const (
	Months DateOrders = 1 << iota
	DayFirst
	MonthFirst
	YearFirst
	MonthYear
	AnyOrder DateOrders = 1<<iota - 1
)

// orderedLayouts has the layouts of each order.
var orderedLayouts = [...][]string{
	strings.Fields("200601"), strings.Fields("2/1/2006 2-1-2006 2/1/06 2.1.06 020106 02012006"),
	strings.Fields("1/2/2006 1-2-2006 1/2/06 010206 01022006"), strings.Fields("06/1/2 06.1.2 060102"),
	strings.Fields("012006"),
}

// IsDate reports whether text is a date as programs and people write them, perhaps with a
// time of day behind it. Eight digits alone are one if their year is near ours.
func IsDate(text string) bool {
	_, isDate := parseDate(text, dateLayouts)
	for _, layouts := range orderedLayouts {
		_, isOrdered := parseDate(text, layouts)
		isDate = isDate || isOrdered && strings.ContainsAny(text, "/-.")
	}
	return isDate
}

// parseDate parses a date in one of the layouts, perhaps with a time of day behind it.
func parseDate(text string, layouts []string) (t time.Time, ok bool) {
	text = months.Replace(strings.TrimSpace(text))
	if len(text) < 6 || len(text) > 40 {
		return t, false
	}
	for _, layout := range layouts {
		for _, day := range []string{text, beforeTime(text)} {
			t, err := time.Parse(layout, day)
			if err == nil && t.Year() >= 1800 && t.Year() <= 2200 {
				return t, true
			}
		}
	}
	return t, false
}

// ParseDate parses a date or a month in one of some orders. It returns the orders that the text can have, 0 if it is no
// date; the date is ambiguous if it depends on the order. Digits that can be a month are one.
func ParseDate(text string, orders DateOrders) (date time.Time, possible DateOrders, isAmbiguous bool) {
	if date, isDate := parseDate(text, dateLayouts); isDate {
		return date, orders, false
	}
	if date, isDate := parseDate(text, monthLayouts); isDate {
		return date, orders, false
	}
	for i, layouts := range orderedLayouts {
		order := DateOrders(1) << i
		t, isDate := parseDate(text, layouts)
		if !isDate || orders&order == 0 {
			continue
		}
		isAmbiguous = isAmbiguous || possible > Months && !t.Equal(date)
		if possible&Months == 0 {
			date = t
		}
		possible |= order
	}
	return date, possible, isAmbiguous && possible&Months == 0
}

// months translates the German names of months, and removes points behind names and numbers of days.
var months = strings.NewReplacer("January", "January", "February", "February", "Januar", "January", "Februar", "February",
	"März", "March", "Mrz", "Mar", "Mär", "Mar", "Mai", "May", "Juni", "June", "Juli", "July", "Okt", "Oct", "Dez", "Dec",
	". ", " ")

// periods matches clock times, and quarters, half-years and weeks of a year.
var periods = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[0-9]{4}[-/ ]?(?:q|k?w|h) ?[0-9]{1,2}|(?:q|k?w|h) ?[0-9]{1,2}[-/ ]{1,3}[0-9]{4}|` +
		`[1-4]\. ?quartal [0-9]{4}|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]+)?(?: ?[ap]m)?)$`)
})

// isPeriod reports whether text is a date, a month or another period of a year, or a clock time.
func isPeriod(text string) bool {
	return IsDate(text) || IsMonth(text) || periods().MatchString(text)
}

// IsMonth reports whether text is a month without a day.
func IsMonth(text string) bool {
	_, isMonth := parseDate(text, slices.Concat(monthLayouts, orderedLayouts[0]))
	return isMonth
}

// beforeTime returns text without the time of day at its end.
func beforeTime(text string) string {
	end := strings.IndexByte(text, ':')
	if end < 0 {
		end = len(text)
	}
	if start := strings.LastIndexAny(text[:end], " T"); start > 0 {
		return strings.TrimRight(text[:start], " ,")
	}
	return text
}
