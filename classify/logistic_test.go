package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// plainLogistic descends the gradient until it is less than 1e-9.
func plainLogistic(s *Logistic, lambda float64, p problem) (w [][]float64, b, u []float64) {
	k, q := p.classes, s.Shared.count(p.classes)
	w, b, u = make([][]float64, k), make([]float64, k), make([]float64, q)
	for c := range w {
		w[c] = make([]float64, p.f.Cols)
	}
	prior := make([]float64, q)
	if q > 0 && s.Shared.Prior != nil {
		prior = s.Shared.Prior
	}
	step := 5e-3
	for range 200_000 {
		gw, gb, gu := make([][]float64, k), make([]float64, k), make([]float64, q)
		for c := range gw {
			gw[c] = make([]float64, p.f.Cols)
			for j := range gw[c] {
				gw[c][j] = lambda * w[c][j]
			}
			gb[c] = s.BiasRidge * b[c]
		}
		for j := range gu {
			gu[j] = s.Shared.Ridge * (u[j] - prior[j])
		}
		for i, y := range p.y {
			if y < 0 {
				continue
			}
			z, sum := make([]float64, k), 0.0
			for c := range z {
				z[c] = b[c]
				for j, x := range p.f.Row(i) {
					z[c] += w[c][j] * x
				}
				for j := range u {
					z[c] += u[j] * s.Shared.Values.Row(i)[j*k+c]
				}
				sum += math.Exp(z[c])
			}
			for c := range z {
				r := math.Exp(z[c]) / sum
				if c == y {
					r--
				}
				gb[c] += r
				for j, x := range p.f.Row(i) {
					gw[c][j] += r * x
				}
				for j := range u {
					gu[j] += r * s.Shared.Values.Row(i)[j*k+c]
				}
			}
		}
		norm := 0.0
		move := func(v, g []float64) {
			for j := range v {
				norm = math.Hypot(norm, g[j])
				v[j] -= step * g[j]
			}
		}
		for c := range w {
			move(w[c], gw[c])
		}
		move(b, gb)
		move(u, gu)
		if norm < 1e-9 {
			break
		}
	}
	return w, b, u
}

func logisticProblem() (problem, *SharedColumns) {
	p := clouds(11, 45, 3, 3, 0.7)
	for i := 4; i < len(p.y); i += 9 {
		p.y[i] = -1
	}
	values := clouds(12, 45, 6, 2, 0.5).f
	return p, &SharedColumns{Values: values, Prior: []float64{0.8, -0.3}, Ridge: 2}
}

func fitLogistic[T sparse.Float](ctx context.Context, s *Logistic, lambda float64, f *sparse.Block[T], y []int, classes int) (*LinearModel, error) {
	models, err := LogisticPath(ctx, s, f, y, classes, []float64{lambda})
	if models == nil {
		return nil, err
	}
	return models[0], err
}

func TestLogisticPlain(t *testing.T) {
	p, shared := logisticProblem()
	absent := p
	absent.classes = 4
	four := &SharedColumns{Values: clouds(13, 45, 4, 2, 1).f, Ridge: 0.5}
	for name, c := range map[string]struct {
		lambda float64
		s      Logistic
		p      problem
	}{
		"free biases":    {0.7, Logistic{}, p},
		"biases":         {3, Logistic{BiasRidge: 2}, p},
		"shared columns": {1.5, Logistic{BiasRidge: 0.4, Shared: shared}, p},
		"an empty class": {1, Logistic{BiasRidge: 0.4, Shared: four}, absent},
	} {
		c.s.Tolerance = 1e-10
		m, err := fitLogistic(t.Context(), &c.s, c.lambda, c.p.f, c.p.y, c.p.classes)
		if err != nil {
			t.Fatal(err)
		}
		w, b, u := plainLogistic(&c.s, c.lambda, c.p)
		for class := range w {
			within(t, fmt.Sprintf("%s: bias %d", name, class), m.Bias[class], b[class], 1e-6)
			for j, want := range w[class] {
				within(t, fmt.Sprintf("%s: weight %d of class %d", name, j, class), m.machine(class)[j], want, 1e-6)
			}
		}
		for j, want := range u {
			within(t, fmt.Sprintf("%s: shared weight %d", name, j), m.Shared[j], want, 1e-6)
		}
		if c.s.Shared == nil {
			continue
		}
		x, values := c.p.f.Row(7), c.s.Shared.Values.Row(7)
		for class, z := range m.ScoresTo(nil, x, values) {
			want := b[class] + inner(w[class], x)
			for j := range u {
				want += u[j] * values[j*c.p.classes+class]
			}
			within(t, name+": a logit", z, want, 1e-5)
		}
	}
}

