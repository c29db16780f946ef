package tablefile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
)

type loaded[T sparse.Float] struct {
	*File
	labels []string
	rows   [][]T
}

func read[T sparse.Float](path string, o *Options) (*loaded[T], error) {
	ctx := context.Background()
	f, err := Inspect(ctx, path, o)
	if err != nil {
		return nil, err
	}
	t := &loaded[T]{File: f}
	err = Read(ctx, f, func(label []byte, row []T) error {
		if f.Labelled {
			t.labels = append(t.labels, string(label))
		}
		t.rows = append(t.rows, slices.Clone(row))
		return nil
	})
	if err == nil && len(t.rows) != f.Rows {
		err = fmt.Errorf("%d rows, want %d", len(t.rows), f.Rows)
	}
	return t, err
}

func write(t interface {
	TempDir() string
	Fatal(...any)
}, name string, content []byte) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func equal[T sparse.Float](a, b [][]T) bool {
	return slices.EqualFunc(a, b, func(a, b []T) bool { return slices.Equal(a, b) })
}

func TestVectors(t *testing.T) {
	for _, test := range []struct {
		text string
		o    Options
		want string // labels; rows
	}{
		{"1 1:2 3:4\n", Options{}, "1; 2 0 4"},
		{"+1 2:0.5\n-1\n0 1:-1e3 3:.5", Options{}, "+1 -1 0; 0 0.5 0|0 0 0|-1000 0 0.5"},
		{"# head\r\n\r\n 3.5\t1:2  2:3 # end 9:9\r\n#\r\n4 1:0#x\r\n", Options{}, "3.5 4; 2 3|0 0"},
		{"\ufeff1 1:1", Options{}, "1; 1"},
		{"1 0:5 2:1\n0 1:2\n", Options{ZeroBased: true}, "1 0; 5 0 1|0 2 0"},
		{"1 0:1 1:7 2:0\n2 0:2 1:0 2:8", Options{}, "kernel 1 2; 7 0|0 8"},
		{"1 0:9 1:7\n2 0:-1 1:8\n", Options{}, "kernel, other serials 1 2; 7|8"},
		{"1 1:2\n", Options{Columns: 3}, "1; 2 0 0"},
		{"1 0:1 1:7\n", Options{ZeroBased: true}, "1; 1 7"},
		{"0 2147483647:1", Options{}, "wide"},
	} {
		path := write(t, "x.svm", []byte(test.text))
		if test.want == "wide" {
			if f, err := Inspect(context.Background(), path, nil); err != nil || f.Cols != math.MaxInt32 || f.Held > 2<<20 {
				t.Error(f, err)
			}
			continue
		}
		c, err := read[float64](path, &test.o)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		var rows []string
		for _, row := range c.rows {
			rows = append(rows, strings.Trim(fmt.Sprint(row), "[]"))
		}
		got := strings.Join(c.labels, " ") + "; " + strings.Join(rows, "|")
		switch {
		case c.Kernel && c.InOrder:
			got = "kernel " + got
		case c.Kernel:
			got = "kernel, other serials " + got
		}
		if got != test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestBadVectors(t *testing.T) {
	const kernel = "list 0:serial and every column; features that count from 0 need option zero-based"
	for _, test := range []struct{ text, want string }{
		{"", "no index:value in 0 vectors; is this LIBSVM text?"},
		{"# only\n\n", "no index:value in 0 vectors; is this LIBSVM text?"},
		{"1\n-1", "no index:value in 2 vectors; is this LIBSVM text?"},
		{"1 1:1\n\n2 4:1 4:2\n", ":3:7: index 4 is repeated; keep one of its values"},
		{"1 1:1 7:1 3:2\n", ":1:11: index 3 after 7; sort the line by index"},
		{"1 1:1\n1 0:1 3:2\n", ":2:3: index 0; indices of features count from 1; if they count from 0, pass option zero-based"},
		{"1 1:nan", `:1:3: value "nan" is not a number; fix the line`},
		{"1 1:-Inf", `:1:3: value "-Inf" is infinite; fix the line`},
		{"1 1:1e999", `:1:3: value "1e999" is infinite; fix the line`},
		{"1 1:0x1p3", `:1:3: value "0x1p3" is not a number; fix the line`},
		{"1 1:1_0", `:1:3: value "1_0" is not a number; fix the line`},
		{"1 1:1:1", `:1:3: value "1:1" is not a number; fix the line`},
		{"1 1:", `:1:3: "1:" is not index:value; is this LIBSVM text?`},
		{"1 :1", `:1:3: ":1" is not index:value; is this LIBSVM text?`},
		{"a\tb\n", `:1:1: label "a" is not a number; number the classes`},
		{"1\tb\n", `:1:3: "b" is not index:value; is this LIBSVM text?`},
		{"1 -1:2", `:1:3: index "-1" is not a number; is this LIBSVM text?`},
		{"1 2147483648:2", `:1:3: index "2147483648" is beyond 2147483647; fix the line`},
		{"1 99999999999999999999999:2", `:1:3: index "99999999999999999999999" is beyond 2147483647; fix the line`},
		{"1:1 2:1", `:1:1: "1:1" in place of the label; begin the line with a label, 0 for none`},
		{"1,3 2:1", `:1:1: "1,3" are several labels; keep one of them`},
		{"nan 2:1", `:1:1: label "nan" is not a number; number the classes`},
		{"3 qid:1 2:1", `:1:3: "qid:1": ranking data with query ids is not supported; cut them out`},
		{"1 1:\x01", `:1:3: value "\x01" is not a number; fix the line`},
		{"# c\r1 1:1\n", ":1: a carriage return within the line; end lines with line feeds"},
		{"1 0:1 1:1 2:0\n2 0:2 1:1\n", ":2: 1 kernel value, line 1 has 2; list every column on each line"},
		{"1 0:1 1:1\n2 0:2 1:1 2:1\n", ":2: 2 kernel values, line 1 has 1; list every column on each line"},
		{"# kernel\n1 0:1 1:1 2:0\n2 1:1 2:1\n", ":3:3: index 1, want 0, because line 2 begins like a precomputed kernel; " + kernel},
		{"1 0:1 2:1\n", ":1:7: index 2, want 1, because line 1 begins like a precomputed kernel; " + kernel},
		{"1 0:0.5 1:1\n", ":1:3: serial number 0.5 is not an integer, and line 1 begins like a precomputed kernel; " + kernel},
		{"1 0:1 1:1\n2\n", ":2: 0 kernel values, line 1 has 1; list every column on each line"},
	} {
		path := write(t, "x.svm", []byte(test.text))
		_, err := read[float64](path, &Options{Name: "x.svm"})
		want := test.want
		if !strings.HasPrefix(want, ":") {
			want = ": " + want
		}
		if wrong := new(nodefile.ParseError); !errors.As(err, &wrong) || strings.TrimPrefix(err.Error(), filepath.Dir(path)+"/") != "x.svm"+want {
			t.Errorf("%q:\n got %v\nwant x.svm%s", test.text, err, want)
		}
	}
	path := write(t, "x.svm", []byte("1 1:1e300"))
	if _, err := read[float32](path, &Options{Name: "x"}); err == nil || err.Error() != `x:1:3: value "1e300" is beyond float32; pass option dtype=float64` {
		t.Error(err)
	}
}

func TestOthers(t *testing.T) {
	want, err := read[float64]("testdata/sklearn.npy", nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, o := range map[string]Options{"sklearn.svm": {}, "sklearn0.svm": {ZeroBased: true}, "several.npz": {}} {
		got, err := read[float64](filepath.Join("testdata", path), &o)
		if err != nil || !equal(got.rows, want.rows) || got.Single {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, memory := range []int64{0, 1, 200} {
		got, err := read[float32]("testdata/fortran.npy", &Options{Memory: memory})
		if err != nil || !got.Single || got.Rows != 12 || got.Cols != 7 {
			t.Fatal(got, err)
		}
		for i, row := range want.rows {
			for j, v := range row {
				if got.rows[i][j] != float32(v) {
					t.Fatalf("fortran.npy [%d, %d]: %v, want %v", i, j, got.rows[i][j], v)
				}
			}
		}
	}
	svm, err := read[float64]("testdata/sklearn.svm", nil)
	if err != nil || strings.Join(svm.labels[:3], "") != "112" {
		t.Error(svm.labels, err)
	}
}

func TestRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	t.Run("float32", func(t *testing.T) { testRoundTrip[float32](t, 32) })
	t.Run("float64", func(t *testing.T) { testRoundTrip[float64](t, 64) })
}

func testRoundTrip[T sparse.Float](t *testing.T, bits int) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(1, 6).Draw(t, "cols")
		number := rapid.Custom(func(t *rapid.T) T {
			v := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-math.MaxFloat32, math.MaxFloat32), rapid.Float64Range(-1, 1)).Draw(t, "v")
			return T(v)
		})
		rows := rapid.SliceOfN(rapid.SliceOfN(number, cols, cols), 1, 5).Draw(t, "rows")
		rows[0][cols-1] = 1 // the last column is in the text
		kernel := rapid.Bool().Draw(t, "kernel")
		m := &Matrix{Rows: Axis{len(rows), idOf("r")}, Cols: Axis{cols, idOf("c")}, Kernel: kernel, Label: strconv.Itoa}
		for _, format := range Formats {
			var content bytes.Buffer
			writeRows(t, &content, format, m, rows)
			path := filepath.Join(dir, "x"+format.Endings[0])
			if err := os.WriteFile(path, content.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			got, err := read[T](path, &Options{Shared: format.IsShared})
			if err != nil {
				t.Fatal(err)
			}
			if !equal(got.rows, rows) || format.HasLabels && (got.Kernel != kernel || !got.InOrder || got.labels[len(rows)-1] != strconv.Itoa(len(rows)-1)) {
				t.Fatalf("%s: %v, want %v", format.Name, got.rows, rows)
			}
			ids, err := got.Axis(t.Context(), "cols")
			if inIt := format.names != nil; inIt != (err == nil) || !inIt && !errors.Is(err, ErrNoIDs) || inIt && (!format.IsShared && got.Kernel != kernel || ids.N != cols || ids.ID(cols-1) != m.Cols.ID(cols-1)) {
				t.Fatalf("%s: %d columns, %v", format.Name, ids.N, err)
			}
		}
	})
}

