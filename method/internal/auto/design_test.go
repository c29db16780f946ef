package auto

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func leanDesign(p *problem.Problem) design {
	full := designOf(p, &settings{})
	d := design{manyClasses: true, folds: full.folds, examples: 500, propagation: full.propagation}
	d.reduce(len(p.Row), len(p.Names))
	return d
}

func TestManyClasses(t *testing.T) {
	p, class := contract.Blocks(t, 4, 1200, 700, 12, 6, 0.5)
	full := contract.Accuracy(p, evident(t, p, &settings{Settings: engine.Settings{Effort: engine.LowEffort}}).Class, class)
	d := leanDesign(p)
	predict := func(workers int, memory int64) *engine.Prediction {
		out := &engine.Prediction{}
		in, err := newInput(t.Context(), p, &settings{Settings: engine.Settings{Workers: workers, Memory: memory}}, d, memory, &out.Work)
		if err == nil {
			err = in.predict(t.Context(), out)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := len(in.places); n < 450 || n > 550 {
			t.Errorf("models learn from %d labels, want about 500", n)
		}
		return out
	}
	out := predict(1, 0)
	found := contract.Accuracy(p, out.Class, class)
	if found < full-0.03 || math.Abs(out.Accuracy-found) > 3*out.Stderr {
		t.Errorf("accuracy %.3f, estimated %.3f ± %.3f; with all features %.3f", found, out.Accuracy, out.Stderr, full)
	}
	for v := range p.Degrees {
		sum := 0.0
		for _, q := range out.Scores.Row(v) {
			sum += float64(q)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("probabilities of node %d add up to %v", v, sum)
		}
	}
	if again := predict(7, 1<<20); !slices.Equal(again.Scores.Data, out.Scores.Data) || again.Estimate != out.Estimate {
		t.Error("other bits with other workers and memory")
	}
}

func TestStoredRows(t *testing.T) {
	p, class := contract.Blocks(t, 4, 1200, 700, 12, 6, 0.5)
	for _, columns := range testgraph.Sample(t, 1, []int{8, 20, -20}) {
		isLean := columns > 0
		columns = max(columns, -columns)
		rng := rand.New(rand.NewPCG(1, 1))
		p.Attributes = &sparse.Table{Rows: len(class), Cols: columns}
		row := make([]float32, columns)
		for v, c := range class {
			for j := range row {
				if row[j] = float32(rng.NormFloat64()); j == c%8 {
					row[j]++
				}
			}
			p.Attributes.Set(v, row)
		}
		d := designOf(p, &settings{})
		if isLean {
			d = leanDesign(p)
		}
		predict := func(workers int, memory int64, dir string) *engine.Prediction {
			out := &engine.Prediction{}
			in, err := newInput(t.Context(), p, &settings{Settings: engine.Settings{Workers: workers, Memory: memory}}, d, memory, &out.Work)
			if err == nil && dir != "" {
				in.files, err = newTempFiles(dir)
			}
			if err == nil {
				err = errors.Join(in.predict(t.Context(), out), in.files.remove())
			}
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		out, dir := predict(1, 0, ""), t.TempDir()
		if found := contract.Accuracy(p, out.Class, class); math.Abs(out.Accuracy-found) > 3*out.Stderr || found < 0.5 {
			t.Errorf("%d columns: accuracy %.3f, estimated %.3f ± %.3f", columns, found, out.Accuracy, out.Stderr)
		}
		again := predict(7, 64<<20, dir)
		if !slices.Equal(again.Scores.Data, out.Scores.Data) || again.Estimate != out.Estimate {
			t.Errorf("%d columns, lean %t: other bits from files", columns, isLean)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("files are left: %v, %v", left, err)
		}
	}
}

// 3 GiB is the part of 4 GiB without the graph and the heap.
func TestManyClassesFitTheLimit(t *testing.T) {
	const n, classes, labels, limit = 174_000, 1000, 17_400, 3 << 30
	few, _ := contract.Blocks(t, 4, 100, 50, 3, 5, 0.5)
	p := &problem.Problem{Names: make([]string, classes), Graph: &graph.Graph{A: few.A, Degrees: make([]float64, n)}}
	for i := range labels {
		p.Row, p.Class = append(p.Row, 10*i), append(p.Class, i%classes)
	}
	if bytes := newPlan(p, &settings{Settings: engine.Settings{Memory: limit}}).learning.Required(limit); bytes > limit {
		t.Errorf("%d bytes of %d", bytes, int64(limit))
	}
	if d := designOf(p, &settings{Settings: engine.Settings{Memory: limit}}); !d.manyClasses {
		t.Error("all features are computed")
	}
	p.Attributes = &sparse.Table{Rows: n, Cols: 64}
	const stored = 4 * n * (2*classes + 64) // two filters and attributes
	for limit, want := range map[int64]int64{0: 0, 1500 << 20: stored} {
		if plan := newPlan(p, &settings{Settings: engine.Settings{Memory: limit}}); plan.disk < want || plan.disk > want+4<<20 {
			t.Errorf("limit %d: %d bytes in files, want %d", limit, plan.disk, want)
		}
	}
}

// Stages that do not fit the memory limit are left out from the start, and the plan of the others fits it.
func TestStagesFitTheLimit(t *testing.T) {
	p := contract.Planted(t, 4, 300, 60)
	at := func(limit int64) *settings {
		return &settings{Settings: engine.Settings{Workers: 2, Memory: limit}}
	}
	required := func(d design) int64 { // with rows in memory or in files
		return min(planOf(d, p, at(0)).learning.Required(1), planOf(d, p, at(1)).learning.Required(1))
	}
	all := required(designOf(p, at(0)))
	bare := designOf(p, at(0))
	for _, s := range optionalStages {
		*s.of(&bare) = false
	}
	least := required(bare)
	if least >= all {
		t.Fatalf("all stages need %d bytes, none %d", all, least)
	}
	for _, limit := range []int64{least, least + (all-least)/3, all - 1, all} {
		plan := newPlan(p, at(limit))
		if bytes := plan.learning.Required(limit); bytes > limit {
			t.Errorf("limit %d: %d bytes without %q", limit, bytes, plan.unfit)
		}
		out := evident(t, p, at(limit))
		if (len(out.Unfit) > 0) != (limit < all) || !slices.Equal(out.Unfit, plan.unfit) {
			t.Errorf("limit %d of %d leaves out %q", limit, all, out.Unfit)
		}
		if again := newPlan(p, at(limit+out.MissingMemory)); len(again.unfit) > 0 {
			t.Errorf("limit %d with %d more bytes leaves out %q", limit, out.MissingMemory, again.unfit)
		}
	}
	if plan := newPlan(p, at(1)); plan.unfit != nil {
		t.Errorf("a limit that nothing fits leaves out %q", plan.unfit)
	}
}
