package method

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
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
	one := Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.5), "steps": spec.Grid(8), "cost": spec.Grid(4), "lambda": spec.Grid(1)}}
	several := Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.1, 0.5, 0.9), "steps": spec.Grid(8), "cost": spec.Grid(0.5, 4), "lambda": spec.Grid(1)}}
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
			methods, err := parseMethods(name)
			if err != nil {
				t.Fatal(err)
			}
			whole, wholeSweeps, err := Memory(methods[0], base, nil, &Settings{Grid: c.grid, RNGSeed: 2})
			if err != nil {
				t.Fatal(err)
			}
			narrower := false
			for _, share := range []int64{0, 100, 60, 40} {
				t.Run(fmt.Sprintf("%s/%d/%d %%", name, i, share), func(t *testing.T) {
					a := &problemtest.Counting{Matrix: base.A}
					p := base.At(all)
					p.Graph = &graph.Graph{A: a, Degrees: base.Degrees}
					set := &Settings{Grid: c.grid, Memory: spec.Sum(whole) * share / 100, RNGSeed: 2}
					_, sweeps, err := Memory(methods[0], p, nil, set)
					if err != nil && share > 0 && share < 100 {
						return // does not fit
					}
					if err != nil {
						t.Fatal(err)
					}
					narrower = narrower || sweeps > wholeSweeps
					got, err := methods[0].Predict(context.Background(), p, nil, set)
					if err != nil {
						t.Fatal(err)
					}
					if a.Count() != got.Work.Sweeps {
						t.Errorf("%d sweeps, %d counted", a.Count(), got.Work.Sweeps)
					}
					exact := c.exact && name != "lp" // which may settle early
					if exact && sweeps != a.Count() || sweeps < a.Count() {
						t.Errorf("%d sweeps, announced %d", a.Count(), sweeps)
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
	m, err := Parse("lp")
	if err != nil {
		t.Fatal(err)
	}
	_, sweeps, err := Memory(m[0].Method, p, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	if sweeps != spec.UnknownSweeps {
		t.Errorf("announced %d sweeps", sweeps)
	}
	got, err := m[0].Method.Predict(context.Background(), p, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	if a.Count() != got.Work.Sweeps {
		t.Errorf("%d sweeps, %d counted", a.Count(), got.Work.Sweeps)
	}
}

// What may be chosen is planned: features of either kind, and the longest walks.
func TestLargestSettingIsPlanned(t *testing.T) {
	p := problemtest.Planted(t, 4, 3000, 600)
	holds := func(steps []int, kinds ...Features) []spec.Bytes {
		t.Helper()
		set := &Settings{Grid: &Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.1), "steps": spec.Grid(steps...), "cost": spec.Grid(1)}, Features: kinds}, RNGSeed: 2, Sample: 50}
		list, _, err := Memory(methodOf(t, "cwk+linear-svm"), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	plain, honest, both := holds([]int{3}, Plain), holds([]int{3}, Honest), holds([]int{3}, Plain, Honest)
	row := func(list []spec.Bytes) (row int) {
		for _, b := range list {
			row = max(row, b.Row)
		}
		return row
	}
	if spec.Sum(honest) <= spec.Sum(plain) || spec.Sum(both) < spec.Sum(honest) || row(both) < row(honest) {
		t.Errorf("plain %+v, honest %+v, both %+v", plain, honest, both)
	}
	if spec.Least(both) >= spec.Sum(both) || spec.Least(both) < spec.Least(plain) {
		t.Errorf("plain %+v, both %+v: features that may not be chosen are not told apart", plain, both)
	}
	if row(plain) == 0 || row(plain) > row(honest) {
		t.Errorf("rows of %d bytes, of honest features %d", row(plain), row(honest))
	}
	if long, some := holds([]int{200}, Plain), holds([]int{2, 40, 200}, Plain); spec.Sum(some) < spec.Sum(long)*9/10 {
		t.Errorf("walks of 200 steps %+v, of up to as many %+v", long, some)
	}
}

// What a machine is trained in is within the plan, the rows of the kernel
// included that it may keep.
func TestMachinesStayWithinTheirPlan(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const most, cols = 3000, 8
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]float32, most*cols)
	for i := range data {
		data[i] = rng.Float32()
	}
	for _, c := range []struct {
		learner string
		classes int // of linear machines two, since the first ones of more would be garbage
		rows    int // of few the values between all are kept
	}{{"svm", 2, most}, {"svm", 5, most}, {"svm", 24, most}, {"svm", 2, 2000}, {"linear-svm", 2, most}, {"rls", 5, most}, {"logistic", 5, most}} {
		rows := c.rows
		f := &sparse.Block[float32]{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
		p := &Problem{Names: make([]string, c.classes), Class: make([]int, rows)}
		for i := range p.Class {
			p.Class[i] = rng.IntN(c.classes)
		}
		by := behindWalks(learnerOf(c.learner))
		set, err := (&Settings{Workers: 2, Given: spec.Values{"lambda": spec.Of(1.0)}}).of(by, c.classes)
		if err != nil {
			t.Fatal(err)
		}
		a := &account{Ledger: &ledger.Ledger{P: p}, set: &set}
		planned := a.machine(int64(rows), cols)
		values := complete(set.beside, set.Grid.tried()[0])[0]
		if values.Has("cost") {
			values["cost"] = spec.Of(0.001)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := by.Linear(t.Context(), f, p.Class, c.classes, values, 0, 2); err != nil && !errors.Is(err, classify.ErrIterationLimit) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > planned*21/20 {
			t.Errorf("%s, %d classes: %d bytes, plan %d", c.learner, c.classes, took, planned)
		}
	}
}

// A method whose eigenvectors may need more than the limit leaves tells so.
func TestShortMethod(t *testing.T) {
	p := problemtest.Planted(t, 4, 3000, 600)
	list := func(memory int64) []spec.Bytes {
		t.Helper()
		list, _, err := Memory(methodOf(t, "spectral+logistic"), p, nil, &Settings{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	free := list(0)
	least, most := spec.Least(free), spec.Sum(free)
	if least >= most {
		t.Fatalf("%+v: a basis that may grow is not told apart", free)
	}
	for _, limit := range []int64{(least + most) / 2, 2 * most} {
		held := list(limit)
		short := slices.ContainsFunc(held, func(b spec.Bytes) bool { return b.Short })
		if short != (limit < most) || spec.Sum(held) > limit {
			t.Errorf("limit %d of %d to %d bytes: %+v", limit, least, most, held)
		}
	}
}

// TestSureOfSolves holds that only a factor may not be needed of what a method takes that
// solves for all columns at a time.
func TestSureOfSolves(t *testing.T) {
	p := problemtest.Planted(t, 4, 1200, 40)
	for _, name := range []string{"lgc", "poisson"} {
		methods, err := parseMethods(name)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := Memory(methods[0], p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		const cols = 64 // of folds, solved together
		factor := spec.Sum(iterative.CholeskyMemory(1200, p.A.NNZ(), cols))
		if got := spec.Sum(list) - spec.Least(list); got > factor || spec.Least(list) < 6*tall.BlockBytes[float64](1200, cols) {
			t.Errorf("%s: %v, of which a factor is %d", name, list, factor)
		}
	}
}

// Where auto does not fit, the error names label propagation if that does.
func TestInsteadOfAuto(t *testing.T) {
	p := problemtest.Planted(t, 4, 1200, 400)
	for limit, want := range map[int64]string{1 << 20: "lp", 1 << 10: ""} {
		_, _, err := Memory(automatic{}, p, nil, &Settings{Memory: limit})
		if over := new(budget.Error); !errors.As(err, &over) || over.Instead != want {
			t.Errorf("limit %d: %q is named instead, want %q, error %v", limit, over.Instead, want, err)
		}
	}
}
