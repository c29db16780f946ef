package auto

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestChoiceGivesTheSameBits(t *testing.T) {
	planted := contract.Planted(t, 3, 400, 60)
	few := contract.Planted(t, 4, 200, 8)
	blocks, _ := contract.Blocks(t, 5, 800, 120, 3, 6, 1)
	for name, p := range map[string]*problem.Problem{"planted": planted, "few": few, "blocks": blocks} {
		set := &settings{Settings: engine.Settings{RNGSeed: 2}}
		want := evident(t, p, set)
		text, err := json.Marshal(want.Mixed)
		if err != nil {
			t.Fatal(err)
		}
		kept := new(Choice)
		if err := json.Unmarshal(text, kept); err != nil {
			t.Fatal(err)
		}
		got := evident(t, p, &settings{Settings: engine.Settings{RNGSeed: 2}, choice: kept})
		if !reflect.DeepEqual(got.Class, want.Class) || !reflect.DeepEqual(got.Scores.Data, want.Scores.Data) {
			t.Errorf("%s: other predictions with the choice %s", name, text)
		}
		if !reflect.DeepEqual(got.Mixed, want.Mixed) || got.Tested != 0 {
			t.Errorf("%s: the choice %s becomes %v", name, text, got.Mixed)
		}
		if last := kept.Mixture[len(kept.Mixture)-1]; name == "blocks" && !last.Beliefs {
			t.Error("beliefs take no part, so that they are not tested")
		}
	}
}

func TestStagesOfAChoice(t *testing.T) {
	p, _ := contract.Blocks(t, 5, 800, 120, 3, 6, 1)
	want := evident(t, p, &settings{})
	choice := want.Mixed.(*Choice)
	if d := designOf(p, &settings{choice: choice}); d.links && !slices.ContainsFunc(choice.Mixture, func(c Component) bool { return c.Links }) {
		t.Error("link rows are computed that no component uses")
	}
	p, _ = contract.Blocks(t, 5, 800, 90, 3, 6, 1)
	kept := &Choice{Mixture: []Component{{Weight: 1, candidate: candidate{Links: true, Alone: true, Ridge: 10}, Lambda: 10}}, Calibration: choice.Calibration}
	if inputOf(t, p, &settings{}).links {
		t.Fatal("90 labels are enough for link rows, so that nothing is tested")
	}
	if got := evident(t, p, &settings{choice: kept}); !reflect.DeepEqual(got.Mixed, kept) {
		t.Errorf("choice %v, want %v", got.Mixed, kept)
	}
}

func TestModels(t *testing.T) {
	const text = `{"mixture":[{"weight":0.1,"poisson":true},{"weight":0.2,"propagation":true,"lambda":0.03},{"weight":0.7,"beliefs":true},` +
		`{"weight":0.3,"free":true,"links":true,"ridge":3,"lambda":1},{"weight":0.4,"attributes":true,"alone":true,"pull":0.5,"ridge":10,"lambda":10}],"calibration":{}}`
	var c Choice
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	want := []problem.MixedModel{
		{Name: "logistic regression on attributes", Parameters: "lambda 10, pull 0.5, ridge 10", Weight: 0.4},
		{Name: "logistic regression on walks, class features, links", Parameters: "lambda 1, ridge 3", Weight: 0.3},
		{Name: "label propagation", Parameters: "lambda 0.03", Weight: 0.2},
		{Name: "Poisson learning", Parameters: "", Weight: 0.1},
		{Name: "beliefs of a block model", Parameters: "", Weight: 0.7, IsFactor: true},
	}
	if diff := cmp.Diff(want, c.Models()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
