package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func wordModelOf(t *testing.T, workers int) (*wordModel, *mat.Dense) {
	rng := rand.New(rand.NewPCG(5, 5))
	p, _ := contract.Blocks(t, 3, 90, 40, 3, 5, 1)
	table, plain := tableOf(rng, 90, 13, 0)
	p.Attributes = table
	m := newWordModel(newLens(p, newAttributeTable(nil, table), workers, new(graph.Work)))
	for i := range 30 {
		m.items = append(m.items, i)
	}
	return m, scaledOf(plain, 13, 0)
}

func TestWordModel(t *testing.T) {
	ctx := context.Background()
	m, features := wordModelOf(t, 1)
	p, n, d, k := m.l.p, 90, 13, 3
	near := mat.NewDense(n, n, nil)
	for v := range n {
		for u := range n {
			if p.Degrees[v] > 0 {
				near.Set(v, u, wordNeighbours*p.A.(*sparse.CSR).At(v, u)/math.Sqrt(p.Degrees[v]))
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	theta := make([]float64, (d+1)*k)
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	var own, z mat.Dense
	own.Mul(features, mat.NewDense(d, k, theta[:d*k]))
	z.Mul(near, &own)
	z.Add(&z, &own)
	loss := 0.0
	for _, i := range m.items {
		sum := 0.0
		for c := range k {
			sum += math.Exp(z.At(p.Row[i], c) + theta[d*k+c])
		}
		loss += (math.Log(sum) - z.At(p.Row[i], p.Class[i]) - theta[d*k+p.Class[i]]) / float64(len(m.items))
	}
	for _, x := range theta[:d*k] {
		loss += wordRidge / 2 * x * x
	}
	if got := m.evaluate(ctx, theta); math.Abs(got-loss) > 1e-5 {
		t.Errorf("objective %v, by dense algebra %v", got, loss)
	}
	gradient := make([]float64, len(theta))
	m.differentiate(ctx, gradient)
	for i := range theta {
		const h = 1e-2
		moved := slices.Clone(theta)
		moved[i] += h
		above := m.evaluate(ctx, moved)
		moved[i] -= 2 * h
		if want := (above - m.evaluate(ctx, moved)) / (2 * h); math.Abs(gradient[i]-want) > 1e-4 {
			t.Errorf("derivative %d is %v, by differences %v", i, gradient[i], want)
		}
	}
	var logits [2][]float32
	for i, workers := range []int{1, 3} {
		m, _ := wordModelOf(t, workers)
		if err := m.fit(ctx); err != nil {
			t.Fatal(err)
		}
		m.differentiate(ctx, gradient)
		if m.loss > 0.3 || math.Sqrt(mat.Norm(mat.NewVecDense(len(gradient), gradient), 2)) > 0.1 {
			t.Errorf("objective %v after the fit", m.loss)
		}
		logits[i] = m.z.Data
	}
	if !slices.Equal(logits[0], logits[1]) {
		t.Error("logits depend on the number of workers")
	}
}
