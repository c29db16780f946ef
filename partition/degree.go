package partition

// Degree returns the order of falling counts, by which hubs come first; equal
// counts keep their order. Cost: O(n) time, 8 bytes a node.
func Degree(count []uint32) []uint32 {
	order := make([]uint32, len(count))
	var most uint32
	for i, n := range count {
		order[i], most = uint32(i), max(most, n)
	}
	order, scratch := byDigit(order, make([]uint32, len(count)), count, 0)
	if most >= digits {
		order, _ = byDigit(order, scratch, count, digitBits)
	}
	return order
}

const (
	digitBits = 16
	digits    = 1 << digitBits
)

// byDigit sorts order by falling digits of the counts into sorted; equal ones keep
// their order. It returns sorted, and order to be used again.
func byDigit(order, sorted, count []uint32, shift int) (done, free []uint32) {
	var next [digits + 1]int
	for _, n := range count {
		next[digits-n>>shift%digits]++
	}
	for d := range digits {
		next[d+1] += next[d]
	}
	for _, i := range order {
		at := &next[digits-1-count[i]>>shift%digits]
		sorted[*at] = i
		*at++
	}
	return sorted, order
}
