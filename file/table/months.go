package table

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// monthNames has the names of each month in English, German, French and Spanish, and their short forms.
var monthNames = strings.Split(`january jan januar jänner jän janvier janv enero ene
february feb februar février fevrier févr fevr fév febrero
march mar märz maerz mrz mär mars marzo
april apr avril avr abril abr
may mai mayo
june jun juni juin junio
july jul juli juillet juil julio
august aug août aout agosto ago
september sep sept septembre septiembre
october oct oktober okt octobre octubre
november nov novembre noviembre
december dec dezember dez décembre decembre déc diciembre dic`, "\n")

// ordinals are the endings of the day of a month.
var ordinals = []string{"", "st", "nd", "rd", "th", "er"}

var monthOf = sync.OnceValue(func() map[string]time.Month {
	months := map[string]time.Month{}
	for i, names := range monthNames {
		for _, name := range strings.Fields(names) {
			months[name] = time.Month(i + 1)
		}
	}
	return months
})

// parseMonth parses a date with the name of its month: 30-Sep-2024, 30. September 2024, 1er août 2024, Sep 30, 2024 or
// 30 de septiembre de 2024, perhaps with a time of day behind it.
func parseMonth(text string) (t time.Time, ok bool) {
	const longest = 48 // bytes
	letters := 0
	for i := 0; i < len(text) && letters < 3; i++ {
		if c := text[i] | 0x20; c >= 'a' && c <= 'z' || text[i] >= 0x80 {
			letters++
		}
	}
	if letters < 3 || len(text) > longest || !strings.ContainsAny(text, "0123456789") {
		return t, false
	}
	date, clock := text, ""
	if colon := strings.IndexByte(text, ':'); colon > 0 {
		blank := strings.LastIndexAny(text[:colon], " T")
		if blank < 0 {
			return t, false
		}
		date, clock = text[:blank], text[blank+1:]
	}
	var month time.Month
	var numbers []string
	for _, word := range strings.FieldsFunc(date, func(r rune) bool { return strings.ContainsRune(" -./,\u00a0", r) }) {
		name := strings.ToLower(word)
		digits := strings.TrimRightFunc(name, unicode.IsLetter)
		switch ending := name[len(digits):]; {
		case monthOf()[name] != 0 && month == 0:
			month = monthOf()[name]
		case digits != "" && strings.Trim(digits, "0123456789") == "" && slices.Contains(ordinals, ending):
			numbers = append(numbers, digits)
		case name != "de" && name != "del":
			return t, false
		}
	}
	if month == 0 || len(numbers) != 2 || len(numbers[0]) > 2 {
		return t, false
	}
	day, _ := strconv.Atoi(numbers[0])
	year, _ := strconv.Atoi(numbers[1])
	switch len(numbers[1]) {
	case 2:
		year = fullYear(year)
	case 4:
	default:
		return t, false
	}
	t = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day || year < 1800 || year > 2200 {
		return t, false
	}
	if clock == "" {
		return t, true
	}
	return ParseTime(t.Format(time.DateOnly) + "T" + clock)
}

// fullYear returns the year that two digits stand for, as strptime does.
func fullYear(year int) int {
	if year < 69 {
		return year + 2000
	}
	return year + 1900
}
