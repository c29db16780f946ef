package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestVonNeumannNearPole(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	lattice, _ := grid(t, 24, 17)
	loops := mustTriplets(t, 7, []sparse.Triplet{
		{Row: 0, Col: 1, Val: 1e-3}, {Row: 1, Col: 0, Val: 1e-3}, {Row: 1, Col: 2, Val: 700}, {Row: 2, Col: 1, Val: 700},
		{Row: 2, Col: 2, Val: 50}, {Row: 4, Col: 5, Val: 3}, {Row: 5, Col: 4, Val: 3}, {Row: 5, Col: 5, Val: 1},
	})
	for gi, a := range []*sparse.CSR{lattice, testgraph.Path(400), testgraph.Cycle(301), testgraph.Random(7, 200, 260, true), loops} {
		n, _ := a.Dims()
		dense := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range n {
				dense.SetSym(i, j, a.At(i, j))
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(dense, true) {
			t.Fatal("no eigenpairs")
		}
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		values := eigen.Values(nil)
		rho := slices.Max(values)
		cols := []int{0, n / 2, n - 1}
		for _, rest := range []float64{1e-3, 1e-5, 1e-7} {
			alpha := (1 - rest) / rho
			rest := 1 - alpha*rho // rounded
			var bits *sparse.Block[float64]
			for _, workers := range []int{1, 3} {
				k := mustNew(t, newGraph(t, a, workers), "von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(alpha)})
				got, report := mustMatrix(t, k, upTo(n), cols, &Settings{Lenient: true})
				name := fmt.Sprintf("graph %d, 1 − αρ = %.3g: %v, %d sweeps, bound %.3g", gi, rest, report.Method, report.Sweeps, relative(report))
				if _, ok := k.(*spectral).full.(*solves); !ok || report.Sweeps > 150 {
					t.Error(name)
				}
				worst := 0.0
				for i := range n {
					for c, j := range cols {
						sum := 0.0
						for e, value := range values {
							sum += vectors.At(i, e) * vectors.At(j, e) / (1 - alpha*value)
						}
						worst = max(worst, math.Abs(sum-got.Row(i)[c]))
					}
				}
				if own := 1e-14 / rest * report.Largest; worst > report.ErrorBound+own {
					t.Errorf("%s: error %.3g, bound %.3g", name, worst, report.ErrorBound)
				}
				if bits != nil && !slices.Equal(bits.Data, got.Data) {
					t.Errorf("%s: other bits with other workers", name)
				}
				bits = got
			}
		}
	}
}

// The reference is G_ij = U_{i−1}(x)·U_{n−j}(x)/(α·U_n(x)), x = 1/(2α).
func TestVonNeumannOfLongPath(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 30_000
	rho := 2 * math.Cos(math.Pi/(n+1))
	for _, rest := range testgraph.Sample(t, 2, []float64{1e-3, 1e-6, 1e-8, 2e-9}) {
		alpha := (1 - rest) / rho
		// U_{k−1}(cos θ) = sin kθ/sin θ, and with sinh where x > 1; 1 − x is (2α−1)/(2α).
		outside := (1 - 2*alpha) / (2 * alpha)
		theta, sine := 2*math.Asin(math.Sqrt(math.Abs(outside)/2)), math.Sin
		if outside > 0 {
			theta, sine = 2*math.Asinh(math.Sqrt(outside/2)), math.Sinh
		}
		want := func(i, j int) float64 { // i, j from 1
			i, j = min(i, j), max(i, j)
			if outside > 0 && n*theta > 300 { // sinh overflows
				return math.Exp(-theta*float64(j-i)) / (2 * alpha * math.Sinh(theta)) *
					(1 - math.Exp(-2*theta*float64(i))) * (1 - math.Exp(-2*theta*float64(n+1-j)))
			}
			return sine(float64(i)*theta) * sine(float64(n+1-j)*theta) / (alpha * sine(theta) * sine((n+1)*theta))
		}
		m := &counting{Matrix: testgraph.Path(n)}
		g := newGraph(t, m, 2)
		k := mustNew(t, g, "von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(alpha)})
		cols := []int{0, n / 2}
		got, report := mustMatrix(t, k, upTo(n), cols, &Settings{Lenient: true})
		worst := 0.0
		for i := range n {
			for c, j := range cols {
				worst = max(worst, math.Abs(want(i+1, j+1)-got.Row(i)[c]))
			}
		}
		t.Logf("1 − αρ = %.3g: error %.3g, bound %.3g, largest %.3g, %d sweeps", rest, worst, report.ErrorBound, report.Largest, m.sweeps)
		if worst > report.ErrorBound || relative(report) > 1e-12/rest {
			t.Errorf("1 − αρ = %.3g: error %.3g, bound %.3g of %.3g", rest, worst, report.ErrorBound, report.Largest)
		}
		if m.sweeps > 700 {
			t.Errorf("1 − αρ = %.3g: %d sweeps", rest, m.sweeps)
		}
	}
	m := &counting{Matrix: testgraph.Path(n)}
	_, err := New(background, newGraph(t, m, 2), "von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of((1 + 1e-9) / rho)})
	if e := (*param.ParameterError)(nil); !errors.As(err, &e) || !strings.Contains(e.What, "0 < α < 0.5000000027 on this graph, whose largest eigenvalue is 1.999999989") {
		t.Error(err)
	}
	if m.sweeps > 700 {
		t.Errorf("%d sweeps to refuse", m.sweeps)
	}
}

// Without memory for a factor the diagonal preconditions; if that does not converge, the error states the memory of
// the factor.
func TestRadiusWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 20_000
	for _, hasRoom := range []bool{true, false} {
		g := newGraph(t, testgraph.Path(n), 2)
		factor := iterative.SampledBytes(n, g.A.NNZ())
		g.Memory = lanczos.Workspace(n, 1, 0).Required(0) + 8*graphVectors*n
		if hasRoom {
			g.Memory += factor
		}
		rho, err := radius(background, g)
		if want := 2 * math.Cos(math.Pi/(n+1)); hasRoom && (err != nil || !(rho >= want && rho < want*(1+2e-10))) {
			t.Errorf("%v, %v; want %v", rho, err, want)
		}
		over := (*budget.Error)(nil)
		if !hasRoom && (!errors.As(err, &over) || over.Need != factor) {
			t.Error(err)
		}
	}
}
