package sort

const (
	radixBits   = 12
	radixSize   = 1 << radixBits
	radixDigits = 3 // digits that are counted together
)

// Radix sorts keys by their bits lo ≤ b < hi, and moves values, which may be nil, with their keys. The sort
// is stable. The scratch slices must have the lengths of keys and values. The result is in the given or in
// the scratch slices. Cost: one pass that moves for every 12 bits in which keys differ, and one pass that
// counts for every 36 bits.
func Radix[K key, V any](keys, keyScratch []K, values, valueScratch []V,
	lo, hi uint) ([]K, []V) {
	if len(keys) < 2 || lo >= hi {
		return keys, values
	}
	digits := (hi - lo + radixBits - 1) / radixBits
	width := (hi - lo + digits - 1) / digits
	for ; lo < hi; lo += radixDigits * width {
		var mask [radixDigits]uint64
		for d := range mask {
			shift := min(hi, lo+uint(d)*width)
			mask[d] = 1<<min(width, hi-shift) - 1
		}
		var count [radixDigits][radixSize]uint32
		if lo+width < hi {
			countDigits(&count, keys, lo, width, mask)
		} else {
			countDigit(&count[0], keys, lo, mask[0])
		}
		for d := range mask {
			shift := (lo + uint(d)*width) & 63
			place := &count[d]
			if mask[d] == 0 || int(place[uint64(keys[0])>>shift&mask[d]]) == len(keys) {
				continue
			}
			sum := uint32(0)
			for v, n := range place[:mask[d]+1] {
				place[v] = sum
				sum += n
			}
			if values == nil {
				move(keyScratch, keys, place, shift, mask[d])
			} else {
				moveBoth(keyScratch, keys, valueScratch, values, place,
					shift, mask[d])
			}
			keys, keyScratch = keyScratch, keys
			values, valueScratch = valueScratch, values
		}
	}
	return keys, values
}

type rowOrder int

const (
	unordered  rowOrder = iota
	ordered             // sorted by columns, with equal columns
	increasing          // sorted by distinct columns
)

// sortRows sorts keys, and values with them, by all bits below hi except the lowest. The bits from row on are
// the row. If order, the result of [countRows], is not unordered, sortRows moves the entries once, by the
// numbers of entries of each row in count. Otherwise it calls [Radix].
func sortRows[K key, V any](order rowOrder, count *[radixSize]uint32,
	keys, keyScratch []K, values, valueScratch []V, row, hi uint) ([]K, []V) {
	if order == unordered {
		return Radix(keys, keyScratch, values, valueScratch, 1, hi)
	}
	sum := uint32(0)
	for r, n := range count {
		count[r] = sum
		sum += n
	}
	if values == nil {
		move(keyScratch, keys, count, row, radixSize-1)
	} else {
		moveBoth(keyScratch, keys, valueScratch, values, count, row, radixSize-1)
	}
	return keyScratch, valueScratch
}

// placeRows stores the columns and values of entries in out. The entries of each row must be in increasing
// order; entries of different rows may alternate. count has the number of entries of each row.
func placeRows[K key](out *Rows, count []uint32, keys []K, values []float64,
	row uint) {
	out.Ptr = append(out.Ptr, 0)
	var place [radixSize]uint32
	sum := uint32(0)
	for r, n := range count {
		place[r] = sum
		sum += n
		out.Ptr = append(out.Ptr, int(sum))
	}
	out.Col = out.Col[:len(keys)]
	placeColumns(out.Col, keys, &place, row)
	if values == nil {
		return
	}
	out.Val = out.Val[:len(keys)]
	for r := range count {
		place[r] = uint32(out.Ptr[r])
	}
	for i, k := range keys {
		r := uint64(k) >> (row & 63) % radixSize
		out.Val[place[r]] = values[i]
		place[r]++
	}
}

// countRows returns the order of the entries within each row. If they are ordered, it counts the entries of
// each row in count.
func countRows[K key](count *[radixSize]uint32, keys []K, row uint) rowOrder {
	var last [radixSize]K
	row &= 63
	order := increasing
	for _, k := range keys {
		k |= 1 // ignores the direction
		r := uint64(k) >> row % radixSize
		if k <= last[r] {
			if k < last[r] {
				return unordered
			}
			order = ordered
		}
		last[r] = k
		count[r]++
	}
	return order
}

// Loops over keys are not inlined, because the compiler would run out of registers, which halves their speed.

//go:noinline
func countDigits[K key](count *[radixDigits][radixSize]uint32, keys []K,
	lo, width uint, mask [radixDigits]uint64) {
	low := &count[0]
	middle := &count[1]
	high := &count[2]
	first := mask[0]
	second := mask[1]
	third := mask[2]
	for _, k := range keys {
		x := uint64(k) >> (lo & 63)
		low[x&first%radixSize]++
		x >>= width & 63
		middle[x&second%radixSize]++
		x >>= width & 63
		high[x&third%radixSize]++
	}
}

//go:noinline
func countDigit[K key](count *[radixSize]uint32, keys []K, shift uint,
	mask uint64) {
	for _, k := range keys {
		count[uint64(k)>>(shift&63)&mask%radixSize]++
	}
}

// move puts each key of src into the next place of dst for the digit of the key, key>>shift & mask.
//
//go:noinline
func move[K key](dst, src []K, place *[radixSize]uint32, shift uint, mask uint64) {
	dst = dst[:len(src)]
	for _, k := range src {
		d := uint64(k) >> (shift & 63) & mask % radixSize
		next := place[d]
		place[d] = next + 1
		dst[next] = k
	}
}

// placeColumns puts the column of each entry into the next place for its row.
//
//go:noinline
func placeColumns[K key](dst []uint32, src []K, place *[radixSize]uint32,
	row uint) {
	dst = dst[:len(src)]
	row &= 63
	mask := K(1)<<(row-1) - 1
	for _, k := range src {
		r := uint64(k) >> row % radixSize
		next := place[r]
		place[r] = next + 1
		dst[next] = uint32(k >> 1 & mask)
	}
}

//go:noinline
func moveBoth[K key, V any](dst, src []K, dstValues, values []V,
	place *[radixSize]uint32, shift uint, mask uint64) {
	dst = dst[:len(src)]
	values = values[:len(src)]
	dstValues = dstValues[:len(src)]
	for i, k := range src {
		d := uint64(k) >> (shift & 63) & mask % radixSize
		next := place[d]
		place[d] = next + 1
		dst[next] = k
		dstValues[next] = values[i]
	}
}
