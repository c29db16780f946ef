package classify

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"pgregory.net/rapid"
)

func fit(t testing.TB, s *SVM, k Gram, y []int, classes int) *Model {
	t.Helper()
	m, err := s.Fit(context.Background(), k, y, classes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func checkOptimal(t rapid.TB, s *SVM, m *Model, k Gram, y []int, slack float64) {
	t.Helper()
	row := make([]float64, k.Len())
	for i, machine := range m.Machines {
		beta := m.coefTo(nil, i)
		lowest, highest, sum, linear, quadratic, largest := math.Inf(1), math.Inf(-1), 0.0, 0.0, 0.0, 0.0
		free, bounded := 0, 0
		for item, class := range y {
			pair := m.Pairs[i]
			sign := 1.0
			switch {
			case class == -1 || pair.Negative != Rest && class != pair.Positive && class != pair.Negative:
				if beta[item] != 0 {
					t.Fatalf("machine %d: item %d takes no part but has coefficient %v", i, item, beta[item])
				}
				continue
			case class != pair.Positive:
				sign = -1
			}
			cost := s.withDefaults().Cost
			if s.Weights != nil {
				cost *= s.Weights[class]
			}
			alpha := sign * beta[item]
			if alpha < 0 || alpha > cost {
				t.Fatalf("machine %d: α = %v of item %d outside [0, %v]", i, alpha, item, cost)
			}
			k.RowTo(row, item)
			u := inner(row, beta)
			f := u - sign
			if sign > 0 && alpha < cost || sign < 0 && alpha > 0 {
				lowest = min(lowest, f)
			}
			if sign > 0 && alpha > 0 || sign < 0 && alpha < cost {
				highest = max(highest, f)
			}
			if alpha == cost {
				bounded++
			} else if alpha > 0 {
				free++
			}
			sum += beta[item]
			linear += alpha
			quadratic += beta[item] * u
			largest = max(largest, alpha)
		}
		size := 1 + largest*float64(len(y))
		if math.Abs(sum) > 1e-13*size {
			t.Fatalf("machine %d: coefficients sum to %v", i, sum)
		}
		if highest-lowest > s.withDefaults().Tolerance+slack {
			t.Fatalf("machine %d: violation %v", i, highest-lowest)
		}
		if free > 0 && (machine.Rho < lowest-s.withDefaults().Tolerance-slack || machine.Rho > highest+s.withDefaults().Tolerance+slack) {
			t.Fatalf("machine %d: ρ = %v outside [%v, %v]", i, machine.Rho, lowest, highest)
		}
		if free == 0 && machine.Rho != 0 && math.Abs(machine.Rho-(lowest+highest)/2) > slack {
			t.Fatalf("machine %d: ρ = %v, want the middle of [%v, %v]", i, machine.Rho, lowest, highest)
		}
		if got, want := machine.Objective, linear-quadratic/2; math.Abs(got-want) > slack*size {
			t.Fatalf("machine %d: objective %v, want %v", i, got, want)
		}
		if len(machine.Index) != free+bounded || machine.Bounded != bounded {
			t.Fatalf("machine %d: %d support vectors, %d bounded, want %d and %d", i, len(machine.Index), machine.Bounded, free+bounded, bounded)
		}
	}
}

func TestSVMIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "items")
		classes := rapid.IntRange(2, min(5, n)).Draw(t, "classes")
		p := clouds(rapid.Uint64().Draw(t, "rng seed"), n, rapid.IntRange(1, 8).Draw(t, "features"), classes,
			rapid.Float64Range(0, 3).Draw(t, "spread"))
		for range rapid.IntRange(0, n/4).Draw(t, "unused") {
			p.y[rapid.IntRange(classes, max(classes, n-1)).Draw(t, "item")%n] = -1
		}
		if len(newGroups(p.y, classes).present) < 2 {
			t.Skip("one class left")
		}
		k := p.gram()
		if rapid.Bool().Draw(t, "radial") {
			k = p.radial()
		}
		largest := 0.0
		for _, v := range k.Data {
			largest = max(largest, math.Abs(v))
		}
		s := &SVM{
			Cost:      math.Exp2(rapid.Float64Range(-6, 6).Draw(t, "log2 cost")),
			Tolerance: rapid.SampledFrom([]float64{0, 1e-2, 1e-6}).Draw(t, "tolerance"),
			OneVsRest: rapid.Bool().Draw(t, "one-vs-rest"),
		}
		if rapid.Bool().Draw(t, "weighted") {
			s.Weights = BalancedWeights(p.y, classes)
		}
		m, err := s.Fit(context.Background(), k, p.y, classes)
		if err != nil {
			t.Fatal(err)
		}
		if m.IsIndefinite {
			t.Error("a kernel taken for none")
		}
		// Kernel values may be off by half a unit of single precision each.
		total := s.Cost * float64(n*n) * largest
		checkOptimal(t, s, m, k, p.y, 0x1p-24*total+1e-9)
	})
}

