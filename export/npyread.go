package export

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// ErrNPY is wrapped by what [ReadNPY] returns for a file that [NPY] has not
// written, or with another type of numbers.
var ErrNPY = errors.New("not such a .npy matrix")

// NPYReader reads the rows of a matrix that [NPY] has written.
type NPYReader[T sparse.Float] struct {
	Rows, Cols int

	r    *bufio.Reader
	raw  []byte
	row  []T
	read int
}

// ReadNPY reads the header of a matrix of T in the very form that [NewNPY]
// writes and returns the reader of its rows.
func ReadNPY[T sparse.Float](r io.Reader) (*NPYReader[T], error) {
	n := &NPYReader[T]{r: bufio.NewReaderSize(r, bufferBytes)}
	const fixed, most = 10, 128
	head, err := n.r.Peek(fixed)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrNPY, len(head))
	}
	length := fixed + int(binary.LittleEndian.Uint16(head[fixed-2:]))
	if length > most {
		return nil, fmt.Errorf("%w: header of %d bytes", ErrNPY, length)
	}
	if head, err = n.r.Peek(length); err != nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrNPY, len(head))
	}
	if at := bytes.Index(head, []byte("'shape': (")); at >= 0 {
		_, err = fmt.Sscanf(string(head[at:]), "'shape': (%d, %d)", &n.Rows, &n.Cols)
	}
	descr := fmt.Sprintf("<f%d", elementBytes[T]())
	if err != nil || !bytes.Equal(head, npyHeader(descr, fmt.Sprintf("(%d, %d)", n.Rows, n.Cols))) {
		return nil, fmt.Errorf("%w: other header than that of a matrix of %s by rows", ErrNPY, descr)
	}
	_, err = n.r.Discard(length)
	return n, err
}

// Row returns the next row, valid until the next call; io.EOF behind the last
// one, io.ErrUnexpectedEOF where the file is too short.
func (n *NPYReader[T]) Row() ([]T, error) {
	if n.read == n.Rows {
		return nil, io.EOF
	}
	if n.row == nil {
		n.raw, n.row = make([]byte, n.Cols*elementBytes[T]()), make([]T, n.Cols)
	}
	if _, err := io.ReadFull(n.r, n.raw); errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, err
	}
	n.read++
	switch row := any(n.row).(type) {
	case []float32:
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(n.raw[4*j:]))
		}
	case []float64:
		for j := range row {
			row[j] = math.Float64frombits(binary.LittleEndian.Uint64(n.raw[8*j:]))
		}
	}
	return n.row, nil
}
