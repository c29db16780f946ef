package evaluate

import (
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
)

// TestRunMemory: the memory of an evaluation while it predicts is no more than the estimate, and
// at least half of it.
func TestRunMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	p := planted(t, 3, 4_000, 3_500)
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // because pools keep their content for one cycle
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, name := range []string{"lp", "cwk+rls"} {
		methods, err := method.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		before, most := inUse(), int64(0)
		grid := listed(map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(4), "cost": param.Grid(1)}, method.Plain)
		plan := &Plan{Methods: methods, Fractions: []float64{0.5}, Splits: 2}
		plan.Settings = &method.Settings{Lists: grid, Workers: 1, Progress: func(string, int64, int64) { most = max(most, inUse()-before) }}
		list, err := plan.Bytes(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), p, plan); err != nil {
			t.Fatal(err)
		}
		// The estimate of lp includes a factor, which only slow solves compute; that of walks is one bound, which counts
		// the rows of a choice of parameters too.
		if most > list || name != "lp" && 5*most < 2*list {
			t.Errorf("%s: %d bytes are allocated, the estimate is %d", name, most, list)
		}
	}
}

// Predictions that are made side by side each count, and so does a choice on splits.
func TestMemoryOfWhatRuns(t *testing.T) {
	p := planted(t, 3, 2_000, 1_500)
	takes := func(name string, workers, tuning int) int64 {
		methods, err := method.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := &Plan{Methods: methods, Fractions: []float64{0.02}, Splits: 2, TuningSplits: tuning, Settings: &method.Settings{Workers: workers}}
		list, err := plan.Bytes(p)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	splits := splitBytes * int64(len(p.Row))
	if one, two := takes("lp", 1, 0)-splits, takes("lp", 2, 0)-splits; two < 2*one {
		t.Errorf("two predictions side by side take %d bytes, one %d", two, one)
	}
	alone := takes("cwk", 1, 0)
	if here := takes("cwk", 1, 2); here <= alone {
		t.Errorf("%d bytes without a choice on splits, %d with one", alone, here)
	}
}

// The limit of methods excludes the memory of splits.
func TestSplitsCountAgainstTheLimit(t *testing.T) {
	p := planted(t, 3, 60, 40)
	methods, err := method.Parse("lp,diffusion")
	if err != nil {
		t.Fatal(err)
	}
	const limit = 1 << 20
	plan := &Plan{Methods: methods, Fractions: []float64{0.5}, Splits: 2}
	sizes, err := plan.sizes(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	settled, held, err := plan.settle(p, &method.Settings{Memory: limit}, sizes)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range settled {
		if left := m.Settings.Memory; left <= 0 || left+splitBytes*int64(len(p.Row)) > limit {
			t.Errorf("%s: %d bytes are left of %d without %d", m.Name, left, limit, held)
		}
	}
}

// Of a limit that is too small to be divided nothing is left without a limit.
func TestSideBySideKeepsTheLimit(t *testing.T) {
	p := planted(t, 3, 60, 40)
	methods, err := method.Parse("cwk")
	if err != nil {
		t.Fatal(err)
	}
	m := &entry{Entry: method.Entry{Method: methods[0].Method, Settings: &method.Settings{Lists: tinyGrid, Memory: 1, Workers: 2}}}
	if lanes, s := m.sideBySide(p, 4); lanes != 1 || s.Memory != 1 {
		t.Errorf("%d predictions side by side, each with a limit of %d bytes", lanes, s.Memory)
	}
}