func slowDual(k *denseGram[float64], y []float64, cost float64) float64 {
	n := len(y)
	beta, gradient, trace := make([]float64, n), make([]float64, n), 0.0
	for i := range n {
		trace += k.row(i)[i]
	}
	project := func(v []float64) {
		shifted := func(shift float64, i int) float64 {
			lo, hi := 0.0, cost
			if y[i] < 0 {
				lo, hi = -cost, 0
			}
			return max(lo, min(hi, v[i]-shift))
		}
		lo, hi := -1e6, 1e6
		for range 100 {
			mid, sum := (lo+hi)/2, 0.0
			for i := range v {
				sum += shifted(mid, i)
			}
			if sum > 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		for i := range v {
			v[i] = shifted((lo+hi)/2, i)
		}
	}
	value := 0.0
	for range 3000 {
		value = 0
		for i := range n {
			u := inner(k.row(i), beta)
			gradient[i] = y[i] - u
			value += beta[i] * (y[i] - u/2)
		}
		addScaled(beta, 1/trace, gradient)
		project(beta)
	}
	return value
}

func TestSVMObjective(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for rngSeed := range uint64(10) {
		p := clouds(rngSeed, 8, 3, 2, 1)
		k := p.radial()
		for _, cost := range []float64{0.3, 1, 5} {
			y := make([]float64, len(p.y))
			for i, c := range p.y {
				y[i] = 1 - 2*float64(c)
			}
			m := fit(t, &SVM{Cost: cost, Tolerance: 1e-9}, k, p.y, 2)
			want := slowDual(k, y, cost)
			within(t, "objective", m.Machines[0].Objective, want, 1e-6*want)
		}
	}
}

// hard is a problem whose solver shrinks items and takes them back.
func hard() (problem, *denseGram[float64]) {
	p := clouds(7, 400, 6, 3, 0.4)
	return p, p.radial()
}

func TestSVMShrinking(t *testing.T) {
	p, k := hard()
	var d dual[float64]
	g := newGroups(p.y, p.classes)
	items, positive := g.membersTo(nil, Pair{0, 1})
	d.rate = g.factorsTo(nil, items, nil)
	d.start(k, items, positive, diagonal(nil, k, g.items), 1<<20)
	d.bound(10)
	least := d.active
	for done := false; !done; {
		_, lowest, highest := d.extremes()
		d.shrink(lowest, highest, 1e-3)
		least = min(least, d.active)
		_, err := d.solve(context.Background(), 1e-3, 100)
		done = err == nil
	}
	if least == len(items) {
		t.Error("no item was ever shrunk")
	}
	set := &SVM{Cost: 10, Tolerance: 1e-8}
	checkOptimal(t, set, fit(t, set, k, p.y, p.classes), k, p.y, 1e-9)
}

type onlyExact struct{ Gram }

func TestSVMSameBits(t *testing.T) {
	p, k := hard()
	for _, rest := range []bool{false, true} {
		for _, tolerance := range []float64{1e-3, 1e-7} {
			want := fit(t, &SVM{Cost: 3, Tolerance: tolerance, OneVsRest: rest, Workers: 1}, k, p.y, p.classes)
			same := func(what string, s SVM, k Gram) {
				t.Helper()
				s.Cost, s.Tolerance, s.OneVsRest = 3, tolerance, rest
				if got := fit(t, &s, k, p.y, p.classes); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: another model", what)
				}
			}
			for _, workers := range []int{2, 7} {
				same("workers", SVM{Workers: workers}, k)
			}
			same("two rows of cache", SVM{CacheBytes: 1}, k)
			same("seven rows of cache", SVM{CacheBytes: 7 * 8 * int64(k.Rows), Workers: 1}, k)
			same("exact values", SVM{CacheBytes: 50 * 8 * int64(k.Rows), Workers: 2}, onlyExact{k})
			solver := costSolver{SVM: SVM{Cost: 3, Tolerance: tolerance, OneVsRest: rest}}
			for range 2 {
				got, err := solved(context.Background(), &solver, k, p.y, p.classes)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Error("solver: another model")
				}
			}
		}
	}
}

