package lines

import (
	"bytes"
	"iter"

	"github.com/heatwalk/heatwalk/file/table"
)

// PlainNumber returns the integer that an id may mean: 7 for +7, 007 and 7.00, and see [table.PlainInteger]. It
// returns nil for other ids.
func PlainNumber(id []byte) []byte {
	if digits, fraction, hasPoint := bytes.Cut(id, []byte(".")); hasPoint && len(bytes.Trim(fraction, "0")) == 0 && table.IsInteger(digits) {
		return digits
	}
	if bytes.ContainsAny(id, ".eE") {
		if plain := []byte(table.PlainInteger(string(id))); table.IsInteger(plain) {
			return plain
		}
	}
	if plain, hasSign := bytes.CutPrefix(id, []byte("+")); hasSign && table.IsInteger(plain) {
		return plain
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

// OddTexts yields the ids that a reader may see as another text, see [table.Look].
func (d *Dict) OddTexts(codes []uint32) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, code := range codes {
			if id := d.Key(code); !table.HasPlainLook(id) && !yield(string(id)) {
				return
			}
		}
	}
}

// FindPadded returns the first id whose [PlainNumber] is another id of the dictionary, and this other id as
// plain. codes must be in the order of first appearance.
func (d *Dict) FindPadded(codes []uint32) (plain, id []byte, ok bool) {
	for _, code := range codes {
		id := d.Key(code)
		plain := PlainNumber(id)
		if plain == nil {
			continue
		}
		if _, isKnown := d.Code(plain); isKnown {
			return plain, id, true
		}
	}
	return nil, nil, false
}
