package shard

import (
	"fmt"
	"math/bits"
)

// explainFlip says which single flipped bit turns the checksum of a file of n bytes
// by diff; it returns "" if none does.
func explainFlip(diff uint32, n int) string {
	if position, bit, ok := findFlip(diff, n); ok {
		return describeFlip(int64(position), bit)
	}
	return ""
}

// describeFlip words a flipped bit for the error of a checksum.
func describeFlip(position int64, bit int) string {
	return fmt.Sprintf("; byte %d with bit %d flipped explains it", position, bit)
}

// findFlip finds the bit of n bytes. The checksum is linear, so the bit's effect depends
// only on its distance from the end.
func findFlip(diff uint32, n int) (position, bit int, ok bool) {
	var effect [8]uint32 // of each bit of byte i
	for k := range effect {
		effect[k] = castagnoli[1<<k]
	}
	for i := n - 1; i >= 0; i-- {
		for k, e := range effect {
			if e == diff {
				return i, k, true
			}
			effect[k] = e>>8 ^ castagnoli[byte(e)]
		}
	}
	return 0, 0, false
}

// explainFrameFlip is explainFlip for a frame at byte base of its shard, whose
// checksum may itself hold the flipped bit.
func explainFrameFlip(diff uint32, n int, base int64) string {
	if bits.OnesCount32(diff) == 1 {
		bit := bits.TrailingZeros32(diff)
		return describeFlip(base+atSum+int64(bit/8), bit%8)
	}
	position, bit, ok := findFlip(diff, n-(headerBytes-atSum))
	switch {
	case !ok:
		return ""
	case position >= atSum:
		position += headerBytes - atSum
	}
	return describeFlip(base+int64(position), bit)
}
