package export

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/sbinet/npyio"
)

func filled[T sparse.Float](rows, cols int) *sparse.Block[T] {
	b := sparse.NewBlock[T](rows, cols)
	for i := range rows {
		for j := range b.Row(i) {
			b.Row(i)[j] = T(i) + T(j)/8
		}
	}
	return b
}

func testNPY[T sparse.Float](t *testing.T, rows, cols int) {
	b := filled[T](rows, cols)
	var file bytes.Buffer
	w, err := NewNPY[T](&file, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	header := file.Len()
	if header%64 != 0 {
		t.Errorf("data start at byte %d, want a multiple of 64", header)
	}
	if err := w.Block(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := int64(file.Len()), NPYBytes[T](rows, cols); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	r, err := npyio.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Header.Descr.Shape; r.Header.Descr.Fortran || len(s) != 2 || s[0] != rows || s[1] != cols {
		t.Errorf("header %v", r.Header)
	}
	var got []T
	if err := r.Read(&got); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for j, want := range b.Row(i) {
			if got[i*cols+j] != want {
				t.Fatalf("(%d, %d): got %v, want %v", i, j, got[i*cols+j], want)
			}
		}
	}
}

func TestNPY(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {3, 5}, {7, 20000}, {2, bufferBytes}, {1000, 300}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			testNPY[float32](t, shape[0], shape[1])
			testNPY[float64](t, shape[0], shape[1])
		})
	}
}

func TestNPYCountsRows(t *testing.T) {
	w, err := NewNPY[float64](io.Discard, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Row([]float64{1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, ErrRows) {
		t.Errorf("a row missing: got %v", err)
	}
	if err := w.Row([]float64{1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Row([]float64{1}); !errors.Is(err, ErrRows) {
		t.Errorf("a row too many: got %v", err)
	}
}

// failing is a writer whose n-th write and all later ones fail.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f--; *f < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestNPYReportsWriteErrors(t *testing.T) {
	for n := range 3 {
		f := failing(n)
		w, err := NewNPY[float64](&f, 1, 50000)
		if err == nil {
			err = w.Row(make([]float64, 50000))
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write %d failed: got %v", n, err)
		}
	}
}

func TestNPZ(t *testing.T) {
	var file bytes.Buffer
	z := NewNPZ(&file)
	m, err := Matrix[float32](z, "features", 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Block(filled[float32](4, 3)); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	ids := []string{"a", "bcd", "", "né"}
	if err := z.Strings("rows", len(ids), func(i int) string { return ids[i] }); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.File) != 2 || r.File[0].Name != "features.npy" || r.File[1].Name != "rows.npy" {
		t.Fatalf("members %v", r.File)
	}
	f, err := r.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	var got []float32
	if err := npyio.Read(f, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 12 || got[4] != 1.125 {
		t.Errorf("features %v", got)
	}
	f, err = r.File[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	header, data := content[:64*((len(content)-4*3*4)/64)], content[len(content)-4*3*4:]
	if !bytes.Contains(header, []byte("'descr': '<U3'")) || !bytes.Contains(header, []byte("'shape': (4,)")) {
		t.Errorf("header %q", header)
	}
	if want := "b\x00\x00\x00c\x00\x00\x00d\x00\x00\x00"; string(data[12:24]) != want {
		t.Errorf("row 1 is %q, want %q", data[12:24], want)
	}
	if want := "n\x00\x00\x00\xe9\x00\x00\x00\x00\x00\x00\x00"; string(data[36:]) != want {
		t.Errorf("row 3 is %q, want %q", data[36:], want)
	}
}

func TestLIBSVM(t *testing.T) {
	var file bytes.Buffer
	l := NewLIBSVM(&file)
	if err := Features(l, "2", []float32{0, 0.5, 1. / 3}); err != nil {
		t.Fatal(err)
	}
	if err := Features(l, "0", []float64{1, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "2 2:0.5 3:0.33333334\n0 1:1\n"; file.String() != want {
		t.Errorf("got %q, want %q", file.String(), want)
	}
	file.Reset()
	for _, row := range [][]float64{{1, 0}, {0, 1.5}} {
		if err := Kernel(l, "1", row); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "1 0:1 1:1 2:0\n1 0:2 1:0 2:1.5\n"; file.String() != want {
		t.Errorf("got %q, want %q", file.String(), want)
	}
}

func TestWriteIDs(t *testing.T) {
	var file bytes.Buffer
	ids := []string{"b", "", "a b"}
	if err := WriteIDs(&file, len(ids), func(i int) string { return ids[i] }); err != nil {
		t.Fatal(err)
	}
	if want := "b\n\na b\n"; file.String() != want {
		t.Errorf("got %q, want %q", file.String(), want)
	}
	f := failing(0)
	if err := WriteIDs(&f, 1, func(int) string { return "a" }); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
