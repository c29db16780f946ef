package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestColumns compares the loops with a factor or a sum for each column with
// their definitions, to the bit.
func TestColumns(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for k := 1; k <= 37; k++ {
			for _, rows := range []int{0, 1, 2, 9} {
				vector := func(n int) ([]float64, func()) {
					v, check := guarded(t, n, float64(guard))
					for i := range v {
						v[i] = rng.NormFloat64()
					}
					return v, check
				}
				var checks []func()
				numbers := func(n int) []float64 {
					v, check := vector(n)
					checks = append(checks, check)
					return v
				}
				matrix := func() Rows[float64] {
					stride := k + rng.IntN(4)
					return Rows[float64]{numbers(max(0, (rows-1)*stride+k)), stride}
				}
				x, p, z := matrix(), matrix(), matrix()
				alpha, beta, sums, more := numbers(k), numbers(k), numbers(k), numbers(k)
				factor, weight := numbers(rows), numbers(rows)
				clone := func(m Rows[float64]) Rows[float64] { return Rows[float64]{slices.Clone(m.Data), m.Stride} }
				at := func(m Rows[float64], i, j int) *float64 { return &m.Data[i*m.Stride+j] }
				same := func(what string, got, want []float64) {
					t.Helper()
					if !slices.Equal(got, want) {
						t.Fatalf("%s: %d rows of %d: %v, want %v", what, rows, k, got, want)
					}
				}

				want := slices.Clone(sums)
				for i := range rows {
					for j := range k {
						want[j] += float64(*at(x, i, j) * *at(p, i, j))
					}
				}
				DotColumns(sums, rows, x, p)
				same("DotColumns", sums, want)

				wantX, wantMore := clone(x), slices.Clone(more)
				for i := range rows {
					for j := range k {
						v := *at(x, i, j) - float64(alpha[j]**at(p, i, j))
						*at(wantX, i, j) = v
						want[j] += float64(weight[i] * float64(v*v))
						wantMore[j] += float64(factor[i] * float64(v*v))
					}
				}
				ResidualColumns(x, p, alpha, weight, factor, sums, more)
				same("ResidualColumns, r", x.Data, wantX.Data)
				same("ResidualColumns, rr", sums, want)
				same("ResidualColumns, rz", more, wantMore)

				wantP := clone(p)
				for i := range rows {
					for j := range k {
						v := *at(p, i, j)
						*at(wantX, i, j) += float64(alpha[j] * v)
						*at(wantP, i, j) = float64(factor[i]**at(z, i, j)) + float64(beta[j]*v)
					}
				}
				TurnColumns(x, p, z, alpha, beta, factor)
				same("TurnColumns, x", x.Data, wantX.Data)
				same("TurnColumns, p", p.Data, wantP.Data)
				for _, check := range checks {
					check()
				}
			}
		}
	})
}

func BenchmarkColumns(b *testing.B) {
	const rows, k = 256, 16
	block := func() Rows[float64] { return Rows[float64]{slices.Repeat([]float64{1e-3}, rows*k), k} }
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
