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

// Weights spread over twelve decades: rounding errors of degrees exceed the least weights.
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

func TestWideWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const nodes, sigma = 12, 1.0 / 3
	rows := make([]int, nodes)
	for i := range rows {
		rows[i] = i
	}
	for rngSeed := range uint64(10) {
		a := wideWeights(t, rngSeed, nodes)
		g := graphOf(t, a, 1)
		m, e := mapOf(t, g, "L"), eigenOf(g, "L")
		b, y := identity(nodes, rows...), newBlocks(nodes, nodes, 1)
		run := func(f Function, method Method) Outcome {
			r, err := m.ApplyTo(ctx, y, b, []Function{f}, &Settings{Tolerance: 1e-12, method: method})
			if err != nil && !errors.Is(err, ErrTolerance) {
				t.Fatal(err)
			}
			return r.Functions[0]
		}
		// At such a rate only the constants remain.
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
		o := run(Matern(sigma, 1), "")
		bounded(t, fmt.Sprintf("rng seed %d, Matérn", rngSeed), y[0], func(i, j int) float64 { return inverse[i][j] }, o)
	}
}

// The bound of exp(−βL̃) includes rounding of the rows of D⁻¹A, times β. Two edges of weight 1 that a weak edge of weight w
// joins have the eigenvalue 1 − s with s = (√(c² + 4/(1+w)) − c)/2 and c = w/(1+w), of the vector (1, s·√(1+w), −s·√(1+w),
// −1).
func TestSlopeOfNormalizedLaplacian(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for trial := range 40 {
		rate := math.Pow(10, 3+float64(trial)/10)
		w := (1.1 + 0.37*float64(trial%7)) / rate
		g := graphOf(t, must[*sparse.CSR](t)(sparse.FromTriplets(4, 4, []sparse.Triplet{
			{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1}, {Row: 1, Col: 2, Val: w},
			{Row: 2, Col: 1, Val: w}, {Row: 2, Col: 3, Val: 1}, {Row: 3, Col: 2, Val: 1},
		})), 1)
		// In float64, 1 − s would lose half of its digits.
		num := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
		op := func(f func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float { return f(num(0), x, y) }
		d := op((*big.Float).Add, num(1), num(w))
		c := op((*big.Float).Quo, num(w), d)
		square := op((*big.Float).Add, op((*big.Float).Mul, c, c), op((*big.Float).Quo, num(4), d))
		s := op((*big.Float).Quo, op((*big.Float).Sub, num(0).Sqrt(square), c), num(2))
		lambda, _ := op((*big.Float).Sub, num(1), s).Float64()
		inner, _ := s.Float64()
		inner *= math.Sqrt(1 + w)
		slow, slowSquare := []float64{1, inner, -inner, -1}, 2*(1+inner*inner)
		still, stillSquare := []float64{1, math.Sqrt(1 + w), math.Sqrt(1 + w), 1}, 2*(2+w)
		m, x, y := mapOf(t, g, "L̃"), identity(4, 0, 1, 2, 3), newBlocks(4, 4, 1)
		f := math.Exp(-rate * lambda) // the other two eigenvalues are about 1 and 2
		for _, method := range []Method{Chebyshev, Resolvent} {
			r, err := m.ApplyTo(ctx, y, x, []Function{Exp(-rate)}, &Settings{Tolerance: 1e-14, method: method})
			if err != nil && !errors.Is(err, ErrTolerance) {
				t.Fatal(err)
			}
			bounded(t, fmt.Sprintf("rate %.3g", rate), y[0], func(i, j int) float64 {
				return still[i]*still[j]/stillSquare + f*slow[i]*slow[j]/slowSquare
			}, r.Functions[0])
		}
	}
}

// Powers err by about half an ulp, [math.Pow] by forty times as much.
func TestPowersAreRoundedOnce(t *testing.T) {
	for _, x := range []float64{2.843165971857937, 0.7, 1.999999999, 3} {
		exact := new(big.Float).SetPrec(400).SetInt64(1)
		for p := 1; p <= 504; p++ {
			exact.Mul(exact, new(big.Float).SetFloat64(x))
			want, _ := exact.Float64()
			if got := wholePower(x, p); math.Abs(got-want) > 0x1p-52*want {
				t.Fatalf("%v to the power of %d is %v, not %v", x, p, got, want)
			}
		}
	}
}
