package table

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/input"
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

// plainSigns replaces the no-break and thin blanks and the apostrophes that programs write between thousands.
var plainSigns = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "’", "'")

// PlainNumber returns a number as [ParseNumber] reads it: without the characters between thousands, and with
// a decimal point. It returns nil if these characters are not those of the settings. With points or commas between
// thousands, blanks and apostrophes may be there.
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

// delimiterFix returns the setting for a line of one field whose fields other characters seem to separate, or "".
func delimiterFix(line string) string {
	place := strings.IndexAny(line, "|^~:")
	if place < 1 || place+1 == len(line) {
		return ""
	}
	if strings.HasPrefix(line[place:], "::") {
		return "write tabs between the fields: sed 's/::/\\t/g' FILE > table.tsv"
	}
	return "pass {delimiter=" + line[place:place+1] + "}"
}

// nbsp is the blank of Windows-1252 and Latin-1 at which no line is broken, which separates thousands.
const nbsp = 0xa0

// NumberFix returns the settings, or the command, with which a text in a file with an encoding can be read as a number,
// as a Fix; "" if there are none.
func NumberFix(text []byte, encoding string) string {
	var c NumberColumn
	c.Add(text)
	hasComma := c.Count[DecimalComma] > 0
	hasPoint := c.Count[DecimalPoint] > 0
	switch {
	case c.Count[GivenForm] > 0:
		return ""
	case !utf8.Valid(text) && FormOf(bytes.ReplaceAll(text, []byte{nbsp}, nil)) != Word:
		return "pass {encoding=windows-1252}"
	case !hasComma && !hasPoint:
		return unitFix(string(text), encoding)
	case hasComma && hasPoint:
		return "pass {decimal=,} or {thousands=,}"
	case hasPoint:
		return "pass {thousands=,}"
	case isDecimalComma(string(text)):
		return "pass {decimal=,}"
	}
	return "pass {thousands=.}"
}

// unitFix returns the remedy for a number with a unit, a currency or a bound, "" for other text. The command keeps the
// encoding of the file.
func unitFix(text, encoding string) string {
	const fix = "write numbers without units"
	if FormOf([]byte(text)) == Word {
		return ""
	}
	const (
		digits = "0123456789"
		blanks = "[^!-~]" // and other signs that are no ASCII, because messages escape some blanks
	)
	quote := strings.NewReplacer("$", `\$`, ".", `\.`, "/", `\/`, " ", blanks, "\u00a0", blanks, "\u202f", blanks)
	unit := quote.Replace(text[strings.LastIndexAny(text, digits)+1:])
	before := quote.Replace(strings.TrimRight(text[:strings.IndexAny(text, digits)], "+-"))
	script := `sed 's/` + before + `\([-+0-9]\)/\1/g'`
	if unit != "" {
		script = `sed 's/\([0-9]\)` + unit + `/\1/g'`
	}
	switch {
	case strings.ContainsAny(text, "<>≤≥~≈=*"):
		return fix
	case unit+before == "":
		return ""
	case encoding == "":
		return fix + ": " + script + " FILE > numbers.csv"
	}
	encoding = strings.Replace(encoding, "latin-", "latin", 1) // as iconv has it
	return fix + ": iconv -f " + encoding + " -t utf-8 FILE | " + script + " | iconv -f utf-8 -t " + encoding +
		" > numbers.csv"
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
