package table

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Missing are the words that pandas and R write for a missing value; an empty field is one
// too.
var Missing = []string{"NA", "N/A", "n/a", "<NA>", "NaN", "nan", "None", "NULL", "null"}

// noValues are words in columns of numbers that are no titles.
var noValues = append([]string{"na", "nan", "none", "nil", "inf", "infinity"}, Missing...)

// IsInteger reports whether text is an integer as a program would print it:
// digits without leading zeros, perhaps behind a minus sign.
func IsInteger(text []byte) bool {
	if len(text) > 1 && text[0] == '-' {
		text = text[1:]
		if text[0] == '0' {
			return false
		}
	}
	if len(text) == 0 || text[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range text {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// IsDecimalComma reports whether text is a number with a comma before its
// fraction.
func IsDecimalComma(text []byte) bool {
	whole, fraction, cut := bytes.Cut(text, []byte{Comma})
	digits := func(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }
	return cut && digits(bytes.TrimPrefix(whole, []byte("-"))) && digits(fraction)
}

// IsTitle reports whether a field in a column of numbers can only be the title of the
// column: it does not begin as a number would, and is no word for a missing value.
func IsTitle(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return text != "" && !unicode.IsDigit(first) && !strings.ContainsRune("+-.,{", first) &&
		!slices.Contains(noValues, text) && !slices.Contains(noValues, strings.ToLower(text))
}

// Years of times: a whole number is a time if it counts the seconds or milliseconds from
// 1970 to one of these years.
const firstYear, lastYear = 1990, 2100

// TimeOf parses a time: a whole number of seconds or milliseconds
// since 1970 in the years from 1990 to 2099, or a date year-month-day with or without
// a time of day.
func TimeOf(text string) (t time.Time, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		for _, t := range []time.Time{time.Unix(n, 0).UTC(), time.UnixMilli(n).UTC()} {
			if t.Year() >= firstYear && t.Year() < lastYear {
				return t, true
			}
		}
		return t, false
	}
	if len(text) < len(time.DateOnly) {
		return t, false
	}
	t, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)])
	rest := text[len(time.DateOnly):]
	return t, err == nil && (rest == "" || rest[0] == 'T' || rest[0] == ' ')
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

// WholeNumber returns the other way to write an id that is a whole number: 3 for 3.0, which
// pandas writes for integers in a column with gaps, and 3.0 for 3. It is "" for other ids.
func WholeNumber(id string) string {
	if whole, fraction, cut := strings.Cut(id, "."); cut && fraction != "" && strings.Trim(fraction, "0") == "" && IsInteger([]byte(whole)) {
		return whole
	}
	if IsInteger([]byte(id)) {
		return id + ".0"
	}
	return ""
}

// dateLayouts are the usual ways to write a date, after which a time of day may follow.
var dateLayouts = []string{
	time.DateOnly, "2006/01/02", "2006.01.02", "20060102", "02.01.2006", "2.1.2006", "02/01/2006", "01/02/2006", "2/1/2006", "1/2/2006",
	"02-01-2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "02-Jan-2006", "02-Jan-06", "1/2/06", "2.1.06",
}

// IsDate reports whether text is a date as programs and people write them, perhaps with a
// time of day behind it. Eight digits alone are one if their year is near ours.
func IsDate(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) < 6 || len(text) > 40 {
		return false
	}
	for _, day := range []string{text, beforeTime(text)} {
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, day); err == nil && t.Year() >= 1800 && t.Year() <= 2200 {
				return true
			}
		}
	}
	return false
}

// beforeTime returns text without the time of day at its end.
func beforeTime(text string) string {
	if at := strings.IndexByte(text, ':'); at > 0 {
		if from := strings.LastIndexAny(text[:at], " T"); from > 0 {
			return strings.TrimRight(text[:from], " ,")
		}
	}
	return text
}
