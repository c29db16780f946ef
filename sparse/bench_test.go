package sparse_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// The graph of the default scale is in the cache. From scale 20 on, memory limits the speed.
var scale = flag.Int("rmat", 16, "scale of the benchmarks' R-MAT graph: 2^scale rows, 32 entries a row before merging")

var rmat = sync.OnceValues(func() (*sparse.CSR, error) {
	const a, b, c = 0.57, 0.19, 0.19
	rng := rand.New(rand.NewPCG(uint64(*scale), 0))
	n := 1 << *scale
	place := rng.Perm(n)
	keys := make([]uint64, 0, 32*n)
	for range 16 * n {
		u, v := 0, 0
		for bit := range *scale {
			r := rng.Float64()
			if r >= a+b {
				u |= 1 << bit
			}
			if r >= a && r < a+b || r >= a+b+c {
				v |= 1 << bit
			}
		}
		if u != v {
			u, v := uint64(place[u]), uint64(place[v])
			keys = append(keys, u<<32|v, v<<32|u)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	ptr, col := make([]int64, n+1), make([]uint32, len(keys))
	for e, key := range keys {
		ptr[key>>32+1]++
		col[e] = uint32(key)
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	return sparse.NewCSR(n, n, ptr, col, nil)
})

func benchmarkStep[T sparse.Float](b *testing.B, k int, c terms) {
	a, err := rmat()
	if err != nil {
		b.Fatal(err)
	}
	n, _ := a.Dims()
	rng := rand.New(rand.NewPCG(1, 0))
	o, x, s := build[T](rng, a, k, c)
	dst := sparse.NewBlock[T](n, k)
	if err := o.StepTo(b.Context(), dst, x, s); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		if err := o.StepTo(b.Context(), dst, x, s); err != nil {
			b.Fatal(err)
		}
	}
	perColumn := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(a.NNZ()) / float64(k)
	b.ReportMetric(perColumn, "ns/entry/column")
}

func BenchmarkWalk(b *testing.B) {
	for _, k := range []int{1, 2, 4, 5, 8, 16, 40, 64} {
		b.Run(fmt.Sprintf("float32/k=%d", k), func(b *testing.B) { benchmarkStep[float32](b, k, terms{left: true}) })
		b.Run(fmt.Sprintf("float64/k=%d", k), func(b *testing.B) { benchmarkStep[float64](b, k, terms{left: true}) })
	}
}

func BenchmarkTerms(b *testing.B) {
	for name, c := range cases {
		b.Run("float32/"+name, func(b *testing.B) { benchmarkStep[float32](b, 8, c) })
		b.Run("float64/"+name, func(b *testing.B) { benchmarkStep[float64](b, 8, c) })
	}
}

func BenchmarkWide(b *testing.B) {
	const n, k = 2708, 1000
	rng := rand.New(rand.NewPCG(2, 0))
	a := random(b, rng, pattern{rows: n, cols: n, mean: 4})
	o, x, s := build[float32](rng, a, k, terms{left: true})
	dst := sparse.NewBlock[float32](n, k)
	for b.Loop() {
		if err := o.StepTo(b.Context(), dst, x, s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(a.NNZ())/k, "ns/entry/column")
}
