package ingest

import (
	"bytes"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/table"
)

// Ids that differ in leading zeros only are different nodes, which is seldom
// meant: the first one with such zeros, in the order of the input, is warned of
// if the same without them is there too.

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

// warnAlike warns of such ids among those of the dictionary, whose codes are in
// order of first appearance.
func (r *run) warnAlike(codes []uint32) {
	for _, code := range codes {
		id := r.dict.key(code)
		short := unpadded(id)
		if short == nil {
			continue
		}
		if _, ok := r.dict.lookup(short); ok {
			r.warn(fmt.Sprintf("ids %q and %q both occur and are kept apart", short, id))
			return
		}
	}
}
