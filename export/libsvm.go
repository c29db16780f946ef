package export

import (
	"io"
	"strconv"

	"github.com/heatwalk/heatwalk/sparse"
)

// LIBSVM writes lines of LIBSVM's text format.
type LIBSVM struct {
	w      io.Writer
	buf    []byte
	serial int
}

// NewLIBSVM returns a writer of lines to w.
func NewLIBSVM(w io.Writer) *LIBSVM {
	return &LIBSVM{w: w, buf: make([]byte, 0, bufferBytes)}
}

// Features writes one line of l: the label, a number, then index:value of every
// feature that is not 0, indices from 1.
func Features[T sparse.Float](l *LIBSVM, label string, row []T) error {
	l.buf = append(l.buf, label...)
	for j, v := range row {
		if v != 0 {
			l.pair(j+1, float64(v), 8*elementBytes[T]())
		}
	}
	return l.line()
}

// Kernel writes one line of a precomputed kernel to l: the label, the line's
// serial number from 1, and all kernel values.
func Kernel[T sparse.Float](l *LIBSVM, label string, row []T) error {
	l.serial++
	l.buf = append(l.buf, label...)
	l.buf = append(l.buf, " 0:"...)
	l.buf = strconv.AppendInt(l.buf, int64(l.serial), 10)
	for j, v := range row {
		l.pair(j+1, float64(v), 8*elementBytes[T]())
		if len(l.buf) > bufferBytes-64 {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return l.line()
}

// pair appends index:value; the value has as many digits as it takes to read
// the same bits back.
func (l *LIBSVM) pair(index int, v float64, bits int) {
	l.buf = append(l.buf, ' ')
	l.buf = strconv.AppendInt(l.buf, int64(index), 10)
	l.buf = append(l.buf, ':')
	l.buf = strconv.AppendFloat(l.buf, v, 'g', -1, bits)
}

func (l *LIBSVM) line() error {
	l.buf = append(l.buf, '\n')
	if len(l.buf) < bufferBytes/2 {
		return nil
	}
	return l.flush()
}

func (l *LIBSVM) flush() error {
	_, err := l.w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// Close writes what is still buffered.
func (l *LIBSVM) Close() error { return l.flush() }
