package kernel

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var (
	huntRuns = flag.Int("hunt", 240, "how many runs TestNoFalseBound makes")
	huntSeed = flag.Uint64("hunt-seed", 0, "the rng seed of its first graph")
	huntLog  = flag.String("hunt-log", "", "a file for a line on each run")
)

const runsOfGraph = 8

// Graphs have weights over 24 decades, bridges, loops and components; parameters are at the ends of their ranges.
func TestNoFalseBound(t *testing.T) {
	out, err := os.Create(os.DevNull)
	if *huntLog != "" {
		out, err = os.Create(*huntLog)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	counts := map[string]*[3]int{}
	if testing.Short() {
		*huntRuns = min(*huntRuns, 5*runsOfGraph)
	}
	for run := 0; run < *huntRuns; run += runsOfGraph {
		seed := *huntSeed + uint64(run/runsOfGraph)
		rng := rand.New(rand.NewPCG(seed, 23))
		a, what := anyGraph(t, rng)
		n, _ := a.Dims()
		parts, err := sparse.FindComponents(background, a, 1)
		if err != nil {
			t.Fatal(err)
		}
		o := newOracle(a, parts.Of)
		for try := range runsOfGraph {
			rng := rand.New(rand.NewPCG(seed, uint64(try)+100))
			h := anyCase(rng, o, n)
			got := h.run(t, a, o)
			count := counts[h.name]
			if count == nil {
				count = new([3]int)
				counts[h.name] = count
			}
			count[0]++
			line := fmt.Sprintf("%d/%d %s %v n=%d %s: %s, tolerance %.3g lenient %v", seed, try, h.name, h.p, n, what, h.shape(), h.s.Tolerance, h.s.Lenient)
			switch {
			case got.err != nil:
				count[1]++
				fmt.Fprintf(out, "refused\t%s\t%v\n", line, got.err)
			case !(got.off <= got.bound):
				count[2]++
				fmt.Fprintf(out, "false\t%s\terror %.3g, bound %.3g, largest %.3g, %s\n", line, got.off, got.bound, got.largest, got.method)
				t.Errorf("%s: error %.3g, bound %.3g, largest %.3g, %s", line, got.off, got.bound, got.largest, got.method)
			default:
				fmt.Fprintf(out, "right\t%s\terror %.3g, bound %.3g, largest %.3g, %s\n", line, got.off, got.bound, got.largest, got.method)
			}
		}
	}
	for _, name := range Families().Names() {
		if c := counts[name]; c != nil {
			t.Logf("%s: %d runs, %d refused, %d false", name, c[0], c[1], c[2])
		}
	}
}

func anyGraph(t *testing.T, rng *rand.Rand) (*sparse.CSR, string) {
	n := 2 + rng.IntN(11)
	spread := []float64{0, 0, 1, 4, 9, 24}[rng.IntN(6)]
	weight := func() float64 {
		w := math.Pow(10, spread*(rng.Float64()-0.5))
		switch rng.IntN(3) {
		case 0:
			w = math.Max(1, math.Round(w))
		case 1:
			w = math.Pow(10, math.Round(math.Log10(w)))
		}
		return w
	}
	weights := map[[2]int]float64{}
	put := func(i, j int, w float64) { weights[[2]int{min(i, j), max(i, j)}] = w }
	what := ""
	switch shape := rng.IntN(6); shape {
	case 0:
		what = "tree"
		for i := 1; i < n; i++ {
			put(i, rng.IntN(i), weight())
		}
	case 1, 2:
		what = "cliques"
		half := max(1, n/2)
		for i := range n {
			for j := range i {
				if (i < half) == (j < half) {
					put(i, j, weight())
				}
			}
		}
		bridge := math.Pow(10, 24*(rng.Float64()-0.5))
		if rng.IntN(3) == 0 {
			bridge = math.Pow(10, math.Round(math.Log10(bridge)))
		}
		if n > 1 && rng.IntN(4) > 0 {
			put(half-1, half, bridge)
			what += fmt.Sprintf(" bridge %.3g", bridge)
		}
	case 3:
		what = "path"
		for i := 1; i < n; i++ {
			put(i-1, i, weight())
		}
		if n > 2 && rng.IntN(2) == 0 {
			put(0, n-1, weight())
		}
	default: // often several components
		what = "random"
		for range rng.IntN(2*n) + 1 {
			if i, j := rng.IntN(n), rng.IntN(n); i != j {
				put(i, j, weight())
			}
		}
	}
	what += fmt.Sprintf(" spread %v", spread)
	if rng.IntN(4) == 0 {
		size := math.Pow(10, 12*rng.Float64())
		if spread == 0 && rng.IntN(2) == 0 {
			size = 1
		}
		for range 1 + rng.IntN(n) {
			i := rng.IntN(n)
			put(i, i, weight()*size)
		}
		what += fmt.Sprintf(" loops %.3g", size)
	}
	var list []sparse.Triplet
	for at, w := range weights {
		list = append(list, sparse.Triplet{Row: uint32(at[0]), Col: uint32(at[1]), Val: w})
		if at[0] != at[1] {
			list = append(list, sparse.Triplet{Row: uint32(at[1]), Col: uint32(at[0]), Val: w})
		}
	}
	return mustTriplets(t, n, list), what
}

type huntCase struct {
	named
	s          Settings
	rows, cols []int
	x          *sparse.Block[float64] // nil: a block of the kernel
}

func (h *huntCase) shape() string {
	if h.x != nil {
		return "applied"
	}
	return fmt.Sprintf("%d×%d", len(h.rows), len(h.cols))
}

func anyCase(rng *rand.Rand, o *oracle, n int) *huntCase {
	// Kernels of directed graphs are no function of eigenvalues and have a hunt of their own.
	list := oracleKernels
	h := &huntCase{named: named{name: list[rng.IntN(len(list))]}}
	unit := 1.0
	degree, _ := o.degree[rng.IntN(n)].Float64()
	if rng.IntN(2) == 0 && degree > 0 {
		unit = degree
	}
	decades := func(lo, hi float64) float64 {
		v := math.Pow(10, lo+(hi-lo)*rng.Float64())
		if rng.IntN(3) == 0 {
			v = math.Pow(10, math.Round(math.Log10(v)))
		}
		return v
	}
	share := func() float64 {
		if rng.IntN(2) == 0 {
			return 1 - decades(-13, -1)
		}
		return decades(-6, -0.05)
	}
	h.p = param.Values{}
	p := h.p
	laplacians := []string{combinatorial, normalized, randomWalk}
	laplacian := laplacians[rng.IntN(3)]
	of := func() float64 {
		if p["laplacian"] == param.Of(combinatorial) || p["matrix"] == param.Of(adjacency) {
			return unit
		}
		return 1
	}
	switch h.name {
	case "diffusion":
		p["laplacian"] = param.Of(laplacian)
		p["beta"] = param.Of(decades(-6, 14) / of())
	case "heat-pagerank":
		p["beta"], p["symmetric"] = param.Of(decades(-6, 14)), param.Of(rng.IntN(2) == 0)
	case "exponential":
		p["matrix"] = param.Of([]string{adjacency, normalizedAdjacency}[rng.IntN(2)])
		p["beta"] = param.Of(decades(-6, 2.4))
		if p["matrix"] == param.Of(adjacency) {
			top, _ := o.eigenOf("A", 0).values[n-1].Float64()
			p["beta"] = param.Of(p.Number("beta") / max(top, 1e-30))
		}
	case "von-neumann":
		p["matrix"] = param.Of([]string{adjacency, normalizedAdjacency}[rng.IntN(2)])
		p["alpha"] = param.Of(share())
		if p["matrix"] == param.Of(adjacency) {
			top, _ := o.eigenOf("A", 0).values[n-1].Float64()
			p["alpha"] = param.Of(p.Number("alpha") / max(top, 1e-30))
		}
	case "pagerank":
		p["alpha"], p["symmetric"] = param.Of(share()), param.Of(rng.IntN(2) == 0)
	case "regularized-laplacian":
		p["laplacian"] = param.Of(laplacian)
		p["alpha"] = param.Of(decades(-6, 14) / of())
	case "pseudo-inverse":
		p["laplacian"] = param.Of(laplacians[rng.IntN(2)])
	case "regularized-commute-time":
		p["alpha"] = param.Of(share())
	case "p-step":
		p["shift"], p["steps"] = param.Of(2+float64(rng.IntN(3))*rng.Float64()), param.Of(1+rng.IntN(40))
	case "matern":
		p["laplacian"] = param.Of(laplacian)
		p["nu"] = param.Of([]float64{0.5, 1, 1.5, 2, 2.5, 3, 0.3, 1.7, 4, 6.2, 10, 13, 20.3, 41, 77.5}[rng.IntN(15)])
		p["kappa"] = param.Of(decades(-2, 7) / math.Sqrt(of()))
	case "modularity":
		p["resolution"] = param.Of(decades(-2, 2))
		if rng.IntN(3) == 0 {
			p["rank"] = param.Of(1 + rng.IntN(n))
		}
	}
	switch rng.IntN(4) {
	case 0:
		h.s.Tolerance = decades(-13, -1)
	case 1:
		h.s.Tolerance, h.s.Lenient = decades(-14, -1), true
	}
	some := func() (nodes []int) {
		for range 1 + rng.IntN(n) {
			nodes = append(nodes, rng.IntN(n))
		}
		return nodes
	}
	switch rng.IntN(4) {
	case 0:
		h.rows, h.cols = some(), some()
	case 1:
		if h.name != "commute-time" {
			h.x = sparse.NewBlock[float64](n, 1+rng.IntN(3))
			for i := range n {
				for j := range h.x.Row(i) {
					h.x.Row(i)[j] = rng.NormFloat64()
				}
			}
			break
		}
		fallthrough
	default:
		h.rows, h.cols = upTo(n), upTo(n)
	}
	return h
}

type huntResult struct {
	off, bound, largest float64 // where off/bound is largest
	method              string
	err                 error
}

func (h *huntCase) run(t *testing.T, a *sparse.CSR, o *oracle) huntResult {
	g, err := graph.New(background, a, &graph.Settings{Workers: 1})
	if err != nil {
		return huntResult{err: err}
	}
	k, err := New(background, g, h.name, h.p)
	if err != nil {
		return huntResult{err: err}
	}
	if h.x != nil {
		return h.apply(k, o)
	}
	got, r, err := Matrix(background, k, h.rows, h.cols, &h.s)
	if err != nil {
		return huntResult{err: err}
	}
	want := o.kernel(h.name, h.p)
	worst := exact(0)
	for i, row := range h.rows {
		for j, col := range h.cols {
			v := got.Row(i)[j]
			switch truth := want[row][col]; {
			case truth == nil && math.IsInf(v, 1):
			case truth == nil || math.IsInf(v, 0) || math.IsNaN(v):
				return huntResult{off: math.Inf(1), bound: r.ErrorBound, method: r.Method}
			default:
				if d := exact(v); d.Sub(d, truth).Abs(d).Cmp(worst) > 0 {
					worst = d
				}
			}
		}
	}
	off, _ := worst.Float64()
	return huntResult{off: off, bound: r.ErrorBound, largest: r.Largest, method: r.Method}
}

func (h *huntCase) apply(k Kernel, o *oracle) huntResult {
	n := k.Len()
	y := sparse.NewBlock[float64](n, h.x.Cols)
	r, err := k.ApplyTo(background, y, h.x, &h.s)
	if err != nil {
		return huntResult{err: err}
	}
	want := o.kernel(h.name, h.p)
	worst := huntResult{largest: r.Largest, method: r.Method}
	for j := range h.x.Cols {
		square := exact(0)
		for i := range n {
			d := exact(y.Row(i)[j])
			if v := y.Row(i)[j]; math.IsNaN(v) || math.IsInf(v, 0) {
				return huntResult{off: math.Inf(1), method: r.Method}
			}
			for l := range n {
				p := exact(h.x.Row(l)[j])
				d.Sub(d, p.Mul(p, want[i][l]))
			}
			square.Add(square, d.Mul(d, d))
		}
		off, _ := new(big.Float).Sqrt(square).Float64()
		if j == 0 || off*worst.bound > worst.off*r.ColumnBound[j] {
			worst.off, worst.bound = off, r.ColumnBound[j]
		}
	}
	return worst
}
