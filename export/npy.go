package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heatwalk/heatwalk/sparse"
)

// ErrRows is returned when a stream of rows does not have the declared number
// of rows.
var ErrRows = errors.New("export: wrong number of rows")

// NPY writes a rows×cols matrix of T in the .npy format, version 1.0.
type NPY[T sparse.Float] struct {
	w          io.Writer
	rows, cols int
	written    int
	buf        []byte
}

// NewNPY writes the header of a rows×cols matrix in C order to w and returns
// the writer of its rows.
func NewNPY[T sparse.Float](w io.Writer, rows, cols int) (*NPY[T], error) {
	descr := "<f8"
	if elementBytes[T]() == 4 {
		descr = "<f4"
	}
	shape := fmt.Sprintf("(%d, %d)", rows, cols)
	if _, err := w.Write(npyHeader(descr, shape)); err != nil {
		return nil, err
	}
	return &NPY[T]{w: w, rows: rows, cols: cols, buf: make([]byte, 0, bufferBytes)}, nil
}

// WriteVector writes values to w as an array of one dimension in the .npy
// format.
func WriteVector(w io.Writer, values []float64) error {
	header := npyHeader("<f8", fmt.Sprintf("(%d,)", len(values)))
	_, err := w.Write(appendFloats(header, values))
	return err
}

// NPYBytes returns the size of the .npy file of a rows×cols matrix of T.
func NPYBytes[T sparse.Float](rows, cols int) int64 {
	header := len(npyHeader("<f8", fmt.Sprintf("(%d, %d)", rows, cols)))
	return int64(header) + int64(rows)*int64(cols)*int64(elementBytes[T]())
}

// bufferBytes is how much is collected before it is written.
const bufferBytes = 256 << 10

// npyHeader returns magic, version and dictionary, padded so that the data
// start at a multiple of 64 bytes.
func npyHeader(descr, shape string) []byte {
	const magic, align = "\x93NUMPY\x01\x00", 64
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	unpadded := len(magic) + 2 + len(dict) + 1
	dict += strings.Repeat(" ", (align-unpadded%align)%align) + "\n"
	header := append([]byte(magic), 0, 0)
	binary.LittleEndian.PutUint16(header[len(magic):], uint16(len(dict)))
	return append(header, dict...)
}

func elementBytes[T sparse.Float]() int {
	var t T
	if _, single := any(t).(float32); single {
		return 4
	}
	return 8
}

// Row appends the next row, which has as many elements as the matrix columns.
func (n *NPY[T]) Row(row []T) error {
	if len(row) != n.cols {
		panic(badRow)
	}
	if n.written == n.rows {
		return fmt.Errorf("%w: more than %d", ErrRows, n.rows)
	}
	n.written++
	for len(row) > 0 {
		part := row[:min(len(row), (cap(n.buf)-len(n.buf))/8)]
		n.buf = appendFloats(n.buf, part)
		row = row[len(part):]
		if cap(n.buf)-len(n.buf) < 8 {
			if err := n.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendFloats[T sparse.Float](buf []byte, values []T) []byte {
	switch values := any(values).(type) {
	case []float32:
		for _, v := range values {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
	case []float64:
		for _, v := range values {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
	}
	return buf
}

// Block appends the rows of b.
func (n *NPY[T]) Block(b *sparse.Block[T]) error {
	for i := range b.Rows {
		if err := n.Row(b.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what is still buffered. It returns [ErrRows] if rows are
// missing. It does not close the underlying writer.
func (n *NPY[T]) Close() error {
	if n.written != n.rows {
		return fmt.Errorf("%w: %d of %d", ErrRows, n.written, n.rows)
	}
	return n.flush()
}

func (n *NPY[T]) flush() error {
	_, err := n.w.Write(n.buf)
	n.buf = n.buf[:0]
	return err
}

const badRow = "export: row has the wrong length"
