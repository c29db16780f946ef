package table

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"
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

// Point returns a number with a decimal point in place of its decimal comma, if numbers have
// one; a number with a point is then none, and becomes empty.
func Point(b []byte, comma bool) []byte {
	switch {
	case !comma:
		return b
	case bytes.IndexByte(b, '.') >= 0:
		return nil
	}
	return bytes.Replace(b, []byte{Comma}, []byte{'.'}, 1)
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
