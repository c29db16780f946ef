package export_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/export"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestReadNPY(t *testing.T) {
	t.Run("float32", testReadNPY[float32])
	t.Run("float64", testReadNPY[float64])
}

// Rows come back to the bit; whatever is cut off is missed.
func testReadNPY[T sparse.Float](t *testing.T) {
	want := []T{1, -2, T(math.Inf(1)), 0.1, 5e-30, 6}
	var file bytes.Buffer
	w, err := export.NewNPY[T](&file, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Row(want[2*i : 2*i+2]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	read := func(b []byte) ([]T, error) {
		r, err := export.ReadNPY[T](bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		if r.Rows != 3 || r.Cols != 2 {
			t.Fatalf("%d × %d", r.Rows, r.Cols)
		}
		var all []T
		for {
			row, err := r.Row()
			if errors.Is(err, io.EOF) {
				return all, nil
			}
			if err != nil {
				return all, err
			}
			all = append(all, row...)
		}
	}
	got, err := read(file.Bytes())
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i], want[i])
		}
	}
	for cut := range file.Len() {
		if _, err := read(file.Bytes()[:cut]); !errors.Is(err, export.ErrNPY) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d bytes: %v", cut, err)
		}
	}
	for _, other := range []string{"fortran_order': True ", "descr': '<i4'"} {
		key, _, _ := strings.Cut(other, "'")
		at := bytes.Index(file.Bytes(), []byte(key))
		wrong := bytes.Clone(file.Bytes())
		copy(wrong[at:], other)
		if _, err := read(wrong); !errors.Is(err, export.ErrNPY) {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func FuzzReadNPY(f *testing.F) {
	f.Add([]byte("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"))
	var file bytes.Buffer
	if w, err := export.NewNPY[float64](&file, 1, 1); err == nil && w.Row([]float64{7}) == nil && w.Close() == nil {
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := export.ReadNPY[float64](bytes.NewReader(b))
		if err != nil || r.Cols > 1<<16 {
			return
		}
		for range 4 {
			if _, err := r.Row(); err != nil {
				return
			}
		}
	})
}
