package evaluate

import (
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/spec"
)

// TestRunMemory: what an evaluation holds while it predicts is no more than Memory lists, and
// at least half of what of that is sure.
func TestRunMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	p := planted(t, 3, 4_000, 3_500)
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools keep what they have for one
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, name := range []string{"lp", "cwk+rls"} {
		methods, err := method.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		before, most := inUse(), int64(0)
		grid := &method.Grid{Values: map[string][]spec.Value{"alpha": spec.Grid(0.5), "steps": spec.Grid(4), "cost": spec.Grid(1)}, Features: []method.Features{method.Plain}}
		plan := &Plan{Methods: methods, Fractions: []float64{0.5}, Splits: 2}
		plan.Settings = &method.Settings{Grid: grid, Workers: 1, Progress: func(string, float64) { most = max(most, inUse()-before) }}
		list, err := Memory(p, plan)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), p, plan); err != nil {
			t.Fatal(err)
		}
		if most > spec.Sum(list) || 2*most < spec.Least(list) {
			t.Errorf("%s: %d bytes are held, listed are %+v", name, most, list)
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
	plan := &Plan{Fractions: []float64{0.5}, Splits: 4}
	m := &entry{Entry: method.Entry{Method: methods[0].Method, Settings: &method.Settings{Grid: tinyGrid, Memory: 1, Workers: 2}}}
	if lanes, s := plan.sideBySide(m, p); lanes != 1 || s.Memory != 1 {
		t.Errorf("%d predictions side by side, each with a limit of %d bytes", lanes, s.Memory)
	}
}
