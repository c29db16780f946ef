package graph

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// A store that is opened, in memory or from disk, has the degrees, components and
// products of the matrix that it was written from.
func TestOpen(t *testing.T) {
	a := testgraph.Random(7, 300, 900, true)
	dir := filepath.Join(t.TempDir(), "g")
	write(t, dir, a)
	want, err := New(t.Context(), a, &Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []*shard.Options{nil, {Memory: 1}, {Stream: true}} {
		g, err := Open(t.Context(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(g.Degrees, want.Degrees) || !slices.Equal(g.Components.Of, want.Components.Of) || g.Nodes.Len() != 300 {
			t.Errorf("%+v: another graph", o)
		}
		if _, streamed := g.A.(*shard.Store); streamed != (o != nil) {
			t.Errorf("%+v: streamed %v", o, streamed)
		}
		x, y, z := sparse.NewBlock[float64](300, 3), sparse.NewBlock[float64](300, 3), sparse.NewBlock[float64](300, 3)
		for i := range x.Data {
			x.Data[i] = float64(i%7) - 3
		}
		if err := errors.Join(g.Laplacian().ApplyTo(t.Context(), y, x), want.Laplacian().ApplyTo(t.Context(), z, x)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(y.Data, z.Data) {
			t.Errorf("%+v: L·X has other bits", o)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	arcs := filepath.Join(t.TempDir(), "d")
	w, err := shard.Create(arcs, &shard.WriteOptions{Directed: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append([]uint32{1}, nil), w.Append(nil, nil), w.BeginIn(), w.Append(nil, nil), w.Append([]uint32{0}, nil), w.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), arcs, nil); !errors.Is(err, ErrDirected) {
		t.Errorf("a directed store: %v", err)
	}
	if _, err := Open(t.Context(), t.TempDir(), nil); !errors.Is(err, shard.ErrNotStore) {
		t.Errorf("an empty directory: %v", err)
	}
}

func write(t *testing.T, dir string, a *sparse.CSR) {
	t.Helper()
	w, err := shard.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := a.Dims()
	for i := range n {
		col, val := a.Row(i)
		if err := w.Append(col, val); err != nil {
			t.Fatal(err)
		}
	}
	w.Nodes = shard.NewNumericNodes(n)
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestFromMat converts a gonum matrix, and checks the errors about negative weights and other
// shapes.
func TestFromMat(t *testing.T) {
	g, err := FromMat(t.Context(), sparse.BlockOf(2, 2, []float64{0, 2, 2, 0}), nil)
	if err != nil || g.Degrees[0] != 2 || len(g.Components.Sizes) != 1 {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := FromMat(t.Context(), sparse.BlockOf(2, 2, []float64{0, -1, -1, 0}), nil); !errors.Is(err, sparse.ErrStructure) {
		t.Errorf("negative weights: %v", err)
	}
	if _, err := FromMat(t.Context(), sparse.BlockOf(2, 1, []float64{0, 1}), nil); !errors.Is(err, sparse.ErrStructure) {
		t.Errorf("two rows and a column: %v", err)
	}
}

// A matrix that is not symmetric is an error, unless the difference is rounding; then it is averaged.
func TestFromMatAsymmetric(t *testing.T) {
	for _, c := range []struct {
		mirror float64
		fails  bool
	}{{1, false}, {1 + 1e-15, false}, {1 + 0x1p-34, false}, {1.001, true}, {0, true}} {
		g, err := FromMat(t.Context(), sparse.BlockOf(2, 2, []float64{0, 1, c.mirror, 0}), nil)
		if c.fails != errors.Is(err, sparse.ErrStructure) || !c.fails && err != nil {
			t.Errorf("1 and %g: %v", c.mirror, err)
		}
		if mean := 0.5 + c.mirror/2; !c.fails && (g.Degrees[0] != mean || g.Degrees[1] != mean) {
			t.Errorf("1 and %g: degrees %v", c.mirror, g.Degrees)
		}
	}
}

// Components are in the order of the ids, because the eigenvectors of a component are.
