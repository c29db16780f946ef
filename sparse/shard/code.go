package shard

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
)

// In the four-widths code of a run of ids the distances
//
//	d[e] = (id[e] − id[e−1] − 1) mod 2^b, id[−1] = −1,
//
// follow each other without gaps. Two selector bits of a distance name one of four widths, the number of its bits. Row ends do
// not interrupt the run: the first distance of a row is negative and wraps to at most b bits.

// rawBits, as the number b of bits, marks ids that are stored in four bytes each. A distance of 32 bits would not fit
// the window of the vector decoders.
const rawBits = 32

// selectorBytes returns the number of bytes of the selectors of n ids: four for each group of sixteen.
func selectorBytes(n int) int { return (n + 15) / 16 * 4 }

// appendIDs appends to dst the number b of bits of the largest id, the four widths and the code of the ids. deltas is
// scratch memory as long as ids.
func appendIDs(dst []byte, ids, deltas []uint32) []byte {
	var top uint32
	for _, id := range ids {
		top |= id
	}
	b := bits.Len32(top)
	if b == rawBits {
		dst = append(dst, rawBits, 0, 0, 0, 0)
		for _, id := range ids {
			dst = binary.LittleEndian.AppendUint32(dst, id)
		}
		return dst
	}
	deltas = deltas[:len(ids)]
	var lengths [rawBits]int // lengths[w] counts the distances of w bits
	simd.Distances(deltas, ids, 1<<b-1, uint(b), &lengths)
	widths := bestWidths(&lengths)
	dst = append(dst, byte(b), widths[0], widths[1], widths[2], widths[3])
	var widest [rawBits]simd.Width // the first width that holds a length
	total := 0
	for n, s := 0, 0; n <= int(widths[3]); n++ {
		for int(widths[s]) < n {
			s++
		}
		widest[n] = simd.Width{Selector: uint32(s), Bits: uint32(widths[s])}
		total += lengths[n] * int(widths[s])
	}
	selectors := selectorBytes(len(ids))
	end := len(dst) + selectors + (total+7)/8
	dst = slices.Grow(dst, end-len(dst)+8)[:end+8]
	out := dst[end-(total+7)/8-selectors:]
	simd.Pack(out[:selectors], out[selectors:], deltas, &widest)
	return dst[:end]
}

// bestWidths returns the four increasing widths that store distances in the fewest bits. lengths[w] counts the
// distances of w bits. best[k][w] is the least cost of the distances up to w bits with k+1 widths, of which the widest
// is w.
func bestWidths(lengths *[rawBits]int) [4]byte {
	top := 0
	var upTo [rawBits + 1]int // upTo[w] counts lengths < w
	for w, n := range lengths {
		upTo[w+1] = upTo[w] + n
		if n > 0 {
			top = w
		}
	}
	var best, previous [4][rawBits]int
	for w := range top + 1 {
		best[0][w] = w * upTo[w+1]
	}
	for k := 1; k < 4; k++ {
		for w := range top + 1 {
			best[k][w] = best[k-1][w]
			previous[k][w] = w
			for v := range w {
				if c := best[k-1][v] + w*(upTo[w+1]-upTo[v+1]); c < best[k][w] {
					best[k][w] = c
					previous[k][w] = v
				}
			}
		}
	}
	var widths [4]byte
	w := top
	for k := 3; k >= 0; k-- {
		widths[k] = byte(w)
		w = previous[k][w]
	}
	return widths
}

func codedBits(sel []byte, n int, widths [4]uint8) (total int, padded bool) {
	const low = 0x5555555555555555
	var lo, hi, both int // selectors with the low bit, the high bit, both
	count := func(word uint64) {
		l := word & low
		h := word >> 1 & low
		lo += bits.OnesCount64(l)
		hi += bits.OnesCount64(h)
		both += bits.OnesCount64(l & h)
	}
	words := sel[:n/32*8]
	for ; len(words) >= 8; words = words[8:] {
		count(binary.LittleEndian.Uint64(words))
	}
	var tail [8]byte
	copy(tail[:], sel[n/32*8:])
	last := binary.LittleEndian.Uint64(tail[:])
	count(last)
	w0 := int(widths[0])
	w1 := int(widths[1])
	w2 := int(widths[2])
	w3 := int(widths[3])
	total = n*w0 + lo*(w1-w0) + hi*(w2-w0) + both*(w3-w2-w1+w0)
	return total, last>>(2*(n%32)) == 0
}
