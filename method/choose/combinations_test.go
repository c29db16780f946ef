package choose

import (
	"errors"
	"fmt"
	"testing"

	"github.com/heatwalk/heatwalk/param"
)

var two = param.Spec{Name: "two", Params: []param.Param{
	{Name: "a", Symbol: "a", Range: param.Above(0), Default: param.Of(1.0), Grid: []param.Value{param.Of(1.0), param.Of(2.0)}},
	{Name: "b", Symbol: "b", Kind: param.Whole, Default: param.Of(3), Grid: []param.Value{param.Of(3), param.Of(5), param.Of(7)}},
	{Name: "c", Kind: param.Choice, Words: []string{"x", "y"}, Default: param.Of("x")},
}}

func TestCombinations(t *testing.T) {
	for _, c := range []struct {
		given    param.Values
		settings int
		last     string
	}{
		{nil, 6, "a = 2, b = 7, c x"},
		{param.Values{"a": param.Of(0.5)}, 3, "a = 0.5, b = 7, c x"},
		{param.Values{"b": param.Of(9), "c": param.Of("y")}, 2, "a = 2, b = 9, c y"},
	} {
		list, err := Combinations(&two, c.given, nil)
		if err != nil || len(list) != c.settings || two.Text(list[len(list)-1]) != c.last {
			t.Errorf("%v: %v, %v; want %d settings, the last %s", c.given, list, err, c.settings, c.last)
		}
	}
	for _, given := range []param.Values{{"a": param.Of(0.0)}, {"d": param.Of(1.0)}} {
		if _, err := Combinations(&two, given, nil); !errors.As(err, new(*param.ParameterError)) {
			t.Errorf("%v: %v", given, err)
		}
	}
}

func TestCombinationsInstead(t *testing.T) {
	s := param.Spec{Name: "ridge", Params: []param.Param{
		{Name: "lambda", Symbol: "λ", Range: param.Above(0), Default: param.Of(1.0), Grid: []param.Value{param.Of(1.0), param.Of(2.0)}},
		{Name: "cost", Symbol: "C", Range: param.Above(0), Instead: "lambda"},
	}}
	for _, c := range []struct {
		given param.Values
		want  string
	}{{nil, "[lambda = 1 lambda = 2]"}, {param.Values{"cost": param.Of(3.0)}, "[cost = 3]"}} {
		list, err := Combinations(&s, c.given, nil)
		var texts []string
		for _, v := range list {
			texts = append(texts, s.Text(v))
		}
		if got := fmt.Sprint(texts); err != nil || got != c.want {
			t.Errorf("%v: %s, %v, want %s", c.given, got, err, c.want)
		}
	}
}
