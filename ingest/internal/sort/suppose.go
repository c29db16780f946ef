package sort

// MemoryError is returned if the limit of a [Sorter] is too low.
type MemoryError struct{ Need, Limit int64 }

// Error implements error.
func (e *MemoryError) Error() string { return "ingest: entries do not fit the memory" }

// EntryBytes returns the memory of an entry if there are so many rows.
func EntryBytes(rows int, values bool) int64 {
	s := Sorter{narrow: isNarrow(rows), Values: values}
	return s.entryBytes()
}

// Suppose takes the place of Plan where no line is there to be counted: for so many
// lines in so many parts, and at most so many entries of each of the longest rows.
// Memory and Spilled then tell what sorting would take.
func (s *Sorter) Suppose(lines, parts int, hubs []int) {
	const full = 4. / 3 // buckets end before they are full, at a whole row
	s.edges, s.lines = make([]int, parts), lines
	for i := range s.edges {
		s.edges[i] = lines*(i+1)/parts - lines*i/parts
	}
	s.cutKeys()
	s.cutSpans()
	s.bucketOf = make([]uint16, s.cutCells())
	left := lines
	if s.View == Undirected || s.View == Mirrored {
		left = 2 * lines
	}
	usual := s.usual(left)
	add := func(entries, rows int) {
		b := bucket{hi: rows, starts: make([]int, len(s.spans)+1)}
		for i := range b.starts {
			b.starts[i] = entries * i / max(1, len(s.spans))
		}
		s.buckets = append(s.buckets, b)
		left -= entries
	}
	for _, hub := range hubs {
		if hub > usual/2 {
			add(min(hub+usual/2, left), 1)
		}
	}
	for n := int(full*float64(left)/float64(usual)) + (s.Rows+s.most-1)/s.most; n > 0; n-- {
		add(left/n, s.most)
	}
	s.cutScratch()
}
