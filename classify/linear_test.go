package classify

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"pgregory.net/rapid"
)

func fitLinear[T sparse.Float](t testing.TB, s *LinearSVM, f *sparse.Block[T], y []int, classes int) *LinearModel {
	t.Helper()
	m, err := FitLinearSVM(context.Background(), s, f, y, classes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLinearMirror compares with the kernel machine on data in which every
// item has a mirror image of the other class: the free bias of the kernel
// machine is then zero, and both solve the same problem.
func TestLinearMirror(t *testing.T) {
	for rngSeed := range uint64(5) {
		half := clouds(rngSeed, 25, 4, 2, 0.5)
		p := problem{classes: 2, f: &sparse.Block[float64]{Rows: 50, Cols: 4, Stride: 4}}
		p.f.Data = append(p.f.Data, half.f.Data...)
		for _, v := range half.f.Data {
			p.f.Data = append(p.f.Data, -v)
		}
		p.y = append(p.y, half.y...)
		for _, c := range half.y {
			p.y = append(p.y, 1-c)
		}
		for _, cost := range []float64{0.01, 0.3, 4} {
			kernel := fit(t, &SVM{Cost: cost, Tolerance: 1e-9}, LinearGram(p.f), p.y, 2)
			want := LinearWeights(kernel, p.f)
			got := fitLinear(t, &LinearSVM{Cost: cost, Tolerance: 1e-9, MaxPasses: 1_000_000}, p.f, p.y, 2)
			within(t, "ρ", kernel.Machines[0].Rho, 0, 1e-7)
			within(t, "bias", got.Bias[0], 0, 1e-6*(1+cost))
			for i, w := range got.Weights {
				within(t, "weight", w, want.Weights[i], 1e-6*(1+cost))
			}
		}
	}
}

// TestLinearMinimum checks that the objective rises in every direction from the solution, where it
// has no gradient.
func TestLinearMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 50).Draw(t, "items")
		classes := rapid.IntRange(2, min(4, n)).Draw(t, "classes")
		rngSeed := rapid.Uint64().Draw(t, "rng seed")
		p := clouds(rngSeed, n, rapid.IntRange(1, 6).Draw(t, "features"), classes, 1)
		s := &LinearSVM{
			Cost:      math.Exp2(rapid.Float64Range(-5, 2).Draw(t, "log2 cost")),
			Tolerance: 1e-12, MaxPasses: 100_000,
			OneVsRest: rapid.Bool().Draw(t, "one-vs-rest"), RNGSeed: rapid.Uint64().Draw(t, "order"),
			Weights: BalancedWeights(p.y, classes),
		}
		m, err := FitLinearSVM(context.Background(), s, p.f, p.y, classes)
		if errors.Is(err, ErrIterationLimit) {
			t.Skip("one draw in thousands converges slowly, and reports that it has no minimum")
		}
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rngSeed, 2))
		for i, pair := range m.Pairs {
			value := func(w []float64, b float64) float64 {
				sum := (inner(w, w) + b*b) / 2
				for item, c := range p.y {
					switch {
					case c == pair.Positive:
						sum += s.Cost * s.Weights[c] * max(0, 1-inner(w, p.f.Row(item))-b)
					case pair.Negative == Rest || c == pair.Negative:
						sum += s.Cost * s.Weights[c] * max(0, 1+inner(w, p.f.Row(item))+b)
					}
				}
				return sum
			}
			b := m.Bias[i]
			least := value(m.machine(i), b)
			for range 50 {
				w, step := slices.Clone(m.machine(i)), math.Pow(10, -5*rng.Float64())
				for j := range w {
					w[j] += step * rng.NormFloat64()
				}
				if v := value(w, b+step*rng.NormFloat64()); v < least-1e-9*(1+least) {
					t.Fatalf("machine %d: %v is less than %v at the solution", i, v, least)
				}
			}
		}
	})
}

func TestLinearSameBits(t *testing.T) {
	p := clouds(4, 300, 8, 5, 0.6)
	for _, rest := range []bool{false, true} {
		s := LinearSVM{OneVsRest: rest, RNGSeed: 3, Workers: 1}
		want := fitLinear(t, &s, p.f, p.y, p.classes)
		for _, workers := range []int{2, 7} {
			s.Workers = workers
			if got := fitLinear(t, &s, p.f, p.y, p.classes); !reflect.DeepEqual(got, want) {
				t.Errorf("%d workers: another model", workers)
			}
		}
		s.RNGSeed++
		if got := fitLinear(t, &s, p.f, p.y, p.classes); reflect.DeepEqual(got, want) {
			t.Error("the rng seed does not matter")
		}
	}
}

