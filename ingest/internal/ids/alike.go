package ids

import (
	"bytes"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// plainNumber returns the text of an integer that an id may have been meant as, nil if there is
// none: 7 for 007, which a program padded, and for 7.0, see [table.PlainInteger].
func plainNumber(id []byte) []byte {
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

// Alike returns the first id, of codes in order of first appearance, that writes an integer in
// another way than an id that also occurs. They are different nodes, which is seldom meant.
func (d *Dict) Alike(codes []uint32) (integer, id []byte, ok bool) {
	for _, code := range codes {
		id := d.Key(code)
		integer := plainNumber(id)
		if integer == nil {
			continue
		}
		if _, isKnown := d.Code(integer); isKnown {
			return integer, id, true
		}
	}
	return nil, nil, false
}

// Recoded returns the first id, of codes in order of first appearance, that is no UTF-8 but
// Windows-1252 or Latin-1, while the same name also occurs as UTF-8.
func (d *Dict) Recoded(codes []uint32) (name, id []byte, ok bool) {
	for _, code := range codes {
		id := d.Key(code)
		if utf8.Valid(id) {
			continue
		}
		if name := textio.FromWindows(id); name != nil {
			if _, isKnown := d.Code(name); isKnown {
				return name, id, true
			}
		}
	}
	return nil, nil, false
}
