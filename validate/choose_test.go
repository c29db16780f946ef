package validate

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/heatwalk/heatwalk/spec"
)

var two = spec.Spec{Name: "two", Params: []spec.Param{
	{Name: "a", Symbol: "a", Range: spec.Above(0), Default: spec.Number(1), Grid: []spec.Value{spec.Number(1), spec.Number(2)}},
	{Name: "b", Symbol: "b", Kind: spec.Whole, Default: spec.Int(3), Grid: []spec.Value{spec.Int(3), spec.Int(5), spec.Int(7)}},
	{Name: "c", Kind: spec.Choice, Words: []string{"x", "y"}, Default: spec.Word("x")},
}}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		given    spec.Values
		settings int
		want     string
	}{
		{nil, 6, "a = 2, b = 5, c x"},
		{spec.Values{"a": spec.Number(0.5)}, 3, "a = 0.5, b = 5, c x"},
		{spec.Values{"b": spec.Int(9), "c": spec.Word("y")}, 2, "a = 1, b = 9, c y"},
	} {
		got, err := Choose(context.Background(), &two, c.given, nil, 40, func(_ context.Context, settings []spec.Values) ([]int, error) {
			hits := make([]int, len(settings))
			for i, v := range settings {
				if v.Int("b") == 5 {
					hits[i] = 10 + 10*int(v.Number("a"))
				}
			}
			return hits, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if text := two.Text(got.Values); text != c.want || got.Settings != c.settings || got.Tested != 40 {
			t.Errorf("%v: %s of %d, want %s of %d", c.given, text, got.Settings, c.want, c.settings)
		}
		if c.given == nil && (got.Accuracy != 0.75 || fmt.Sprintf("%.6f", got.Stderr) != "0.068465") {
			t.Errorf("%v ± %v", got.Accuracy, got.Stderr)
		}
	}
	for _, given := range []spec.Values{{"a": spec.Number(0)}, {"d": spec.Number(1)}} {
		if _, err := Choose(context.Background(), &two, given, nil, 1, nil); !errors.Is(err, spec.ErrParameter) {
			t.Errorf("%v: %v", given, err)
		}
	}
}

func TestSettingsInstead(t *testing.T) {
	s := spec.Spec{Name: "ridge", Params: []spec.Param{
		{Name: "lambda", Symbol: "λ", Range: spec.Above(0), Default: spec.Number(1), Grid: []spec.Value{spec.Number(1), spec.Number(2)}},
		{Name: "cost", Symbol: "C", Range: spec.Above(0), Instead: "lambda"},
	}}
	for _, c := range []struct {
		given spec.Values
		want  string
	}{{nil, "[λ = 1 λ = 2]"}, {spec.Values{"cost": spec.Number(3)}, "[C = 3]"}} {
		list, err := Settings(&s, c.given, nil)
		var texts []string
		for _, v := range list {
			texts = append(texts, s.Text(v))
		}
		if got := fmt.Sprint(texts); err != nil || got != c.want {
			t.Errorf("%v: %s, %v, want %s", c.given, got, err, c.want)
		}
	}
}
