package sparse

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Packing numbers the columns of a matrix by how many entries they have, most
// first, as places 0, 1, 2 …; those with as many keep their order, and those
// without entries have no place. See [Pack].
type Packing struct {
	order        []uint32 // the column at each place
	given, ideal int      // what [Packing.Pays] compares
}

const (
	// packedBytes of a row are copied and gathered at a time. Twice as many
	// leave less of the copy in cache, half as many read the ids twice as often.
	packedBytes = 128

	// A stretch of entries is what a cache outlives, one for so many columns of a
	// small matrix, and a group what it holds or does not as a whole. Stretches are
	// looked at in some places of the matrix.
	stretchEntries = 1 << 17
	stretchColumns = 8
	Stretches      = 8
	groupColumns   = 16

	lineBytes = 64 // of a cache

	countWorkers = 4 // each counts in memory of its own
)

// packedColumns is the least number of columns for which a copy of rows of any width
// pays: the rows of smaller blocks are soon in the last cache wherever they lie.
// Tests lower it.
var packedColumns = 1 << 19

// Stretch returns how many entries a stretch has of a matrix of so many columns.
func Stretch(cols int) int { return min(stretchEntries, cols/stretchColumns) }

// FindPacking returns a packing of the columns of a if it pays for blocks with rows
// of so many bytes, see [Packing.Pays], and otherwise nil. Cost: one sweep, and 20
// bytes a column until it returns.
func FindPacking(ctx context.Context, a Matrix, rowBytes, workers int) (*Packing, error) {
	_, cols := a.Dims()
	// Rows that share lines with each other leave more of them in the near cache.
	narrow := 2*rowBytes <= lineBytes && cols*rowBytes > nearBytes
	if !narrow && cols < packedColumns || a.NNZ() < Stretches*stretchEntries {
		return nil, nil
	}
	p, err := NewPacking(ctx, a, workers)
	if err != nil || !p.Pays() {
		return nil, err
	}
	return p, nil
}

// NewPacking returns the packing of the columns of a, whether it pays or not.
func NewPacking(ctx context.Context, a Matrix, workers int) (*Packing, error) {
	_, cols := a.Dims()
	s := sampleOf(a.Ranges(), Stretch(cols))
	counts := make([][]uint32, min(sched.Workers(workers), countWorkers))
	err := a.Sweep(ctx, len(counts), func(worker int, p Panel) error {
		if counts[worker] == nil {
			counts[worker] = make([]uint32, cols)
		}
		count := counts[worker]
		for _, c := range p.Col {
			count[c]++
		}
		s.take(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := make([]uint32, cols)
	for _, count := range counts {
		for c, n := range count {
			total[c] += n
		}
	}
	p, stretches := &Packing{order: byCount(total)}, s.stretches()
	p.given = groups(stretches, cols)
	places := p.Places(cols)
	for i, c := range s.ids {
		s.ids[i] = places[c]
	}
	p.ideal = groups(stretches, cols)
	return p, nil
}

// PlacesPay tells whether steps gain from columns at other places, see
// [Packing.Pays], by the columns that some stretches name, of cols, and by their
// places.
func PlacesPay(cols int, columns, places [][]uint32) bool {
	return pays(groups(columns, cols), groups(places, cols))
}

// byCount returns the columns with entries, those with most of them first and
// those with as many in their order.
func byCount(count []uint32) []uint32 {
	place, named := slices.Clone(count), 0
	PlacesByCount(place)
	for _, n := range count {
		if n > 0 {
			named++
		}
	}
	order := make([]uint32, named, named+spareIDs)
	for c, p := range place {
		if count[c] > 0 {
			order[p] = uint32(c)
		}
	}
	return order
}

// PlacesByCount replaces each count by its place in the order of falling counts: how
// many are larger, or as large and come before. Cost: O(n) time, and memory for
// counts of 65,536 or more alone.
func PlacesByCount(count []uint32) {
	const few = 1 << 16
	var next [few + 1]uint32 // first how many there are of each count, then the next place
	type hub struct{ at, count uint32 }
	var hubs []hub
	for i, n := range count {
		if n < few {
			next[n]++
		} else {
			hubs = append(hubs, hub{uint32(i), n})
		}
	}
	places := uint32(len(hubs))
	for n := few - 1; n >= 0; n-- {
		next[n], places = places, places+next[n]
	}
	for i, n := range count {
		if n < few {
			count[i] = next[n]
			next[n]++
		}
	}
	slices.SortStableFunc(hubs, func(a, b hub) int { return cmp.Compare(b.count, a.count) })
	for place, h := range hubs {
		count[h.at] = uint32(place)
	}
}

// Len returns the number of places.
func (p *Packing) Len() int { return len(p.order) }

// Places returns the place of each of cols columns, 0 for those without entries.
func (p *Packing) Places(cols int) []uint32 {
	places := make([]uint32, cols)
	for place, c := range p.order {
		places[c] = uint32(place)
	}
	return places
}

// Pays tells whether steps gain from the copy of a packed matrix, see [Pack]: the entries
// of a stretch would name by a third fewer groups of neighbouring columns. They
// do where few columns have most of the entries and are strewn among the others,
// and not where rows of a neighbourhood name neighbouring columns.
func (p *Packing) Pays() bool { return pays(p.given, p.ideal) }

func pays(given, ideal int) bool { return 3*ideal <= 2*given }

// Bytes returns the memory that a packed matrix takes beside what it was made of,
// for the order of the columns and for copies of so many bytes of each row, see
// [Pack].
func (p *Packing) Bytes(rowBytes int) (order, copies int64) {
	n := int64(len(p.order))
	return 4 * n, n * int64(copiedBytes(rowBytes))
}

// copiedBytes returns how many bytes of a row are copied at a time.
func copiedBytes(rowBytes int) int { return min(max(rowBytes, registerBytes), packedBytes) }

// sample is a copy of the entries of some stretches.
type sample struct {
	ids    []uint32
	starts []int       // where stretches begin in ids
	at     map[int]int // where the entries of a range go, by its index
}

// sampleOf chooses stretches of so many entries.
func sampleOf(ranges []Range, entries int) *sample {
	s := &sample{at: make(map[int]int)}
	size := 0
	for i := range Stretches {
		s.starts = append(s.starts, size)
		end := (i + 1) * len(ranges) / Stretches
		for r := i * len(ranges) / Stretches; r < end && size < s.starts[i]+entries; r++ {
			s.at[r] = size
			size += ranges[r].Entries
		}
	}
	s.ids = make([]uint32, size)
	return s
}

// take copies the entries of a panel, if they belong to the sample.
func (s *sample) take(p Panel) {
	if at, ok := s.at[p.Index]; ok {
		copy(s.ids[at:], p.Col)
	}
}

// stretches returns the columns of each stretch.
func (s *sample) stretches() (all [][]uint32) {
	for i, start := range s.starts {
		end := len(s.ids)
		if i+1 < len(s.starts) {
			end = s.starts[i+1]
		}
		all = append(all, s.ids[start:end])
	}
	return all
}

// groups counts the groups of columns that stretches name, each once a stretch.
func groups(stretches [][]uint32, cols int) (n int) {
	seen := make([]uint8, cols/groupColumns+1) // the last stretch that named it, from 1
	for i, ids := range stretches {
		for _, c := range ids {
			if g := &seen[c/groupColumns]; *g != uint8(i+1) {
				*g = uint8(i + 1)
				n++
			}
		}
	}
	return n
}
