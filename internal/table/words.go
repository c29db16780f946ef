package table

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/heatwalk/heatwalk/file/input"
)

// ParseNumber parses a decimal number of 32 or 64 bits; fault is "" if it is one.
func ParseNumber(b []byte, bits int) (value float64, fault string) {
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			word := string(bytes.ToLower(bytes.TrimLeft(b, "+-")))
			if word == "inf" || word == "infinity" {
				return 0, "is infinite"
			}
			return 0, "is not a number"
		}
	}
	if len(b) == 0 {
		return 0, "is not a number"
	}
	v, err := strconv.ParseFloat(unsafe.String(&b[0], len(b)), bits)
	switch {
	case math.IsInf(v, 0) && bits == 32:
		return 0, "is beyond float32"
	case math.IsInf(v, 0):
		return 0, "is infinite"
	case err != nil:
		return 0, "is not a number"
	}
	return v, ""
}

// PlainNumber returns a number as [ParseNumber] reads it: without the characters between thousands, and with
// a decimal point. It returns nil if these characters are not those of the settings.
func PlainNumber(b []byte, t input.Text) []byte {
	comma := t.HasDecimalComma()
	if !comma && t.Thousands == "" {
		return b
	}
	decimal := byte('.')
	if comma {
		decimal = Comma
	}
	integer, fraction, hasFraction := bytes.Cut(b, []byte{decimal})
	if t.Thousands == " " { // or a no-break space
		integer = bytes.ReplaceAll(bytes.ReplaceAll(integer, []byte("\u00a0"),
			[]byte(" ")), []byte("\u202f"), []byte(" "))
	}
	if t.Thousands != "" {
		groups := bytes.Split(bytes.TrimLeft(integer, "+-"), []byte(t.Thousands))
		for i, group := range groups {
			if len(groups) > 1 && len(group) != 3 &&
				(i > 0 || len(group) == 0 || len(group) > 3) {
				return nil
			}
		}
		integer = bytes.ReplaceAll(integer, []byte(t.Thousands), nil)
	}
	if comma && bytes.IndexByte(b, '.') >= 0 && t.Thousands != "." ||
		bytes.IndexByte(fraction, '.') >= 0 {
		return nil
	}
	if hasFraction {
		return slices.Concat(integer, []byte{'.'}, fraction)
	}
	return integer
}

// ShowsDecimalComma reports whether numbers can only have a decimal comma: one has a comma in front of other than
// three digits, and none has a point behind its last comma, or without one.
func ShowsDecimalComma(values []string) (isShown bool) {
	for _, text := range values {
		integer, fraction, hasComma := strings.Cut(text, ",")
		point := strings.LastIndexByte(text, '.')
		if point > len(integer) || point >= 0 && !hasComma ||
			strings.Trim(fraction, "0123456789") != "" {
			return false
		}
		isShown = isShown || hasComma && len(fraction) != 3 && len(fraction) > 0
	}
	return isShown
}

// NumberFix returns the settings that read a text as a number, as a Fix: a decimal comma, or characters between
// thousands. It is "" if there are none.
func NumberFix(text []byte) string {
	var fixes []string
	place := bytes.IndexByte(text, Comma)
	for _, sep := range []string{",", ".", " ", "'"} {
		_, fault := ParseNumber(PlainNumber(text, input.Text{Thousands: sep}), 64)
		if fault == "" && bytes.Contains(text, []byte(sep)) &&
			!IsNumber(string(text)) {
			if sep == " " || sep == "'" {
				sep = strconv.Quote(sep)
			}
			fixes = append(fixes, "{thousands="+sep+"}")
		}
	}
	if isDecimalComma(string(text)) &&
		(len(fixes) == 0 || len(text)-place == len(",000")) {
		fixes = append([]string{"{decimal=,}"}, fixes...)
	}
	if fixes == nil {
		return ""
	}
	return "pass " + strings.Join(fixes, " or ")
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

// WeightFault returns the fault of a weight, "" if it is valid. Only with signed it may be negative.
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

// Quoted quotes text from a file, cut at 64 bytes.
func Quoted[S []byte | string](b S) string {
	if len(b) > 64 {
		return fmt.Sprintf("%q…", b[:64])
	}
	return fmt.Sprintf("%q", b)
}

// Counted returns "1 field", "2 fields", "2 entries", "2 vertices".
func Counted[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, Plural(noun))
}

// Plural returns the plural of a noun, for example "classes", "entries" and "vertices".
func Plural(noun string) string {
	if stem, hasSuffix := strings.CutSuffix(noun, "ex"); hasSuffix {
		return stem + "ices"
	}
	if stem, hasSuffix := strings.CutSuffix(noun, "y"); hasSuffix {
		return stem + "ies"
	}
	if strings.HasSuffix(noun, "ss") {
		return noun + "es"
	}
	return noun + "s"
}
