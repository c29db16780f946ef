package lines

import (
	"math/bits"
	"sync/atomic"
)

// DenseBits are always worth a bitmap, and so are IDBits for each id.
const (
	DenseBits = 1 << 23
	IDBits    = 32
)

// MarkIDs sets the bits of ids. Several goroutines may call it at once.
func MarkIDs(words []uint64, code []uint32) {
	for _, c := range code {
		word := &words[c/64]
		bit := uint64(1) << (c % 64)
		if atomic.LoadUint64(word)&bit == 0 {
			atomic.OrUint64(word, bit)
		}
	}
}

// IDRanks numbers the ids of a bitmap in increasing order.
type IDRanks struct {
	seen []uint64
	rank []uint32 // how many ids come before each word
	N    int
}

// NewIDRanks returns the ranks of the ids whose bits are set, 64 of them in each word.
func NewIDRanks(seen []uint64) *IDRanks {
	k := &IDRanks{seen: seen, rank: make([]uint32, len(seen))}
	for i, word := range seen {
		k.rank[i] = uint32(k.N)
		k.N += bits.OnesCount64(word)
	}
	return k
}

// Replace replaces ids of the set by their ranks.
func (k *IDRanks) Replace(code []uint32) {
	seen := k.seen
	rank := k.rank[:len(k.seen)]
	for i, c := range code {
		code[i] = rank[c/64] + uint32(bits.OnesCount64(seen[c/64]&(1<<(c%64)-1)))
	}
}

// Each calls do with every id in increasing order.
func (k *IDRanks) Each(do func(id uint32)) {
	for i, word := range k.seen {
		for ; word != 0; word &= word - 1 {
			do(uint32(i*64 + bits.TrailingZeros64(word)))
		}
	}
}
