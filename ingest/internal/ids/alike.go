package ids

import (
	"bytes"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// PlainNumber returns the text of an integer that an id may have been meant as, nil if there is
// none: 7 for 007, which a program padded, and for 7.0, see [table.PlainInteger].
func PlainNumber(id []byte) []byte {
	if bytes.ContainsAny(id, ".eE") {
		if plain := []byte(table.PlainInteger(string(id))); table.IsInteger(plain) {
			return plain
		}
	}
	if len(id) < 2 || id[0] != '0' {
		return nil
	}
	short := bytes.TrimLeft(id[:len(id)-1], "0")
	short = id[len(id)-1-len(short):]
	if !table.IsInteger(short) {
		return nil
	}
	return short
}

// Recode returns an id that is no UTF-8 but Windows-1252 or Latin-1 as UTF-8, nil for another one.
func Recode(id []byte) []byte {
	if utf8.Valid(id) {
		return nil
	}
	return textio.FromWindows(id)
}

// FindVariant returns the first id, of codes in order of first appearance, with a variant that also occurs, such as
// [PlainNumber] or [Recode]; nil if it has none. They are different nodes, which is seldom meant.
func (d *Dict) FindVariant(codes []uint32,
	variantOf func(id []byte) []byte) (variant, id []byte, ok bool) {
	for _, code := range codes {
		id := d.Key(code)
		variant := variantOf(id)
		if variant == nil {
			continue
		}
		if _, isKnown := d.Code(variant); isKnown {
			return variant, id, true
		}
	}
	return nil, nil, false
}