func TestSolverReused(t *testing.T) {
	var solver costSolver
	for _, n := range []int{30, 7, 200, 3, 90} {
		p := clouds(uint64(n), n, 4, 3, 1)
		k := p.radial()
		got, err := solved(context.Background(), &solver, k, p.y, p.classes)
		if err != nil {
			t.Fatal(err)
		}
		if want := fit(t, nil, k, p.y, p.classes); !reflect.DeepEqual(got, want) {
			t.Errorf("%d items: another model", n)
		}
	}
}

func TestWeightsAreCopies(t *testing.T) {
	p := clouds(3, 40, 4, 3, 0.7)
	weights := []float64{1, 2, 3}
	twin := problem{classes: p.classes}
	twin.f = &sparse.Block[float64]{Cols: 4, Stride: 4}
	for i, c := range p.y {
		for range int(weights[c]) {
			twin.f.Data = append(twin.f.Data, p.f.Row(i)...)
			twin.f.Rows++
			twin.y = append(twin.y, c)
		}
	}
	for _, rest := range []bool{false, true} {
		a := fit(t, &SVM{Tolerance: 1e-9, Weights: weights, OneVsRest: rest}, p.gram(), p.y, 3)
		b := fit(t, &SVM{Tolerance: 1e-9, OneVsRest: rest}, twin.gram(), twin.y, 3)
		x := []float64{0.3, -0.2, 0.9, 0.1}
		for m, d := range a.ScoresTo(nil, p.row(x), 0) {
			within(t, "decision", d, b.ScoresTo(nil, twin.row(x), 0)[m], 1e-6)
			within(t, "objective", a.Machines[m].Objective, b.Machines[m].Objective, 1e-6)
		}
	}
}

func TestPath(t *testing.T) {
	p := clouds(11, 150, 5, 4, 0.6)
	k := p.radial()
	costs := []float64{0.01, 0.1, 0.1, 1, 8, 200, 5000}
	for _, rest := range []bool{false, true} {
		solver := costSolver{SVM: SVM{Tolerance: 1e-7, OneVsRest: rest, Weights: []float64{1, 2, 0.5, 1}}}
		path, err := solver.path(context.Background(), k, p.y, p.classes, costs)
		if err != nil {
			t.Fatal(err)
		}
		var steps, cold int
		for c, cost := range costs {
			set := solver.SVM
			set.Cost = cost
			checkOptimal(t, &set, &path[c], k, p.y, 1e-9)
			want := fit(t, &set, k, p.y, p.classes)
			for m := range want.Machines {
				o := want.Machines[m].Objective
				within(t, "objective on the path", path[c].Machines[m].Objective, o, 1e-6*o)
				steps += path[c].Machines[m].Iterations
				cold += want.Machines[m].Iterations
			}
		}
		if steps > cold {
			t.Errorf("%d steps along the path, %d from zero", steps, cold)
		}
	}
}

