package ingest

import (
	"math"
	"math/bits"
)

// sketch counts distinct values by the bits that their hashes set in a table
// (linear counting): of n values in m bits, m·e^(−n/m) bits stay clear. The
// standard error of its count is below 0.1 % from 100,000 values on.
type sketch struct{ words []uint64 }

// distinctBits is the size of the table, a power of two.
const distinctBits = 1 << 24

// newSketch returns a count of none.
func newSketch() *sketch { return &sketch{make([]uint64, distinctBits/64)} }

// add adds a value by its hash.
func (d *sketch) add(hash uint64) {
	bit := hash % distinctBits
	d.words[bit/64] |= 1 << (bit % 64)
}

// count returns about how many values were added to d or to another count.
func (d *sketch) count(other *sketch) float64 {
	set := 0
	for i, word := range d.words {
		set += bits.OnesCount64(word | other.words[i])
	}
	const m = float64(distinctBits)
	return m * math.Log(m/max(1, m-float64(set)))
}

// mix makes a hash of a number: the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashOf makes a hash of a text, the same in every run: FNV-1a, mixed.
func hashOf(text []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range text {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return mix(h)
}
