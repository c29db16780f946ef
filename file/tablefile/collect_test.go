package tablefile

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestPlaced(t *testing.T) {
	const n, k = 5, 7
	value := func(i, j int) float64 { return float64(100*i+j) + 0.5 }
	m := &Matrix{Rows: Axis{N: n}, Cols: Axis{N: k}}
	dir := t.TempDir()
	written := func(name string, write func(f *os.File) error) string {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := written("rows", func(f *os.File) error {
		w, err := NewWriter[float32](f, NPY, m)
		for i := range n {
			row := make([]float32, k)
			for j := range row {
				row[j] = float32(value(i, j))
			}
			err = errors.Join(err, w.Row(row))
		}
		return errors.Join(err, w.Close(t.Context()))
	})
	for _, hold := range []bool{true, false} {
		got := written("pieces", func(f *os.File) error {
			p, err := NewWriter[float32](f, NPY, &Matrix{Rows: m.Rows, Cols: m.Cols, Pieces: true, Hold: hold})
			for _, at := range [][4]int{{3, 4, 2, 3}, {0, 4, 3, 3}, {3, 0, 2, 4}, {0, 0, 3, 4}} {
				piece := sparse.NewBlock[float64](at[2], at[3])
				for i := range piece.Rows {
					for j := range piece.Row(i) {
						piece.Row(i)[j] = value(at[0]+i, at[1]+j)
					}
				}
				err = errors.Join(err, p.Put(t.Context(), at[0], at[1], piece))
			}
			large := sparse.NewBlock[float64](1, 1)
			large.Data[0] = 1e39
			if err := p.Put(t.Context(), 0, 0, large); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "1e+39") {
				t.Error("a number beyond float32 is put")
			}
			large.Data[0] = value(0, 0)
			over, cancel := context.WithCancel(t.Context())
			cancel()
			if err := p.Put(over, 0, 0, large); !errors.Is(err, context.Canceled) {
				t.Errorf("put after a cancel: %v", err)
			}
			if err := p.Close(over); hold && !errors.Is(err, context.Canceled) {
				t.Errorf("closed after a cancel: %v", err)
			}
			return errors.Join(err, p.Put(t.Context(), 0, 0, large), p.Close(t.Context()))
		})
		if got != want {
			t.Errorf("held %v: another file", hold)
		}
	}
}

func TestReadCSR(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svm")
	for name, text := range map[string]string{path: "0 1:2 3:-1\n0\n0 2:0 4:5\n", strings.TrimSuffix(path, ".svm") + ".rows.ids": "ann\nbo\ncy\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Inspect(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, ids, err := ReadCSR(t.Context(), f, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []sparse.Triplet
	a.DoNonZero(func(i, j int, v float64) {
		got = append(got, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: v})
	})
	if want := []sparse.Triplet{{Row: 0, Col: 0, Val: 2}, {Row: 0, Col: 2, Val: -1}, {Row: 2, Col: 3, Val: 5}}; !slices.Equal(got, want) {
		t.Errorf("entries %v, want %v", got, want)
	}
	full := errors.New("full")
	var counted int64
	room := func(entries, bytes int64) error {
		if counted = entries; entries > 0 {
			return full
		}
		return nil
	}
	if _, named, err := ReadCSR(t.Context(), f, "", nil, room); !errors.Is(err, full) || counted != 3 || len(named) != 3 {
		t.Errorf("error %v, want %v; counted %d entries of %d rows, want all 3 of 3", err, full, counted, len(named))
	}
	rows, err := f.Axis(t.Context(), "rows")
	if err != nil || rows.N != 3 || rows.ID(2) != "cy" || !slices.Equal(ids, []string{"ann", "bo", "cy"}) {
		t.Errorf("rows %v, error %v", rows, err)
	}
	cols, err := f.Axis(t.Context(), "cols")
	if none := new(nodefile.ParseError); cols.ID != nil || !errors.Is(err, ErrNoIDs) || !errors.As(err, &none) || !strings.HasSuffix(none.File, "x.cols.ids") {
		t.Errorf("columns %v, error %v", cols, err)
	}
}

func TestIDsFitRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svm")
	if err := os.WriteFile(path, []byte("0 1:2\n0 1:3\n0 1:4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Inspect(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a\nb\nc\n": "", "a\nb\n": "2 ids, want 3", "a\nb\nc\nd\n": "4 ids, want 3", "a\nb\na\n": `id "a" is given to rows 1 and 3`,
	} {
		_, ids, err := ReadCSR(t.Context(), f, "-", strings.NewReader(text), nil)
		wrong := new(nodefile.ParseError)
		if want == "" && (err != nil || len(ids) != 3) || want != "" && (!errors.As(err, &wrong) || !strings.Contains(wrong.Msg, want)) {
			t.Errorf("%q: ids %v, error %v, want %q", text, ids, err, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")

func TestConvertReportsLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svm")
	if err := os.WriteFile(path, []byte("1 1:2\n2 1:3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Inspect(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &Conversion{File: f}
	if err := c.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := Convert[float64](t.Context(), c, NPY, io.Discard, full{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

func TestChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	write := func(by float64) {
		var b bytes.Buffer
		err := Fill[float64](t.Context(), &b, NPY, &Matrix{Rows: Axis{N: 3}, Cols: Axis{N: 2}}, func(i int, row []float64) error {
			row[0], row[1] = by, float64(i)
			return nil
		})
		if err = errors.Join(err, os.WriteFile(path, b.Bytes(), 0o666), os.Chtimes(path, time.Time{}, time.Unix(int64(by), 0))); err != nil {
			t.Fatal(err)
		}
	}
	write(1)
	f, err := Inspect(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Read(t.Context(), f, func([]byte, []float64) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := Read(t.Context(), f, func([]byte, []float64) error { write(2); return nil }); err == nil {
		t.Error("no error of a file that has changed")
	}
}

func TestPairs(t *testing.T) {
	vectors := [][]float64{{1, 2}, {3, 4}, {5, 6}}
	m := &Matrix{Rows: AxisOf([]string{"a", "b", "c"}), Cols: AxisOf([]string{"1", "2"})}
	for name, format := range map[string]*Format{"x.npz": NPZ, "x.npy": NPY, "x.csv": CSV, "x.mtx": Market} {
		var b, values bytes.Buffer
		valueFile := io.Writer(&values)
		if name == "x.npz" {
			valueFile = nil
		}
		if err := WritePairs(t.Context(), &b, valueFile, format, m, []float64{7, 8}, func(i int) []float64 { return vectors[i] }); err != nil {
			t.Fatal(err)
		}
		content := b.Bytes()
		path := name
		if name == "x.npz" { // the vectors are not the only array
			archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			member, err := archive.Open("vectors.npy")
			if err != nil {
				t.Fatal(err)
			}
			if content, err = io.ReadAll(member); err != nil {
				t.Fatal(err)
			}
		}
		if format == NPZ {
			path = "x.npy"
		}
		f, err := Inspect(t.Context(), write(t, path, content), &Options{Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		var got [][]float64
		err = Read(t.Context(), f, func(_ []byte, row []float64) error { got = append(got, slices.Clone(row)); return nil })
		if err != nil || !slices.EqualFunc(got, vectors, slices.Equal) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}

// If the copy of a stream fails, it must not be read as a shorter file.
func TestFailedCopy(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no device that is full")
	}
	o := &Options{Stdin: strings.NewReader("0 1:2\n"), Copy: func() (string, error) { return "/dev/full", nil }}
	if _, err := Inspect(t.Context(), "-", o); !errors.Is(err, durable.ErrFull) {
		t.Errorf("error %v", err)
	}
}
