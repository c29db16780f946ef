package export

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
)

// text collects lines for a writer.
type text struct {
	w   io.Writer
	buf []byte
}

func newText(w io.Writer) *text { return &text{w, make([]byte, 0, bufferBytes)} }

func (t *text) weight(w float64) { t.buf = strconv.AppendFloat(t.buf, w, 'g', -1, 64) }
func (t *text) number(n uint64)  { t.buf = strconv.AppendUint(t.buf, n, 10) }

// full writes if there is much to write.
func (t *text) full() error {
	if len(t.buf) < bufferBytes/2 {
		return nil
	}
	return t.flush()
}

func (t *text) flush() error {
	_, err := t.w.Write(t.buf)
	t.buf = t.buf[:0]
	return err
}

// EdgeList writes a line for each edge of g: source, target and, if g has
// weights, the weight, separated by tabs, or by commas under a header line. In
// files with commas, ids that hold commas, quotes or blanks are quoted. It
// returns the number of nodes that no edge touches, which the file does not
// have. The error wraps [ErrFormat] if an id would be taken for a comment.
func EdgeList(ctx context.Context, w io.Writer, g *Graph, commas bool) (without int, err error) {
	g.begin(1)
	t := newText(w)
	n, _ := g.A.Dims()
	alone := newIsolated(n)
	sep := byte('\t')
	if commas {
		sep = ','
		t.buf = append(t.buf, "source,target"...)
		if g.Weighted {
			t.buf = append(t.buf, ",weight"...)
		}
		t.buf = append(t.buf, '\n')
	}
	var ends [2][]byte
	err = g.sweep(ctx, func(e *entries) error {
		if e.first {
			ends[0] = g.id(ends[0][:0], uint32(e.row))
		}
		for i, c := range e.col {
			if !g.Directed && int(c) < e.row {
				continue
			}
			alone.touch(uint32(e.row))
			alone.touch(c)
			ends[1] = g.id(ends[1][:0], c)
			source, target := ends[0], ends[1]
			if !commas && isComment(source) {
				if source, target = target, source; g.Directed || isComment(source) {
					return unfitf("node %q: a line that begins with it would be a comment; write .csv or .parquet", ends[0])
				}
			}
			if commas {
				t.buf = appendQuoted(t.buf, source)
				t.buf = append(t.buf, sep)
				t.buf = appendQuoted(t.buf, target)
			} else {
				t.buf = append(t.buf, source...)
				t.buf = append(t.buf, sep)
				t.buf = append(t.buf, target...)
			}
			if g.Weighted {
				t.buf = append(t.buf, sep)
				t.weight(e.weight(i))
			}
			t.buf = append(t.buf, '\n')
			if err := t.full(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return alone.n, t.flush()
}

// isComment reports whether a line that begins with an id would be a comment.
func isComment(id []byte) bool {
	return len(id) > 0 && (id[0] == '#' || id[0] == '%') || bytes.HasPrefix(id, []byte("//"))
}

// appendQuoted appends a field of a file with commas.
func appendQuoted(dst, id []byte) []byte {
	if !isComment(id) && !bytes.ContainsAny(id, "\",; ") {
		return append(dst, id...)
	}
	dst = append(dst, '"')
	for _, c := range id {
		if c == '"' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// MatrixMarket writes g as a coordinate matrix: general if it is directed, else
// the lower triangle of a symmetric one; a pattern if it has no weights.
func MatrixMarket(ctx context.Context, w io.Writer, g *Graph) error {
	g.begin(1)
	t := newText(w)
	field, symmetry := "pattern", "symmetric"
	if g.Weighted {
		field = "real"
	}
	if g.Directed {
		symmetry = "general"
	}
	n, _ := g.A.Dims()
	t.buf = fmt.Appendf(t.buf, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", field, symmetry, n, n, g.Edges())
	err := g.sweep(ctx, func(e *entries) error {
		for i, c := range e.col {
			if !g.Directed && int(c) > e.row {
				break
			}
			t.number(uint64(e.row) + 1)
			t.buf = append(t.buf, ' ')
			t.number(uint64(c) + 1)
			if g.Weighted {
				t.buf = append(t.buf, ' ')
				t.weight(e.weight(i))
			}
			t.buf = append(t.buf, '\n')
			if err := t.full(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.flush()
}

// METIS writes g as a METIS graph, with weights of edges if g has some. The
// error wraps [ErrFormat] for directed graphs, self loops and weights that are
// no whole numbers from 1 on.
func METIS(ctx context.Context, w io.Writer, g *Graph) error {
	g.begin(1)
	switch {
	case g.Directed:
		return unfitf("a METIS file holds undirected graphs; write .mtx or .npz, or ingest with --undirected")
	case g.SelfLoops > 0:
		return unfitf("a METIS file holds no self loops; write .mtx or .npz, or ingest without --self-loops keep")
	}
	t := newText(w)
	n, _ := g.A.Dims()
	t.buf = fmt.Appendf(t.buf, "%d %d", n, g.Edges())
	if g.Weighted {
		t.buf = append(t.buf, " 001"...)
	}
	t.buf = append(t.buf, '\n')
	err := g.sweep(ctx, func(e *entries) error {
		for i, c := range e.col {
			if !e.first || i > 0 {
				t.buf = append(t.buf, ' ')
			}
			t.number(uint64(c) + 1)
			if g.Weighted {
				v := e.weight(i)
				if v < 1 || v >= 1<<53 || v != math.Trunc(v) {
					return unfitf("weight %g: a METIS file holds whole numbers from 1 on; write .mtx or .npz", v)
				}
				t.buf = append(t.buf, ' ')
				t.number(uint64(v))
			}
			if err := t.full(); err != nil {
				return err
			}
		}
		if e.last {
			t.buf = append(t.buf, '\n')
		}
		return t.full()
	})
	if err != nil {
		return err
	}
	return t.flush()
}