func TestLogisticPath(t *testing.T) {
	p, shared := logisticProblem()
	s := &Logistic{BiasRidge: 0.1, Shared: shared, Tolerance: 1e-10}
	lambdas := []float64{100, 10, 1, 0.1, 0.01}
	down, err := LogisticPath(t.Context(), s, p.f, p.y, p.classes, lambdas)
	if err != nil {
		t.Fatal(err)
	}
	for a, lambda := range lambdas {
		m, err := fitLogistic(t.Context(), s, lambda, p.f, p.y, p.classes)
		if err != nil {
			t.Fatal(err)
		}
		for j, w := range m.Weights {
			within(t, fmt.Sprintf("λ = %g: weight %d", lambda, j), down[a].Weights[j], w, 1e-6)
		}
		for j, u := range m.Shared {
			within(t, fmt.Sprintf("λ = %g: shared weight %d", lambda, j), down[a].Shared[j], u, 1e-6)
		}
	}
}

func TestLogisticEnough(t *testing.T) {
	p, _ := logisticProblem()
	var seen []*LinearModel
	s := &Logistic{Enough: func(m *LinearModel) bool {
		seen = append(seen, m)
		return len(seen) == 2
	}}
	models, err := LogisticPath(t.Context(), s, p.f, p.y, p.classes, []float64{100, 10, 1})
	if err != nil || !slices.Equal(models, seen) || len(models) != 2 {
		t.Errorf("%d models, %d seen: %v", len(models), len(seen), err)
	}
}

func TestTriangle(t *testing.T) {
	for _, items := range []int{25, 90} {
		p := clouds(16, items, 100, manyClasses, 0.5)
		values := clouds(17, items, 2*manyClasses, 2, 0.5).f
		for i := 4; i < items; i += 9 {
			p.y[i] = -1
			copy(p.f.Row(i+1), p.f.Row(i-1))
		}
		s := &Logistic{BiasRidge: 0.1, Shared: &SharedColumns{Values: values, Prior: []float64{0.8, -0.3}, Ridge: 2}, Tolerance: 1e-11}
		lambdas := []float64{10, 0.1}
		got, err := LogisticPath(t.Context(), s, p.f, p.y, p.classes, lambdas)
		if err != nil {
			t.Fatal(err)
		}
		g, used := newGroups(p.y, p.classes), LabelledItems(p.y)
		g.all(p.classes)
		want, err := logisticPath(t.Context(), s, &softmaxFit[float64]{features: p.f, rows: used, items: used}, g, lambdas)
		if err != nil {
			t.Fatal(err)
		}
		for a, m := range want {
			if !slices.Equal(got[a].Pairs, m.Pairs) || got[a].Features != m.Features {
				t.Fatalf("%d items: a model of %d features and %v", items, got[a].Features, got[a].Pairs)
			}
			for _, of := range [][2][]float64{{got[a].Weights, m.Weights}, {got[a].Bias, m.Bias}, {got[a].Shared, m.Shared}} {
				for j, w := range of[1] {
					within(t, fmt.Sprintf("%d items, λ = %g: weight %d", items, lambdas[a], j), of[0][j], w, 1e-8)
				}
			}
		}
	}
}

func TestLogisticSinglePrecision(t *testing.T) {
	p, _ := logisticProblem()
	single := &sparse.Block[float32]{Rows: p.f.Rows, Cols: p.f.Cols, Stride: p.f.Stride, Data: make([]float32, len(p.f.Data))}
	for j, v := range p.f.Data {
		single.Data[j] = float32(v)
		p.f.Data[j] = float64(single.Data[j])
	}
	s := &Logistic{Tolerance: 1e-10}
	got, err := fitLogistic(t.Context(), s, 1, single, p.y, p.classes)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fitLogistic(t.Context(), s, 1, p.f, p.y, p.classes)
	if err != nil {
		t.Fatal(err)
	}
	for j, w := range want.Weights {
		within(t, "a weight", got.Weights[j], w, 1e-9)
	}
}

