package tablefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
)

type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f--; *f < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func idOf(kind string) func(int) string {
	return func(i int) string { return fmt.Sprint(kind, i) }
}

func writeRows[T sparse.Float](t interface{ Fatal(...any) }, w io.Writer, f *Format, m *Matrix, rows [][]T) {
	out, err := NewWriter[T](w, f, m)
	for _, row := range rows {
		if err == nil {
			err = out.Row(row)
		}
	}
	if err == nil {
		err = out.Close(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLIBSVMText(t *testing.T) {
	var file bytes.Buffer
	m := &Matrix{Rows: Axis{N: 2}, Cols: Axis{N: 3}, Label: func(i int) string { return []string{"2", "0"}[i] }}
	writeRows(t, &file, LIBSVM, m, [][]float32{{0, 0.5, 1. / 3}, {1, 0, 0}})
	if want := "2 2:0.5 3:0.33333334\n0 1:1\n"; file.String() != want {
		t.Errorf("got %q, want %q", file.String(), want)
	}
	file.Reset()
	writeRows(t, &file, LIBSVM, &Matrix{Rows: Axis{N: 2}, Cols: Axis{N: 2}, Kernel: true}, [][]float64{{1, math.Copysign(0, -1)}, {0, 1.5}})
	if want := "0 0:1 1:1 2:-0\n0 0:2 1:0 2:1.5\n"; file.String() != want {
		t.Errorf("got %q, want %q", file.String(), want)
	}
}

func TestReadAxis(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"l.ids", "id\r\n#a\n b c\n\n", []string{"id", "#a", " b c"}},
		{"l.txt", "id\r\n#a\n b c\n# e\n\n", []string{"#a", "b c"}},
		{"l.csv", "x y\n\"b\",1\n\"c,d\"\ne,\n", []string{"x y", "b", "c,d", "e"}}, // the first line of a table may have one column
	} {
		path := write(t, c.name, []byte(c.text))
		a, err := ReadAxis(t.Context(), path, len(c.want), nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for i, id := range c.want {
			if a.ID(i) != id {
				t.Errorf("%s: id %d is %q, want %q", c.name, i, a.ID(i), id)
			}
		}
		if _, err := ReadAxis(t.Context(), path, len(c.want)+1, nil); !errors.As(err, new(*nodefile.ParseError)) {
			t.Errorf("%s: %v where there is an id less", c.name, err)
		}
	}
	if _, err := ReadAxis(t.Context(), filepath.Join(t.TempDir(), "none"), 1, nil); err == nil {
		t.Error("a list that is not there")
	}
}

func TestWriteIDs(t *testing.T) {
	var file bytes.Buffer
	ids := AxisOf([]string{"b", "", "a b"})
	if err := WriteIDs(&file, ids); err != nil {
		t.Fatal(err)
	}
	if want := "b\n\na b\n"; file.String() != want {
		t.Errorf("got %q, want %q", file.String(), want)
	}
	f := failing(0)
	if err := WriteIDs(&f, ids); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestWriterReportsWriteErrors(t *testing.T) {
	for f, cols := range map[*Format]int{LIBSVM: 40_000, NPY: 20_000, NPZ: 1000} { // some buffers full
		m := &Matrix{Rows: Axis{2, idOf("r")}, Cols: Axis{cols, idOf("c")}, Kernel: true}
		for n := 0; ; n++ {
			w := failing(n)
			out, err := NewWriter[float64](&w, f, m)
			for range m.Rows.N {
				if err == nil {
					err = out.Row(make([]float64, m.Cols.N))
				}
			}
			if err == nil {
				err = out.Close(t.Context())
			}
			if w >= 0 {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s: write %d fails: %v", f.Name, n, err)
			}
		}
	}
}
