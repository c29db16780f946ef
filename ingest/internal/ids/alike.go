package ids

import (
	"bytes"

	"github.com/heatwalk/heatwalk/internal/table"
)

// Ids that differ in leading zeros only are different nodes, which is seldom
// meant: the first one with such zeros, in the order of the input, is told if the same
// without them is there too.

// unpadded returns an id without its leading zeros if that is another one, a
// number as a program prints it; or else nil.
func unpadded(id []byte) []byte {
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

// Alike returns the first such pair among ids whose codes are in order of first
// appearance; ok is false if there is none.
func (d *Dict) Alike(codes []uint32) (short, id []byte, ok bool) {
	for _, code := range codes {
		id := d.Key(code)
		short := unpadded(id)
		if short == nil {
			continue
		}
		if d.has(short) {
			return short, id, true
		}
	}
	return nil, nil, false
}