func TestLinearSinglePrecision(t *testing.T) {
	p := clouds(6, 100, 5, 3, 1)
	narrow := &sparse.Block[float32]{Rows: 100, Cols: 5, Stride: 6, Data: make([]float32, 600)}
	for i := range 100 {
		for j := range 5 {
			narrow.Data[i*6+j] = float32(p.f.Data[i*5+j])
			p.f.Data[i*5+j] = float64(narrow.Data[i*6+j])
		}
	}
	want := fitLinear(t, nil, p.f, p.y, 3)
	if got := fitLinear(t, nil, narrow, p.y, 3); !reflect.DeepEqual(got, want) {
		t.Error("equal features of another type give another model")
	}
	kernel := fit(t, nil, LinearGram(p.f), p.y, 3)
	if got := fit(t, nil, LinearGram(narrow), p.y, 3); !reflect.DeepEqual(got, kernel) {
		t.Error("equal features of another type give another kernel model")
	}
}

// TestLinearUnlabelled leaves items out by class −1 and by not giving them.
func TestLinearUnlabelled(t *testing.T) {
	p := clouds(8, 90, 4, 3, 1)
	y := append([]int(nil), p.y...)
	var some problem
	some.f = &sparse.Block[float64]{Cols: 4, Stride: 4}
	for i := range y {
		if i >= 3 && i%2 == 1 {
			y[i] = -1
			continue
		}
		some.f.Data, some.y = append(some.f.Data, p.f.Row(i)...), append(some.y, y[i])
		some.f.Rows++
	}
	got, want := fitLinear(t, nil, p.f, y, 3), fitLinear(t, nil, some.f, some.y, 3)
	if !reflect.DeepEqual(got, want) {
		t.Error("unused items change the model")
	}
}

// TestLinearDefaults checks the defaults of zero settings, and that passes are counted from
// one.
func TestLinearDefaults(t *testing.T) {
	p := clouds(5, 60, 3, 3, 0.5)
	got := fitLinear(t, nil, p.f, p.y, 3)
	want := fitLinear(t, &LinearSVM{Cost: 1, Tolerance: 0.1, MaxPasses: 1000}, p.f, p.y, 3)
	if !reflect.DeepEqual(got, want) || got.Bias[0] == 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for m, passes := range fitLinear(t, &LinearSVM{Tolerance: 1e6}, p.f, p.y, 3).Iterations {
		if passes != 1 {
			t.Errorf("machine %d is within any tolerance after %d passes, want 1", m, passes)
		}
	}
}

func TestLinearErrors(t *testing.T) {
	ctx := context.Background()
	p := clouds(1, 60, 3, 3, 0.2)
	if _, err := FitLinearSVM(ctx, nil, p.f, make([]int, 60), 3); !errors.Is(err, ErrOneClass) {
		t.Errorf("one class: error %v", err)
	}
	m, err := FitLinearSVM(ctx, &LinearSVM{MaxPasses: 2, Tolerance: 1e-9}, p.f, p.y, 3)
	if !errors.Is(err, ErrIterationLimit) || m == nil || m.Iterations[2] != 2 || m.Weights[0] == 0 {
		t.Errorf("limit: model %v, error %v", m, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := FitLinearSVM(cancelled, nil, p.f, p.y, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	bad := &LinearSVM{Cost: math.Inf(1), Tolerance: -1, Weights: []float64{1}}
	_, err = FitLinearSVM(ctx, bad, p.f, p.y, 3)
	for _, word := range []string{"cost +Inf", "tolerance -1", "1 class weights for 3"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v does not mention %q", err, word)
		}
	}
	p.f.Data[4] = math.NaN()
	if _, err := FitLinearSVM(ctx, nil, p.f, p.y, 3); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: error %v", err)
	}
	panics(t, badLength, func() { _, _ = FitLinearSVM(ctx, nil, p.f, p.y[1:], 3) })
	panics(t, badLength, func() { m.ScoresTo(nil, make([]float64, 2), nil) })
}
