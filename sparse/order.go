package sparse

// shortLength is the mean length of the rows of a range up to which sums over
// them take longest where rows end: the processor cannot foresee it. Rows of
// equal length are then taken together.
const shortLength = 12

// shortRows reports whether the range has rows that are worth an order.
func shortRows(r Range) bool {
	rows := r.Hi - r.Lo
	return r.Pieces == 1 && rows > 1 && r.Entries <= shortLength*rows
}

// sort makes the order of the rows of each range that has short ones.
func (m *CSR) sort() {
	for _, r := range m.ranges {
		if !shortRows(r) {
			continue
		}
		if m.order == nil {
			m.order = make([]uint16, m.rows)
		}
		byLength(m.order[r.Lo:r.Hi], m.ptr[r.Lo:r.Hi+1])
	}
}

// byLength stores in order the numbers of the rows between the positions in
// ptr: shorter ones first, those of equal length as they stand. Rows of
// longest or more entries count as equal.
func byLength(order []uint16, ptr []int64) {
	const longest = 256
	var start [longest + 2]int32 // where the rows of each length begin
	bucket := func(i int) int64 { return min(ptr[i+1]-ptr[i], longest) }
	for i := range order {
		start[bucket(i)+1]++
	}
	for n := range longest {
		start[n+1] += start[n]
	}
	for i := range order {
		n := bucket(i)
		order[start[n]] = uint16(i)
		start[n]++
	}
}