// The classes are separable and the ridge is tiny, so that probabilities come close to 0 and 1.
func TestLogisticSeparable(t *testing.T) {
	p := clouds(14, 60, 2, 3, 20)
	m, err := fitLogistic(t.Context(), nil, 1e-6, p.f, p.y, p.classes)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range p.y {
		if q := Softmax(nil, m.ScoresTo(nil, p.f.Row(i), nil))[y]; q < 0.99 {
			t.Errorf("item %d has its class with probability %v", i, q)
		}
	}
}

func TestLogisticErrors(t *testing.T) {
	p, _ := logisticProblem()
	ctx := context.Background()
	if m, err := fitLogistic(ctx, &Logistic{MaxSteps: 1, Tolerance: 1e-12}, 1, p.f, p.y, p.classes); !errors.Is(err, ErrIterationLimit) || m == nil {
		t.Errorf("one step: %v, %v", m, err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := fitLogistic(done, nil, 1, p.f, p.y, p.classes); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	p.f.Data[5] = math.NaN()
	if _, err := fitLogistic(ctx, nil, 1, p.f, p.y, p.classes); !errors.Is(err, ErrNotFinite) {
		t.Errorf("not a number: %v", err)
	}
}

func TestFactor(t *testing.T) {
	p := clouds(15, 40, 5, 3, 1)
	for name, k := range map[string]*denseGram[float64]{"radial": p.radial(), "linear": p.gram()} {
		g, _, err := factor(t.Context(), k, sched.UpTo(k.Rows))
		if err != nil {
			t.Fatal(err)
		}
		if name == "linear" && g.Cols != p.f.Cols {
			t.Errorf("rank %d, want %d", g.Cols, p.f.Cols)
		}
		for i := range k.Rows {
			for j := range k.Rows {
				within(t, name+": a value", inner(g.Row(i), g.Row(j)), k.row(i)[j], 1e-12*k.row(i)[i])
			}
		}
	}
	for _, values := range [][]float64{{0, 1, 1, 0}, {1, 2, 2, 1}, {1, 0, 0, -1}} {
		k := &denseGram[float64]{Rows: 2, Cols: 2, Stride: 2, Data: values}
		if _, _, err := factor(t.Context(), k, sched.UpTo(2)); !errors.Is(err, ErrIndefinite) {
			t.Errorf("%v: %v", values, err)
		}
	}
}

func BenchmarkLogistic(b *testing.B) {
	p := clouds(1, 5000, 55, 5, 0.1)
	for b.Loop() {
		if _, err := LogisticPath(context.Background(), nil, p.f, p.y, p.classes, []float64{1000, 100, 10, 1, 0.1}); err != nil {
			b.Fatal(err)
		}
	}
}

// Fits of method auto for 500 labels of 200 classes.
func BenchmarkLogisticManyClasses(b *testing.B) {
	p := clouds(1, 500, 1400, 200, 0.5)
	for b.Loop() {
		if _, err := LogisticPath(context.Background(), &Logistic{Tolerance: 1e-3}, p.f, p.y, p.classes, []float64{500, 50, 5}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLogisticWeights(t *testing.T) {
	const items, columns = 30, 3
	rng := rand.New(rand.NewPCG(5, 6))
	var once, twice []float64
	var y, repeated []int
	for range items {
		row, class := make([]float64, columns), rng.IntN(3)
		for j := range row {
			row[j] = rng.NormFloat64() + float64(class*(j%2))
		}
		once, y = append(once, row...), append(y, class)
		for range 1 + class%2 { // items of class 1 occur twice
			twice, repeated = append(twice, row...), append(repeated, class)
		}
	}
	lambdas := []float64{1, 0.1}
	fit := func(s *Logistic, x []float64, y []int) []*LinearModel {
		s.Tolerance = 1e-12
		models, err := LogisticPath(t.Context(), s, sparse.BlockOf(len(y), columns, x), y, 3, lambdas)
		if err != nil {
			t.Fatal(err)
		}
		return models
	}
	got, want := fit(&Logistic{Weights: []float64{1, 2, 1}}, once, y), fit(&Logistic{}, twice, repeated)
	for l := range lambdas {
		for j, w := range want[l].Weights {
			within(t, fmt.Sprintf("λ = %g: weight %d", lambdas[l], j), got[l].Weights[j], w, 1e-8)
		}
		for c, b := range want[l].Bias {
			within(t, fmt.Sprintf("λ = %g: bias %d", lambdas[l], c), got[l].Bias[c], b, 1e-8)
		}
	}
}
