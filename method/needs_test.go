package method

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/method/problem/problemtest"
	"github.com/heatwalk/heatwalk/sparse"
)

// Sweeps are done as they are announced and counted, one of them for the
// components of an undirected graph.
func TestSweepsAsAnnounced(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	of := func(g Grid, kinds ...Features) *Grid {
		g.Features = kinds
		return &g
	}
	one := Grid{Alpha: []float64{0.5}, Steps: []int{8}, Cost: []float64{4}, Lambda: []float64{1}}
	several := Grid{Alpha: []float64{0.1, 0.5, 0.9}, Steps: []int{8}, Cost: []float64{0.5, 4}, Lambda: []float64{1}}
	base := problemtest.Planted(t, 4, 1200, 40)
	all := make([]int, len(base.Row))
	for i := range all {
		all[i] = i
	}
	for _, name := range []string{"cwk", "cwk+rls", "lp", "majority"} {
		for i, c := range []struct {
			grid  *Grid
			exact bool
		}{
			{of(one, Plain), true}, {of(one, Honest), true},
			{of(several, Plain), true}, {of(several, Honest), true},
			{tinyGrid, false}, // the chosen walk may be shorter than the longest
		} {
			methods, err := ParseMethods(name)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := PredictNeeds(methods[0], base, nil, &Settings{Grid: c.grid, RNGSeed: 2})
			if err != nil {
				t.Fatal(err)
			}
			narrower := false
			for _, share := range []int64{0, 100, 60, 40} {
				t.Run(fmt.Sprintf("%s/%d/%d %%", name, i, share), func(t *testing.T) {
					a := &problemtest.Counting{Matrix: base.A}
					p := base.At(all)
					p.A = a
					set := &Settings{Grid: c.grid, Memory: whole.Bytes * share / 100, RNGSeed: 2}
					needs, err := PredictNeeds(methods[0], p, nil, set)
					if err != nil && share > 0 && share < 100 {
						return // does not fit
					}
					if err != nil {
						t.Fatal(err)
					}
					narrower = narrower || needs.Sweeps > whole.Sweeps
					got, err := methods[0].Predict(context.Background(), p, nil, set)
					if err != nil {
						t.Fatal(err)
					}
					if a.Count() != got.Work.Sweeps {
						t.Errorf("%d sweeps, %d counted", a.Count(), got.Work.Sweeps)
					}
					exact := c.exact && name != "lp" // which may settle early
					if exact && needs.Sweeps != a.Count() || needs.Sweeps < a.Count() {
						t.Errorf("%d sweeps, announced %d", a.Count(), needs.Sweeps)
					}
				})
			}
			if !narrower && name != "lp" && name != "majority" {
				t.Errorf("%s/%d: no memory was tried in which walks are cut into slabs", name, i)
			}
		}
	}
}

