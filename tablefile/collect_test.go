package tablefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
)

// Pieces in any order make the file that rows in order make, held or placed, and what
// float32 does not hold is an error.
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

// Entries of a matrix are those of its text that are not zero, and ids stand beside it.
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
	var told int64
	room := func(entries, bytes int64) error {
		if told = entries; entries > 0 {
			return full
		}
		return nil
	}
	if _, named, err := ReadCSR(t.Context(), f, "", nil, room); !errors.Is(err, full) || told != 3 || len(named) != 3 {
		t.Errorf("error %v, want %v; told of %d entries of %d rows, want all 3 of 3", err, full, told, len(named))
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
