package iterative

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Jacobi would take thousands of steps.
func TestHarmonicSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const side = 100
	a := grid(side)
	n, _ := a.Dims()
	tail := side * side // hangs on the grid's last node; its end is clamped
	clamped := []int{0, side - 1, n - 1}
	sampled := false
	of := func(memory int64, workers int) (*sparse.Block[float64], *Result, error) {
		g := graphOf(t, a)
		g.Memory, g.Workers = memory, workers
		h, err := Harmonic(ctx, g, clamped)
		if err != nil {
			t.Fatal(err)
		}
		h.Sampled = sampled
		f := sparse.NewBlock[float64](n, 2)
		for i, l := range clamped {
			f.Row(l)[min(i, 1)] = 1
		}
		res, err := h.SolveTo(ctx, f, nil, &Settings{MaxIterations: 1000})
		return f, res, err
	}
	var first []float64
	for _, workers := range []int{1, 2, 7} {
		f, res, err := of(0, workers)
		if err != nil || !res.CompleteCholesky {
			t.Fatalf("%d workers: %v, with a factor: %t", workers, err, res.CompleteCholesky)
		}
		if first == nil {
			first = slices.Clone(f.Data)
		}
		if !slices.Equal(first, f.Data) {
			t.Errorf("%d workers: other bits", workers)
		}
		for i := range n {
			if sum := f.Row(i)[0] + f.Row(i)[1]; math.Abs(sum-1) > 1e-6 {
				t.Fatalf("row %d sums to %v", i, sum)
			}
		}
		// Along the tail a harmonic function is linear.
		from, to := f.Row(tail - 1)[0], f.Row(n - 1)[0]
		for i := tail; i < n; i++ {
			want := from + (to-from)*float64(i-tail+1)/float64(n-tail)
			if got := f.Row(i)[0]; math.Abs(got-want) > 1e-6 {
				t.Fatalf("row %d of the tail is %v, want %v", i, got, want)
			}
		}
	}
	for range 2 { // first the complete factor, then the sampled factor
		unlimited, res, err := of(0, 1)
		if err != nil || res.SampledCholesky != sampled {
			t.Fatalf("%v, with a sampled factor: %t", err, res.SampledCholesky)
		}
		memory := int64(1)
		for try := 0; ; try++ { // a refusal says how much is enough
			f, _, err := of(memory, 2)
			over := new(budget.Error)
			if !errors.As(err, &over) {
				if err != nil || try == 0 || !slices.Equal(unlimited.Data, f.Data) {
					t.Errorf("within %d bytes: other bits, %v", memory, err)
				}
				break
			}
			memory = over.Need
		}
		sampled = true
	}
}

