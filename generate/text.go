package generate

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"strconv"
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
	l.buf = appendEdge(l.buf[:0], u, v)
	if l.n++; l.n%(1<<14) == 0 && l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	_, err := l.w.Write(l.buf)
	return err
}

func appendEdge(b []byte, u, v int) []byte {
	b = strconv.AppendInt(b, int64(u), 10)
	b = append(b, '\t')
	b = strconv.AppendInt(b, int64(v), 10)
	return append(b, '\n')
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

// add reports whether the pair was not there yet.
func (s *pairSet) add(u, v int) bool {
	if 2*(s.n+1) > len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(1<<10, 2*len(old)))
		for _, key := range old {
			if key != 0 {
				s.slots[s.find(key)] = key
			}
		}
	}
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
