package method

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// keptAs returns a model after a write and a read.
func keptAs(t *testing.T, m *engine.Engine, out *engine.Prediction, s *engine.Settings) *engine.Model {
	t.Helper()
	kept, err := m.Keep(out, s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	again := new(engine.Model)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return again
}

func TestKeptModels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := contract.Planted(t, 7, 240, 50)
	grown := contract.ProblemOf(testgraph.Labelled{A: grow(t, p.A.(*sparse.CSR), 30), Row: p.Row, Class: p.Class, Names: p.Names})
	grown.Degrees = testgraph.Degrees(t, grown.A.(*sparse.CSR))
	for _, name := range testgraph.Sample(t, 6, []string{
		"auto", "auto:class-weights=balanced", "beliefs", "lp", "diffusion+rls", "lgc", "spectral+logistic", "cwk", "cwk+svm:cost=1", "diffusion", "diffusion+rls:lambda=0.1", "regularized-laplacian:alpha=2+gp:variance=10", "diffusion:beta=2+density", "majority",
	}) {
		entries, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := Settle(t.Context(), entries, "small")
		if err != nil {
			t.Fatal(err)
		}
		own := *entries[0].Settings
		own.RNGSeed, own.Prior = 5, cwk.Prior{Empirical: true, Pseudo: 1}
		m := entries[0].Method
		want, err := m.Predict(t.Context(), p, nil, &own)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kept := keptAs(t, m, want, &own)
		got, err := predictKept(t.Context(), kept, p, &engine.Settings{Workers: 3})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want.Class, got.Class); diff != "" || !slices.Equal(want.Scores.Data, got.Scores.Data) {
			t.Errorf("%s: other predictions by the kept model\n%s", name, diff)
		}
		larger, err := predictKept(t.Context(), kept, grown, set)
		if err != nil {
			t.Fatalf("%s, grown: %v", name, err)
		}
		same := 0
		for v, c := range want.Class {
			if larger.Class[v] == c {
				same++
			}
		}
		if same < len(want.Class)*7/10 || len(larger.Class) != len(want.Class)+30 {
			t.Errorf("%s: %d of %d nodes keep their class on a graph with 30 more", name, same, len(want.Class))
		}
	}
}

func grow(t *testing.T, a *sparse.CSR, more int) *sparse.CSR {
	t.Helper()
	n, _ := a.Dims()
	var e []sparse.Triplet
	_ = sparse.Sweep(t.Context(), a, 1, func(_ int, panel sparse.Panel) error {
		for i := panel.Lo; i < panel.Hi; i++ {
			columns, _ := panel.Row(i - panel.Lo)
			for _, j := range columns {
				e = append(e, sparse.Triplet{Row: uint32(i), Col: j, Val: 1})
			}
		}
		return nil
	})
	for v := n; v < n+more; v++ {
		for _, u := range []int{(7 * v) % n, (7*v + 1) % n, (7*v + 2) % n} {
			e = append(e, sparse.Triplet{Row: uint32(u), Col: uint32(v), Val: 1}, sparse.Triplet{Row: uint32(v), Col: uint32(u), Val: 1})
		}
	}
	out, err := sparse.FromTriplets(n+more, n+more, e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestChangedModels(t *testing.T) {
	p := contract.Planted(t, 9, 120, 30)
	for text, means := range map[string]string{
		`{"method":"auto"}`: "no choice",
		`{"method":"auto","auto":{"mixture":[{"weight":1,"ridge":10}],"calibration":{"power":1,"slope":1,"trust":1}}}`: "no λ",
		`{"method":"lgc","values":{"alpha":7}}`: "out of range",
		`{"method":"what"}`:                     "no method",
	} {
		m := new(engine.Model)
		if err := json.Unmarshal([]byte(text), m); err != nil {
			continue
		}
		if _, err := predictKept(t.Context(), m, p, new(engine.Settings)); err == nil || m.Method != "what" && !errors.Is(err, engine.ErrChanged) {
			t.Errorf("%s: %s is applied", means, text)
		}
	}
}

// Forged models are refused, or predict finite scores.
func TestForgedModels(t *testing.T) {
	p := contract.Planted(t, 9, 60, 20)
	for _, name := range []string{"auto", "cwk", "cwk+rls", "diffusion+density"} {
		entries, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Settle(t.Context(), entries, "none"); err != nil {
			t.Fatal(err)
		}
		out, err := entries[0].Method.Predict(t.Context(), p, nil, entries[0].Settings)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(keptAs(t, entries[0].Method, out, entries[0].Settings))
		if err != nil {
			t.Fatal(err)
		}
		var model any
		if err := json.Unmarshal(text, &model); err != nil {
			t.Fatal(err)
		}
		predict := func() {
			forged, err := json.Marshal(model)
			if err != nil {
				t.Fatal(err)
			}
			m := new(engine.Model)
			if json.Unmarshal(forged, m) != nil {
				return
			}
			out, err := predictKept(t.Context(), m, p, new(engine.Settings))
			if err == nil && slices.ContainsFunc(out.Scores.Data, func(x float32) bool { return x != x }) {
				t.Errorf("%s: applied: %s", name, forged)
			}
		}
		var forge func(value any, set func(any))
		forge = func(value any, set func(any)) {
			defer func() { set(value) }()
			switch value := value.(type) {
			case map[string]any:
				for _, key := range slices.Sorted(maps.Keys(value)) {
					forge(value[key], func(x any) { value[key] = x })
				}
			case []any:
				set(value[:len(value)-1])
				predict()
				set(value)
				forge(value[0], func(x any) { value[0] = x })
			case float64:
				set(1e300)
				predict()
			}
		}
		forge(model, func(any) {})
	}
}

func predictKept(ctx context.Context, m *engine.Model, p *engine.Problem, s *engine.Settings) (*engine.Prediction, error) {
	e, err := Restore(m, engine.Classes)
	if err != nil {
		return nil, err
	}
	return e.Predict(ctx, p, nil, s)
}
