package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

const epsilon = 0x1p-52

// gaps leaves items unused and one class without items.
func gaps(seed uint64, n, p int) problem {
	q := clouds(seed, n, p, 3, 1)
	for i := range q.y {
		switch {
		case i%5 == 4:
			q.y[i] = -1
		case q.y[i] == 2:
			q.y[i] = 3
		}
	}
	q.classes = 4
	return q
}

// slowRLS returns (K + λV⁻¹)⁻¹T by gonum's inverse.
func slowRLS(t *testing.T, k Gram, y []int, lambda float64, weights []float64) (items, classes []int, coef *mat.Dense) {
	t.Helper()
	for i, c := range y {
		if c < 0 {
			continue
		}
		items = append(items, i)
		if !slices.Contains(classes, c) {
			classes = append(classes, c)
		}
	}
	slices.Sort(classes)
	a, targets := mat.NewDense(len(items), len(items), nil), mat.NewDense(len(items), len(classes), nil)
	row := make([]float64, k.Len())
	for r, i := range items {
		k.RowTo(row, i)
		for c, j := range items {
			a.Set(r, c, row[j])
		}
		if weights == nil {
			a.Set(r, r, a.At(r, r)+lambda)
		} else {
			a.Set(r, r, a.At(r, r)+lambda/weights[y[i]])
		}
		for c, class := range classes {
			targets.Set(r, c, -1)
			if class == y[i] {
				targets.Set(r, c, 1)
			}
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(a); err != nil {
		t.Fatal(err)
	}
	coef = new(mat.Dense)
	coef.Mul(&inverse, targets)
	return items, classes, coef
}

func TestRLS(t *testing.T) {
	p := gaps(1, 60, 5)
	k := p.radial()
	for _, of := range []struct {
		lambda  float64
		weights []float64
	}{{0.01, nil}, {1, nil}, {30, nil}, {0.5, []float64{0.2, 1, 1, 5}}} {
		lambda := of.lambda
		items, classes, want := slowRLS(t, k, p.y, lambda, of.weights)
		model, err := FitRLS(context.Background(), k, p.y, p.classes, lambda, of.weights)
		if err != nil {
			t.Fatal(err)
		}
		path, err := alongRidges(context.Background(), k, p.y, p.classes, []float64{lambda}, of.weights)
		if err != nil {
			t.Fatal(err)
		}
		other := path[0]
		// The condition of K + λI is at most (n + λ)/λ.
		tolerance := 50 * epsilon * 60 * (60 + lambda) / lambda / lambda
		for m, c := range classes {
			if model.Pairs[m] != (Pair{c, Rest}) || other.Pairs[m] != (Pair{c, Rest}) {
				t.Fatalf("machine %d separates %v, want class %d against the rest", m, model.Pairs[m], c)
			}
			got, again := model.coefTo(nil, m), other.coefTo(nil, m)
			for a, i := range items {
				within(t, "coefficient", got[i], want.At(a, m), tolerance)
				within(t, "coefficient of the path", again[i], want.At(a, m), tolerance)
			}
			if got[4] != 0 || model.Machines[m].Rho != 0 {
				t.Errorf("an unused item has coefficient %v, the bias is %v", got[4], model.Machines[m].Rho)
			}
		}
	}
}

func TestLeaveOneOut(t *testing.T) {
	p := gaps(2, 30, 4)
	p.y[0] = 1 // its class has others
	k := p.radial()
	lambdas := []float64{0.05, 2}
	weights := BalancedWeights(p.y, p.classes)
	pairs, decisions, squared, err := leaveOneOut(context.Background(), k, p.y, p.classes, lambdas, weights)
	if err != nil {
		t.Fatal(err)
	}
	settings := make([]param.Values, len(lambdas))
	for l, lambda := range lambdas {
		settings[l] = param.Values{"lambda": param.Of(lambda), "class-weights": param.Of("balanced")}
	}
	_, _, losses, err := leastSquaresPath.LeaveOneOut(t.Context(), k, p.y, p.classes, settings)
	if err != nil {
		t.Fatal(err)
	}
	for l, lambda := range lambdas {
		got, squared := decisions[l], squared[l]
		squares, count, loss, items := 0.0, 0, 0.0, 0.0
		machines := len(pairs)
		for i, c := range p.y {
			mine := got[i*machines : (i+1)*machines]
			if c < 0 {
				if slices.Max(mine) != 0 || slices.Min(mine) != 0 {
					t.Errorf("unused item %d: %v", i, mine)
				}
				continue
			}
			rest := slices.Clone(p.y)
			rest[i] = -1
			model, err := FitRLS(context.Background(), k, rest, p.classes, lambda, weights)
			if err != nil {
				t.Fatal(err)
			}
			if len(model.Pairs) != machines {
				t.Fatalf("without item %d there are %d machines", i, len(model.Pairs))
			}
			for m, d := range model.ScoresTo(nil, k.row(i), 0) {
				within(t, "decision", mine[m], d, 1000*epsilon*30/lambda*(30+lambda)/lambda)
				target := -1.0
				if pairs[m].Positive == c {
					target = 1
				}
				squares += (d - target) * (d - target)
				count++
				off := (d+1)/2 - (target+1)/2 // error for targets 0 and 1
				loss += off * off / 2
			}
			items++
		}
		within(t, "squared error", squared, squares/float64(count), 1e-10)
		within(t, "loss", losses[l], loss/items, 1e-10)
	}
}

func TestFitRLS(t *testing.T) {
	for _, shape := range [][2]int{{40, 6}, {12, 30}} {
		p := gaps(3, shape[0], shape[1])
		weights := []float64{3, 0.5, 1, 1}
		kernel, err := FitRLS(context.Background(), p.gram(), p.y, p.classes, 0.5, weights)
		if err != nil {
			t.Fatal(err)
		}
		model, err := FitLinearRLS(context.Background(), p.f, p.y, p.classes, 0.5, weights)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.y {
			want := kernel.ScoresTo(nil, p.row(p.f.Row(i)), 0)
			for m, d := range model.ScoresTo(nil, p.f.Row(i), nil) {
				within(t, "decision", d, want[m], 1e-10)
			}
		}
		if !slices.Equal(model.Pairs, kernel.Pairs) {
			t.Errorf("machines %v, want %v", model.Pairs, kernel.Pairs)
		}
	}
}

func TestRLSErrors(t *testing.T) {
	p := clouds(4, 10, 3, 2, 1)
	ctx := context.Background()
	for _, lambda := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
		if _, err := FitRLS(ctx, p.gram(), p.y, 2, lambda, nil); err == nil {
			t.Errorf("λ = %v is taken", lambda)
		}
		if _, err := FitLinearRLS(ctx, p.f, p.y, 2, lambda, nil); err == nil {
			t.Errorf("λ = %v is taken", lambda)
		}
	}
	same := make([]int, 10)
	if _, err := FitRLS(ctx, p.gram(), same, 2, 1, nil); !errors.Is(err, ErrOneClass) {
		t.Error(err)
	}
	if _, err := alongRidges(ctx, p.gram(), same, 2, nil, nil); !errors.Is(err, ErrOneClass) {
		t.Error(err)
	}
	if _, err := FitLinearRLS(ctx, p.f, same, 2, 1, nil); !errors.Is(err, ErrOneClass) {
		t.Error(err)
	}
	negative := p.gram()
	for i := range negative.Data {
		negative.Data[i] = -negative.Data[i]
	}
	if _, err := FitRLS(ctx, negative, p.y, 2, 1, nil); !errors.Is(err, ErrIndefinite) {
		t.Error(err)
	}
	if path, err := alongRidges(ctx, negative, p.y, 2, []float64{1, 1e6}, nil); err != nil || path[0] != nil || path[1] == nil {
		t.Error(path, err)
	}
	if _, decisions, _, err := leaveOneOut(ctx, negative, p.y, 2, []float64{1, 1e6}, nil); err != nil || decisions[0] != nil || decisions[1] == nil {
		t.Error(decisions, err)
	}
	panics(t, badLambda, func() { _, _ = alongRidges(ctx, negative, p.y, 2, []float64{0}, nil) })
	p.f.Data[7] = math.NaN()
	if _, err := FitRLS(ctx, p.gram(), p.y, 2, 1, nil); !errors.Is(err, ErrNotFinite) {
		t.Error(err)
	}
	if _, err := FitLinearRLS(ctx, p.f, p.y, 2, 1, nil); !errors.Is(err, ErrNotFinite) {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := FitRLS(cancelled, clouds(4, 10, 3, 2, 1).gram(), p.y, 2, 1, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type ending struct {
	*denseGram[float64]
	end context.CancelFunc
}

func (k ending) RowTo(dst []float64, i int) {
	k.denseGram.RowTo(dst, i)
	if i == k.Len()-1 {
		k.end()
	}
}

func (k ending) PartTo(dst []float64, i int, items []int) {
	k.denseGram.PartTo(dst, i, items)
	if i == k.Len()-1 {
		k.end()
	}
}

func TestLeastSquaresCancelled(t *testing.T) {
	p := clouds(4, 10, 3, 2, 1)
	began, end := context.WithCancel(t.Context())
	if _, err := FitRLS(began, ending{p.gram(), end}, p.y, 2, 1, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	began, end = context.WithCancel(t.Context())
	if _, err := alongRidges(began, ending{p.gram(), end}, p.y, 2, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p = clouds(5, 600, 3, 2, 1)
	began, end = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer end()
	if _, err := alongRidges(began, p.gram(), p.y, 2, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err) // some tenths of a second otherwise
	}
}

// Golden files have the solutions of (K + m/C·I)·A = ±1, scores, and leave-one-out scores.
func TestLeastSquaresGolden(t *testing.T) {
	for _, graph := range []string{"karate", "wrand60", "sbm300"} {
		g := testgraph.Load(t, graph)
		var k *sparse.Block[float64] // all nodes by training nodes
		if graph == "sbm300" {
			k = testgraph.Golden(t, graph+"/learner_K_columns.npy")
		} else {
			k = columns(testgraph.Golden(t, graph+"/learner_K.npy"), g.Train)
		}
		m := len(g.Train)
		gram := &denseGram[float64]{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
		for a, i := range g.Train {
			copy(gram.Data[a*m:], k.Row(i))
		}
		for _, cost := range []float64{1, 100} {
			golden := func(what string) *sparse.Block[float64] {
				return testgraph.Golden(t, fmt.Sprintf("%s/rls_C%.1f_%s.npy", graph, cost, what))
			}
			lambda := float64(m) / cost
			direct, err := FitRLS(t.Context(), gram, g.TrainClass, len(g.Classes), lambda, nil)
			if err != nil {
				t.Fatal(err)
			}
			path, err := alongRidges(t.Context(), gram, g.TrainClass, len(g.Classes), []float64{lambda}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, model := range []*Model{direct, path[0]} {
				coef, scores := sparse.NewBlock[float64](m, len(model.Pairs)), sparse.NewBlock[float64](k.Rows, len(model.Pairs))
				for q := range model.Pairs {
					for a, v := range model.coefTo(nil, q) {
						coef.Row(a)[q] = v
					}
				}
				for i := range k.Rows {
					copy(scores.Row(i), model.ScoresTo(nil, k.Row(i), 0))
				}
				testgraph.Close(t, coef, golden("coef"), 1e-10, 1e-9)
				testgraph.Close(t, scores, golden("scores"), 1e-10, 1e-9)
			}
			pairs, alone, _, err := leaveOneOut(t.Context(), gram, g.TrainClass, len(g.Classes), []float64{lambda}, nil)
			if err != nil {
				t.Fatal(err)
			}
			testgraph.Close(t, sparse.BlockOf(m, len(pairs), alone[0]), golden("loo"), 1e-10, 1e-9)
		}
	}
}