// A directed graph is swept until nothing changes, however often that is.
func TestSweepsOfDirectedGraphs(t *testing.T) {
	p := problemtest.Planted(t, 4, 300, 60)
	a := &problemtest.Counting{Matrix: p.A}
	p.A, p.Directed = a, true
	set := &Settings{Grid: tinyGrid, RNGSeed: 2}
	needs, err := PredictNeeds(methods[0], p, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	if needs.Sweeps != UnknownSweeps {
		t.Errorf("announced %d sweeps", needs.Sweeps)
	}
	got, err := methods[0].Predict(context.Background(), p, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	if a.Count() != got.Work.Sweeps {
		t.Errorf("%d sweeps, %d counted", a.Count(), got.Work.Sweeps)
	}
}

// Walks for honest features may not be needed where plain ones may be chosen, and
// walks are never wider than is announced.
func TestPlainFeaturesAreSure(t *testing.T) {
	p := problemtest.Planted(t, 4, 3000, 600)
	needs := func(kinds ...Features) Needs {
		t.Helper()
		set := &Settings{Grid: &Grid{Alpha: []float64{0.1}, Steps: []int{3}, Cost: []float64{1}, Features: kinds}, RNGSeed: 2, Sample: 50}
		n, err := PredictNeeds(methodOf(t, "cwk+linear-svm"), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	plain, honest, both := needs(Plain), needs(Honest), needs(Plain, Honest)
	if plain.Sure != plain.Bytes || honest.Sure != honest.Bytes || honest.Bytes <= plain.Bytes {
		t.Errorf("plain %+v, honest %+v", plain, honest)
	}
	if both.Bytes < honest.Bytes || both.Sure >= both.Bytes || both.Sure < plain.Bytes || both.RowBytes < honest.RowBytes {
		t.Errorf("both %+v, honest alone %+v", both, honest)
	}
	if plain.RowBytes == 0 || plain.RowBytes > honest.RowBytes {
		t.Errorf("rows of %d bytes, of honest features %d", plain.RowBytes, honest.RowBytes)
	}
}

// heavy is a matrix that says it has many entries.
type heavy struct{ sparse.Matrix }

func (heavy) NNZ() int64 { return 1 << 40 }

// Where long walks are tried only if short ones do not settle the choice, what
// they take is planned, and not sure.
func TestLongWalksArePlanned(t *testing.T) {
	p := problemtest.Planted(t, 4, 3000, 600)
	p.A = heavy{p.A}
	needs := func(steps ...int) Needs {
		t.Helper()
		set := &Settings{Grid: &Grid{Alpha: []float64{0.1, 0.5}, Steps: steps, Cost: []float64{1}, Features: []Features{Plain}}}
		n, err := PredictNeeds(methodOf(t, "cwk+linear-svm"), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	short, long, both := needs(2, 40), needs(200), needs(2, 40, 200)
	if both.Bytes < long.Bytes*9/10 || both.Sure != short.Sure || both.Sweeps != short.Sweeps {
		t.Errorf("short walks %+v, long ones %+v, both %+v", short, long, both)
	}
}

// What a machine is trained in is within the plan, the rows of the kernel
// included that it may keep.
func TestMachinesStayWithinTheirPlan(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const rows, cols = 3000, 8
	rng := rand.New(rand.NewPCG(1, 2))
	f := classify.Features[float32]{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	for i := range f.Data {
		f.Data[i] = rng.Float32()
	}
	for _, c := range []struct {
		learner Learner
		classes int
		fit     func(class []int, classes int) error
	}{
		{KernelSVM, 2, fitKernel(f)}, {KernelSVM, 5, fitKernel(f)}, {KernelSVM, 24, fitKernel(f)},
		{LinearSVM, 2, func(class []int, classes int) error { // of more the first machines would be garbage
			_, err := classify.FitLinearSVM(t.Context(), nil, f, class, classes)
			return err
		}},
		{RLS, 5, func(class []int, classes int) error {
			_, err := classify.FitRLS(t.Context(), nil, f, class, classes)
			return err
		}},
	} {
		p := &Problem{Names: make([]string, c.classes), Class: make([]int, rows)}
		for i := range p.Class {
			p.Class[i] = rng.IntN(c.classes)
		}
		a := &account{Ledger: &ledger.Ledger{P: p}, set: &Settings{Learner: c.learner, Workers: 2}}
		most, sure := a.machine(rows, cols)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := c.fit(p.Class, c.classes); err != nil && !errors.Is(err, classify.ErrIterationLimit) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > most*21/20 || c.learner == KernelSVM && took < sure {
			t.Errorf("%s, %d classes: %d bytes, plan %d, for sure %d", c.learner, c.classes, took, most, sure)
		}
	}
}

// fitKernel trains as a prediction does.
func fitKernel(f classify.Features[float32]) func(class []int, classes int) error {
	return func(class []int, classes int) error {
		svm := &classify.SVM{Strategy: trial.Strategy(classes), CacheBytes: cacheBytes, Workers: 2, MaxIterations: trial.TrialIterations}
		_, err := svm.Fit(context.Background(), classify.FeatureGram[float32]{Features: f}, class, classes)
		return err
	}
}
