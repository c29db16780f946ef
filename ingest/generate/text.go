package generate

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// lines writes edges as text. It checks the context often, because the first access to a page of a large
// table takes milliseconds if memory is short, and each edge may be such an access.
type lines struct {
	ctx context.Context
	w   *bufio.Writer
	buf []byte
	n   int
}

// newLines returns a writer of edges. The caller must flush its buffer.
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

// longestEdge is the largest size of a line in bytes.
const longestEdge = 24

// appendEdge appends the line of an edge; u and v are below 2^32.
func appendEdge(text []byte, u, v uint64) []byte {
	text = append(strconv.AppendUint(text, u, 10), '\t')
	return append(strconv.AppendUint(text, v, 10), '\n')
}

// Second seeds of the random streams of a graph. With separate streams, labels can be drawn without the
// edges, and blocks of edges can be drawn in parallel. The number of a block is added above the lowest 8
// bits.
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
