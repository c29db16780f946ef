package param

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var heat = Spec{
	Name: "heat", Title: "exp(−βL)", Works: Undirected,
	Params: []Param{
		{Name: "laplacian", Kind: Choice, Words: []string{"combinatorial", "normalized"}, Default: Of("normalized")},
		{Name: "beta", Symbol: "β", Range: Above(0), Default: Of(4.0), Grid: []Value{Of(1.0), Of(4.0)},
			On: func(x float64, v Values, g Graph) (float64, error) {
				if v.Word("laplacian") == "normalized" {
					return x, nil
				}
				return x / g.MeanDegree(), nil
			}},
		{Name: "steps", Symbol: "T", Kind: Whole, Range: Range{Least: 1, Most: 100}, Default: Of(8), Check: func(v Values) error {
			if float64(v.Int("steps")) < v.Number("beta") {
				return errors.New("fewer steps than β; give more")
			}
			return nil
		}},
		{Name: "symmetric", Kind: Switch, Default: Of(false)},
	},
}

var ridge = Spec{Name: "ridge", Params: []Param{
	{Name: "lambda", Symbol: "λ", Range: Above(0), Default: Of(1.0)},
	{Name: "cost", Symbol: "C", Range: Above(0), Instead: "lambda"},
}}

func TestInstead(t *testing.T) {
	for _, c := range []struct {
		given Values
		want  string
	}{
		{nil, "lambda = 1"},
		{Values{"lambda": Of(2.0)}, "lambda = 2"},
		{Values{"cost": Of(3.0)}, "cost = 3"},
		{Values{"cost": Of(0.0)}, "ridge: cost: 0 is out of range; ridge takes C > 0"},
		{Values{"cost": Of(3.0), "lambda": Of(2.0)}, "ridge: cost: stands in place of lambda; give one of the two"},
	} {
		v, err := ridge.Resolve(c.given, nil)
		got := ridge.Text(v)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.given, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"beta", "0.25", "laplacian normalized, beta = 0.25, steps = 8"},
		{"steps", "9", "laplacian normalized, beta = 4, steps = 9"},
		{"laplacian", "combinatorial", "laplacian combinatorial, beta = 4, steps = 8"},
		{"symmetric", "true", "laplacian normalized, beta = 4, steps = 8, symmetric"},
		{"beta", "x", `"x" is not a number; give β > 0`},
		{"symmetric", "perhaps", `"perhaps" is neither true nor false`},
	} {
		x, err := heat.Param(c.name).Parse(c.text)
		var v Values
		if err == nil {
			v, err = heat.Resolve(Values{c.name: x}, nil)
		}
		got := heat.Text(v)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.text, got, c.want)
		}
	}
}

type path struct{}

func (path) Len() int                     { return 3 }
func (path) MeanDegree() float64          { return 8 }
func (path) MaxDegree() float64           { return 8 }
func (path) Radius(bool) (float64, error) { return math.Sqrt2, nil }

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		given Values
		on    Graph
		want  string
	}{
		{nil, nil, "laplacian normalized, beta = 4, steps = 8"},
		{nil, path{}, "laplacian normalized, beta = 4, steps = 8"},
		{Values{"laplacian": Of("combinatorial")}, path{}, "laplacian combinatorial, beta = 0.5, steps = 8"},
		{Values{"laplacian": Of("combinatorial"), "beta": Of(3.0)}, path{}, "laplacian combinatorial, beta = 3, steps = 8"},
		{Values{"beta": Of(3)}, nil, "laplacian normalized, beta = 3, steps = 8"},
		{Values{"steps": Of(10.0), "symmetric": Of(true)}, nil, "laplacian normalized, beta = 4, steps = 10, symmetric"},

		{Values{"gamma": Of(1.0)}, nil, "heat: gamma: heat has no such parameter; it takes laplacian, beta, steps or symmetric"},
		{Values{"beta": Of(0.0)}, nil, "heat: beta: 0 is out of range; heat takes β > 0"},
		{Values{"beta": Of(math.NaN())}, nil, "heat: beta: NaN is out of range; heat takes β > 0"},
		{Values{"beta": Of(math.Inf(1))}, nil, "heat: beta: +Inf is out of range; heat takes β > 0"},
		{Values{"beta": Of("x")}, nil, `heat: beta: x is of another type`},
		{Values{"laplacian": Of("l")}, nil, `heat: laplacian: "l" is none of its values; give combinatorial or normalized`},
		{Values{"laplacian": Of(1.0)}, nil, `heat: laplacian: "1" is none of its values; give combinatorial or normalized`},
		{Values{"steps": Of(1.5)}, nil, "heat: steps: 1.5 is not a whole number; heat takes 1 ≤ T ≤ 100"},
		{Values{"steps": Of(0)}, nil, "heat: steps: 0 is out of range; heat takes 1 ≤ T ≤ 100"},
		{Values{"steps": Of(2)}, nil, "heat: steps: fewer steps than β; give more"},
	} {
		v, err := heat.Resolve(c.given, c.on)
		got := heat.Text(v)
		if err != nil {
			got = err.Error()
			if !errors.As(err, new(*ParameterError)) {
				t.Errorf("%v is no ParameterError", err)
			}
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.given, got, c.want)
		}
	}
}

func TestGridOn(t *testing.T) {
	v := Values{"laplacian": Of("combinatorial")}
	for name, want := range map[string]string{"beta": "[0.125 0.5]", "steps": "[8]"} {
		grid, err := heat.Param(name).GridOn(v, path{})
		if err != nil || fmt.Sprint(grid) != want {
			t.Errorf("%s: %v, %v, want %s", name, grid, err, want)
		}
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		r       Range
		text    string
		in, out []float64
	}{
		{Range{}, "a finite x", []float64{-1, 0, 1}, []float64{math.Inf(1), math.NaN()}},
		{Above(0), "x > 0", []float64{1e-300}, []float64{0, -1, math.Inf(1)}},
		{From(2), "x ≥ 2", []float64{2}, []float64{1.9, math.Inf(1)}},
		{Range{Least: 0, Most: 1, AboveLeast: true, BelowMost: true}, "0 < x < 1", []float64{0.5}, []float64{0, 1}},
		{Range{Least: 0, Most: 1}, "0 ≤ x ≤ 1", []float64{0, 1}, []float64{-0.1, 1.1}},
	} {
		if got := c.r.Text("x"); got != c.text {
			t.Errorf("%s, want %s", got, c.text)
		}
		for _, x := range c.in {
			if !c.r.Contains(x) {
				t.Errorf("%s does not contain %v", c.text, x)
			}
		}
		for _, x := range c.out {
			if c.r.Contains(x) {
				t.Errorf("%s contains %v", c.text, x)
			}
		}
	}
}

func TestValuesInJSON(t *testing.T) {
	v := Values{"laplacian": Of("normalized"), "beta": Of(0.5), "steps": Of(10), "symmetric": Of(true)}
	text, err := json.Marshal(v)
	if want := `{"beta":0.5,"laplacian":"normalized","steps":10,"symmetric":true}`; err != nil || string(text) != want {
		t.Fatalf("%s, %v, want %s", text, err, want)
	}
	var back Values
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	back, err = heat.Resolve(back, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, back, cmp.AllowUnexported(Value{})); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`{"beta":[1]}`), &back); err == nil {
		t.Error("a list is taken for a value")
	}
}
