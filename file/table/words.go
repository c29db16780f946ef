package table

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

const notNumber = "is not a number"

// ParseNumber parses a decimal number of 32 or 64 bits. fault says what is wrong with other text, or is "".
func ParseNumber(b []byte, bits int) (value float64, fault string) {
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			word := string(bytes.ToLower(bytes.TrimLeft(b, "+-")))
			if word == "inf" || word == "infinity" {
				return 0, "is infinite"
			}
			return 0, notNumber
		}
	}
	if len(b) == 0 {
		return 0, notNumber
	}
	v, err := strconv.ParseFloat(unsafe.String(&b[0], len(b)), bits)
	switch {
	case math.IsInf(v, 0) && bits == 32:
		return 0, "is beyond float32"
	case math.IsInf(v, 0):
		return 0, "is infinite"
	case err != nil:
		return 0, notNumber
	}
	return v, ""
}

// plainSigns replaces no-break blanks and typographic apostrophes between groups of three digits.
var plainSigns = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "’", "'")

// ParseNumberIn is [ParseNumber] for a number of 64 bits, written as t says. It ignores the unit of an amount, see
// [SplitAmount]; a caller must check that a column has one unit.
func ParseNumberIn(b []byte, t input.Text) (value float64, fault string) {
	value, fault = ParseNumber(PlainNumber(b, t), 64)
	if fault == notNumber {
		if number, _, isAmount := SplitAmount(b); isAmount {
			return ParseNumber(PlainNumber(number, t), 64)
		}
	}
	return value, fault
}

// PlainNumber returns a number in the form that [ParseNumber] reads: with a decimal point, and without characters
// between thousands. It returns nil if t does not allow the characters between thousands. If t allows points or
// commas there, blanks and apostrophes are also allowed.
func PlainNumber(b []byte, t input.Text) []byte {
	comma := t.HasDecimalComma()
	if !comma && t.Thousands == "" {
		return b
	}
	decimal := "."
	if comma {
		decimal = ","
	}
	integer, fraction, hasFraction := strings.Cut(plainSigns.Replace(string(b)), decimal)
	if t.Thousands == "." || t.Thousands == "," {
		integer = strings.NewReplacer(" ", t.Thousands, "'", t.Thousands).Replace(integer)
	}
	if t.Thousands != "" {
		groups := strings.Split(strings.TrimLeft(integer, "+-"), t.Thousands)
		if len(groups) > 1 && groups[0] == "0" {
			return nil // 0,115 is no thousand
		}
		for i, group := range groups {
			if len(groups) > 1 && len(group) != 3 &&
				(i > 0 || len(group) == 0 || len(group) > 3) {
				return nil
			}
		}
		integer = strings.ReplaceAll(integer, t.Thousands, "")
	}
	if strings.Contains(fraction, ".") || comma && strings.Contains(integer, ".") {
		return nil
	}
	if hasFraction {
		integer += "." + fraction
	}
	return []byte(integer)
}

func oneFieldFix(line, fix string) string {
	if place := strings.IndexAny(line, "|^~:"); place > 0 && place+1 < len(line) && line[place+1] != line[place] {
		return "pass {delimiter=" + line[place:place+1] + "}"
	}
	return fix
}

// numberForms are the settings that [NumberFix] tries, with their remedies.
var numberForms = []struct {
	text input.Text
	fix  string
}{
	{input.Text{Decimal: ","}, "{decimal=,}"},
	{input.Text{Thousands: ","}, "{thousands=,}"},
	{input.Text{Thousands: ".", Decimal: ","}, "{thousands=.} {decimal=,}"},
	{input.Text{Thousands: " "}, "{thousands= }"},
	{input.Text{Thousands: " ", Decimal: ","}, "{thousands= } {decimal=,}"},
	{input.Text{Thousands: "'"}, "{thousands='}"},
}

