package tablefile

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

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
	damaged[bytes.LastIndex(damaged, []byte("\x08@"))] ^= 1 // damages the last element
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"x.npy", three[:len(three)-1], ": 93 bytes, its header requires 94; fetch the file again"},
		{"x.npy", nil, ": empty file; fetch the file again"},
		{"x.npy", append(three, 0), ": 95 bytes, its header requires 94; fetch the file again"},
		{"x.npy", []byte("1 2 3\n4 5 6\n"), ": no NumPy array; fetch the file again"},
		{"x.npy", npyFile("<f8", "False", "(4000000000, 1)", []float64{1}), ": 87 bytes, its header requires 32000000079; fetch the file again"},
		{"x.npy", npyFile("<f8", "False", "(1, 1, 1)", []float64{1}), ": 3 dimensions, want rows and columns; reshape it"},
		{"x.npy", npyFile("<f8", "False", "()", []float64{1}), ": 0 dimensions, want rows and columns; reshape it"},
		{"x.npy", npyFile("<f8", "False", "(0, 5)", []float64{}), ": no elements; save the array again"},
		{"x.npy", npyFile("|S1", "False", "(1,)", []byte("a")), ": elements that are not numbers; save numbers"},
		{"x.npy", npyFile("|O", "False", "(1,)", []byte("a")), ": object array; save with allow_pickle=False"},
		{"x.npy", npyFile("<f8", "False", "(2, 2)", []float64{1, 2, 3, math.NaN()}), ": element [1, 1] = NaN is not a number; replace it"},
		{"x.npy", npyFile("<f8", "True", "(2, 2)", []float64{1, 2, math.Inf(-1), 3}), ": element [0, 1] = -Inf is infinite; replace it"},
		{"x.npy", npyFile("<f8", "False", "(1, 1)", []float64{1e300}), ": element [0, 0] = 1e+300 is beyond float32; pass option dtype=float64"},
		{"x.npy", npyFile("<u8", "False", "(2,)", []uint64{0, 1<<53 + 2}), ": element [1, 0] = 9.007199254740994e+15 is beyond 2⁵³ and may have been rounded; save floats"},
		{"x.npz", npzFile(zip.Store, "a", three, "b", three), ": no array is named features, kernel, X, x, arr_0; save the matrix as one of them"},
		{"x.npz", npzFile(zip.Store, "X", npyFile("<f8", "True", "(1, 2)", []float64{1, 2})), ": X: columns are stored one after the other; save np.ascontiguousarray of it"},
		{"x.npz", npzFile(zip.Store, "X", three[:90]), ": X: 90 bytes, its header requires 94; fetch the file again"},
		{"x.npz", cut[:len(cut)-3], ": no whole zip archive, which a .npz file is; fetch the file again"},
		{"x.npz", damaged, ": X: checksum of the data is wrong; fetch the file again"},
	} {
		path := write(t, test.name, test.file)
		_, err := read[float32](path, nil)
		if wrong := new(nodefile.ParseError); !errors.As(err, &wrong) || strings.TrimPrefix(err.Error(), path) != test.want {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	two := npyFile("<i2", "False", "(2, 1)", []int16{1, 2})
	text := func(shape, bytes string) []byte { return npyFile("|S2", "False", shape, []byte(bytes)) }
	for _, test := range []struct {
		rows []byte
		want string // names, or the error
	}{
		{text("(2,)", "a\x00b "), "[a b ] <nil>"},
		{npyFile("<i2", "False", "(2,)", []int16{7, 8}), "[] <nil>"},
		{text("(1, 2)", "a\x00b\x00"), "[] <nil>"},
		{text("(3,)", "a\x00b\x00c\x00"), "[] : rows: 3 names, the matrix has 2 rows; give one for each, or leave the array out"},
		{text("(2,)", "a\x00b\n"), `[] : rows: element 1, "b\n", is not a valid name: it is empty or holds a tab, a line break or NUL; rename it`},
		{text("(2,)", "\x00\x00b\t"), `[] : rows: element 0, "", is not a valid name: it is empty or holds a tab, a line break or NUL; rename it`},
	} {
		path := write(t, "x.npz", npzFile(zip.Store, "X", two, "rows", test.rows))
		f, err := Inspect(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		names, err := archiveNames(t.Context(), f, "rows", f.Rows)
		if got := strings.ReplaceAll(fmt.Sprint(names, " ", err), path, ""); got != test.want {
			t.Errorf("got %s\nwant %s", got, test.want)
		}
	}
}

func TestStream(t *testing.T) {
	ctx := context.Background()
	three := npyFile("<f8", "False", "(3, 1)", []float64{1, 2, 3})
	if _, err := Inspect(ctx, "-", nil); !errors.Is(err, ErrStream) {
		t.Error(err)
	}
	if _, err := Inspect(ctx, os.DevNull, nil); !errors.Is(err, ErrStream) || err.Error() != os.DevNull+": cannot be read several times, as this command requires; give a plain file" {
		t.Error(err)
	}
	dir := t.TempDir()
	if _, err := Inspect(ctx, dir, nil); !errors.Is(err, nodefile.ErrInput) || err.Error() != dir+": a directory; list its files" {
		t.Error(err)
	}
	o := &Options{Stdin: bytes.NewReader(three), Copy: func() (string, error) { return filepath.Join(t.TempDir(), "plain"), nil }}
	if f, err := Inspect(ctx, "-", o); err != nil || f.Name != "stdin" || f.Rows != 3 || f.Cols != 1 {
		t.Error(f, err)
	}
}

// sparseFile returns an archive as scipy.sparse.save_npz writes it.
func sparseFile(format string, shape [2]int64, indptr []int64, indices []int32, data []float64) []byte {
	of := func(n int) string { return fmt.Sprintf("(%d,)", n) }
	return npzFile(zip.Deflate, "indices", npyFile("<i4", "False", of(len(indices)), indices), "indptr", npyFile("<i8", "False", of(len(indptr)), indptr),
		"format", npyFile("|S3", "False", "()", []byte(format)), "shape", npyFile("<i8", "False", "(2,)", shape[:]), "data", npyFile("<f8", "False", of(len(data)), data))
}

func TestSparse(t *testing.T) {
	wide := [2]int64{3, 4}
	path := write(t, "x.npz", sparseFile("csr", wide, []int64{0, 2, 2, 5}, []int32{3, 0, 1, 2, 1}, []float64{1, 2, 3, 4, 5}))
	c, err := read[float64](path, nil)
	if got := fmt.Sprint(c.rows, err); got != "[[2 0 0 1] [0 0 0 0] [0 8 4 0]] <nil>" {
		t.Error(got)
	}
	if got := Detect(t.Context(), path); got != NPZ {
		t.Error(got)
	}
	scipy, err := read[float64]("testdata/scipy_csr.npz", nil)
	if got := fmt.Sprint(scipy.rows, err); got != "[[0 0 0.518 0 0.059] [0 0 0 0.671 0.83] [0.783 0 0 0 0] [0.829 0 0.198 0.29 0] [0.142 0 0 0 0.412] [0 0 0.865 0.672 0.273] [0 0 0 0.593 0]] <nil>" {
		t.Error(got)
	}
	square := write(t, "a.npz", sparseFile("csr", [2]int64{2, 2}, []int64{0, 1, 1}, []int32{1}, []float64{1}))
	if got := Detect(t.Context(), square); got != nil {
		t.Error(got)
	}
	c, err = read[float64](square, nil) // where no graph can be meant
	if got := fmt.Sprint(c.rows, err); got != "[[0 1] [0 0]] <nil>" {
		t.Error(got)
	}
	long := make([]float64, 5000) // more than a piece, all in one row
	indices := make([]int32, len(long))
	for i := range long {
		long[i], indices[i] = 1, int32(i%3)
	}
	c, err = read[float64](write(t, "x.npz", sparseFile("csr", [2]int64{1, 3}, []int64{0, 5000}, indices, long)), nil)
	if got := fmt.Sprint(c.rows, err); got != "[[1667 1667 1666]] <nil>" {
		t.Error(got)
	}
	for _, test := range []struct {
		file []byte
		says string
	}{
		{sparseFile("csc", wide, []int64{0, 0, 0, 0, 0}, nil, nil), `a sparse matrix in the format "csc"; save X.tocsr()`},
		{npzFile(zip.Store, "shape", npyFile("<i8", "False", "(2,)", wide[:]), "format", npyFile("|S3", "False", "()", []byte("coo")), "data", []byte{}), `a sparse matrix in the format "coo"; save X.tocsr()`},
		{npzFile(zip.Store, "shape", npyFile("<i8", "False", "(2,)", wide[:]), "format", npyFile("|S3", "False", "()", []byte("csr")),
			"data", npyFile("<f8", "False", "(0,)", []float64{})), "the array indptr is missing"},
		{sparseFile("csr", wide, []int64{0, 2, 1, 2}, []int32{0, 1}, []float64{1, 2}), "indptr[2] = 1 after 2, of 2 entries"},
		{sparseFile("csr", wide, []int64{1, 1, 1, 2}, []int32{0, 1}, []float64{1, 2}), "indptr[0] = 1 after 0"},
		{sparseFile("csr", wide, []int64{0, 1, 1, 1}, []int32{0, 1}, []float64{1, 2}), "indptr[3] = 1 after 1, of 2 entries"},
		{sparseFile("csr", wide, []int64{0, 1, 2, 9}, []int32{0, 1}, []float64{1, 2}), "indptr[3] = 9 after 2, of 2 entries"},
		{sparseFile("csr", wide, []int64{0, 1, 2, 2}, []int32{0, 4}, []float64{1, 2}), "column 4 of row 1; there are 4"},
		{sparseFile("csr", wide, []int64{0, 1, 2, 2}, []int32{0, -1}, []float64{1, 2}), "column -1 of row 1"},
		{sparseFile("csr", wide, []int64{0, 1}, []int32{0}, []float64{1}), "arrays of 2, 1 and 1 elements for 3 rows"},
		{sparseFile("csr", wide, []int64{0, 1, 2, 2}, []int32{0}, []float64{1, 2}), "arrays of 4, 1 and 2 elements"},
		{sparseFile("csr", wide, []int64{0, 1, 1, 1}, []int32{0}, []float64{math.NaN()}), "element [0, 0] = NaN is not a number"},
		{sparseFile("csr", [2]int64{-1, 4}, []int64{0}, nil, nil), "-1 × 4; want 1 to"},
	} {
		_, err := read[float64](write(t, "x.npz", test.file), nil)
		if wrong := new(nodefile.ParseError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v, want … %s …", err, test.says)
		}
	}
}
