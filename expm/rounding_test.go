package expm

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// wideWeights returns a connected graph whose weights spread over twelve decades,
// so that rounding errors of its degrees are larger than its least weights.
func wideWeights(t testing.TB, rngSeed uint64, nodes int) *sparse.CSR {
	t.Helper()
	rng := rand.New(rand.NewPCG(rngSeed, 1))
	var entries []sparse.Triplet
	edge := func(i, j int) {
		w := math.Pow(10, 12*rng.Float64()-6)
		entries = append(entries,
			sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
	}
	for i := 1; i < nodes; i++ {
		edge(i, rng.IntN(i))
		if j := (i + nodes/2) % nodes; i >= 2 && j > i+1 {
			edge(i, j)
		}
	}
	return must[*sparse.CSR](t)(sparse.FromTriplets(nodes, nodes, entries))
}

// bounded fails where a column is further from the truth than its bound.
func bounded(t *testing.T, name string, y *sparse.Block[float64], want func(i, j int) float64, o Outcome) {
	t.Helper()
	w := sparse.NewBlock[float64](y.Rows, y.Cols)
	for i := range y.Rows {
		for j := range y.Cols {
			w.Row(i)[j] = want(i, j)
		}
	}
	d, _, columns := distance(y, w)
	if !(d <= o.ErrorBound) {
		t.Errorf("%s, %v: error %.3g, bound %.3g", name, o.Method, d, o.ErrorBound)
	}
	for j, c := range columns {
		if !(c <= o.ColumnBound[j]) {
			t.Errorf("%s, %v, column %d: error %.3g, bound %.3g", name, o.Method, j, c, o.ColumnBound[j])
		}
	}
}

// What rounding does to the degrees and in solves is in the bounds.
func TestWideWeights(t *testing.T) {
	const nodes, sigma = 12, 1.0 / 3
	rows := make([]int, nodes)
	for i := range rows {
		rows[i] = i
	}
	for rngSeed := range uint64(20) {
		a := wideWeights(t, rngSeed, nodes)
		g := graphOf(t, a, 1)
		m, e := mapOf(t, g, "L"), eigenOf(g, "L")
		b, y := identity(nodes, rows...), blocks(nodes, nodes, 1)
		run := func(f Function, method Method) Outcome {
			r, err := m.ApplyTo(ctx, y, b, []Function{f}, &Settings{Tolerance: 1e-12, Method: method})
			if err != nil && !errors.Is(err, ErrTolerance) {
				t.Fatal(err)
			}
			return r.Functions[0]
		}
		// So large a rate leaves the constants only.
		if rate := 60 / e.values[1]; e.values[1] > 1e-5 && e.values[2] > e.values[1] {
			o := run(Exp(-rate), Resolvent)
			bounded(t, fmt.Sprintf("rng seed %d, rate %.3g", rngSeed, rate), y[0], func(int, int) float64 { return 1. / nodes }, o)
		}
		inverse := inverse(nodes, func(i, j int) *big.Rat {
			if i != j {
				return exact(-a.At(i, j))
			}
			v := exact(sigma)
			for k := range nodes {
				v.Add(v, exact(a.At(i, k)))
			}
			return v
		})
		o := run(Matern(sigma, 1), Automatic)
		bounded(t, fmt.Sprintf("rng seed %d, Matérn", rngSeed), y[0], func(i, j int) float64 { return inverse[i][j] }, o)
	}
}
