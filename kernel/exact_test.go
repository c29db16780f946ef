package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

const exactBits = 300

func exact(x float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(x) }

func exactMatrix(n int, at func(i, j int) *big.Float) [][]*big.Float {
	m := make([][]*big.Float, n)
	for i := range m {
		m[i] = make([]*big.Float, n)
		for j := range m[i] {
			m[i][j] = at(i, j)
		}
	}
	return m
}

func exactInverse(a [][]*big.Float) [][]*big.Float {
	n := len(a)
	inverse := exactMatrix(n, func(i, j int) *big.Float {
		if i == j {
			return exact(1)
		}
		return exact(0)
	})
	product := new(big.Float).SetPrec(exactBits)
	for p := range n {
		for _, row := range [][]*big.Float{a[p], inverse[p]} {
			pivot := exact(0).Set(a[p][p])
			if &row[0] == &a[p][0] {
				for j := p + 1; j < n; j++ {
					row[j].Quo(row[j], pivot)
				}
				continue
			}
			for j := range n {
				row[j].Quo(row[j], pivot)
			}
		}
		for i := range n {
			if i == p || a[i][p].Sign() == 0 {
				continue
			}
			for j := p + 1; j < n; j++ {
				a[i][j].Sub(a[i][j], product.Mul(a[i][p], a[p][j]))
			}
			for j := range n {
				inverse[i][j].Sub(inverse[i][j], product.Mul(a[i][p], inverse[p][j]))
			}
		}
	}
	return inverse
}

// Each node must have an edge.
func exactResolvent(a *sparse.CSR, name string, p param.Values) [][]*big.Float {
	p, err := Families().Named(name).Resolve(p, nil)
	if err != nil {
		panic(err)
	}
	n, _ := a.Dims()
	degree := make([]*big.Float, n)
	for i := range degree {
		degree[i] = exact(0)
		for j := range n {
			degree[i].Add(degree[i], exact(a.At(i, j)))
		}
	}
	alpha := exact(p.Number("alpha"))
	zero := func() *big.Float { return exact(0) }
	// (c·I or D) − α·A, because S and T are similar to a matrix over D.
	whole := exactMatrix(n, func(i, j int) *big.Float {
		w := zero().Mul(alpha, exact(a.At(i, j)))
		w.Neg(w)
		if i == j {
			switch {
			case name == "von-neumann" && p["matrix"] == param.Of(adjacency):
				w.Add(w, exact(1))
			case name == "regularized-laplacian":
				w.Add(w, zero().Mul(alpha, degree[i]))
				w.Add(w, exact(1))
			default:
				w.Add(w, degree[i])
			}
		}
		return w
	})
	k := exactInverse(whole)
	left := exact(1)
	if name == "pagerank" {
		left.Sub(left, alpha)
	}
	for i := range k {
		for j, v := range k[i] {
			switch {
			case name == "pagerank" && !p.On("symmetric"): // (D − αA)⁻¹·D
				v.Mul(v, degree[j]).Mul(v, left)
			case name == "pagerank", name == "von-neumann" && p["matrix"] != param.Of(adjacency):
				root := zero().Sqrt(zero().Mul(degree[i], degree[j]))
				v.Mul(v, root).Mul(v, left)
			}
		}
	}
	return k
}

func decades(t *testing.T, rngSeed uint64, n, edges int, spread float64) *sparse.CSR {
	rng := rand.New(rand.NewPCG(rngSeed, 5))
	weights := map[[2]int]float64{}
	put := func(i, j int) {
		if i != j {
			weights[[2]int{min(i, j), max(i, j)}] = math.Pow(10, spread*(rng.Float64()-0.5))
		}
	}
	for i := 1; i < n; i++ {
		put(i, rng.IntN(i))
	}
	for range edges {
		put(rng.IntN(n), rng.IntN(n))
	}
	var list []sparse.Triplet
	for i := range n {
		for j := range n {
			if w, ok := weights[[2]int{min(i, j), max(i, j)}]; ok {
				list = append(list, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w})
			}
		}
	}
	return mustTriplets(t, n, list)
}

func disjoint(t *testing.T, a, b *sparse.CSR) *sparse.CSR {
	n, _ := a.Dims()
	m, _ := b.Dims()
	var list []sparse.Triplet
	for i := range n + m {
		for j := range n + m {
			w := 0.0
			switch {
			case i < n && j < n:
				w = a.At(i, j)
			case i >= n && j >= n:
				w = b.At(i-n, j-n)
			}
			if w != 0 {
				list = append(list, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w})
			}
		}
	}
	return mustTriplets(t, n+m, list)
}

func TestResolventsNearTheirPoles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for gi, a := range []*sparse.CSR{
		testgraph.Path(40), testgraph.Star(40), testgraph.Cycle(30), testgraph.Cycle(31),
		disjoint(t, testgraph.Path(20), testgraph.Complete(6)), disjoint(t, testgraph.Star(9), testgraph.Cycle(20)),
		decades(t, 1, 30, 40, 6), decades(t, 2, 30, 40, 12), decades(t, 3, 40, 0, 12),
	} {
		n, _ := a.Dims()
		cols := []int{0, 1, n / 2, n - 1}
		radius, err := radius(background, newGraph(t, a, 1))
		if err != nil {
			t.Fatal(err)
		}
		rests := []float64{1e-2, 1e-6, 1e-4, 3e-9}
		if !testgraph.Hunt {
			rests = rests[gi%2*2:][:2]
		}
		for _, rest := range rests {
			for _, c := range []named{
				{"pagerank", param.Values{"alpha": param.Of(1 - rest)}},
				{"pagerank", param.Values{"alpha": param.Of(1 - rest), "symmetric": param.Of(true)}},
				{"von-neumann", param.Values{"alpha": param.Of(1 - rest), "matrix": param.Of(normalizedAdjacency)}},
				{"regularized-commute-time", param.Values{"alpha": param.Of(1 - rest)}},
				{"regularized-laplacian", param.Values{"alpha": param.Of(1 / rest), "laplacian": param.Of(combinatorial)}},
				{"von-neumann", param.Values{"alpha": param.Of((1 - rest) / radius), "matrix": param.Of(adjacency)}},
			} {
				want := exactResolvent(a, c.name, c.p)
				k, err := New(background, newGraph(t, a, 2), c.name, c.p)
				if err != nil {
					t.Errorf("graph %d, %s %+v: %v", gi, c.name, c.p, err)
					continue
				}
				for _, rows := range [][]int{upTo(n), cols} {
					got, report, err := Matrix(background, k, rows, cols, &Settings{Lenient: true})
					what := fmt.Sprintf("graph %d, %s %v, 1 − α %.3g, %d rows", gi, c.name, c.p, rest, len(rows))
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					worst := exact(0)
					for r, i := range rows {
						for s, j := range cols {
							d := exact(got.Row(r)[s])
							if d.Sub(d, want[i][j]).Abs(d).Cmp(worst) > 0 {
								worst = d
							}
						}
					}
					off, _ := worst.Float64()
					t.Logf("%s: error %.2g, bound %.2g, relative %.2g, %d sweeps, %s", what, off, report.ErrorBound, relative(report), report.Sweeps, report.Method)
					if off > report.ErrorBound {
						t.Errorf("%s: error %.3g, bound %.3g", what, off, report.ErrorBound)
					}
				}
			}
		}
	}
}
