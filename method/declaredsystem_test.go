package method

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/test/contract"
)

// TestDeclaredSystem checks that a registered learner with the system of equations of lgc is lgc under another name, for classes
// and for numbers.
func TestDeclaredSystem(t *testing.T) {
	if os.Getenv("HEATWALK_DECLARED") == "" { // learners stay registered, so this needs its own process
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDeclaredSystem$")
		cmd.Env = append(os.Environ(), "HEATWALK_DECLARED=1")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return
	}
	known := propagate.Learners().Named("lgc")
	learner := &propagate.Learner{Spec: known.Spec, Normalized: true, Gain: known.Gain, Averages: true,
		System: func(g *graph.Graph, v param.Values) (*iterative.System, error) {
			return iterative.VonNeumann(g, true, v.Number("alpha"))
		}}
	learner.Name = "consistent"
	propagate.Register(learner)
	p := contract.Planted(t, 5, 120, 60)
	numbers := *p
	numbers.Class, numbers.Names = nil, nil
	for _, c := range p.Class {
		numbers.Value = append(numbers.Value, float64(c))
	}
	for _, target := range []engine.Target{engine.Classes, engine.Numbers} {
		problem := p
		if target == engine.Numbers {
			problem = &numbers
		}
		var outs []*engine.Prediction
		for _, name := range []string{"consistent", "lgc"} {
			m, err := findMethod(name, target)
			if err != nil {
				t.Fatal(err)
			}
			out, err := m.Predict(t.Context(), problem, nil, &engine.Settings{RNGSeed: 1})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			outs = append(outs, out)
		}
		if target == engine.Classes && !slices.Equal(outs[0].Scores.Data, outs[1].Scores.Data) || !slices.Equal(outs[0].Value, outs[1].Value) || !slices.Equal(outs[0].Class, outs[1].Class) {
			t.Errorf("target %v: the scores of a registered learner differ from those of lgc", target)
		}
	}
}
