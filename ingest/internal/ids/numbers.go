package ids

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Set is the set of the ids seen so far, as a bitmap. It is filled while the
// lines are read, as long as it costs no more than they do.
type Set struct {
	mu     sync.RWMutex
	Words  []uint64 // of atomic access under the read lock
	Tokens int64    // ids added, of atomic access
	Sparse bool     // the bitmap would cost too much; it was given up
}

// DenseBits are always worth a bitmap, and so are IDBits for each id.
const (
	DenseBits = 1 << 23
	IDBits    = 32
)

// Add adds ids, the largest of which is top.
func (s *Set) Add(code []uint32, top uint32) {
	tokens := atomic.AddInt64(&s.Tokens, int64(len(code)))
	s.mu.RLock()
	for !s.Sparse && len(s.Words) <= int(top/64) {
		s.mu.RUnlock()
		s.grow(int(top)+1, tokens)
		s.mu.RLock()
	}
	if !s.Sparse {
		Mark(s.Words, code)
	}
	s.mu.RUnlock()
}

// Limit returns a number above every id that the bitmap has room for.
func (s *Set) Limit() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return 64 * int64(len(s.Words))
}

// grow makes room for ids below limit, or gives the bitmap up.
func (s *Set) grow(limit int, tokens int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Sparse = s.Sparse || int64(limit) > max(DenseBits, IDBits*tokens)
	if s.Sparse {
		s.Words = nil
		return
	}
	if words := int(BitmapLimit(int64(limit)) / 64); words > len(s.Words) {
		s.Words = append(make([]uint64, 0, words), s.Words...)[:words]
	}
}

// BitmapLimit returns a number above every id that a bitmap has room for once it has been
// made for ids below limit.
func BitmapLimit(limit int64) int64 {
	words := (limit + 63) / 64
	return 64 * (words + words/4)
}

// Mark sets the bits of ids. Several goroutines may call it at once.
func Mark(words []uint64, code []uint32) {
	for _, c := range code {
		word := &words[c/64]
		bit := uint64(1) << (c % 64)
		if atomic.LoadUint64(word)&bit == 0 {
			atomic.OrUint64(word, bit)
		}
	}
}

// Ranks numbers the ids of a bitmap in increasing order.
type Ranks struct {
	seen []uint64
	rank []uint32 // how many ids come before each word
	N    int
}

// NewRanks returns the ranks of the ids whose bits are set, 64 of them in each word.
func NewRanks(seen []uint64) *Ranks {
	k := &Ranks{seen: seen, rank: make([]uint32, len(seen))}
	for i, word := range seen {
		k.rank[i] = uint32(k.N)
		k.N += bits.OnesCount64(word)
	}
	return k
}

// Replace replaces ids of the set by their ranks.
func (k *Ranks) Replace(code []uint32) {
	seen := k.seen
	rank := k.rank[:len(k.seen)]
	for i, c := range code {
		code[i] = rank[c/64] + uint32(bits.OnesCount64(seen[c/64]&(1<<(c%64)-1)))
	}
}

// Each calls do with every id in increasing order.
func (k *Ranks) Each(do func(id uint32)) {
	for i, word := range k.seen {
		for ; word != 0; word &= word - 1 {
			do(uint32(i*64 + bits.TrailingZeros64(word)))
		}
	}
}
