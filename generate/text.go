package generate

import (
	"bufio"
	"context"
	"io"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/pages"
)

// lines writes edges as text and looks at the context often: each edge may be the
// first to touch a page of a large table, for which a system that is short of
// memory takes milliseconds.
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
	if l.n++; l.n%64 == 0 && l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	_, err := l.w.Write(l.buf)
	return err
}

// longestEdge bounds the bytes of a line.
const longestEdge = 24

// appendEdge appends the line of an edge; u and v are below 2^32.
func appendEdge(text []byte, u, v uint64) []byte {
	text = append(strconv.AppendUint(text, u, 10), '\t')
	return append(strconv.AppendUint(text, v, 10), '\n')
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
