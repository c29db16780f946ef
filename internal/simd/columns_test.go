package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestColumns(t *testing.T) {
	t.Run("float32", testColumns[float32])
	t.Run("float64", testColumns[float64])
}

func testColumns[T Float](t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for k := 1; k <= 37; k++ {
			for _, rows := range []int{0, 1, 2, 9} {
				var checks []func()
				numbers := func(n int) []float64 {
					v, check := guarded(t, n, float64(guard))
					for i := range v {
						v[i] = rng.NormFloat64()
					}
					checks = append(checks, check)
					return v
				}
				matrix := func() Rows[T] {
					stride := k + rng.IntN(4)
					v, check := guarded(t, max(0, (rows-1)*stride+k), T(guard))
					for i := range v {
						v[i] = T(rng.NormFloat64())
					}
					checks = append(checks, check)
					return Rows[T]{v, stride}
				}
				x, p, z := matrix(), matrix(), matrix()
				alpha, beta, sums, more := numbers(k), numbers(k), numbers(k), numbers(k)
				factor, weight := numbers(rows), numbers(rows)
				clone := func(m Rows[T]) Rows[T] { return Rows[T]{slices.Clone(m.Data), m.Stride} }
				at := func(m Rows[T], i, j int) float64 { return float64(m.Data[i*m.Stride+j]) }
				set := func(m Rows[T], i, j int, v float64) { m.Data[i*m.Stride+j] = T(v) }
				same := func(what string, equal bool) {
					t.Helper()
					if !equal {
						t.Fatalf("%s: %d rows of %d", what, rows, k)
					}
				}

				want := slices.Clone(sums)
				for i := range rows {
					for j := range k {
						want[j] += float64(at(x, i, j) * at(p, i, j))
					}
				}
				DotColumns(sums, rows, x, p)
				same("DotColumns", slices.Equal(sums, want))

				wantX := clone(x)
				for _, q := range []Rows[T]{p, x} {
					wantMore := slices.Clone(more)
					for i := range rows {
						for j := range k {
							set(wantX, i, j, at(x, i, j)-float64(alpha[j]*at(q, i, j)))
							v := at(wantX, i, j)
							want[j] += float64(weight[i] * float64(v*v))
							wantMore[j] += float64(factor[i] * float64(v*v))
						}
					}
					ResidualColumns(x, q, alpha, weight, factor, sums, more)
					same("ResidualColumns, r", slices.Equal(x.Data, wantX.Data))
					same("ResidualColumns, rr", slices.Equal(sums, want))
					same("ResidualColumns, rz", slices.Equal(more, wantMore))
				}

				wantP := clone(p)
				for i := range rows {
					for j := range k {
						v := at(p, i, j)
						set(wantX, i, j, at(x, i, j)+float64(alpha[j]*v))
						set(wantP, i, j, float64(factor[i]*at(z, i, j))+float64(beta[j]*v))
					}
				}
				TurnColumns(x, p, z, alpha, beta, factor)
				same("TurnColumns, x", slices.Equal(x.Data, wantX.Data))
				same("TurnColumns, p", slices.Equal(p.Data, wantP.Data))
				for _, check := range checks {
					check()
				}
			}
		}
	})
}

func BenchmarkColumns(b *testing.B) {
	b.Run("float32", benchmarkColumns[float32])
	b.Run("float64", benchmarkColumns[float64])
}

func benchmarkColumns[T Float](b *testing.B) {
	const rows, k = 256, 16
	block := func() Rows[T] { return Rows[T]{slices.Repeat([]T{1e-3}, rows*k), k} }
	x, p, z := block(), block(), block()
	alpha, beta := slices.Repeat([]float64{0.5}, k), slices.Repeat([]float64{0.25}, k)
	sums, more := make([]float64, k), make([]float64, k)
	factor := slices.Repeat([]float64{0.5}, rows)
	for _, v := range variants() {
		v.use()
		for name, loop := range map[string]func(){
			"dot":      func() { DotColumns(sums, rows, x, p) },
			"residual": func() { ResidualColumns(x, p, alpha, factor, factor, sums, more) },
			"turn":     func() { TurnColumns(x, p, z, alpha, beta, factor) },
		} {
			b.Run(v.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					loop()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/k, "ns/number")
			})
		}
	}
	variants()[0].use()
}
