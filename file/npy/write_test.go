package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sbinet/npyio"

	"github.com/heatwalk/heatwalk/internal/simd"
)

func filled[T simd.Float](n int) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = T(i) / 8
	}
	return values
}

func testWriter[T simd.Float](t *testing.T, rows, cols int) {
	want := filled[T](rows * cols)
	var file bytes.Buffer
	w, err := NewWriter[T](&file, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	if file.Len()%64 != 0 {
		t.Errorf("data start at byte %d, want a multiple of 64", file.Len())
	}
	for i := range rows {
		if err := w.Floats(want[i*cols : (i+1)*cols]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := npyio.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Header.Descr.Shape; r.Header.Descr.Fortran || len(s) != 2 || s[0] != rows || s[1] != cols {
		t.Errorf("header %v", r.Header)
	}
	var got []T
	if err := r.Read(&got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d elements, %v; want the %d that were written", len(got), err, len(want))
	}
}

func TestWriter(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {3, 5}, {7, 20000}, {2, bufferBytes / 4}, {1000, 300}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			testWriter[float32](t, shape[0], shape[1])
			testWriter[float64](t, shape[0], shape[1])
		})
	}
}

// NumPy writes a comma after a single extent.
func TestHeader(t *testing.T) {
	for want, got := range map[string][]byte{
		"{'descr': '|S3', 'fortran_order': False, 'shape': (), }":     Header("|S3"),
		"{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }":   Header("<f8", 7),
		"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }": Header("<i4", 2, 3),
	} {
		if len(got)%64 != 0 || string(bytes.TrimRight(got[10:], " \n")) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWriterCounts(t *testing.T) {
	w, err := NewWriter[float64](io.Discard, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Floats([]float64{1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, ErrLength) {
		t.Errorf("an element missing: got %v", err)
	}
	if err := w.Floats([]float64{1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Floats([]float64{1}); !errors.Is(err, ErrLength) {
		t.Errorf("an element too many: got %v", err)
	}
}

func TestPlaced(t *testing.T) {
	const rows, cols = 3, 4
	values := filled[float32](rows * cols)
	var want bytes.Buffer
	w, err := NewWriter[float32](&want, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Floats(values), w.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := NewPlaced[float32](f, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range [][3]int{{2, 3, 1}, {0, 1, 3}, {2, 0, 3}, {1, 0, 4}, {0, 0, 1}} {
		at := piece[0]*cols + piece[1]
		if err := p.Put(piece[0], piece[1], values[at:at+piece[2]]); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%q, %v; want %q", got, err, want.Bytes())
	}
}

type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f--; *f < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestWriterReportsWriteErrors(t *testing.T) {
	for n := range 3 {
		f := failing(n)
		w, err := NewWriter[float64](&f, 50000)
		if err == nil {
			err = w.Floats(make([]float64, 50000))
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write %d failed: got %v", n, err)
		}
	}
}

func TestArchiveWriter(t *testing.T) {
	var file bytes.Buffer
	z := NewArchive(&file)
	member, err := z.Member("features")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewWriter[float32](member, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Floats(filled[float32](12)); err != nil {
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
	if len(got) != 12 || got[4] != 0.5 {
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
