package ingest

const (
	radixBits = 11
	radixSize = 1 << radixBits
)

// radixSort sorts keys by their bits lo ≤ b < hi and moves values along; keys
// that agree in those bits keep their order. The scratch slices have the
// lengths of the others; values may be nil. Cost: one pass to read and one to
// move for every 11 bits in which keys differ.
func radixSort[V any](keys, keyScratch []uint64, values, valueScratch []V, lo, hi uint) {
	from, to := keys, keyScratch
	fromValues, toValues := values, valueScratch
	swapped := false
	for shift := lo; shift < hi; shift += radixBits {
		var at [radixSize]uint32
		mask := uint64(1)<<min(radixBits, hi-shift) - 1
		for _, k := range from {
			at[k>>shift&mask]++
		}
		if len(from) == 0 || int(at[from[0]>>shift&mask]) == len(from) {
			continue
		}
		sum := uint32(0)
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		if values == nil {
			for _, k := range from {
				d := k >> shift & mask
				to[at[d]] = k
				at[d]++
			}
		} else {
			for i, k := range from {
				d := k >> shift & mask
				to[at[d]], toValues[at[d]] = k, fromValues[i]
				at[d]++
			}
		}
		from, to = to, from
		fromValues, toValues = toValues, fromValues
		swapped = !swapped
	}
	if swapped {
		copy(keys, from)
		copy(values, fromValues)
	}
}
