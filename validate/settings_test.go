package validate

import (
	"errors"
	"fmt"
	"testing"

	"github.com/heatwalk/heatwalk/spec"
)

var two = spec.Spec{Name: "two", Params: []spec.Param{
	{Name: "a", Symbol: "a", Range: spec.Above(0), Default: spec.Of(1.0), Grid: []spec.Value{spec.Of(1.0), spec.Of(2.0)}},
	{Name: "b", Symbol: "b", Kind: spec.Whole, Default: spec.Of(3), Grid: []spec.Value{spec.Of(3), spec.Of(5), spec.Of(7)}},
	{Name: "c", Kind: spec.Choice, Words: []string{"x", "y"}, Default: spec.Of("x")},
}}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		given    spec.Values
		settings int
		last     string
	}{
		{nil, 6, "a = 2, b = 7, c x"},
		{spec.Values{"a": spec.Of(0.5)}, 3, "a = 0.5, b = 7, c x"},
		{spec.Values{"b": spec.Of(9), "c": spec.Of("y")}, 2, "a = 2, b = 9, c y"},
	} {
		list, err := Settings(&two, c.given, nil)
		if err != nil || len(list) != c.settings || two.Text(list[len(list)-1]) != c.last {
			t.Errorf("%v: %v, %v; want %d settings, the last %s", c.given, list, err, c.settings, c.last)
		}
	}
	for _, given := range []spec.Values{{"a": spec.Of(0.0)}, {"d": spec.Of(1.0)}} {
		if _, err := Settings(&two, given, nil); !errors.As(err, new(*spec.ParameterError)) {
			t.Errorf("%v: %v", given, err)
		}
	}
}

func TestSettingsInstead(t *testing.T) {
	s := spec.Spec{Name: "ridge", Params: []spec.Param{
		{Name: "lambda", Symbol: "λ", Range: spec.Above(0), Default: spec.Of(1.0), Grid: []spec.Value{spec.Of(1.0), spec.Of(2.0)}},
		{Name: "cost", Symbol: "C", Range: spec.Above(0), Instead: "lambda"},
	}}
	for _, c := range []struct {
		given spec.Values
		want  string
	}{{nil, "[λ = 1 λ = 2]"}, {spec.Values{"cost": spec.Of(3.0)}, "[C = 3]"}} {
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
