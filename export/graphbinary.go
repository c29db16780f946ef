package export

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// SciPy writes g as scipy.sparse.save_npz does a CSR matrix: canonical, that is
// with columns in order and no entry twice, float64 values, and indices of 32
// bits where those suffice. An undirected graph is a symmetric matrix.
func SciPy(ctx context.Context, w io.Writer, g *Graph) error {
	g.begin(3)
	z := NewNPZ(w)
	n, _ := g.A.Dims()
	a := &arrayWriter{wide: isWide(g)}
	array := func(name, descr, shape string, put func() error) error {
		var err error
		if a.w, err = z.member(name); err != nil {
			return err
		}
		a.buf = append(a.buf[:0], npyHeader(descr, shape)...)
		if err := put(); err != nil {
			return err
		}
		return a.flush()
	}
	index := "<i4"
	if a.wide {
		index = "<i8"
	}
	rows, each := fmt.Sprintf("(%d,)", n+1), fmt.Sprintf("(%d,)", g.A.NNZ())
	for _, m := range []struct {
		name, descr, shape string
		put                func() error
	}{
		{"format", "|S3", "()", func() error {
			a.buf = append(a.buf, "csr"...)
			return nil
		}},
		{"shape", "<i8", "(2,)", func() error {
			for range 2 {
				a.buf = binary.LittleEndian.AppendUint64(a.buf, uint64(n))
			}
			return nil
		}},
		{"indptr", index, rows, func() error {
			sum := uint64(0)
			a.index(0)
			return g.sweep(ctx, func(e *entries) error {
				if sum += uint64(len(e.col)); e.last {
					a.index(sum)
				}
				return a.full()
			})
		}},
		{"indices", index, each, func() error {
			return g.sweep(ctx, func(e *entries) error {
				for _, c := range e.col {
					a.index(uint64(c))
					if err := a.full(); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{"data", "<f8", each, func() error {
			return g.sweep(ctx, func(e *entries) error {
				for i := range e.col {
					a.buf = binary.LittleEndian.AppendUint64(a.buf, math.Float64bits(e.weight(i)))
					if err := a.full(); err != nil {
						return err
					}
				}
				return nil
			})
		}},
	} {
		if err := array(m.name, m.descr, m.shape, m.put); err != nil {
			return err
		}
	}
	return z.Close()
}

// isWide reports whether indices need 64 bits.
func isWide(g *Graph) bool {
	n, _ := g.A.Dims()
	return max(int64(n), g.A.NNZ()) > math.MaxInt32
}

// SciPyBytes returns the size of the file that [SciPy] writes, within a few
// kilobytes.
func SciPyBytes(g *Graph) int64 {
	n, _ := g.A.Dims()
	index := int64(4)
	if isWide(g) {
		index = 8
	}
	return int64(n)*index + g.A.NNZ()*(index+8)
}

// arrayWriter collects the elements of an array.
type arrayWriter struct {
	w    io.Writer
	buf  []byte
	wide bool
}

func (a *arrayWriter) index(n uint64) {
	if a.wide {
		a.buf = binary.LittleEndian.AppendUint64(a.buf, n)
	} else {
		a.buf = binary.LittleEndian.AppendUint32(a.buf, uint32(n))
	}
}

func (a *arrayWriter) full() error {
	if len(a.buf) < bufferBytes {
		return nil
	}
	return a.flush()
}

func (a *arrayWriter) flush() error {
	_, err := a.w.Write(a.buf)
	a.buf = a.buf[:0]
	return err
}

// ParquetEdges writes g as a table with the columns source, target and, if g
// has weights, weight: integers of 64 bits if all ids are numbers, else text,
// and doubles. It returns the number of nodes that no edge touches.
func ParquetEdges(ctx context.Context, w io.Writer, g *Graph) (without int, err error) {
	g.begin(1)
	node := parquet.String()
	if g.Numeric {
		node = parquet.Leaf(parquet.Int64Type)
	}
	columns := []struct {
		name string
		node parquet.Node
	}{{"source", node}, {"target", node}, {"weight", parquet.Leaf(parquet.DoubleType)}}
	if !g.Weighted {
		columns = columns[:2]
	}
	pages := newZstdPages()
	var fields []parquet.Field
	for _, c := range columns {
		fields = append(fields, parquet.Group{c.name: parquet.Compressed(c.node, pages)}.Fields()[0])
	}
	out := newTable(w, "edges", fields, edgeGroup)
	n, _ := g.A.Dims()
	alone := newIsolated(n)
	var (
		source []byte
		ids    []byte // of a batch
		batch  []parquet.Row
		values []parquet.Value
	)
	flush := func() error {
		err := out.write(batch)
		batch, values, ids = batch[:0], values[:0], ids[:0]
		return err
	}
	valueOf := func(id []byte, column int) (parquet.Value, error) {
		if !g.Numeric {
			from := len(ids)
			ids = append(ids, id...)
			return parquet.ByteArrayValue(ids[from:]).Level(0, 0, column), nil
		}
		v, err := strconv.ParseInt(string(id), 10, 64)
		return parquet.Int64Value(v).Level(0, 0, column), err
	}
	err = g.sweep(ctx, func(e *entries) error {
		if e.first {
			source = g.id(source[:0], uint32(e.row))
		}
		var target []byte
		for i, c := range e.col {
			if !g.Directed && int(c) < e.row {
				continue
			}
			alone.touch(uint32(e.row))
			alone.touch(c)
			target = g.id(target[:0], c)
			from := len(values)
			for k, id := range [][]byte{source, target} {
				v, err := valueOf(id, k)
				if err != nil {
					return err
				}
				values = append(values, v)
			}
			if g.Weighted {
				values = append(values, parquet.DoubleValue(e.weight(i)).Level(0, 0, 2))
			}
			batch = append(batch, values[from:len(values):len(values)])
			if len(batch) == edgeBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := flush(); err != nil {
		return 0, err
	}
	return alone.n, out.close()
}

// edgeBatch is how many rows are handed to the library at once, edgeGroup how
// many are in a group, which is held in memory.
const (
	edgeBatch = 1 << 10
	edgeGroup = 1 << 18
)
