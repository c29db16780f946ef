package shard

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
)

// identity returns the places of columns that stay where they are.
func identity(n int) []uint32 {
	place := make([]uint32, n)
	for j := range place {
		place[j] = uint32(j)
	}
	return place
}

// TestCodedContract runs the conformance suite on coded matrices, and on those that
// name places in an order of their own.
func TestCodedContract(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for name, weight := range map[string]func() float64{
		"ones":    func() float64 { return 1 },
		"weights": rng.Float64,
		"few weights": func() float64 {
			if rng.IntN(30000) == 0 {
				return 2
			}
			return 1
		},
	} {
		a, _ := graph(rng, 20000, 60000, 18000, true, weight)
		n, _ := a.Dims()
		t.Run(name, func(t *testing.T) {
			m := must(code(bg, a, identity(n), n, 2))
			sparsetest.TestMatrix(t, func() sparse.Matrix { return m }, a)
		})
		t.Run(name+", packed", func(t *testing.T) {
			m := packed(t, a, 32)
			sparsetest.TestMatrix(t, func() sparse.Matrix { return m }, a)
		})
	}
}

// packed returns a coded and packed copy of a.
func packed(t *testing.T, a sparse.Matrix, rowBytes int) sparse.Matrix {
	t.Helper()
	_, cols := a.Dims()
	p := must(sparse.NewPacking(bg, a, 2))
	return sparse.NewPacked(must(code(bg, a, p.Places(cols), p.Len(), 2)), cols, p, rowBytes)
}

// TestCodedPackedBits compares steps with coded and packed copies, in one and in
// several passes, with those of the matrix, to the bit.
func TestCodedPackedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	strewn, _ := graph(rng, 70000, 100000, 18000, true, func() float64 { return 1 })
	weighted, _ := graph(rng, 20000, 60000, 18000, true, rng.Float64)
	for name, a := range map[string]*sparse.CSR{"neighbours": neighbours(70000, 20000), "strewn": strewn, "weighted": weighted} {
		narrow, wide := packed(t, a, 1), packed(t, a, 1<<10)
		for _, k := range []int{1, 3, 8, 40} {
			single, double := stepped[float32](a, k, 1), stepped[float64](a, k, 1)
			for _, workers := range []int{1, 2, 7} {
				for _, m := range []sparse.Matrix{narrow, wide} {
					if !slices.Equal(stepped[float32](m, k, workers), single) || !slices.Equal(stepped[float64](m, k, workers), double) {
						t.Fatalf("%s, %d columns, %d workers: another product", name, k, workers)
					}
				}
			}
		}
	}
}

// stepped returns S·X + X/2 for k columns that are alike in all runs.
func stepped[T sparse.Float](m sparse.Matrix, k, workers int) []T {
	n, _ := m.Dims()
	x, y, deg := sparse.NewBlock[T](n, k), sparse.NewBlock[T](n, k), make([]float64, n)
	for i := range n {
		deg[i] = float64(i%7 + 1)
		for j := range k {
			x.Row(i)[j] = T((i*31+j*17)%1013) / 7
		}
	}
	op := sparse.NewNormalizedAdjacency[T](m, deg)
	op.Workers = workers
	must(0, op.StepTo(bg, y, x, sparse.Step[T]{Alpha: 1, Beta: .5}))
	return y.Data
}

// TestCodedAhead: all ranges but the first that a worker takes at a time are left to
// the visitor to decode, also after a sweep that ended early.
func TestCodedAhead(t *testing.T) {
	const rows = 70000
	a := neighbours(rows, 20000)
	m := must(code(bg, a, identity(rows), rows, 2)).(*coded)
	near := simd.Near{Data: make([]byte, rows*32), Stride: 32}
	if !simd.GathersAhead(near) {
		t.Skip("the loops do not decode")
	}
	early := errors.New("early")
	err := m.SweepNear(bg, 1, near, func(_ int, p sparse.Panel, _ *simd.Decoding) error {
		if p.Index == 2 {
			return early
		}
		return nil
	})
	if err != early {
		t.Fatal(err)
	}
	left, turns := 0, 0
	must(0, m.SweepNear(bg, 1, near, func(_ int, p sparse.Panel, ahead *simd.Decoding) error {
		if ahead != nil {
			left++
		} else {
			turns++
		}
		return nil
	}))
	if left+turns != len(m.Ranges()) || left < turns {
		t.Errorf("%d ranges of %d were left to the visitor", left, len(m.Ranges()))
	}
}

// TestCodeBytes: the bound holds, and is not far off.
func TestCodeBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	a, _ := graph(rng, 1<<16, 1<<18, 30000, true, func() float64 { return 1 })
	n, _ := a.Dims()
	place := identity(n)
	rng.Shuffle(n, func(i, j int) { place[i], place[j] = place[j], place[i] })
	m := must(code(bg, a, place, n, 1)).(*coded)
	taken, arenas := int64(0), map[*byte]bool{}
	for _, p := range m.payloads {
		taken += int64(len(p)) + 24
		if end := &p[:cap(p)][cap(p)-1]; !arenas[end] {
			arenas[end] = true
		}
	}
	taken = max(taken, int64(len(arenas)-1)*arenaBytes)
	const spare = 3 << 20 // what does not grow with the matrix
	bound, empty := codeBytes(a, n, 1), codeBytes(must(sparse.NewCSR(0, n, []int64{0}, nil, nil)), n, 1)
	if taken > bound-empty || bound > taken*5/4+spare {
		t.Errorf("%d bytes, bounded by %d, of which %d are for any matrix", taken, bound, empty)
	}
}

func TestCodeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := code(ctx, neighbours(1000, 10), identity(1000), 1000, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a cancelled context", err)
	}
}
