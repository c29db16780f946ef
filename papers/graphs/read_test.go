package graphs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/param"
)

func put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	tu := put(t, map[string]string{"D_A.txt": "1, 2\n2, 3\n4, 5\n", "D_graph_indicator.txt": "1\n1\n1\n2\n2\n"})
	files := put(t, map[string]string{"one.tsv": "a\tb\nb\tc\n", "two.tsv": "x\ty\n", ".hidden": "?", "K.npy.run.json": "{}"})
	temp := t.TempDir()
	c, err := Read(t.Context(), tu, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "2"}, c.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	other, err := Read(t.Context(), files, &ReadOptions{Workers: 1, Temp: func() (string, error) { return temp, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two"}, other.IDs); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	for i := range c.Graphs {
		if diff := cmp.Diff(c.Graphs[i].Label, other.Graphs[i].Label); diff != "" {
			t.Errorf("graph %d (-TU +files):\n%s", i, diff)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left in the temporary directory", left, err)
	}
	wrong := new(param.ParameterError)
	if _, err := Read(t.Context(), tu, &ReadOptions{Vertices: "labels"}); !errors.As(err, &wrong) || wrong.Parameter != "vertices" {
		t.Errorf("%v, want one about vertices without labels", err)
	}
	for _, path := range []string{filepath.Join(files, "one.tsv"), t.TempDir()} {
		if _, err := Read(t.Context(), path, nil); !errors.As(err, new(*nodefile.ParseError)) {
			t.Errorf("%s: %v, want an error about no collection", path, err)
		}
	}
	if _, err := Read(t.Context(), filepath.Join(files, "nothing"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want one about a missing file", err)
	}
}

func TestReadElements(t *testing.T) {
	dir := put(t, map[string]string{
		"D_A.txt": "1, 2\n", "D_graph_indicator.txt": "1\n1\n2\n", "D_node_labels.txt": "7\n8\n7\n",
		"m.tsv": "8\t0.5\nother\t1\n7\t2\n", "few.tsv": "8\t1\n",
		"k.svm": "0 0:1 1:4 2:5 3:6\n0 0:2 1:7 2:8 3:9\n", "k.rows.ids": "8\n7\n", "k.cols.ids": "x\n7\n8\n",
		"l.svm": "0 0:1 1:4\n", "l.rows.ids": "8\n", "l.cols.ids": "8\n",
	})
	c, err := Read(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	s, given := new(Settings), param.Values{"parts": param.Of("vertices")}
	if err := s.ReadElements(t.Context(), c, Kernels().Named("cross"), given, in("m.tsv"), in("k.svm")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{2, 0.5}, s.Measure); diff != "" {
		t.Errorf("measure (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{8, 9, 5, 6}, append(append([]float64(nil), s.Base.Row(0)...), s.Base.Row(1)...)); diff != "" {
		t.Errorf("base kernel (-want +got):\n%s", diff)
	}
	for _, of := range []struct{ measure, base, want string }{
		{in("few.tsv"), "", `has no line for "7"`},
		{"", in("l.svm"), `"7" is none of its rows`},
	} {
		err := new(Settings).ReadElements(context.Background(), c, Kernels().Named("cross"), given, of.measure, of.base)
		if err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%v, want %s", err, of.want)
		}
	}
	none := new(Settings)
	if err := none.ReadElements(t.Context(), c, Kernels().Named("label-pair"), nil, in("few.tsv"), ""); err != nil || none.Measure != nil {
		t.Errorf("%v, %v: a kernel without parts reads nothing", none.Measure, err)
	}
}
