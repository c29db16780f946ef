package simd

import "math/bits"

// Distances stores in delta the distances d[e] = (id[e] − id[e−1] − 1) mod 2ᵇ, where id[−1] is last. The ids must be
// below 2ᵇ, and b below 32. Distances adds to lengths[w] the number of distances of w bits.
func Distances(delta, id []uint32, last uint32, b uint, lengths *[32]int) {
	distances(delta[:len(id)], id, last, b, lengths)
}

func plainDistances(delta, id []uint32, last uint32, b uint, lengths *[32]int) {
	delta = delta[:len(id)]
	mask := uint32(1)<<(b&31) - 1
	var odd [32]int
	for e, x := range id {
		d := (x - last - 1) & mask
		delta[e] = d
		if e%2 == 0 { // so that equal lengths do not wait for each other
			lengths[bits.Len32(d)%32]++
		} else {
			odd[bits.Len32(d)%32]++
		}
		last = x
	}
	for w, n := range odd {
		lengths[w] += n
	}
}