func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 200_000
	row := make([]float32, n)
	for j := range row {
		row[j] = 1 / float32(j+1)
	}
	var text bytes.Buffer
	writeRows(t, &text, LIBSVM, &Matrix{Rows: Axis{N: 2}, Cols: Axis{N: n}, Kernel: true}, [][]float32{row, row})
	if text.Len() < 2<<20 {
		t.Fatal(text.Len())
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(text.Bytes())
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	path := write(t, "k.svm.gz", packed.Bytes())
	got, err := read[float32](path, nil)
	if err != nil || !got.Kernel || !slices.Equal(got.rows[1], row) {
		t.Fatal(err)
	}
	cut := write(t, "k.svm.gz", packed.Bytes()[:packed.Len()/2])
	_, err = read[float32](cut, nil)
	if wrong := new(nodefile.ParseError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), ": compressed stream ends early, after byte ") {
		t.Error(err)
	}
}

func TestRecognize(t *testing.T) {
	for _, test := range []struct {
		name, head string
		want       *Format
	}{
		{"x", "\x93NUMPY\x01\x00", NPY},
		{"x.svm.gz", "", LIBSVM},
		{"x.LIBSVM", "a b", LIBSVM},
		{"x", "+1 1:0.7 2:1", LIBSVM},
		{"x", "+1 1:0.7\n-1 1:3 3:-1e-3", LIBSVM},
		{"x", "# c\n\n+1\n3 1:0.7 2:0.", LIBSVM},
		{"x", "1 1:0.5 2:3 3:", LIBSVM},
		{"x", "1 qid:3 2:3 3:1\n", LIBSVM},
		{"x", "1 1:0.7\n", nil}, // an edge from 1 to a node called 1:0.7
		{"x", "1 2 3\n", nil},
		{"x", "1 2:1 3:a\n", nil},
		{"x", "a 2:1 3:1\n", nil},
		{"x.npy", "1 2\n", NPY},
		{"x.npz", "PK\x03\x04", nil},
		{"x", "", nil},
	} {
		if got := Recognize(test.name, []byte(test.head)); got != test.want {
			t.Errorf("%s %q: %v, want %v", test.name, test.head, got, test.want)
		}
	}
	ctx := context.Background()
	for path, want := range map[string]*Format{
		"testdata/several.npz": NPZ, "testdata/sklearn0.svm": LIBSVM, "testdata/fortran.npy": NPY, "testdata": nil, "none": nil, "-": nil,
		"../graphfile/testdata/small-coo.npz": nil, "../graphfile/testdata/gnnbench-cora.npz": nil,
	} {
		if got := Detect(ctx, path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
