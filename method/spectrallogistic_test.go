package method

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// plainEmbedding returns the rows x/√(‖x‖² + d/10⁴n) of the d eigenvectors of S with the largest eigenvalues below 1.
func plainEmbedding(t *testing.T, p *engine.Problem, d int) [][]float64 {
	n := len(p.Degrees)
	s := mat.NewSymDense(n, nil)
	for i := range n {
		col, val := p.A.(*sparse.CSR).Row(i)
		for e, j := range col {
			s.SetSym(i, int(j), val[e]/math.Sqrt(p.Degrees[i]*p.Degrees[j]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		t.Fatal("no eigenvectors")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	var below []int // 1, falling
	for j, value := range slices.Backward(e.Values(nil)) {
		if value < 1-1e-9 {
			below = append(below, j)
		}
	}
	x := make([][]float64, n)
	for i := range x {
		squares := 0.0
		for _, j := range below[:d] {
			x[i] = append(x[i], v.At(i, j))
			squares += v.At(i, j) * v.At(i, j)
		}
		for j := range x[i] {
			x[i][j] /= math.Sqrt(squares + 1e-4*float64(d)/float64(n))
		}
	}
	return x
}

// plainProbabilities fits multinomial logistic regression with a ridge and free biases by gradient descent.
func plainProbabilities(p *engine.Problem, x [][]float64, lambda float64) [][]float64 {
	k, d := len(p.Names), len(x[0])
	w := make([][]float64, k) // the last is the bias
	for c := range w {
		w[c] = make([]float64, d+1)
	}
	of := func(v int) []float64 {
		q, sum := make([]float64, k), 0.0
		for c := range q {
			z := w[c][d]
			for j, u := range x[v] {
				z += w[c][j] * u
			}
			q[c] = math.Exp(z)
			sum += q[c]
		}
		for c := range q {
			q[c] /= sum
		}
		return q
	}
	for norm := 1.0; norm > 1e-8; {
		g := make([][]float64, k)
		for c := range g {
			g[c] = make([]float64, d+1)
			for j := range d {
				g[c][j] = lambda * w[c][j]
			}
		}
		for i, row := range p.Row {
			for c, q := range of(row) {
				if c == p.Class[i] {
					q--
				}
				for j, u := range x[row] {
					g[c][j] += q * u
				}
				g[c][d] += q
			}
		}
		norm = 0
		for c := range g {
			for j, v := range g[c] {
				norm = math.Hypot(norm, v)
				w[c][j] -= 0.03 * v
			}
		}
	}
	probabilities := make([][]float64, len(x))
	for v := range x {
		probabilities[v] = of(v)
	}
	return probabilities
}

func TestSpectralLogisticPlain(t *testing.T) {
	p := contract.Planted(t, 21, 90, 40)
	set := &engine.Settings{Given: param.Values{"dimension": param.Of(5), "lambda": param.Of(0.5)}}
	out := predictBy(t, "spectral+logistic", p, set)
	want := plainProbabilities(p, plainEmbedding(t, p, 5), 0.5)
	compared := 0
	for v, row := range want {
		if !out.Reached.Contains(uint32(v)) {
			continue
		}
		compared++
		for c, q := range row {
			if got := float64(out.Scores.Row(v)[c]); math.Abs(got-q) > 1e-4 {
				t.Fatalf("node %d, class %d: %v, want %v", v, c, got, q)
			}
		}
	}
	if compared < 80 {
		t.Errorf("only %d nodes were compared", compared)
	}
}

func TestSpectralLogisticWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	p := contract.Golden(t, "sbm300")
	first := ""
	for _, workers := range []int{1, 2, 7} {
		out := predictBy(t, "spectral+logistic", p, &engine.Settings{Workers: workers})
		found := fmt.Sprint(out.Parameters, out.Estimate, out.Scores.Data)
		if first == "" {
			first = found
			t.Logf("%v, %v", out.Parameters, out.Estimate)
		}
		if found != first {
			t.Errorf("other results with %d workers", workers)
		}
	}
}
