package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/textio"
)

func file(version byte, descr, fortran, shape string, data any) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
	b := []byte(Magic)
	b = append(b, version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(dict)))
	}
	b = append(b, dict...)
	var body bytes.Buffer
	order := binary.ByteOrder(binary.LittleEndian)
	if strings.HasPrefix(descr, ">") {
		order = binary.BigEndian
	}
	_ = binary.Write(&body, order, data)
	return append(b, body.Bytes()...)
}

func TestFloats(t *testing.T) {
	half := []uint16{0x0000, 0x8001, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x7c00}
	for _, test := range []struct {
		descr string
		data  any
		want  []float64
	}{
		{"<f8", []float64{0.1, -5e-324, math.Inf(1)}, []float64{0.1, -5e-324, math.Inf(1)}},
		{">f8", []float64{0.1, math.MaxFloat64}, []float64{0.1, math.MaxFloat64}},
		{"<f4", []float32{0.1, 1e-45}, []float64{float64(float32(0.1)), float64(float32(1e-45))}},
		{">f4", []float32{-0.1}, []float64{float64(float32(-0.1))}},
		{"<f2", half, []float64{0, -math.Ldexp(1, -24), 1, -2, 0.333251953125, 65504, math.Inf(1)}},
		{"|i1", []int8{-128, 127}, []float64{-128, 127}},
		{"|u1", []uint8{0, 255}, []float64{0, 255}},
		{">i2", []int16{-2, 32767}, []float64{-2, 32767}},
		{"<u2", []uint16{65535}, []float64{65535}},
		{"<i4", []int32{math.MinInt32}, []float64{math.MinInt32}},
		{">u4", []uint32{math.MaxUint32}, []float64{math.MaxUint32}},
		{"<i8", []int64{-1 << 53}, []float64{-1 << 53}},
		{"=u8", []uint64{1 << 63}, []float64{1 << 63}},
		{"|b1", []byte{0, 1, 7}, []float64{0, 1, 1}},
		{"?", []byte{1}, []float64{1}},
	} {
		for version := byte(1); version <= 3; version++ {
			b := file(version, test.descr, "False", fmt.Sprintf("(%d,)", len(test.want)), test.data)
			a, err := Read("x", bytes.NewReader(b))
			if err != nil {
				t.Errorf("%s: %v", test.descr, err)
				continue
			}
			got := make([]float64, len(test.want))
			if err := a.Floats(got); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v; %v", test.descr, got, test.want, err)
			}
			if err := a.End(); err != nil || a.Start+a.Len*int64(a.Width) != int64(len(b)) {
				t.Errorf("%s: %d bytes, %v", test.descr, len(b), err)
			}
		}
	}
}

