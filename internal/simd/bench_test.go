package simd

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// Some loops have no AVX-512 form.
func benchmarkEach(b *testing.B, avx512 bool, bench func(*testing.B)) {
	for _, v := range variants() {
		if v.name == "AVX512" && !avx512 {
			continue
		}
		v.use()
		b.Run(v.name, bench)
	}
	variants()[0].use()
}

func perEntry(b *testing.B, entries, columns int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(entries)/float64(columns), "ns/entry/column")
}

func benchmarkGather[T Float](b *testing.B, k, n, mean int, weighted bool) {
	const entries = 1 << 14
	rng := rand.New(rand.NewPCG(1, 0))
	n /= k
	rows := entries / mean
	x := Rows[T]{make([]T, n*k), k}
	dst, scale := Rows[T]{make([]T, rows*k), k}, make([]T, rows)
	ptr, val := make([]int64, rows+1), make([]T, entries)
	for r := 1; r < rows; r++ {
		ptr[r] = min(ptr[r-1]+int64(rng.IntN(2*mean)), entries)
	}
	ptr[rows] = entries
	cols := make([]uint32, 64*entries)
	for i := range cols {
		cols[i] = rng.Uint32N(uint32(n))
	}
	part := 0
	for b.Loop() {
		col := cols[part*entries:]
		part = (part + 1) % 64
		if weighted {
			Gather(dst, k, scale, x, ptr, col, val)
		} else {
			Gather(dst, k, scale, x, ptr, col, nil)
		}
	}
	perEntry(b, entries, k)
}

func BenchmarkGather(b *testing.B) {
	for _, weighted := range []bool{false, true} {
		name := "Sum"
		if weighted {
			name = "Weighted"
		}
		for _, k := range []int{1, 2, 4, 5, 8, 16, 32, 40, 64} {
			b.Run(fmt.Sprintf("%s/float32/k=%d", name, k), func(b *testing.B) {
				benchmarkEach(b, true, func(b *testing.B) { benchmarkGather[float32](b, k, 16<<20, 32, weighted) })
			})
			b.Run(fmt.Sprintf("%s/float64/k=%d", name, k), func(b *testing.B) {
				benchmarkEach(b, true, func(b *testing.B) { benchmarkGather[float64](b, k, 16<<20, 32, weighted) })
			})
		}
	}
}

func BenchmarkShort(b *testing.B) {
	for _, k := range []int{1, 5, 8, 16} {
		for name, n := range map[string]int{"near": 100_000, "far": 2 << 20} {
			b.Run(fmt.Sprintf("float32/k=%d/%s", k, name), func(b *testing.B) {
				benchmarkEach(b, false, func(b *testing.B) { benchmarkGather[float32](b, k, n, 6, false) })
			})
			b.Run(fmt.Sprintf("float64/k=%d/%s", k, name), func(b *testing.B) {
				benchmarkEach(b, false, func(b *testing.B) { benchmarkGather[float64](b, k, n, 6, false) })
			})
		}
	}
}

func benchmarkAddRows[T Float](b *testing.B, k int) {
	const rows = 256
	dst, x, scale := Rows[T]{make([]T, rows*k), k}, Rows[T]{make([]T, rows*k), k}, make([]T, rows)
	for b.Loop() {
		AddRows(dst, rows, k, dst, scale, x)
	}
	perEntry(b, rows, k)
}

func BenchmarkAddRows(b *testing.B) {
	for _, k := range []int{1, 5, 8, 64} {
		b.Run(fmt.Sprintf("float32/k=%d", k), func(b *testing.B) {
			benchmarkEach(b, false, func(b *testing.B) { benchmarkAddRows[float32](b, k) })
		})
		b.Run(fmt.Sprintf("float64/k=%d", k), func(b *testing.B) {
			benchmarkEach(b, false, func(b *testing.B) { benchmarkAddRows[float64](b, k) })
		})
	}
}

func benchmarkScaleTo[T Float](b *testing.B) {
	const n = 4096
	dst, x := make([]T, n), make([]float64, n)
	for b.Loop() {
		ScaleTo(dst, 0.5, x)
	}
	perEntry(b, n, 1)
}

func BenchmarkScaleTo(b *testing.B) {
	b.Run("float32", func(b *testing.B) { benchmarkEach(b, false, benchmarkScaleTo[float32]) })
	b.Run("float64", func(b *testing.B) { benchmarkEach(b, false, benchmarkScaleTo[float64]) })
}

func BenchmarkDecode(b *testing.B) {
	const n = 1 << 14
	rng := rand.New(rand.NewPCG(2, 0))
	ids := make([]uint32, n)
	for e := range ids {
		// as in rows of an R-MAT graph: every length about as often
		ids[e] = rng.Uint32() >> (12 + rng.IntN(20))
		if e > 0 {
			ids[e] = (ids[e] + ids[e-1] + 1) & (1<<20 - 1)
		}
	}
	widths := [4]uint8{4, 8, 12, 20}
	sel, data := encode(ids, widths, 20)
	dst := make([]uint32, n+16)
	benchmarkEach(b, true, func(b *testing.B) {
		for b.Loop() {
			Decode(dst, n, sel, data, widths, 20)
		}
		perEntry(b, n, 1)
	})
}

func BenchmarkChecksum(b *testing.B) {
	data := make([]byte, 28<<10)
	benchmarkEach(b, true, func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			Checksum(0, data)
		}
	})
}

func BenchmarkHashPairs(b *testing.B) {
	for _, n := range []int{8, 48, 4096} {
		ids := make([]uint32, n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			benchmarkEach(b, true, func(b *testing.B) {
				b.SetBytes(int64(4 * n))
				for b.Loop() {
					HashPairs(7, 32, ids)
				}
			})
		})
	}
}
