package input

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Text holds the settings for reading text: edges, labels, ids and attributes. With the zero value the text itself
// decides.
type Text struct {
	// Delimiter is the character between two fields, for example "|". If it is "", the first line of data
	// decides between a tab, a comma, a semicolon and blanks.
	Delimiter string

	// Decimal is the character before the fraction of a number: "." or ",". "" means ".".
	Decimal string

	// Thousands is the character between groups of three digits: "." as in 1.002,27, "," as in 1,002.27, " ",
	// "'" or "_". "" means none. If it is ".", the decimal character is a comma.
	Thousands string

	// Encoding is one of [Encodings]. "" means UTF-8, or UTF-16 if a byte-order mark says so. A byte that is
	// invalid in the encoding is an error.
	Encoding string
}

// Encodings are the names of the encodings of text. UTF-16 without a byte-order mark is read as little-endian.
var Encodings = strings.Fields("utf-8 utf-16 utf-16le utf-16be latin-1 windows-1252")

// Check returns the name of a wrong setting and what is wrong, or "".
func (t Text) Check() (option, fault string) {
	switch {
	case t.Delimiter != "" &&
		(utf8.RuneCountInString(t.Delimiter) != 1 ||
			strings.ContainsAny(t.Delimiter, "\"\r\n")):
		return "delimiter", "is not one character other than a quote or a line break"
	case t.Decimal != "" && t.Decimal != "." && t.Decimal != ",":
		return "decimal", "is neither a point nor a comma"
	case t.Decimal != "" && t.Decimal == t.Delimiter:
		return "decimal", "is the delimiter too"
	case t.Thousands != "" &&
		(len(t.Thousands) != 1 || !strings.Contains(".,'_ ", t.Thousands)):
		return "thousands", "is none of . , ' _ and a blank"
	case t.Thousands != "" &&
		(t.Thousands == t.Decimal || t.Thousands == t.Delimiter):
		return "thousands", "is the decimal character or the delimiter too"
	case t.Encoding != "" && !slices.Contains(Encodings, t.Encoding):
		return "encoding", "is none of " + strings.Join(Encodings, ", ")
	}
	return "", ""
}

// unitSeparator replaces a delimiter of several bytes while text is read.
const unitSeparator = 0x1f

// Separator returns the byte between fields, or 0 if the text decides. Decoding replaces a delimiter of several bytes
// by this byte.
func (t Text) Separator() byte {
	switch len(t.Delimiter) {
	case 0:
		return 0
	case 1:
		return t.Delimiter[0]
	}
	return unitSeparator
}

// HasDecimalComma reports whether the decimal character of numbers is a comma.
func (t Text) HasDecimalComma() bool {
	return t.Decimal == "," || t.Thousands == "."
}
