package generate

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/heatwalk/heatwalk/internal/pages"
)

// lines writes edges as text and looks at the context now and then.
type lines struct {
	ctx context.Context
	w   *bufio.Writer
	buf []byte
	n   int
}

func newLines(ctx context.Context, w io.Writer) *lines {
	return &lines{ctx: ctx, w: bufio.NewWriterSize(w, 1<<16)}
}

// edge writes one line.
func (l *lines) edge(u, v int) error {
	l.buf = appendEdge(l.buf[:0], uint64(u), uint64(v))
	if l.n++; l.n%(1<<14) == 0 && l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	_, err := l.w.Write(l.buf)
	return err
}

// longestEdge is the room that appendEdge may use, in bytes.
const longestEdge = 24

// appendEdge appends the line of an edge; u and v are below 2^32.
func appendEdge(text []byte, u, v uint64) []byte {
	n := len(text)
	text = slices.Grow(text, longestEdge)[:n+longestEdge]
	n += putNumber(text[n:], u)
	text[n] = '\t'
	n++
	n += putNumber(text[n:], v)
	text[n] = '\n'
	return text[:n+1]
}

// putNumber writes x < 2^32 and returns the number of its digits. It may write
// up to 8 bytes beyond the first two.
func putNumber(dst []byte, x uint64) int {
	const ten8 = 100_000_000
	if x < ten8 {
		digits := eightDigits(x)
		zeros := min(bits.TrailingZeros64(digits)/8, 7) // the first digit is the lowest byte
		binary.LittleEndian.PutUint64(dst, (digits+zeroDigits)>>(8*zeros))
		return 8 - zeros
	}
	high := x / ten8
	n := 0
	if high >= 10 {
		dst[0] = '0' + byte(high/10)
		n = 1
	}
	dst[n] = '0' + byte(high%10)
	binary.LittleEndian.PutUint64(dst[n+1:], eightDigits(x-high*ten8)+zeroDigits)
	return n + 9
}

const zeroDigits = 0x3030303030303030 // eight times '0'

// eightDigits returns the decimal digits of x < 10^8, one in each byte, the
// first in the lowest. It divides two numbers by 100 and then four by 10 at
// once, as products that are exact for so few digits.
func eightDigits(x uint64) uint64 {
	high := x / 10_000
	fours := high | (x-high*10_000)<<32
	hundreds := fours * 10_486 >> 20 & 0x0000007f_0000007f
	twos := hundreds | (fours-hundreds*100)<<16
	tens := twos * 103 >> 10 & 0x000f_000f_000f_000f
	return tens | (twos-tens*10)<<8
}

// Each random stream of a graph has its own second seed, so that labels can be
// drawn without the edges and blocks of edges beside each other.
const (
	classStream = iota
	edgeStream
	labelStream
	idStream
)

func source(seed uint64, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// pairSet holds unordered pairs of different nodes.
type pairSet struct {
	slots []uint64 // 0 is free: no pair is (0, 0)
	n     int
}

// newPairSet makes room for so many pairs.
func newPairSet(pairs int) *pairSet { return &pairSet{slots: pages.Make[uint64](pairSlots(pairs))} }

// pairSetBytes is what room for so many pairs takes.
func pairSetBytes(pairs int) int64 { return 8 * int64(pairSlots(pairs)) }

// pairSlots is a power of two, at least twice the number of pairs.
func pairSlots(pairs int) int { return 1 << max(10, bits.Len64(uint64(2*max(1, pairs)-1))) }

// add reports whether the pair was not there yet.
func (s *pairSet) add(u, v int) bool {
	key := uint64(min(u, v))<<32 | uint64(max(u, v))
	at := s.find(key)
	if s.slots[at] == key {
		return false
	}
	s.slots[at] = key
	s.n++
	return true
}

// find returns where the key is or belongs.
func (s *pairSet) find(key uint64) uint64 {
	mask := uint64(len(s.slots) - 1)
	at := key * 0x9e3779b97f4a7c15 >> 20 & mask
	for s.slots[at] != 0 && s.slots[at] != key {
		at = (at + 1) & mask
	}
	return at
}
