package featurefile

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// npyFile returns a .npy file with a header of its own.
func npyFile(descr, fortran, shape string, data any) []byte {
	var b bytes.Buffer
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
	b.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(dict)))
	b.WriteString(dict)
	_ = binary.Write(&b, binary.LittleEndian, data)
	return b.Bytes()
}

// npzFile returns an archive of arrays: name, content, name, content …
func npzFile(method uint16, members ...any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: members[i].(string) + ".npy", Method: method})
		_, _ = w.Write(members[i+1].([]byte))
	}
	_ = z.Close()
	return b.Bytes()
}

func TestArrays(t *testing.T) {
	six := npyFile("<i2", "False", "(2, 3)", []int16{1, 2, 3, 4, 5, 6})
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"x.npy", six, "[[1 2 3] [4 5 6]]"},
		{"x.npy", npyFile("<i2", "True", "(2, 3)", []int16{1, 2, 3, 4, 5, 6}), "[[1 3 5] [2 4 6]]"},
		{"x.npy", npyFile("<f8", "False", "(3,)", []float64{1, 2, 0.1}), "[[1] [2] [0.1]]"},
		{"x.npy", npyFile("<f4", "True", "(1, 2)", []float32{1, 2}), "[[1 2]] single"},
		{"x.npy", npyFile("|b1", "False", "(2, 1)", []bool{true, false}), "[[1] [0]] single"},
		{"x.npy", npyFile("<i8", "False", "(1, 1)", []int64{-1 << 53}), "[[-9.007199254740992e+15]]"},
		{"x.npz", npzFile(zip.Store, "rows", npyFile("<i2", "False", "(2,)", []int16{7, 8}), "kernel", six), "[[1 2 3] [4 5 6]] kernel"},
		{"x.npz", npzFile(zip.Deflate, "y", npyFile("<i2", "False", "(2,)", []int16{7, 8}), "X", six), "[[1 2 3] [4 5 6]]"},
		{"x.npz", npzFile(zip.Deflate, "whatever", six), "[[1 2 3] [4 5 6]]"},
	} {
		c, err := read[float64](write(t, test.name, test.file), nil)
		if err != nil {
			t.Errorf("%s: %v", test.want, err)
			continue
		}
		got := fmt.Sprint(c.rows)
		if c.Single {
			got += " single"
		}
		if c.Kernel {
			got += " kernel"
		}
		if got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestBadArrays(t *testing.T) {
	three := npyFile("<f8", "False", "(3, 1)", []float64{1, 2, 3})
	cut := npzFile(zip.Store, "X", three)
	damaged := bytes.Clone(cut)
	damaged[bytes.LastIndex(damaged, []byte("\x08@"))] ^= 1 // in the last element
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"x.npy", three[:len(three)-1], ": 93 bytes, its header asks for 94; fetch the file again"},
		{"x.npy", append(three, 0), ": 95 bytes, its header asks for 94; fetch the file again"},
		{"x.npy", []byte("1 2 3\n4 5 6\n"), ": no NumPy array; fetch the file again"},
		{"x.npy", npyFile("<f8", "False", "(4000000000, 1)", []float64{1}), ": 87 bytes, its header asks for 32000000079; fetch the file again"},
		{"x.npy", npyFile("<f8", "False", "(1, 1, 1)", []float64{1}), ": 3 dimensions, want rows and columns; reshape it"},
		{"x.npy", npyFile("<f8", "False", "()", []float64{1}), ": 0 dimensions, want rows and columns; reshape it"},
		{"x.npy", npyFile("<f8", "False", "(0, 5)", []float64{}), ": no elements; save the array again"},
		{"x.npy", npyFile("|S1", "False", "(1,)", []byte("a")), ": elements that are no numbers; save numbers"},
		{"x.npy", npyFile("|O", "False", "(1,)", []byte("a")), ": object array; save with allow_pickle=False"},
		{"x.npy", npyFile("<f8", "False", "(2, 2)", []float64{1, 2, 3, math.NaN()}), ": element [1, 1] = NaN is not a number; replace it"},
		{"x.npy", npyFile("<f8", "True", "(2, 2)", []float64{1, 2, math.Inf(-1), 3}), ": element [0, 1] = -Inf is infinite; replace it"},
		{"x.npy", npyFile("<f8", "False", "(1, 1)", []float64{1e300}), ": element [0, 0] = 1e+300 is beyond float32; pass --dtype float64"},
		{"x.npy", npyFile("<u8", "False", "(2,)", []uint64{0, 1<<53 + 2}), ": element [1, 0] = 9.007199254740994e+15 is beyond 2⁵³ and may not be what it was; save floats"},
		{"x.npz", npzFile(zip.Store, "a", three, "b", three), ": none of its arrays is called features, kernel, X, x, arr_0; save the matrix as one of them"},
		{"x.npz", npzFile(zip.Store, "X", npyFile("<f8", "True", "(1, 2)", []float64{1, 2})), ": X: columns are stored one after the other; save np.ascontiguousarray of it"},
		{"x.npz", npzFile(zip.Store, "X", three[:90]), ": X: 90 bytes, its header asks for 94; fetch the file again"},
		{"x.npz", cut[:len(cut)-3], ": no whole zip archive, which a .npz file is; fetch the file again"},
		{"x.npz", damaged, ": X: checksum of the data is wrong; fetch the file again"},
	} {
		path := write(t, test.name, test.file)
		_, err := read[float32](path, nil)
		if wrong := new(Error); !errors.As(err, &wrong) || strings.TrimPrefix(err.Error(), path) != test.want {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
	}
}

// What can be read once only is copied first.
func TestStream(t *testing.T) {
	ctx := context.Background()
	three := npyFile("<f8", "False", "(3, 1)", []float64{1, 2, 3})
	if _, err := Inspect(ctx, "-", nil); !errors.Is(err, ErrStream) {
		t.Error(err)
	}
	if _, err := Inspect(ctx, t.TempDir(), nil); !errors.Is(err, ErrStream) {
		t.Error(err)
	}
	var plain bytes.Buffer
	if err := Copy(ctx, &plain, "-", bytes.NewReader(three)); err != nil || !bytes.Equal(plain.Bytes(), three) {
		t.Error(err)
	}
	if err := Copy(ctx, &plain, filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a file that is not there")
	}
}