func TestHarmonicEasy(t *testing.T) {
	const n = 40
	a := testgraph.Random(1, n, 200, false)
	of := func(memory int64) *sparse.Block[float64] {
		g := graphOf(t, a)
		g.Memory = memory
		h, err := Harmonic(ctx, g, []int{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		f := sparse.NewBlock[float64](n, 1)
		f.Row(1)[0] = 1
		if _, err := h.SolveTo(ctx, f, nil, nil); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if !slices.Equal(of(0).Data, of(1).Data) {
		t.Error("other bits without room for a factor")
	}
}

func TestRestricted(t *testing.T) {
	a, err := sparse.FromTriplets(4, 4, []sparse.Triplet{
		{Row: 0, Col: 0, Val: 7}, {Row: 0, Col: 1, Val: 2}, {Row: 1, Col: 0, Val: 2}, {Row: 0, Col: 3, Val: 3},
		{Row: 3, Col: 0, Val: 3}, {Row: 1, Col: 2, Val: 5}, {Row: 2, Col: 1, Val: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	free, err := freePart(ctx, a, []float64{1, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := sparse.Degrees(ctx, free, 1)
	if want := []float64{10, 0, 0, 3}; err != nil || !slices.Equal(got, want) {
		t.Errorf("degrees %v, %v; want %v", got, err, want)
	}
}

func TestHarmonicLoops(t *testing.T) {
	const n = 9
	for _, heavy := range []float64{1, 1e6, 1e12, 1e18} {
		var e []sparse.Triplet
		for i := range n - 1 {
			e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(i + 1), Val: 0.1}, sparse.Triplet{Row: uint32(i + 1), Col: uint32(i), Val: 0.1})
		}
		for _, i := range []int{0, 1, 4, 7} {
			e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(i), Val: heavy})
		}
		a, err := sparse.FromTriplets(n, n, e)
		if err != nil {
			t.Fatal(err)
		}
		h, err := Harmonic(ctx, graphOf(t, a), []int{0, n - 1})
		if err != nil {
			t.Fatal(err)
		}
		f := sparse.NewBlock[float64](n, 1)
		f.Row(n - 1)[0] = 1
		if _, err := h.SolveTo(ctx, f, nil, &Settings{Tolerance: 1e-12}); err != nil {
			t.Errorf("loops of %g: %v", heavy, err)
			continue
		}
		for i := range n {
			if want := float64(i) / (n - 1); math.Abs(f.Row(i)[0]-want) > 1e-10 {
				t.Errorf("loops of %g: row %d is %.12g, want %.12g", heavy, i, f.Row(i)[0], want)
			}
		}
	}
}

// On a path the harmonic function is the straight line between the values of the ends.
func TestHarmonicUnit(t *testing.T) {
	const n = 30
	for _, weight := range []float64{1e-90, 1e-30, 1e-12, 1, 1e12, 1e30, 1e90} {
		var e []sparse.Triplet
		for i := range n - 1 {
			e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(i + 1), Val: weight}, sparse.Triplet{Row: uint32(i + 1), Col: uint32(i), Val: weight})
		}
		a, err := sparse.FromTriplets(n, n, e)
		if err != nil {
			t.Fatal(err)
		}
		h, err := Harmonic(ctx, graphOf(t, a), []int{0, n - 1})
		if err != nil {
			t.Fatal(err)
		}
		f := sparse.NewBlock[float64](n, 1)
		f.Row(n - 1)[0] = 1
		if _, err := h.SolveTo(ctx, f, nil, nil); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if want := float64(i) / (n - 1); math.Abs(f.Row(i)[0]-want) > 1e-6 {
				t.Errorf("weight %g: row %d is %.12g, want %.12g", weight, i, f.Row(i)[0], want)
			}
		}
	}
}

// The reference is the elimination of L̄_UU in 300 bits, and for larger graphs the unsigned graph that differs only by the
// sides of nodes.
func TestHarmonicSpread(t *testing.T) {
	for seed := range uint64(12) {
		const n = 30
		rng := rand.New(rand.NewPCG(seed, 91))
		a := signedGraph(t, rng, n, 60, func(_, _ int) float64 { return float64(2*rng.IntN(2) - 1) })
		g := graphOf(t, a)
		clamped := []int{3, 11, 19}
		f := solveClamped(t, g, clamped)
		for i, want := range exactHarmonic(a, clamped, f) {
			if off := math.Abs(f.Row(i)[0] - want); off > 1e-11 && g.Components.Reachable(clamped).Contains(uint32(i)) {
				t.Errorf("seed %d: row %d is %v, want %v", seed, i, f.Row(i)[0], want)
			}
		}
	}
	// Pairs of nodes that a heavy edge joins, each with light edges to two clamped nodes.
	for _, n := range []int{900, 1500, 6000} {
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		var entries []sparse.Triplet
		for i := uint32(2); i < uint32(n); i += 2 {
			for _, e := range []sparse.Triplet{{Row: i, Col: i + 1, Val: 1e6}, {Row: i, Col: 0, Val: 1e-6 * rng.Float64()}, {Row: i + 1, Col: 1, Val: 1e-6 * rng.Float64()}} {
				entries = append(entries, e, sparse.Triplet{Row: e.Col, Col: e.Row, Val: e.Val})
			}
		}
		a, err := sparse.FromTriplets(n, n, entries)
		if err != nil {
			t.Fatal(err)
		}
		f := solveClamped(t, graphOf(t, a), []int{0, 1})
		for i := 2; i < n; i += 2 {
			if want := a.At(i+1, 1) / (a.At(i, 0) + a.At(i+1, 1)); math.Abs(f.Row(i)[0]-want) > 1e-10 {
				t.Fatalf("%d nodes: row %d is %v, want %v", n, i, f.Row(i)[0], want)
			}
		}
	}
	for _, n := range []int{1500, 6000} {
		side := func(i int) float64 { return float64(1 - 2*(i%3%2)) }
		weights := func() *rand.Rand { return rand.New(rand.NewPCG(uint64(n), 4)) }
		signed := graphOf(t, signedGraph(t, weights(), n, 2*n, func(i, j int) float64 { return side(i) * side(j) }))
		plain := graphOf(t, signedGraph(t, weights(), n, 2*n, func(_, _ int) float64 { return 1 }))
		clamped := []int{0, 3, 6, 9}
		got := solveClamped(t, signed, clamped)
		want := solveClamped(t, plain, clamped)
		if n > smallRows && got == nil && want == nil { // refused
			continue
		}
		for i := range n {
			if math.Abs(got.Row(i)[0]-side(i)*want.Row(i)[0]) > 1e-7 {
				t.Fatalf("%d nodes: row %d is %v, want ±%v", n, i, got.Row(i)[0], want.Row(i)[0])
			}
		}
	}
}

func signedGraph(t *testing.T, rng *rand.Rand, n, more int, sign func(i, j int) float64) *sparse.CSR {
	t.Helper()
	weight := map[[2]int]float64{}
	for e := range n - 1 + more {
		i, j := e+1, 0
		if i >= n {
			i = 1 + rng.IntN(n-1)
		}
		j = rng.IntN(i)
		weight[[2]int{i, j}] = sign(i, j) * math.Pow(10, 16*rng.Float64()-8)
	}
	var entries []sparse.Triplet
	for ends, w := range weight {
		i, j := uint32(ends[0]), uint32(ends[1])
		entries = append(entries, sparse.Triplet{Row: i, Col: j, Val: w}, sparse.Triplet{Row: j, Col: i, Val: w})
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// solveClamped returns the harmonic function with the values 0, 1, 2 … in clamped rows; nil if it is refused.
func solveClamped(t *testing.T, g *graph.Graph, clamped []int) *sparse.Block[float64] {
	t.Helper()
	h, err := Harmonic(ctx, g, clamped)
	if err != nil {
		t.Fatal(err)
	}
	f := sparse.NewBlock[float64](len(g.Degrees), 1)
	for value, i := range clamped {
		f.Row(i)[0] = float64(value)
	}
	_, err = h.SolveTo(ctx, f, nil, &Settings{Tolerance: 1e-11})
	if errors.Is(err, ErrIterationLimit) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func exactHarmonic(a *sparse.CSR, clamped []int, f *sparse.Block[float64]) []float64 {
	n, _ := a.Dims()
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	m := make([][]*big.Float, n) // [M | b]
	for i := range m {
		m[i] = make([]*big.Float, n+1)
		for j := range m[i] {
			m[i][j] = number(0)
		}
		if slices.Contains(clamped, i) {
			m[i][i], m[i][n] = number(1), number(f.Row(i)[0])
			continue
		}
		col, val := a.Row(i)
		for e, j := range col {
			m[i][i].Add(m[i][i], number(math.Abs(val[e])))
			m[i][j].Sub(m[i][j], number(val[e]))
		}
	}
	for p := range n {
		for i := range n {
			if i == p || m[i][p].Sign() == 0 || m[p][p].Sign() == 0 {
				continue
			}
			factor := new(big.Float).Quo(m[i][p], m[p][p])
			for j := p; j <= n; j++ {
				m[i][j].Sub(m[i][j], new(big.Float).Mul(factor, m[p][j]))
			}
		}
	}
	solution := make([]float64, n)
	for i := range m {
		solution[i], _ = new(big.Float).Quo(m[i][n], m[i][i]).Float64()
	}
	return solution
}
