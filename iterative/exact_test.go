package iterative

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

type link struct {
	a, b int
	w    float64
}

// linked returns the matrix of a graph; later links of a pair replace earlier links.
func linked(t testgraph.TB, n int, links []link) *sparse.CSR {
	t.Helper()
	weight := map[[2]int]float64{}
	for _, l := range links {
		if l.a != l.b {
			weight[[2]int{min(l.a, l.b), max(l.a, l.b)}] = l.w
		}
	}
	var list []sparse.Triplet
	for e, w := range weight {
		list = append(list, sparse.Triplet{Row: uint32(e[0]), Col: uint32(e[1]), Val: w}, sparse.Triplet{Row: uint32(e[1]), Col: uint32(e[0]), Val: w})
	}
	a, err := sparse.FromTriplets(n, n, list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// denseElimination returns N⁻¹·b for N = L + diag(ground), b ≥ 0 (Grassmann, Taksar and Heyman).
func denseElimination(a *sparse.CSR, ground, b []float64) []float64 {
	n := len(ground)
	w, g, x := make([][]float64, n), slices.Clone(ground), slices.Clone(b)
	for i := range w {
		w[i] = make([]float64, n)
		for j := range w[i] {
			if i != j {
				w[i][j] = a.At(i, j)
			}
		}
	}
	total := make([]float64, n)
	for v := range n {
		total[v] = g[v]
		for u := v + 1; u < n; u++ {
			total[v] += w[v][u]
		}
		for u := v + 1; u < n && total[v] > 0; u++ {
			f := w[v][u] / total[v]
			g[u] += f * g[v]
			x[u] += f * x[v]
			for y := v + 1; y < n; y++ {
				if y != u {
					w[u][y] += f * w[v][y]
				}
			}
		}
	}
	for v := n - 1; v >= 0; v-- {
		for u := v + 1; u < n; u++ {
			x[v] += w[v][u] * x[u]
		}
		if total[v] > 0 {
			x[v] /= total[v]
		} else {
			x[v] = 0
		}
	}
	return x
}

func denseHarmonic(a *sparse.CSR, clamped []int, ones ...int) []float64 {
	n, _ := a.Dims()
	var free []int
	for i := range n {
		if !slices.Contains(clamped, i) {
			free = append(free, i)
		}
	}
	var list []sparse.Triplet
	ground, b := make([]float64, len(free)), make([]float64, len(free))
	for x, i := range free {
		for y, j := range free {
			if w := a.At(i, j); w > 0 && i != j {
				list = append(list, sparse.Triplet{Row: uint32(x), Col: uint32(y), Val: w})
			}
		}
		for _, l := range clamped {
			ground[x] += a.At(i, l)
		}
		for _, l := range ones {
			b[x] += a.At(i, l)
		}
	}
	among, err := sparse.FromTriplets(len(free), len(free), list)
	if err != nil {
		panic(err)
	}
	f := make([]float64, n)
	for x, v := range denseElimination(among, ground, b) {
		f[free[x]] = v
	}
	for _, l := range ones {
		f[l] = 1
	}
	return f
}

// affinities returns exp(−γd²) for points of the plane in two groups, and their k nearest neighbours; k = 0 means all pairs.
func affinities(r *rand.Rand, n int, gap, gamma float64, k int) []link {
	at := make([][2]float64, n)
	for i := range at {
		at[i] = [2]float64{r.NormFloat64() * 0.3, r.NormFloat64() * 0.3}
		if i%2 == 1 {
			at[i][0] += gap
		}
	}
	var links []link
	for i := range at {
		var all []link
		for j := range at {
			if d := math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1]); i != j {
				all = append(all, link{i, j, math.Exp(-gamma * d * d)})
			}
		}
		slices.SortFunc(all, func(a, b link) int {
			if a.w > b.w {
				return -1
			}
			return 1
		})
		links = append(links, all[:min(k, len(all))]...)
	}
	return links
}

