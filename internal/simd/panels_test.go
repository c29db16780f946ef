package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPanels(t *testing.T) {
	type result struct {
		sums   [8]float64
		w0, w1 []float64
	}
	var first []result
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		var all []result
		for _, n := range []int{0, 4, 8, 12, 64, 512} {
			var columns [6][]float64
			var checks []func()
			for i := range columns {
				s, check := guarded(t, n, float64(guard))
				for r := range s {
					s[r] = rng.NormFloat64()
				}
				columns[i] = s
				checks = append(checks, check)
			}
			var got result
			for i := range got.sums {
				got.sums[i] = float64(i)
			}
			DotPanels(&got.sums, columns[0], columns[1], columns[2], columns[3], columns[4], columns[5])
			for i := range 2 {
				for j := range 4 {
					want, size := float64(4*i+j), 8.0
					for r := range n {
						want += columns[i][r] * columns[2+j][r]
						size += math.Abs(columns[i][r] * columns[2+j][r])
					}
					if math.Abs(got.sums[4*i+j]-want) > 1e-15*float64(n+1)*size {
						t.Fatalf("%d rows, product %d, %d: %g, want %g", n, i, j, got.sums[4*i+j], want)
					}
				}
			}
			var c [8]float64
			for i := range c {
				c[i] = rng.NormFloat64()
			}
			want := [2][]float64{make([]float64, n), make([]float64, n)}
			for j := range 2 {
				for r := range n {
					v := columns[j][r]
					for i := range 4 {
						v += float64(columns[2+i][r] * c[4*j+i])
					}
					want[j][r] = v
				}
			}
			AddPanels(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], &c)
			for j := range 2 {
				for r := range n {
					if columns[j][r] != want[j][r] {
						t.Fatalf("%d rows, column %d, row %d: %g, want %g", n, j, r, columns[j][r], want[j][r])
					}
				}
			}
			got.w0, got.w1 = columns[0], columns[1]
			all = append(all, got)
			for _, check := range checks {
				check()
			}
		}
		if first == nil {
			first = all
			return
		}
		for i := range all {
			if all[i].sums != first[i].sums {
				t.Errorf("other bits: %v, %v", all[i].sums, first[i].sums)
			}
		}
	})
}

func BenchmarkPanels(b *testing.B) {
	const n = 512
	s := make([]float64, 6*n)
	at := func(i int) []float64 { return s[i*n : (i+1)*n] }
	b.Run("dot", func(b *testing.B) {
		var sums [8]float64
		for b.Loop() {
			DotPanels(&sums, at(0), at(1), at(2), at(3), at(4), at(5))
		}
		b.ReportMetric(float64(b.N)*16*n/b.Elapsed().Seconds()/1e9, "Gflop/s")
	})
	b.Run("add", func(b *testing.B) {
		var c [8]float64
		for b.Loop() {
			AddPanels(at(0), at(1), at(2), at(3), at(4), at(5), &c)
		}
		b.ReportMetric(float64(b.N)*16*n/b.Elapsed().Seconds()/1e9, "Gflop/s")
	})
}
