package sparse

import (
	"math/bits"
	"slices"
	"sort"
)

// namedAt divides the number of the first named row, so that chunks of rows, over which sums are computed,
// have either named rows or others.
const namedAt = 4096

// Division numbers the rows of a square matrix in one process of a [Team].
type Division struct {
	Team
	bounds []int // process p has the rows bounds[p] ≤ i < bounds[p+1], except for named rows
	named  rankedSet
}

// NewDivision divides the rows 0 ≤ i < n among the processes of a network: process p gets those from
// bounds[p] to bounds[p+1], except for the named rows, which increase strictly and which every process
// has. The arguments are the same in all processes. Memory: n/6 bytes, and 4 bytes for each row of a block.
func NewDivision(n int, network Network, bounds, named []int) *Division {
	if len(bounds) != network.Size()+1 || bounds[0] != 0 || bounds[len(bounds)-1] != n || !slices.IsSorted(bounds) {
		panic(badShape)
	}
	d := &Division{bounds: bounds, named: newRankedSet(n)}
	for i, row := range named {
		if i > 0 && named[i-1] >= row {
			panic(badShape)
		}
		d.named.add(row)
	}
	d.named.count()
	d.Team = Team{Network: network, Named: len(named), Total: n}
	for p := range network.Size() {
		d.First = max(d.First, d.ownOf(p))
	}
	d.First = (d.First + namedAt - 1) / namedAt * namedAt
	d.Own = d.ownOf(network.Rank())
	d.Rows = make([]uint32, d.First+len(named))
	at := 0
	for row := bounds[network.Rank()]; row < bounds[network.Rank()+1]; row++ {
		if !d.named.has(row) {
			d.Rows[at] = uint32(row)
			at++
		}
	}
	for i, row := range named {
		d.Rows[d.First+i] = uint32(row)
	}
	return d
}

// ownOf returns the number of rows of process p alone.
func (d *Division) ownOf(p int) int {
	lo, hi := d.bounds[p], d.bounds[p+1]
	return hi - lo - (d.named.rank(hi) - d.named.rank(lo))
}

// shareOf returns the named rows lo ≤ i < hi, counted from the first named row, whose products process p
// computes: those between its bounds.
func (d *Division) shareOf(p int) (lo, hi int) {
	return d.named.rank(d.bounds[p]), d.named.rank(d.bounds[p+1])
}

// Local returns the row of blocks that corresponds to a row of the matrix. ok is false if only another process has
// the row.
func (d *Division) Local(row int) (local int, ok bool) {
	lo, hi := d.bounds[d.Rank()], d.bounds[d.Rank()+1]
	switch {
	case d.named.has(row):
		return d.First + d.named.rank(row), true
	case lo <= row && row < hi:
		return row - lo - (d.named.rank(row) - d.named.rank(lo)), true
	}
	return 0, false
}

// remote returns where an own row of another process is.
func (d *Division) remote(row int) RemoteRow {
	p := sort.SearchInts(d.bounds, row+1) - 1
	lo := d.bounds[p]
	return RemoteRow{Rank: int32(p), Row: int32(row - lo - (d.named.rank(row) - d.named.rank(lo)))}
}

// rankedSet is a set of rows i < n as bits, with the number of rows before each group of words.
type rankedSet struct {
	words  []uint64
	before []int // number of members before each group
}

// groupWords is the number of words of a group.
const groupWords = 8

func newRankedSet(n int) rankedSet { return rankedSet{words: make([]uint64, n/64+1)} }

func (s *rankedSet) add(i int) { s.words[i/64] |= 1 << (i % 64) }

func (s *rankedSet) has(i int) bool { return s.words[i/64]>>(i%64)&1 != 0 }

// count counts the members, after which rank may be called.
func (s *rankedSet) count() (members int) {
	s.before = make([]int, len(s.words)/groupWords+1)
	for w, word := range s.words {
		if w%groupWords == 0 {
			s.before[w/groupWords] = members
		}
		members += bits.OnesCount64(word)
	}
	return members
}

// rank returns the number of members below i.
func (s *rankedSet) rank(i int) int {
	w := i / 64
	r := s.before[w/groupWords]
	for _, word := range s.words[w/groupWords*groupWords : w] {
		r += bits.OnesCount64(word)
	}
	return r + bits.OnesCount64(s.words[w]&(1<<(i%64)-1))
}

// members yields the members in increasing order.
func (s *rankedSet) members(yield func(i int) bool) {
	for w, word := range s.words {
		for ; word != 0; word &= word - 1 {
			if !yield(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
