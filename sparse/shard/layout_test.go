package shard

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Seven eighths of the entries are in 4,096 columns at equal distances.
func crowded(first, apart int, weight float64) *sparse.CSR {
	const rows, length, many = 1 << 17, 40, 1 << 12
	rng := rand.New(rand.NewPCG(11, uint64(apart)))
	ptr, col := make([]int64, rows+1), make([]uint32, 0, rows*length)
	for i := range rows {
		row := make([]uint32, length)
		for e := range row {
			row[e] = uint32(rng.IntN(rows))
			if e%8 > 0 {
				row[e] = uint32(first + rng.IntN(many)*apart)
			}
		}
		slices.Sort(row)
		col = append(col, slices.Compact(row)...)
		ptr[i+1] = int64(len(col))
	}
	var val []float64
	if weight != 1 {
		val = slices.Repeat([]float64{weight}, len(col))
	}
	return must(sparse.NewCSR(rows, rows, ptr, col, val))
}

func transposed(a *sparse.CSR) *sparse.CSR {
	n, _ := a.Dims()
	rows := make([][]uint32, n)
	var val []float64
	for i := range n {
		col, v := a.Row(i)
		for _, j := range col {
			rows[j] = append(rows[j], uint32(i))
		}
		val = append(val, v...)
	}
	ptr := make([]int64, n+1)
	for i, row := range rows {
		ptr[i+1] = ptr[i] + int64(len(row))
	}
	return must(sparse.NewCSR(n, n, ptr, slices.Concat(rows...), val))
}

func opened(t *testing.T, a *sparse.CSR, order string) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "g")
	var nodes *Nodes
	if n, _ := a.Dims(); order != "" {
		nodes = NewNumericNodes(n).Reorder(order, identity(n), nil)
	}
	write(t, dir, a, transposed(a), nodes, WriteOptions{})
	s := must(Open(t.Context(), dir, &Options{Stream: true}))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func identity(n int) []uint32 {
	place := make([]uint32, n)
	for j := range place {
		place[j] = uint32(j)
	}
	return place
}

// stepped returns S·X + X/2 for the same X in all runs.
func stepped[T sparse.Float](m sparse.Matrix, k, workers int) []T {
	n, _ := m.Dims()
	x, y, deg := sparse.NewBlock[T](n, k), sparse.NewBlock[T](n, k), make([]float64, n)
	for i := range n {
		deg[i] = float64(i%7 + 1)
		for j := range k {
			x.Row(i)[j] = T((i*31+j*17)%1013) / 7
		}
	}
	op := sparse.NewOperator[T](sparse.NormalizedAdjacency, m, deg)
	op.Workers = workers
	must(0, op.StepTo(bg, y, x, sparse.Step[T]{Alpha: 1, Beta: .5}))
	return y.Data
}

func TestFindLayout(t *testing.T) {
	if testing.Short() {
		t.Skip("makes matrices with millions of entries")
	}
	scattered, first := crowded(1<<16, 16, 1), crowded(0, 1, 1)
	s, leading, heavy := opened(t, scattered, ""), opened(t, first, ""), opened(t, crowded(1<<16, 16, 2), "")
	plain := s.Manifest.copyBytes()
	for _, c := range testgraph.Sample(t, 2, []struct {
		name   string
		a      sparse.Matrix
		o      sparse.LayoutOptions
		tiled  bool
		isNone bool
	}{
		{name: "scattered", a: s, o: sparse.LayoutOptions{Memory: plain}},
		{name: "scattered, no room", a: s, o: sparse.LayoutOptions{Memory: plain - 1}, isNone: true},
		{name: "scattered, with weights, room for ids", a: heavy, o: sparse.LayoutOptions{Memory: plain}, isNone: true},
		{name: "first", a: leading, tiled: true},
		{name: "first, eight sweeps", a: leading, o: sparse.LayoutOptions{Sweeps: 8}, tiled: true},
		{name: "first, seven sweeps", a: leading, o: sparse.LayoutOptions{Sweeps: 7}},
		{name: "first, no room for sums", a: leading, o: sparse.LayoutOptions{Memory: leading.Manifest.copyBytes(), RowBytes: 1 << 10, Workers: 64}},
		{name: "first, not a store", a: first, tiled: true},
		{name: "first, with weights", a: crowded(0, 1, 2), tiled: true},
	}) {
		c.o.RowBytes, c.o.Workers = max(32, c.o.RowBytes), max(2, c.o.Workers)
		find := func(ctx context.Context, o *sparse.LayoutOptions) (*sparse.Layout, error) {
			return sparse.FindLayout(ctx, c.a, o)
		}
		if s, is := c.a.(*Store); is {
			c.o.Ones = !s.Manifest.Weighted
		}
		l, err := find(t.Context(), &c.o)
		if err != nil || (l == nil) != c.isNone {
			t.Fatalf("%s: layout %v, error %v", c.name, l, err)
		}
		if c.isNone {
			continue
		}
		if l.Tiled != c.tiled {
			t.Errorf("%s: tiled %v", c.name, l.Tiled)
		}
		if c.o.Memory > 0 && l.Matrix > c.o.Memory {
			t.Errorf("%s: %d bytes, of %d", c.name, l.Matrix, c.o.Memory)
		}
		m := must(l.Load(t.Context()))
		if !slices.Equal(stepped[float64](m, 4, 2), stepped[float64](c.a, 4, 2)) {
			t.Errorf("%s: another product", c.name)
		}
	}
}