// NumberFix returns the settings with which a text can be read as a number, as a remedy. If there are none, or the text
// is a number as it is, it returns "".
func NumberFix(text []byte) string {
	if _, fault := ParseNumberIn(text, input.Text{}); fault == "" {
		return ""
	}
	var fixes []string
	var numbers []float64
	for _, form := range numberForms {
		x, fault := ParseNumberIn(text, form.text)
		if fault == "" && !slices.Contains(numbers, x) {
			fixes = append(fixes, form.fix)
			numbers = append(numbers, x)
		}
	}
	if fixes == nil {
		return ""
	}
	return "pass " + strings.Join(fixes, " or ")
}

// NumberSettings returns the settings with which all values of column i are numbers. It returns "" if they are
// numbers already, or if no settings make them numbers. Settings that give different numbers are alternatives.
func (s *Sample) NumberSettings(i int) (settings string) {
	values := s.Values(i)
	isNumber := func(text string) bool { _, fault := ParseNumberIn([]byte(text), input.Text{}); return fault == "" }
	if all(values, isNumber) {
		return ""
	}
	var previous []float64
	for _, form := range numberForms {
		var numbers []float64
		for _, text := range values {
			if x, fault := ParseNumberIn([]byte(text), form.text); fault == "" {
				numbers = append(numbers, x)
			}
		}
		switch {
		case len(numbers) < len(values) || slices.Equal(previous, numbers):
		case settings == "":
			settings = form.fix
			previous = numbers
		default:
			settings += " or " + form.fix
		}
	}
	return settings
}

// PointsFix is the remedy for [HasDoubtfulPoints].
const PointsFix = "pass {thousands=.} {decimal=,} if points are between thousands, else {decimal=.}"

// PointsFault returns the fault of a number that [HasDoubtfulPoints] returns.
func PointsFault(number string) string {
	return words.Quoted(number) + " may be " + strings.ReplaceAll(number, ".", "") + " or a fraction, beside semicolons"
}

// HasDoubtfulPoints returns the first number whose points may be between thousands, as in 1.000, or "". Semicolons must
// separate the fields, as in tables of countries with a decimal comma, no setting may state the form of numbers, and
// every number with a point must have groups of three digits.
func HasDoubtfulPoints(numbers []string, separator byte, t input.Text) string {
	if separator != Semicolon || t.Decimal != "" || t.Thousands != "" {
		return ""
	}
	first := ""
	for _, text := range numbers {
		if strings.Contains(text, ".") && first == "" {
			first = text
		}
		integer := PlainNumber([]byte(text), input.Text{Thousands: "."})
		if strings.ContainsAny(text, "eE,") || !IsInteger(strings.TrimLeft(string(integer), "+")) {
			return ""
		}
	}
	return first
}

// ParseWeight is ParseNumber for a weight, see [WeightFault].
func ParseWeight(b []byte, signed bool) (float64, string) {
	w, fault := ParseNumber(b, 64)
	if fault == "" {
		fault = WeightFault(w, signed)
	}
	return w + 0, fault // −0 becomes 0
}

// Negative is the fault of a weight below 0, and NegativeFix its remedy.
const (
	Negative    = "is negative"
	NegativeFix = "pass {weights=signed} for edges between opponents, or take absolute values"
)

// ParseWeightIn is ParseWeight for a weight that is written as t says, perhaps with a unit, see [ParseNumberIn].
func ParseWeightIn(b []byte, t input.Text, signed bool) (float64, string) {
	w, fault := ParseNumberIn(b, t)
	if fault == "" {
		fault = WeightFault(w, signed)
	}
	return w + 0, fault // −0 becomes 0
}

// WeightFault returns the fault of a weight, or "". A weight may be negative if signed is set.
func WeightFault(w float64, signed bool) string {
	switch {
	case math.IsNaN(w):
		return "is not a number"
	case math.IsInf(w, 0):
		return "is infinite"
	case w < 0 && !signed:
		return Negative
	}
	return ""
}