func TestText(t *testing.T) {
	for descr, data := range map[string]any{
		"<U2": []uint32{'n', 0xe9, 'b', 0}, ">U2": []uint32{'n', 0xe9, 'b', 0}, "|S3": []byte("n\xc3\xa9b\x00\x00"),
	} {
		a, err := Read("x", bytes.NewReader(file(1, descr, "False", "(2,)", data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"né", "b"} {
			if got, err := a.Text(); got != want || err != nil {
				t.Errorf("%s: %q, want %q; %v", descr, got, want, err)
			}
		}
	}
}

func TestCut(t *testing.T) {
	whole := file(1, "<f8", "True", "(2, 3)", []float64{1, 2, 3, 4, 5, 6})
	read := func(b []byte) error {
		a, err := Read("x", bytes.NewReader(b))
		if err != nil {
			return err
		}
		if !a.Fortran || !slices.Equal(a.Shape, []int64{2, 3}) {
			t.Fatal(a.Fortran, a.Shape)
		}
		if err := a.Floats(make([]float64, 6)); err != nil {
			return err
		}
		return a.End()
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := read(whole[:cut]); !errors.As(err, new(*textio.Error)) {
			t.Errorf("cut to %d bytes: %v", cut, err)
		}
	}
	if err := read(append(whole, 0)); err == nil || err.Error() != "x: goes on behind its 6 elements; fetch the file again" {
		t.Error(err)
	}
}

// An array of one dimension is stored by rows, whatever its header says.
func TestByColumns(t *testing.T) {
	for _, c := range []struct {
		fortran, shape string
		want           bool
	}{{"True", "(2, 1)", true}, {"False", "(2, 1)", false}, {"True", "(2,)", false}, {"False", "(2,)", false}} {
		a, err := Read("x", bytes.NewReader(file(1, "<f8", c.fortran, c.shape, []float64{1, 2})))
		if err != nil || a.Fortran != c.want {
			t.Errorf("%s %s: by columns %v, error %v", c.fortran, c.shape, a.Fortran, err)
		}
	}
}

func TestBadHeaders(t *testing.T) {
	for _, test := range []struct {
		file []byte
		want string
	}{
		{[]byte("numpy, no"), "x: ends after 0 of 0 elements; fetch the file again"},
		{[]byte("\x93NUMPX\x01\x00\x00\x00"), "x: no NumPy array; fetch the file again"},
		{file(4, "<f8", "False", "(1,)", []float64{1}), "x: a header of version 4 and 58 bytes; fetch the file again"},
		{file(1, "<f8", "Maybe", "(1,)", []byte{}), "x: a header that cannot be read; records and subarrays are not supported; save plain arrays"},
		{file(1, "<f8", "False", "(4611686018427387904, 4)", []byte{}), "x: shape (4611686018427387904, 4); fetch the file again"},
		{file(1, "<f8", "False", "(99999999999999999999,)", []byte{}), "x: shape (99999999999999999999,); fetch the file again"},
		{file(1, "|O", "False", "(1,)", []byte{}), "x: object array; save with allow_pickle=False"},
		{file(1, "<c16", "False", "(1,)", []byte{}), `x: elements of type "<c16" are not supported; save numbers`},
		{file(1, "<f3", "False", "(1,)", []byte{}), `x: elements of type "<f3" are not supported; save numbers`},
		{file(1, "<M8[ns]", "False", "(1,)", []byte{}), `x: elements of type "<M8[ns]" are not supported; save numbers`},
	} {
		_, err := Read("x", bytes.NewReader(test.file))
		if err == nil || err.Error() != test.want {
			t.Errorf("%q: %v, want %s", test.file, err, test.want)
		}
	}
	text, err := Read("x", bytes.NewReader(file(1, "|S1", "False", "(1,)", []byte("a"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{text.Floats(make([]float64, 1)), text.Integers(make([]int64, 1))} {
		if err == nil {
			t.Error("a string read as a number")
		}
	}
}

func TestBadArchives(t *testing.T) {
	archive := func(names []string, flags uint16) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Flags: flags})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(file(1, "|b1", "False", "(1,)", []byte{1})); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	open := func(data []byte) error {
		a, err := OpenArchive("x.npz", bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_, err = a.Open("a")
		}
		return err
	}
	if err := open(archive([]string{"a"}, 0)); err != nil {
		t.Error(err)
	}
	if err, want := open(archive([]string{"a"}, 1)), "x.npz: the array a is encrypted; save it without a password"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(1, "<i8", "False", "(2,)", []int64{1, 2}))
	f.Add(file(2, "|b1", "True", "(1, 2)", []byte{0, 1}))
	f.Add(file(3, "<U3", "False", "()", []uint32{'c', 's', 'r'}))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Read("a", bytes.NewReader(data))
		if err != nil {
			return
		}
		if a.Len < 0 || a.Start+a.Len*int64(a.Width) < a.Start || a.Start > int64(len(data)) {
			t.Fatal(a.Start, a.Len, a.Width)
		}
		n := int(min(a.Len, 100))
		if a.IsNumeric() {
			err = a.Floats(make([]float64, n))
		} else if n > 0 {
			_, err = a.Text()
		}
		if err == nil {
			err = a.End()
		}
		if err != nil && !errors.As(err, new(*textio.Error)) {
			t.Fatal(err)
		}
	})
}