func TestPathScales(t *testing.T) {
	p := clouds(4, 30, 3, 2, 0.1)
	for i := range p.y {
		p.y[i] = i % 2
	}
	var solver costSolver
	path, err := solver.path(context.Background(), p.radial(), p.y, 2, []float64{1e-5, 1e-4, 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	for c, m := range path[1:] {
		if m.Machines[0].Iterations != 0 || m.Machines[0].Bounded != 30 {
			t.Errorf("cost %d: %d steps, %d of 30 at the bound", c+1, m.Machines[0].Iterations, m.Machines[0].Bounded)
		}
	}
}

func TestSolverAllocates(t *testing.T) {
	p := clouds(4, 80, 5, 4, 0.5)
	k := p.radial()
	solver := costSolver{SVM: SVM{Cost: 5, Workers: 1}}
	most := testing.AllocsPerRun(20, func() {
		if _, err := solved(context.Background(), &solver, k, p.y, p.classes); err != nil {
			t.Fatal(err)
		}
	})
	if most > 12 { // the race detector allocates more
		t.Errorf("%v allocations a fit", most)
	}
}

func TestSVMEdges(t *testing.T) {
	t.Run("equal items of two classes", func(t *testing.T) {
		p := clouds(5, 20, 3, 2, 1)
		copy(p.f.Data[10*3:], p.f.Data[:10*3])
		for i := range 10 {
			p.y[i], p.y[10+i] = 0, 1
		}
		s := &SVM{Cost: 2}
		m := fit(t, s, p.gram(), p.y, 2)
		checkOptimal(t, s, m, p.gram(), p.y, 1e-5)
		if m.Machines[0].Bounded != 20 {
			t.Errorf("%d items at their bound, want 20", m.Machines[0].Bounded)
		}
		within(t, "decision", m.ScoresTo(nil, p.row(p.f.Row(0)), 0)[0], 0, 1e-5)
	})
	t.Run("constant kernel", func(t *testing.T) {
		k := &denseGram[float64]{Rows: 9, Cols: 9, Stride: 9, Data: make([]float64, 81)}
		for i := range k.Data {
			k.Data[i] = 4
		}
		y := []int{0, 1, 0, 0, 1, 0, 1, 0, 0}
		m := fit(t, nil, k, y, 2)
		checkOptimal(t, &SVM{}, m, k, y, 1e-9)
		if d := m.ScoresTo(nil, k.row(0), 0); m.Pairs.Predict(d) != 0 {
			t.Errorf("predicts class 1 with decision %v where 6 of 9 are of class 0", d)
		}
	})
	t.Run("zero kernel", func(t *testing.T) {
		k := &denseGram[float64]{Rows: 3, Cols: 3, Stride: 3, Data: make([]float64, 9)}
		m := fit(t, nil, k, []int{1, 0, 1}, 2)
		checkOptimal(t, &SVM{}, m, k, []int{1, 0, 1}, 1e-9)
	})
	t.Run("one item for each class", func(t *testing.T) {
		p := clouds(2, 4, 3, 4, 2)
		s := &SVM{Cost: 1e6, Tolerance: 1e-9}
		m := fit(t, s, p.gram(), p.y, 4)
		for i := range 4 {
			d := m.ScoresTo(nil, p.row(p.f.Row(i)), 0)
			for j, pair := range m.Pairs {
				if pair.Positive == i {
					within(t, "decision", d[j], 1, 1e-8)
				}
				if pair.Negative == i {
					within(t, "decision", d[j], -1, 1e-8)
				}
			}
			if c := m.Pairs.Predict(d); c != i {
				t.Errorf("class %d predicted as %d", i, c)
			}
		}
	})
	t.Run("all at the bound", func(t *testing.T) {
		k := clouds(4, 30, 3, 2, 0.1)
		for i := range k.y {
			k.y[i] = i % 2
		}
		s := &SVM{Cost: 1e-4}
		m := fit(t, s, k.radial(), k.y, 2)
		checkOptimal(t, s, m, k.radial(), k.y, 1e-9)
		if m.Machines[0].Bounded != 30 {
			t.Errorf("%d of 30 at the bound", m.Machines[0].Bounded)
		}
	})
	t.Run("kernel that is not positive semidefinite", func(t *testing.T) {
		p := clouds(9, 40, 3, 3, 1)
		k := p.gram()
		for i := range k.Data {
			k.Data[i] = math.Tanh(k.Data[i]-1) - 0.5
		}
		s := &SVM{Cost: 10}
		m := fit(t, s, k, p.y, 3)
		checkOptimal(t, s, m, k, p.y, 1e-3)
		radial := p.radial()
		for i := range k.Data {
			k.Data[i] = -radial.Data[i]
		}
		if !m.IsIndefinite || !fit(t, s, k, p.y, 3).IsIndefinite {
			t.Error("taken for a kernel")
		}
	})
	t.Run("classes without items", func(t *testing.T) {
		p := clouds(1, 30, 3, 2, 2)
		for i, c := range p.y {
			p.y[i] = 3*c + 1
		}
		m := fit(t, nil, p.gram(), p.y, 6)
		if want := (Pairs{{1, 4}}); !reflect.DeepEqual(m.Pairs, want) {
			t.Errorf("machines %v, want %v", m.Pairs, want)
		}
		rest := fit(t, &SVM{OneVsRest: true}, p.gram(), p.y, 6)
		if !reflect.DeepEqual(rest, m) {
			t.Error("two classes against the rest are not one machine")
		}
	})
}

func TestSVMErrors(t *testing.T) {
	ctx := context.Background()
	p := clouds(1, 60, 3, 3, 0.5)
	k := p.radial()
	t.Run("one class", func(t *testing.T) {
		for _, y := range [][]int{{-1, 1, 1}, {-1, -1, -1}} {
			if _, err := (*SVM)(nil).Fit(ctx, &denseGram[float64]{Rows: 3, Cols: 3, Stride: 3, Data: make([]float64, 9)}, y, 2); !errors.Is(err, ErrOneClass) {
				t.Errorf("%v: error %v", y, err)
			}
		}
	})
	t.Run("iteration limit", func(t *testing.T) {
		m, err := (&SVM{MaxIterations: 3, Workers: 2}).Fit(ctx, k, p.y, 3)
		if !errors.Is(err, ErrIterationLimit) || m == nil || m.Machines[0].Iterations != 3 || len(m.Machines[0].Index) == 0 {
			t.Errorf("model %v, error %v", m, err)
		}
		solver := costSolver{SVM: SVM{MaxIterations: 3}}
		path, err := solver.path(ctx, k, p.y, 3, []float64{1, 2})
		if !errors.Is(err, ErrIterationLimit) || len(path) != 2 || path[1].Machines[2].Iterations != 3 {
			t.Errorf("path %v, error %v", path, err)
		}
	})
	t.Run("iteration limit on features", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes most of a second")
		}
		values := []float32{0.8, -0.3, -1.2, 0.1, 1.4, -0.7, 0.5, -0.9} // independent of the classes
		v, err := svmLearner.Resolve(param.Values{"cost": param.Of(1e9), "svm-tolerance": param.Of(1e-300)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := svmLearner.Linear(ctx, sparse.BlockOf(8, 1, values), []int{0, 1, 0, 1, 0, 1, 0, 1}, 2, v)
		if !errors.Is(err, ErrIterationLimit) || m == nil || m.Weights[0] == 0 {
			t.Errorf("model %v, error %v", m, err)
		}
	})
	t.Run("just enough iterations", func(t *testing.T) {
		free := fit(t, &SVM{OneVsRest: true}, k, p.y, 3)
		most := 0
		for _, m := range free.Machines {
			most = max(most, m.Iterations)
		}
		if capped := fit(t, &SVM{OneVsRest: true, MaxIterations: most}, k, p.y, 3); !reflect.DeepEqual(capped, free) {
			t.Error("another model")
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := (*SVM)(nil).Fit(cancelled, k, p.y, 3); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		solver := costSolver{SVM: SVM{Tolerance: 1e-12, Cost: 100}}
		if _, err := solved(cancelled, &solver, k, p.y, 3); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("not finite", func(t *testing.T) {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			g := p.radial()
			for i := range g.Data {
				g.Data[i] = bad
			}
			if _, err := (*SVM)(nil).Fit(ctx, g, p.y, 3); !errors.Is(err, ErrNotFinite) {
				t.Errorf("kernel value %v: error %v", bad, err)
			}
		}
	})
	t.Run("settings", func(t *testing.T) {
		bad := &SVM{Cost: -1, Tolerance: math.NaN(), Weights: []float64{1, 0, 1}}
		_, err := bad.Fit(ctx, k, p.y, 3)
		for _, word := range []string{"cost -1", "tolerance NaN", "weight 0 of class 1"} {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("error %v does not mention %q", err, word)
			}
		}
		if lines := strings.Count(err.Error(), "\n") + 1; lines != 3 {
			t.Errorf("%d faults of 3 settings: %v", lines, err)
		}
		if err := (&SVM{Weights: []float64{1}}).validate(2); err == nil {
			t.Error("one weight for two classes accepted")
		}
		var solver costSolver
		for _, costs := range [][]float64{nil, {2, 1}, {0, 1}, {math.Inf(1)}} {
			if _, err := solver.path(ctx, k, p.y, 3, costs); err == nil {
				t.Errorf("costs %v accepted", costs)
			}
		}
	})
	t.Run("the caller's mistakes", func(t *testing.T) {
		panics(t, badLength, func() { _, _ = (*SVM)(nil).Fit(ctx, k, p.y[1:], 3) })
		panics(t, badLength, func() { _, _ = solved(ctx, new(costSolver), k, p.y[1:], 3) })
		panics(t, badClass, func() { _, _ = (*SVM)(nil).Fit(ctx, k, p.y, 2) })
		m := fit(t, nil, k, p.y, 3)
		panics(t, badLength, func() { m.ScoresTo(nil, make([]float64, 3), 0) })
		panics(t, badLength, func() { m.ScoresTo(make([]float64, 2), make([]float64, 60), 0) })
		panics(t, badLength, func() { m.coefTo(make([]float64, 2), 0) })
		panics(t, badShape, func() { LinearWeights(m, &sparse.Block[float64]{Rows: 3}) })
	})
}
