package heatwalk_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestOpenFolder(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, text := range map[string]string{
		"c.cites":   "p1 9\nx p1\n",
		"c.content": "9\t0\t1\tgood\nalone\t1\t0\tbad class\np1\t0\t0\tgood\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path  string
		nodes int
	}{{dir, 4}, {filepath.Join("testdata", "format", "v1", "path"), 3}} {
		g, err := heatwalk.Open(t.Context(), c.path, nil)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if got := g.Nodes.Len(); got != c.nodes {
			t.Errorf("%s: %d nodes, want %d", c.path, got, c.nodes)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", c.path, left, err)
		}
	}
}

// Nothing temporary is left.
func TestOpenDirected(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, text := range map[string]string{
		"arcs.mtx":     "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n",
		"arcs.graphml": `<graphml><graph edgedefault="directed"><node id="1"/><node id="2"/><node id="3"/><edge source="1" target="2"/><edge source="2" target="3"/><edge source="3" target="1"/></graph></graphml>`,
		"arcs.edges":   "1 2\n2 3\n3 1\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var o *heatwalk.Options
		if name == "arcs.edges" {
			o = &heatwalk.Options{Reading: &ingest.Config{Directed: true}}
		}
		g, err := heatwalk.Open(t.Context(), path, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !g.Directed || g.In == nil || g.A.NNZ() != 3 || g.Report == nil {
			t.Errorf("%s: directed %v, %d entries", name, g.Directed, g.A.NNZ())
		}
		if _, _, err := g.Kernel(t.Context(), "vertex", nil, nil, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		p, err := g.Classify(t.Context(), map[string]string{"1": "a", "2": "b"}, &heatwalk.ClassifyOptions{Method: "cwk"})
		if err != nil || p.Label("1") != "a" || p.Label("nobody") != "" {
			t.Errorf("%s: %v", name, err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
	g, err := heatwalk.FromMat(t.Context(), mat.NewDense(2, 2, []float64{0, 1, 0, 0}), nil)
	if err != nil || !g.Directed || g.A.NNZ() != 1 || g.In.NNZ() != 1 {
		t.Fatalf("a matrix: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	bad := filepath.Join(dir, "bad.tsv")
	if err := os.WriteFile(bad, []byte("a\tb\t1\nb\tc\tx\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bad, filepath.Join(dir, "missing.tsv"), filepath.Join(dir, "none", "x.graphml"), dir} {
		_, err := heatwalk.Open(t.Context(), path, nil)
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), temporary) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	g, err := heatwalk.FromMat(t.Context(), mat.NewSymDense(2, []float64{0, 1, 1, 0}), nil)
	if err != nil {
		t.Fatal(err)
	}
	unknown := new(heatwalk.IDError)
	if _, err := g.Classify(t.Context(), map[string]string{"0": "a", "7": "b"}, nil); !errors.As(err, &unknown) || unknown.ID != "7" {
		t.Errorf("unknown id: %v", err)
	}
	for _, name := range []string{"difusion", "diffusion:gamma=2", "diffusion:beta=x", "diffusion:beta", "diffusion:beta=-1"} {
		if _, _, err := g.Kernel(t.Context(), name, nil, nil, 0); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLargestComponent(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, text := range map[string]string{
		"numbers.tsv": "7 30 2\n30 4 0.5\n1 2 1\n9 8 1\n8 3 3\n",
		"text.tsv":    "z b 2\nb a 0.5\nq r 1\nx k 1\nk j 3\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, c := range []ingest.Config{{}, {Order: ingest.DegreeOrder}, {Directed: true}, {Directed: true, Order: ingest.DegreeOrder}} {
			open := func(largest bool) *heatwalk.Graph {
				g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Reading: &c, LargestComponent: largest})
				if err != nil {
					t.Fatal(err)
				}
				return g
			}
			whole, part := open(false), open(true)
			ids := part.IDs()
			want := "3 8 9" // two components have three nodes; this component has the first node
			if name == "text.tsv" {
				want = "z b a"
			}
			if strings.Join(ids, " ") != want || part.OmittedNodes != 5 || part.OmittedComponents != 2 {
				t.Errorf("%s: nodes %v; %d omitted, in %d components", name, ids, part.OmittedNodes, part.OmittedComponents)
			}
			entry := func(a sparse.Matrix, g *heatwalk.Graph, u, v string) float64 {
				row, _ := g.Nodes.Lookup(u)
				column, _ := g.Nodes.Lookup(v)
				return denseOf(t, a).At(row, column)
			}
			for _, u := range ids {
				for _, v := range ids {
					if got, want := entry(part.A, part, u, v), entry(whole.A, whole, u, v); got != want {
						t.Errorf("%s: %s to %s has weight %v, want %v", name, u, v, got, want)
					}
					if c.Directed && entry(part.In, part, v, u) != entry(part.A, part, u, v) {
						t.Errorf("%s: %s to %s differs in the other direction", name, u, v)
					}
				}
			}
			if err := errors.Join(whole.Close(), part.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func denseOf(t *testing.T, a sparse.Matrix) *mat.Dense {
	n, _ := a.Dims()
	dense := mat.NewDense(n, n, nil)
	err := sparse.Sweep(t.Context(), a, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			col, val := p.Row(i)
			for k, c := range col {
				w := 1.0
				if val != nil {
					w = val[k]
				}
				dense.Set(p.Lo+i, int(c), w)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dense
}
