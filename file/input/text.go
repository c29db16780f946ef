package input

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Text holds the settings of how a file of text is read. The zero value decides from the
// text. The same settings apply to edges, labels, ids and attributes.
type Text struct {
	// Delimiter is the character between two fields, for example "|"; "": a tab, a comma,
	// a semicolon or blanks, as the first line of data has them.
	Delimiter string

	// Decimal is the character in front of a number's fraction: "." (also "") or ",".
	Decimal string

	// Thousands is the character between the thousands of a number: "." as in 1.002,27, "," as in
	// 1,002.27, " ", "'" or "_"; "": none. With "." the decimal character is a comma.
	Thousands string

	// Encoding is one of [Encodings]. "": UTF-8, or UTF-16 where a byte-order mark says so.
	// A byte that the encoding does not have is an error.
	Encoding string
}

// Encodings are the names of the encodings of text. UTF-16 without a byte-order mark is
// little-endian.
var Encodings = strings.Fields("utf-8 utf-16 utf-16le utf-16be latin-1 windows-1252")

// Check returns the name of a setting that is wrong, and the fault; "" if all are right.
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

// unitSeparator takes the place of a delimiter that is no byte while text is read.
const unitSeparator = 0x1f

// Separator returns the byte between fields, 0 if the text decides. A delimiter of several
// bytes has become this byte when the text is decoded.
func (t Text) Separator() byte {
	switch len(t.Delimiter) {
	case 0:
		return 0
	case 1:
		return t.Delimiter[0]
	}
	return unitSeparator
}

// HasDecimalComma reports whether numbers have a comma in front of their fraction.
func (t Text) HasDecimalComma() bool {
	return t.Decimal == "," || t.Thousands == "."
}
