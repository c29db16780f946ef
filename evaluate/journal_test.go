package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// written returns the JSON of a report without its times.
func written(t *testing.T, r *Report) string {
	t.Helper()
	own := *r
	own.Results = append([]Result(nil), r.Results...)
	for i := range own.Results {
		own.Results[i].SecondsPrediction = 0
		own.Results[i].Seconds, own.Results[i].Phases = 0, problem.PhaseSeconds{}
	}
	var b strings.Builder
	if err := json.NewEncoder(&b).Encode(own); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestResume cancels runs after random numbers of splits, and throws some away that
// were not yet written: they go on to the report of a run that nothing disturbed.
func TestResume(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	seed := rand.Uint64()
	t.Logf("rng seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	p := planted(t, 9, 120, 90)
	list, err := method.Parse("lp,cwk:alpha=0.5+perceptron,cwk+svm:cost=2:class-weights=balanced,pseudo-inverse+rls:lambda=0.1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := method.Settle(t.Context(), list, "small"); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		e.Settings.RNGSeed, e.Settings.Lists = 3, map[string][]param.Value{"steps": tinyGrid["steps"]}
		if !e.Settings.Given.Has("alpha") {
			e.Settings.Lists["alpha"] = tinyGrid["alpha"]
		}
	}
	for _, tuning := range []int{0, 2} {
		plan := &Plan{Fractions: []float64{0.2, 0.4}, Splits: 4, TuningSplits: tuning, Settings: &method.Settings{Lists: tinyGrid, RNGSeed: 3}}
		plan.Methods = list
		whole, err := Run(context.Background(), p, plan)
		if err != nil {
			t.Fatal(err)
		}
		const total = 2 * 4 * 5
		path := filepath.Join(t.TempDir(), "r.json.journal")
		last := 0
		for attempt := 0; ; attempt++ {
			ctx, cancel := context.WithCancel(context.Background())
			left := 1 + rng.IntN(total/10+1)
			plan.Journal = &Journal{Path: path, Version: "1", Resume: attempt > 0}
			step := func() {
				if left--; left == 0 && attempt < 10 {
					cancel()
				}
			}
			plan.Progress = func(string, int64, int64) { step() }
			for i := range plan.Methods { // while they choose, too
				plan.Methods[i].Settings.Progress = func(string, int64, int64) { step() }
			}
			r, err := Run(ctx, p, plan)
			cancel()
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if now := lengthOf(plan.Journal); now < last {
					t.Fatalf("attempt %d: %d splits are known, %d were", attempt, now, last)
				} else {
					last = now
				}
				continue
			}
			if attempt < 5 {
				t.Errorf("done at attempt %d", attempt)
			}
			if got, want := written(t, r), written(t, whole); got != want {
				t.Errorf("%d tuning splits: the report differs:\n%s\nwant\n%s", tuning, got, want)
			}
			if err := errors.Join(plan.Journal.Remove(), plan.Journal.Remove()); err != nil {
				t.Error(err)
			}
			break
		}
		plan.Journal, plan.Progress = nil, nil
	}
}

// interruptible is a method whose choice of parameters may be cut short.
type interruptible struct {
	method.Method
	stop func()
}

func (interruptible) Name() string { return "interruptible" }

func (m interruptible) Tune(ctx context.Context, _ *method.Problem, splits *split.Splits, _ *method.Settings) (*method.Choice, error) {
	for range splits.Len {
		if m.stop(); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return &method.Choice{Accuracy: 0.5}, nil
}

// TestResumeTuning cuts runs short while they choose parameters: the report of the resumed run is
// that of a run that was not cut.
func TestResumeTuning(t *testing.T) {
	p := planted(t, 9, 120, 90)
	cut := -1
	cancel := func() {}
	m := interruptible{Method: method.Majority, stop: func() {
		if cut--; cut == 0 {
			cancel()
		}
	}}
	plan := &Plan{Methods: []method.Entry{{Method: m}}, Fractions: []float64{0.2, 0.4}, Splits: 2, TuningSplits: 5}
	whole, err := Run(t.Context(), p, plan)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal")
	for _, at := range []int{1, 2, 4, 6, 9, 10} { // in the first choice, at its end, in the second
		for attempt := range 2 {
			cut = []int{at, -1}[attempt]
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			plan.Journal = &Journal{Path: path, Version: "1", Resume: attempt > 0}
			r, err := Run(ctx, p, plan)
			cancel()
			if attempt == 0 {
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := written(t, r), written(t, whole); got != want {
				t.Errorf("cut at %d: the report differs:\n%s\nwant\n%s", at, got, want)
			}
		}
		if err := plan.Journal.Remove(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJournalOfAnotherRun checks that journals of other inputs, and damaged ones, are refused.
func TestJournalOfAnotherRun(t *testing.T) {
	p := planted(t, 9, 120, 90)
	methods, err := method.Parse("lp,lgc")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal")
	make := func() *Plan {
		return &Plan{
			Methods: methods, Fractions: []float64{0.5}, Splits: 2, Settings: &method.Settings{RNGSeed: 3},
			Journal: &Journal{Path: path, Version: "1", Resume: true},
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	first := make()
	first.Progress = func(_ string, done, _ int64) {
		if done > 0 {
			cancel()
		}
	}
	if _, err := Run(ctx, p, first); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rewired := planted(t, 10, 120, 90)
	rewired.Row, rewired.Class, rewired.Names = p.Row, p.Class, p.Names
	renamed := *p
	renamed.Names = []string{"p", "q", "r", "s"}[:len(p.Names)]
	described := *p
	described.Attributes = &sparse.Table{Rows: len(p.Degrees), Cols: 1}
	described.Attributes.Set(3, []float32{1})
	for _, c := range []struct {
		what   string
		on     *method.Problem
		change func(*Plan)
	}{
		{"is of a run with other edges", rewired, func(*Plan) {}},
		{"is of a run with other labels or nodes", &renamed, func(*Plan) {}},
		{"is of a run with other labels or nodes", p.At([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}), func(*Plan) {}},
		{"is of a run with other options", &described, func(*Plan) {}},
		{"is of a run with other options", p, func(plan *Plan) { plan.Settings.RNGSeed++ }},
		{"is of a run with other options", p, func(plan *Plan) { plan.Settings.LowEffort = true }},
		{"is of a run with other options", p, func(plan *Plan) {
			plan.Settings.Prior.Given = sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
		}},
		{"is of a run with other options", p, func(plan *Plan) { plan.Methods = plan.Methods[:1] }},
		{"is of a run with other options", p, func(plan *Plan) { plan.Fractions[0] = 0.4 }},
		{"is of a run of another version", p, func(plan *Plan) { plan.Journal.Version = "2" }},
		{"", p, func(plan *Plan) { plan.Settings.Workers, plan.Settings.Memory = 1, 1<<30 }},
	} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		plan := make()
		c.change(plan)
		_, err := Run(context.Background(), c.on, plan)
		var wrong *FileError
		if c.what == "" {
			if err != nil {
				t.Error(err)
			}
		} else if !errors.As(err, &wrong) || wrong.What != c.what || wrong.Damaged {
			t.Errorf("%v, want one that %s", err, c.what)
		}
	}
	for at := 0; at < len(text)-1; at += 1 + len(text)/40 {
		torn := append([]byte(nil), text...)
		torn[at] ^= 1
		for _, bad := range [][]byte{torn, text[:at]} {
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			var wrong *FileError
			if _, err := Run(context.Background(), p, make()); !errors.As(err, &wrong) || !wrong.Damaged {
				t.Fatalf("byte %d of %d: %v", at, len(text), err)
			}
		}
	}
}

// lengthOf returns the number of splits that a journal holds.
func lengthOf(j *Journal) (count int) {
	for _, r := range j.records {
		count += len(r.Outcomes)
	}
	return count
}
