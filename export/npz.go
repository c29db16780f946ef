package export

import (
	"archive/zip"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/sparse"
)

// NPZ writes NumPy arrays into one archive. The arrays are stored as they are,
// one after the other: an array must be closed before the next one begins.
type NPZ struct {
	zip *zip.Writer
}

// NewNPZ returns an empty archive that is written to w.
func NewNPZ(w io.Writer) *NPZ { return &NPZ{zip: zip.NewWriter(w)} }

// Matrix begins the rows×cols matrix called name in the archive z.
func Matrix[T sparse.Float](z *NPZ, name string, rows, cols int) (*NPY[T], error) {
	w, err := z.member(name)
	if err != nil {
		return nil, err
	}
	return NewNPY[T](w, rows, cols)
}

// Vector writes values as the array called name, of one dimension.
func (z *NPZ) Vector(name string, values []float64) error {
	w, err := z.member(name)
	if err != nil {
		return err
	}
	return WriteVector(w, values)
}

func (z *NPZ) member(name string) (io.Writer, error) {
	return z.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
}

// Strings writes n strings as the array called name, in NumPy's fixed-width
// Unicode form. Bytes that are not UTF-8 become U+FFFD.
func (z *NPZ) Strings(name string, n int, text func(i int) string) error {
	w, err := z.member(name)
	if err != nil {
		return err
	}
	width := 1
	for i := range n {
		width = max(width, utf8.RuneCountInString(text(i)))
	}
	if _, err := w.Write(npyHeader(fmt.Sprintf("<U%d", width), fmt.Sprintf("(%d,)", n))); err != nil {
		return err
	}
	row := make([]byte, 0, 4*width)
	for i := range n {
		row = row[:0]
		for _, r := range text(i) {
			row = append(row, byte(r), byte(r>>8), byte(r>>16), 0)
		}
		for len(row) < 4*width {
			row = append(row, 0)
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the archive's directory. It does not close the underlying
// writer.
func (z *NPZ) Close() error { return z.zip.Close() }