func wideGraphs(t testing.TB) map[string]*sparse.CSR {
	r := rand.New(rand.NewPCG(7, 7))
	clusters := func(size int, bridge float64) []link {
		links := []link{{0, size, bridge}, {1, size + 1, bridge / 3}}
		for c := range 2 {
			for i := range size {
				for j := range i {
					links = append(links, link{c*size + i, c*size + j, math.Exp(-20 * 0.05 * r.Float64())})
				}
			}
		}
		return links
	}
	chain := func(n int, ratio float64) (links []link) {
		for i := range n - 1 {
			links = append(links, link{i, i + 1, math.Pow(ratio, float64(i))})
		}
		return links
	}
	random := func(n, edges int, decades float64) (links []link) {
		for i := 1; i < n; i++ {
			links = append(links, link{i, r.IntN(i), math.Pow(10, -decades*r.Float64())})
		}
		for range edges {
			links = append(links, link{r.IntN(n), r.IntN(n), math.Pow(10, -decades*r.Float64())})
		}
		return links
	}
	return map[string]*sparse.CSR{
		"triangle by weak links":   linked(t, 5, []link{{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {0, 3, 1e-13}, {2, 4, 2e-13}}),
		"two clusters":             linked(t, 48, clusters(24, 3e-13)),
		"two clusters, far weaker": linked(t, 20, clusters(10, 1e-60)),
		"chain that fades":         linked(t, 30, chain(30, 0.1)),
		"chain that grows":         linked(t, 40, chain(40, 8)),
		"tree of 16 orders":        linked(t, 60, random(60, 0, 16)),
		"random, 14 orders":        linked(t, 90, random(90, 200, 14)),
		"affinities, all pairs":    linked(t, 150, affinities(r, 150, 3, 20, 150)),
		"affinities, nearest":      linked(t, 150, affinities(r, 150, 2, 50, 7)),
	}
}

func TestHarmonicOfManyOrders(t *testing.T) {
	for name, a := range wideGraphs(t) {
		n, _ := a.Dims()
		for _, clamped := range [][]int{{n - 2, n - 1}, {0, n - 1}, {1, n / 2, n - 1}} {
			var first []float64
			for _, workers := range []int{1, 2, 7} {
				g := graphOf(t, a)
				g.Workers = workers
				h, err := Harmonic(ctx, g, clamped)
				if err != nil {
					t.Fatal(err)
				}
				f := sparse.NewBlock[float64](n, len(clamped))
				for c, i := range clamped {
					f.Row(i)[c] = 1
				}
				if _, err := h.SolveTo(ctx, f, nil, nil); err != nil {
					t.Fatalf("%s, %v: %v", name, clamped, err)
				}
				if first == nil {
					first = slices.Clone(f.Data)
				}
				if !slices.Equal(first, f.Data) {
					t.Errorf("%s: other bits with %d workers", name, workers)
				}
				for c, one := range clamped {
					for i, want := range denseHarmonic(a, clamped, one) {
						if got := f.Row(i)[c]; !(math.Abs(got-want) <= 1e-9*want+1e-300) {
							t.Fatalf("%s, %v: row %d of column %d is %v, want %v", name, clamped, i, c, got, want)
						}
					}
				}
			}
		}
	}
}

func TestHarmonicOfManyOrdersLarge(t *testing.T) {
	n := ExactFirst + 20
	a := linked(t, n, affinities(rand.New(rand.NewPCG(3, 3)), n, 1, 30, 9))
	clamped := []int{0, 1, 2, 3}
	h, err := Harmonic(ctx, graphOf(t, a), clamped)
	if err != nil {
		t.Fatal(err)
	}
	f := sparse.NewBlock[float64](n, 2)
	f.Row(0)[0], f.Row(1)[1], f.Row(2)[0], f.Row(3)[1] = 1, 1, 1, 1
	if _, err := h.SolveTo(ctx, f, nil, nil); err != nil {
		t.Fatal(err)
	}
	want := denseHarmonic(a, clamped, 0, 2)
	for i := range want {
		if got := f.Row(i); i > 3 && !(math.Abs(got[0]-want[i]) <= 1e-6 && math.Abs(got[0]+got[1]-1) <= 1e-6) {
			t.Fatalf("row %d is %v, want %v", i, got, want[i])
		}
	}
}

// If the signs of B allow it, the bound is small.
func TestEliminateTo(t *testing.T) {
	for name, a := range wideGraphs(t) {
		n, _ := a.Dims()
		if n > 100 {
			continue
		}
		for _, normalized := range []bool{false, true} {
			g := graphOf(t, a)
			s, err := ShiftedLaplacian(g, normalized, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			b := sparse.NewBlock[float64](n, 3)
			b.Row(0)[0], b.Row(n - 1)[1], b.Row(1)[2], b.Row(2)[2] = 1, 1, 1, -1
			x := sparse.NewBlock[float64](n, 3)
			res, err := s.EliminateTo(ctx, x, b)
			if err != nil {
				t.Fatal(err)
			}
			for j := range b.Cols {
				want := bigPseudoInverse(a, s.Scale, columnOf(b, j))
				off, size := 0.0, 0.0
				for i, w := range want {
					off, size = math.Hypot(off, x.Row(i)[j]-w), math.Hypot(size, w)
				}
				if !(off <= res.ErrorBound[j]) || j < 2 && res.ErrorBound[j] > 1e-9*size {
					t.Errorf("%s, normalized %t, column %d: error %.3g, bound %.3g of %.3g", name, normalized, j, off, res.ErrorBound[j], size)
				}
			}
		}
	}
}

func TestEliminateDense(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const n = 300
	var links []link
	for i := range n {
		for j := range i {
			if r.Float64() < 0.7 {
				links = append(links, link{i, j, math.Pow(10, -12*r.Float64())})
			}
		}
	}
	a := linked(t, n, links)
	ground, b := make([]float64, n), make([]float64, n)
	ground[3], ground[200], b[7] = 1e-9, 1, 1
	want := denseElimination(a, ground, b)
	f, err := newExact(ctx, a, 1, ground, nil, noLimits, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := sparse.NewBlock[float64](n, 1)
	x.Row(7)[0] = 1
	if err := f.factor.ApplyTo(ctx, x, x); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got := x.Row(i)[0]; !(math.Abs(got-w) <= 1e-13*w) || !(math.Abs(got-w) <= f.error*w) {
			t.Fatalf("row %d is %v, want %v, bound %.3g", i, got, w, f.error)
		}
	}
}

// twice splits each entry of a matrix into a third and two thirds.
type twice struct{ *sparse.CSR }

func (m twice) SweepRows(ctx context.Context, lo, hi, workers int, visit func(worker int, p sparse.Panel) error) error {
	return m.CSR.SweepRows(ctx, lo, hi, workers, func(worker int, p sparse.Panel) error {
		q := p
		q.Ptr, q.Col, q.Val = make([]int64, len(p.Ptr)), nil, nil
		for e, c := range p.Col {
			q.Col = append(q.Col, c, c)
			value := 1.0
			if p.Val != nil {
				value = p.Val[e]
			}
			q.Val = append(q.Val, value/3, value/3*2)
		}
		for i, start := range p.Ptr {
			q.Ptr[i] = 2 * start
		}
		return visit(worker, q)
	})
}

func TestEliminateParallelEdges(t *testing.T) {
	a := testgraph.Random(8, 60, 200, true)
	n, _ := a.Dims()
	ground, b := make([]float64, n), make([]float64, n)
	ground[1], ground[7], b[3] = 0.5, 2, 1
	want := denseElimination(a, ground, b)
	f, err := newExact(ctx, twice{a}, 1, ground, nil, noLimits, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := sparse.NewBlock[float64](n, 1)
	copy(x.Data, b)
	if err := f.factor.ApplyTo(ctx, x, x); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got := x.Row(i)[0]; !(math.Abs(got-w) <= f.error*w) {
			t.Errorf("row %d is %v, want %v, bound %.3g", i, got, w, f.error)
		}
	}
}

func columnOf(b *sparse.Block[float64], j int) []float64 {
	c := make([]float64, b.Rows)
	for i := range c {
		c[i] = b.Row(i)[j]
	}
	return c
}

// bigPseudoInverse returns (diag(1/s)·L·diag(1/s))⁺·b of a connected graph in 400 bits; a nil s
// means ones.
func bigPseudoInverse(a *sparse.CSR, s, b []float64) []float64 {
	n := len(b)
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	mul := func(x, y *big.Float) *big.Float { return num(0).Mul(x, y) }
	root, weight := make([]*big.Float, n), make([]*big.Float, n)
	l := make([][]*big.Float, n)
	for i := range n {
		l[i] = make([]*big.Float, n)
		degree := num(0)
		for j := range n {
			w := num(a.At(i, j))
			l[i][j] = num(0)
			if i != j {
				l[i][j].Neg(w)
				degree.Add(degree, w)
			}
		}
		l[i][i] = degree
		root[i], weight[i] = num(1), num(1)
		if s != nil {
			root[i].Sqrt(degree)
			weight[i].Set(degree)
		}
	}
	mean := func(v []*big.Float, total *big.Float) *big.Float {
		sum := num(0)
		for _, x := range v {
			sum.Add(sum, x)
		}
		return sum.Quo(sum, total)
	}
	total := num(0)
	c := make([]*big.Float, n)
	for i := range n {
		total.Add(total, weight[i])
		c[i] = mul(root[i], num(b[i]))
	}
	m := mean(c, total)
	for i := range n {
		c[i].Sub(c[i], mul(weight[i], m))
	}
	for v := range n - 1 { // node n−1 is held at 0
		for u := v + 1; u < n-1; u++ {
			f := num(0).Quo(l[u][v], l[v][v])
			for y := v; y < n-1; y++ {
				l[u][y].Sub(l[u][y], mul(f, l[v][y]))
			}
			c[u].Sub(c[u], mul(f, c[v]))
		}
	}
	z := make([]*big.Float, n)
	z[n-1] = num(0)
	for v := n - 2; v >= 0; v-- {
		for u := v + 1; u < n-1; u++ {
			c[v].Sub(c[v], mul(l[v][u], z[u]))
		}
		z[v] = num(0).Quo(c[v], l[v][v])
	}
	weighted := make([]*big.Float, n)
	for i := range z {
		weighted[i] = mul(weight[i], z[i])
	}
	m = mean(weighted, total)
	x := make([]float64, n)
	for i := range z {
		x[i], _ = mul(root[i], num(0).Sub(z[i], m)).Float64()
	}
	return x
}
