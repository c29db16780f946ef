package method

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// The estimate covers features of either kind, and the longest walks, since any of them may be
// chosen.
func TestLargestSettingIsPlanned(t *testing.T) {
	p := contract.Planted(t, 4, 3000, 600)
	bytes := func(steps []int, kinds ...string) int64 {
		t.Helper()
		set := &Settings{Lists: listed(map[string][]param.Value{"alpha": param.Grid(0.1), "steps": param.Grid(steps...), "cost": param.Grid(1)}, kinds...), RNGSeed: 2, sample: 50}
		bytes, err := methodOf(t, "cwk+svm").Bytes(p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	plain, honest, both := bytes([]int{3}, Plain), bytes([]int{3}, Honest), bytes([]int{3}, Plain, Honest)
	if honest <= plain || both < honest {
		t.Errorf("plain %d, honest %d, both %d bytes", plain, honest, both)
	}
	if long, some := bytes([]int{200}, Plain), bytes([]int{2, 40, 200}, Plain); some < long*9/10 {
		t.Errorf("walks of 200 steps %d, of up to as many %d bytes", long, some)
	}
}

// TestMachinesStayWithinTheirPlan compares the memory of a fit, with the cached rows of the
// kernel, with the estimate.
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
	}{{"svm", 2, most}, {"svm", 5, most}, {"svm", 24, most}, {"svm", 2, 2000}, {"rls", 5, most}, {"logistic", 5, most}} {
		rows := c.rows
		f := &sparse.Block[float32]{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
		p := &Problem{Graph: new(graph.Graph), Names: make([]string, c.classes), Class: make([]int, rows)}
		for i := range p.Class {
			p.Class[i] = rng.IntN(c.classes)
		}
		by := learnerOf(c.learner)
		j, err := walkMethod{"cwk", by}.job(p, &Settings{Workers: 2, Given: param.Values{"lambda": param.Of(1.0)}})
		if err != nil {
			t.Fatal(err)
		}
		planned, values := j.fitBytes(rows, cols), j.values[0]
		if values.Has("cost") {
			values["cost"] = param.Of(0.001)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := by.Linear(t.Context(), f, p.Class, c.classes, values); err != nil && !errors.Is(err, classify.ErrIterationLimit) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > planned*21/20 {
			t.Errorf("%s, %d classes: %d bytes, plan %d", c.learner, c.classes, took, planned)
		}
	}
}
