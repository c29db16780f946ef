package generate

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// lines writes edges as text and checks the context often, because each edge may be the first to
// touch a page of a large table, which takes milliseconds if memory is short.
type lines struct {
	ctx context.Context
	w   *bufio.Writer
	buf []byte
	n   int
}

// newLines returns a writer of edges, whose buffer the caller flushes.
func newLines(ctx context.Context, w io.Writer) *lines {
	return &lines{ctx: ctx, w: bufio.NewWriterSize(w, 1<<16)}
}

func (l *lines) edge(u, v int) error {
	l.buf = appendEdge(l.buf[:0], uint64(u), uint64(v))
	if l.n++; l.n%64 == 0 && l.ctx.Err() != nil {
		return sched.Cause(l.ctx)
	}
	_, err := l.w.Write(l.buf)
	return err
}

// longestEdge is the largest number of bytes of a line.
const longestEdge = 24

// appendEdge appends the line of an edge; u and v are below 2^32.
func appendEdge(text []byte, u, v uint64) []byte {
	text = append(strconv.AppendUint(text, u, 10), '\t')
	return append(strconv.AppendUint(text, v, 10), '\n')
}

// Second seeds of the random streams of a graph. Separate streams allow labels to be drawn
// without the edges, and blocks of edges in parallel. The number of a block is added above the
// lowest 8 bits.
const (
	classStream = iota
	edgeStream
	labelStream
	idStream
	weightStream
)

// source returns a random stream, which is the same for the same seed on every machine.
func source(seed uint64, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream))
}
