package partition

import "math"

// Degree returns the order of falling counts, by which hubs come first; equal
// counts keep their order. Cost: O(n) time, 24 bytes a node.
func Degree(count []uint32) []uint32 {
	keys := make([]uint64, len(count))
	for i, c := range count {
		keys[i] = uint64(math.MaxUint32-c)<<32 | uint64(i)
	}
	sortHigh(keys)
	order := make([]uint32, len(count))
	for i, k := range keys {
		order[i] = uint32(k)
	}
	return order
}

// sortHigh sorts keys by their upper 32 bits; equal ones keep their order.
func sortHigh(keys []uint64) {
	const digit, size = 16, 1 << 16
	scratch := make([]uint64, len(keys))
	for shift := 32; shift < 64; shift += digit {
		var next [size + 1]int
		for _, k := range keys {
			next[k>>shift%size+1]++
		}
		for d := range size {
			next[d+1] += next[d]
		}
		for _, k := range keys {
			d := k >> shift % size
			scratch[next[d]] = k
			next[d]++
		}
		keys, scratch = scratch, keys
	}
}
