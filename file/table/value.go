package table

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Missing lists the words, in any case, for a missing value in a column of numbers, besides the empty text. In a
// column of text they are values.
var Missing = strings.Fields("NA NaN null")

// Doubtful lists words that are read as values, but often mean a missing value.
var Doubtful = strings.Fields(`NA N/A #N/A NaN NaT null None <NA> ? . - -- ND unknown unlabeled unlabelled missing \N`)

// IsMissing reports whether text is blank or equals one of the words in any case.
func IsMissing(text string, words []string) bool {
	return strings.TrimSpace(text) == "" ||
		slices.ContainsFunc(words,
			func(word string) bool { return strings.EqualFold(word, text) })
}

// HasLeadingZero reports whether text consists of digits with a leading zero, as in postal codes, which would be lost
// in a number.
func HasLeadingZero(text string) bool {
	return len(text) > 1 && text[0] == '0' && strings.Trim(text, "0123456789") == ""
}

// ClassKey returns a key of a class name, see [PlainInteger]: 1 and 1.0 have the same key, and versions such as 3.1 and
// 3.10 have different keys.
func ClassKey(name string) string { return PlainInteger(name) }

// IsInteger reports whether text is an integer in canonical form: digits without leading zeros, perhaps after a minus
// sign.
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

// hasBareExponent reports whether a number has an exponent without sign and no point, as in 12E1. Among ids and
// classes this is a name, because programs write a point or a sign.
func hasBareExponent(text string) bool {
	digits, exponent, hasExponent := strings.Cut(strings.ToLower(text), "e")
	return hasExponent && !strings.Contains(digits, ".") && strings.Trim(exponent, "0123456789") == ""
}

// PlainInteger returns the digits of a whole number: 3 for 3.0, as pandas writes; 100000 for 1e+05, as R writes; and
// 1 for 1.000e+00, as NumPy and Octave write. It returns other text unchanged, such as 12E1, codes and versions such as
// 250.00, and digits with a leading zero or a plus sign.
func PlainInteger(text string) string {
	if _, fraction, hasPoint := strings.Cut(text, "."); hasPoint && len(fraction) > 1 && !strings.ContainsAny(fraction, "eE") {
		return text
	}
	v, fault := ParseNumber([]byte(text), 64)
	if fault != "" || v != math.Trunc(v) || IsInteger(text) || text[0] == '+' || hasBareExponent(text) ||
		len(text) > 1 && text[0] == '0' && text[1]-'0' <= 9 {
		return text
	}
	return strconv.FormatFloat(v+0, 'f', 0, 64)
}

// timeLayouts are the layouts of ISO 8601, with offsets such as +00 of PostgreSQL. A blank may replace the T.
var timeLayouts = strings.Split("2006-01-02|20060102|2006-01-02T15:04|2006-01-02T15:04:05|2006-01-02T15:04Z07:00|2006-01-02T15:04Z07|"+
	"2006-01-02T15:04:05Z07:00|2006-01-02T15:04:05Z0700|2006-01-02T15:04:05Z07|20060102T150405|20060102T150405Z07:00|2006-01", "|")

// ParseTime parses a time of ISO 8601, or a date with the name of its month, see parseMonth. In ISO 8601 a blank may
// stand before an offset, and UTC in place of one.
func ParseTime(text string) (t time.Time, ok bool) {
	if len(text) < len("2006") || strings.Trim(text[:len("2006")], "0123456789") != "" {
		return parseMonth(text) // time.Parse would allocate an error for each of millions of numbers
	}
	if len(text) > len("2006-01-02") && text[len("2006-01-02")] == ' ' {
		text = strings.Replace(text, " ", "T", 1)
		if clock, isUTC := strings.CutSuffix(text, "UTC"); isUTC {
			text = clock + "Z"
		}
		text = strings.Replace(text, " ", "", 1)
	}
	text = strings.Replace(text, ",", ".", 1)
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, text)
		if err == nil && t.Year() >= 1800 && t.Year() <= 2200 {
			return t, true
		}
	}
	return t, false
}
