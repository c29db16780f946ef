package sparse

import (
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"
)

// namedAt divides the number of the first named row. It is a multiple of the chunks of sums, so that no chunk has both
// named rows and other rows.
const namedAt = 4096

// Division assigns the rows of a square matrix to the processes of a [Team], and numbers them in this process. The rows
// are cut into consecutive ranges. Process p of P has the ranges p, p+P, p+2P, …, without the named rows. Every process
// has all named rows.
type Division struct {
	Team    Team  // the processes and their rows
	bounds  []int // range k has the rows bounds[k] ≤ i < bounds[k+1]
	offset  []int // number of own rows, in ranges before k, of the process of range k
	count   []int // number of own rows of each process
	named   rankedSet
	namedOf [][]int // for each process, numbers of the named rows in its ranges
}

// NewDivision divides the rows 0 ≤ i < n among the processes of a network. bounds has the ends of the ranges and must
// increase from 0 to n; each process must have the same number of ranges. named has the named rows and must increase
// strictly. The arguments must be the same in all processes. Memory: n/6 bytes, and 4 bytes for each row of a block.
func NewDivision(n int, network Network, bounds, named []int) *Division {
	size := network.Size()
	if len(bounds) <= size || (len(bounds)-1)%size != 0 || bounds[0] != 0 ||
		bounds[len(bounds)-1] != n || !slices.IsSorted(bounds) {
		panic(badShape)
	}
	d := &Division{bounds: bounds, named: newRankedSet(n), count: make([]int, size),
		namedOf: make([][]int, size)}
	for i, row := range named {
		if i > 0 && named[i-1] >= row {
			panic(badShape)
		}
		d.named.add(row)
	}
	d.named.count()
	d.Team = Team{Network: network, Named: len(named), Total: n}
	for k := range len(bounds) - 1 {
		p := k % size
		lo := d.named.rank(bounds[k])
		hi := d.named.rank(bounds[k+1])
		d.offset = append(d.offset, d.count[p])
		d.count[p] += bounds[k+1] - bounds[k] - (hi - lo)
		for i := lo; i < hi; i++ {
			d.namedOf[p] = append(d.namedOf[p], i)
		}
	}
	d.Team.Own = d.count[network.Rank()]
	d.Team.First = (slices.Max(d.count) + namedAt - 1) / namedAt * namedAt
	d.Team.Rows = make([]uint32, d.Team.First+len(named))
	position := 0
	for lo, hi := range d.mine {
		for row := lo; row < hi; row++ {
			if !d.named.has(row) {
				d.Team.Rows[position] = uint32(row)
				position++
			}
		}
	}
	for i, row := range named {
		d.Team.Rows[d.Team.First+i] = uint32(row)
	}
	return d
}

func (d *Division) mine(yield func(lo, hi int) bool) {
	for k := d.Team.Rank(); k < len(d.bounds)-1 && yield(d.bounds[k], d.bounds[k+1]); k += d.Team.Size() {
	}
}

// owner returns the process that has a row in its ranges and, unless the row is named, the number of the row among its
// own rows.
func (d *Division) owner(row int) RemoteRow {
	k := sort.SearchInts(d.bounds, row+1) - 1
	lo := d.bounds[k]
	return RemoteRow{Rank: int32(k % d.Team.Size()),
		Row: int32(d.offset[k] + row - lo - (d.named.rank(row) - d.named.rank(lo)))}
}

// Local returns the row of blocks that corresponds to a row of the matrix. ok is false if this process does not have
// the row.
func (d *Division) Local(row int) (local int, ok bool) {
	if d.named.has(row) {
		return d.Team.First + d.named.rank(row), true
	}
	owner := d.owner(row)
	return int(owner.Row), int(owner.Rank) == d.Team.Rank()
}

// rankedSet is a set of rows i < n as bits. rank(i) returns the number of members smaller than i.
type rankedSet struct {
	words  []uint64
	offset []int // number of members before each groupWords words
}

const groupWords = 8

func newRankedSet(n int) rankedSet {
	return rankedSet{words: make([]uint64, n/64+1)}
}

// add adds a member. Ranks are valid after the next call of count.
func (s *rankedSet) add(i int) { s.words[i/64] |= 1 << (i % 64) }

func (s *rankedSet) addShared(i int) {
	if word := &s.words[i/64]; atomic.LoadUint64(word)>>(i%64)&1 == 0 {
		atomic.OrUint64(word, 1<<(i%64))
	}
}

func (s *rankedSet) has(i int) bool {
	return s.words[i/64]>>(i%64)&1 != 0
}

func (s *rankedSet) count() (members int) {
	s.offset = make([]int, len(s.words)/groupWords+1)
	for w, word := range s.words {
		if w%groupWords == 0 {
			s.offset[w/groupWords] = members
		}
		members += bits.OnesCount64(word)
	}
	return members
}

func (s *rankedSet) rank(i int) int {
	w := i / 64
	r := s.offset[w/groupWords]
	for _, word := range s.words[w/groupWords*groupWords : w] {
		r += bits.OnesCount64(word)
	}
	return r + bits.OnesCount64(s.words[w]&(1<<(i%64)-1))
}

func (s *rankedSet) members(yield func(i int) bool) {
	for w, word := range s.words {
		for ; word != 0; word &= word - 1 {
			if !yield(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
