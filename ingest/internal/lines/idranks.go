package lines

import (
	"math/bits"
	"sync/atomic"
)

// A bitmap of ids may have DenseBits bits. It may have more if it has at most IDBits bits for each id read.
const (
	DenseBits = 1 << 23
	IDBits    = 32
)

// MarkIDs sets the bits of the ids code in the bitmap words. It is safe for concurrent use.
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
	rank []uint32 // number of ids before each word
	N    int
}

// NewIDRanks ranks the ids whose bits are set in seen.
func NewIDRanks(seen []uint64) *IDRanks {
	k := &IDRanks{seen: seen, rank: make([]uint32, len(seen))}
	for i, word := range seen {
		k.rank[i] = uint32(k.N)
		k.N += bits.OnesCount64(word)
	}
	return k
}

// Replace replaces ids, which must be in the bitmap, by their ranks.
func (k *IDRanks) Replace(code []uint32) {
	seen := k.seen
	rank := k.rank[:len(k.seen)]
	for i, c := range code {
		code[i] = rank[c/64] + uint32(bits.OnesCount64(seen[c/64]&(1<<(c%64)-1)))
	}
}

func (k *IDRanks) Each(do func(id uint32)) {
	for i, word := range k.seen {
		for ; word != 0; word &= word - 1 {
			do(uint32(i*64 + bits.TrailingZeros64(word)))
		}
	}
}
