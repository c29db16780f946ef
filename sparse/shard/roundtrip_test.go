package shard

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse"
)

func write(t testing.TB, dir string, a, back *sparse.CSR, nodes *Nodes, o WriteOptions) {
	t.Helper()
	o.Directed = back != nil
	w, err := Create(dir, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := fill(w, a, back, nodes); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func fill(w *Writer, a, back *sparse.CSR, nodes *Nodes) error {
	rows := func(a *sparse.CSR) error {
		n, _ := a.Dims()
		for i := range n {
			col, val := a.Row(i)
			if err := w.Append(col, val, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if err := rows(a); err != nil {
		return err
	}
	if back != nil {
		if err := w.BeginIn(); err != nil {
			return err
		}
		if err := rows(back); err != nil {
			return err
		}
	}
	if nodes != nil {
		w.Nodes = nodes
	}
	return nil
}

// read fails if panels disagree with the ranges or if a row comes twice.
func read(ctx context.Context, a sparse.Matrix, workers int) (*sparse.CSR, error) {
	rows, cols := a.Dims()
	ranges := a.Ranges()
	type part struct {
		ptr []int64
		col []uint32
		val []float64
	}
	parts := make([]part, len(ranges))
	var mu sync.Mutex
	err := sparse.Sweep(ctx, a, workers, func(_ int, p sparse.Panel) error {
		q := part{ptr: slices.Clone(p.Ptr), col: slices.Clone(p.Col), val: slices.Clone(p.Val)}
		if p.Range != ranges[p.Index] || len(p.Col) != p.Entries || len(p.Ptr) != p.Hi-p.Lo+1 {
			return fmt.Errorf("panel %d: %+v, range %+v", p.Index, p.Range, ranges[p.Index])
		}
		if p.Val == nil {
			q.val = make([]float64, p.Entries)
			for i := range q.val {
				q.val[i] = 1
			}
		}
		if cap(p.Col)-len(p.Col) < spareIDs {
			return fmt.Errorf("panel %d: %d spare ids", p.Index, cap(p.Col)-len(p.Col))
		}
		mu.Lock()
		defer mu.Unlock()
		if parts[p.Index].ptr != nil {
			return fmt.Errorf("panel %d twice", p.Index)
		}
		parts[p.Index] = q
		return nil
	})
	if err != nil {
		return nil, err
	}
	ptr := make([]int64, rows+1)
	var col []uint32
	var val []float64
	for i, q := range parts {
		for k := 1; k < len(q.ptr); k++ {
			ptr[ranges[i].Lo+k] = int64(len(col)) + q.ptr[k] - q.ptr[0]
		}
		col = append(col, q.col...)
		val = append(val, q.val...)
	}
	if !slices.ContainsFunc(val, func(v float64) bool { return v != 1 }) {
		val = nil
	}
	return sparse.NewCSR(rows, cols, ptr, col, val)
}

func same(t testing.TB, got, want *sparse.CSR) {
	t.Helper()
	gr, gc := got.Dims()
	wr, wc := want.Dims()
	if gr != wr || gc != wc || got.NNZ() != want.NNZ() {
		t.Fatalf("%d×%d with %d entries, want %d×%d with %d", gr, gc, got.NNZ(), wr, wc, want.NNZ())
	}
	for i := range gr {
		c, v := got.Row(i)
		d, w := want.Row(i)
		if !slices.Equal(c, d) {
			t.Fatalf("row %d: columns differ", i)
		}
		for e := range c {
			if math.Float64bits(value(v, e)) != math.Float64bits(value(w, e)) {
				t.Fatalf("row %d, column %d: %v, want %v", i, c[e], value(v, e), value(w, e))
			}
		}
	}
}

func value(v []float64, e int) float64 {
	if v == nil {
		return 1
	}
	return v[e]
}

// graph also draws empty rows, isolated nodes, self loops and a row of hub entries.
func graph(rng *rand.Rand, n, m, hub int, symmetric bool, weight func() float64) (a, back *sparse.CSR) {
	seen := map[[2]uint32]bool{}
	var list []sparse.Triplet
	add := func(i, j uint32) {
		if seen[[2]uint32{i, j}] {
			return
		}
		v := weight()
		seen[[2]uint32{i, j}] = true
		list = append(list, sparse.Triplet{Row: i, Col: j, Val: v})
		if symmetric && i != j {
			seen[[2]uint32{j, i}] = true
			list = append(list, sparse.Triplet{Row: j, Col: i, Val: v})
		}
	}
	for range m {
		add(uint32(rng.IntN(n)), uint32(rng.IntN(n)))
	}
	for j := range hub {
		add(uint32(n/2), uint32(j))
	}
	turned := make([]sparse.Triplet, len(list))
	for i, t := range list {
		turned[i] = sparse.Triplet{Row: t.Col, Col: t.Row, Val: t.Val}
	}
	return must(sparse.FromTriplets(n, n, list)), must(sparse.FromTriplets(n, n, turned))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var weights = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"ones", func(*rand.Rand) float64 { return 1 }},
	{"bytes", func(r *rand.Rand) float64 { return float64(r.IntN(256)) }},
	{"uint16", func(r *rand.Rand) float64 { return float64(r.IntN(1 << 16)) }},
	{"uint32", func(r *rand.Rand) float64 { return float64(r.Uint32()) }},
	{"float32", func(r *rand.Rand) float64 { return float64(r.Float32()) }},
	{"float64", func(r *rand.Rand) float64 { return r.NormFloat64() }},
	{"minus zero", func(r *rand.Rand) float64 { return math.Copysign(0, -1) }},
	{"mixed", func(r *rand.Rand) float64 { return []float64{1, 1, 1, 1, 2, 0.1}[r.IntN(6)] }},
}

func TestRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "rng seed"), 1))
		n := rapid.SampledFrom([]int{1, 2, 3, 40, 300, 17000}).Draw(rt, "n")
		hub := 0
		if rapid.Bool().Draw(rt, "hub") {
			hub = rapid.IntRange(0, n).Draw(rt, "hub length")
		}
		weight := rapid.SampledFrom(weights).Draw(rt, "weights")
		directed := rapid.Bool().Draw(rt, "directed")
		a, back := graph(rng, n, rng.IntN(min(3*n, 10000)+1), hub, !directed, func() float64 { return weight.draw(rng) })
		if !directed {
			back = nil
		}
		o := WriteOptions{
			ShardBytes: rapid.SampledFrom([]int64{0, 1, 50000}).Draw(rt, "shard bytes"),
		}
		dir := t.TempDir()
		write(t, dir, a, back, nil, o)
		s, err := Open(t.Context(), dir, nil)
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		for range 2 {
			same(t, must(read(t.Context(), s, 2)), a)
			if directed {
				same(t, must(read(t.Context(), s.Transpose(), 2)), back)
			}
		}
		if kept := s.bytesOnlyTransposed(); kept > 0 != directed || directed && kept >= s.resident {
			rt.Fatalf("directed %v: %d of %d bytes kept for the other direction", directed, kept, s.resident)
		}
		if !slices.Equal(s.Ranges(), a.Ranges()) {
			rt.Fatal("the cut differs from that of the CSR matrix")
		}
		if deg := must(sparse.Degrees(t.Context(), a, 1)); !slices.Equal(deg, s.Degrees) {
			rt.Fatal("degrees differ")
		}
	})
}
