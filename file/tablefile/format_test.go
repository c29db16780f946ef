package tablefile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

var plain = &Format{
	Name: "plain", Title: "a plain matrix", Endings: []string{".plain"}, NoGraph: "give edges", Text: true,
	matches: func(ending string, _ []byte) bool { return ending == ".plain" },
	inspect: func(f *File, in *textio.Reader) error {
		_, err := fmt.Fscan(in.Content(), &f.Rows, &f.Cols)
		return err
	},
	of32: rows[float32]{read: readPlain[float32], write: newPlainWriter[float32]},
	of64: rows[float64]{read: readPlain[float64], write: newPlainWriter[float64]},
}

func readPlain[T sparse.Float](_ context.Context, in *textio.Reader, f *File, visit func(label []byte, row []T) error) error {
	text, row := bufio.NewReader(in.Content()), make([]T, f.Cols)
	_, err := fmt.Fscan(text, new(int), new(int))
	for range f.Rows {
		for j := range row {
			if err == nil {
				_, err = fmt.Fscan(text, &row[j])
			}
		}
		if err == nil {
			err = visit(nil, row)
		}
	}
	return err
}

func newPlainWriter[T sparse.Float](w io.Writer, m *Matrix) (*Writer[T], error) {
	_, err := fmt.Fprintln(w, m.Rows.N, m.Cols.N)
	return &Writer[T]{cols: m.Cols.N, close: func() error { return nil }, row: func(_ int, values []T) error {
		for _, v := range values {
			if _, err := fmt.Fprintln(w, v); err != nil {
				return err
			}
		}
		return nil
	}}, err
}

func TestDeclaredFormat(t *testing.T) {
	before := Formats
	Formats = slices.Concat(Formats, []*Format{plain})
	t.Cleanup(func() { Formats = before })

	path := write(t, "x.plain", []byte("2 3\n1 2 3\n4 5 6.5\n"))
	if got := Recognize("x.plain.gz", nil); got != plain {
		t.Errorf("recognized %v", got)
	}
	if got := Detect(t.Context(), path); got != plain {
		t.Errorf("detected %v", got)
	}
	for _, to := range Formats {
		f, err := Inspect(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &Conversion{File: f}
		if err := c.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Convert[float32](t.Context(), c, to, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		got, err := read[float64](write(t, "y"+to.Endings[0], out.Bytes()), &Options{Shared: true})
		if want := [][]float64{{1, 2, 3}, {4, 5, 6.5}}; err != nil || !equal(got.rows, want) || got.Format != to {
			t.Errorf("%s: %v, %v", to.Name, got, err)
		}
	}
}

func TestFormatsAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Formats {
		if names[f.Name] || f.Title == "" || len(f.Endings) == 0 || (f.matches == nil) != f.IsShared || f.inspect == nil {
			t.Errorf("%s is not declared in full, or twice", f.Name)
		}
		names[f.Name] = true
		if f.of32.read == nil || f.of64.read == nil || f.of32.write == nil || f.of64.write == nil {
			t.Errorf("%s cannot be read and written with elements of both types", f.Name)
		}
		if f.AnyOrder != (f.of32.place != nil) || f.AnyOrder != (f.of64.place != nil) {
			t.Errorf("%s: AnyOrder %v", f.Name, f.AnyOrder)
		}
		if f.holds == nil && f.NoGraph == "" && !f.IsShared {
			t.Errorf("%s does not say what to do where a graph was requested", f.Name)
		}
	}
}

func TestReadCancelled(t *testing.T) {
	rows := make([][]float64, 500)
	for i := range rows {
		rows[i] = []float64{float64(i), 1}
	}
	m := &Matrix{Rows: Axis{len(rows), idOf("r")}, Cols: Axis{2, idOf("c")}}
	for _, format := range Formats {
		if format.Text {
			continue // text is read ahead
		}
		var content bytes.Buffer
		writeRows(t, &content, format, m, rows)
		f, err := Inspect(t.Context(), write(t, "x"+format.Endings[0], content.Bytes()), nil)
		if err != nil {
			t.Fatal(err)
		}
		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(t.Context())
		visited := 0
		err = Read(ctx, f, func([]byte, []float64) error {
			visited++
			stop(stopped)
			return nil
		})
		if !errors.Is(err, stopped) || visited != 1 {
			t.Errorf("%s: %d rows, %v", format.Name, visited, err)
		}
	}
}
