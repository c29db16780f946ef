package param

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Kind is the type of a parameter.
type Kind int

const (
	Real   Kind = iota // a number
	Whole              // a whole number
	Choice             // one of several words
	Switch             // true or false
)

// Value is the value of a parameter. Values are comparable.
type Value struct {
	kind   Kind
	number float64
	word   string
}

// Of returns a value: a number, a whole number, a word, or a switch that is on or
// off. A parameter that is a number takes whole numbers too.
func Of[T float64 | int | string | bool](x T) Value {
	switch x := any(x).(type) {
	case float64:
		return Value{kind: Real, number: x}
	case int:
		return Value{kind: Whole, number: float64(x)}
	case string:
		return Value{kind: Choice, word: x}
	case bool:
		if x {
			return Value{kind: Switch, number: 1}
		}
	}
	return Value{kind: Switch}
}

// Grid returns the values of numbers.
func Grid[T float64 | int](numbers ...T) []Value {
	values := make([]Value, len(numbers))
	for i, x := range numbers {
		values[i] = Of(x)
	}
	return values
}

// String returns the value as users write it.
func (v Value) String() string {
	switch v.kind {
	case Choice:
		return v.word
	case Switch:
		return strconv.FormatBool(v.number != 0)
	}
	return strconv.FormatFloat(v.number, 'g', -1, 64)
}

// MarshalJSON returns a number, a string or a boolean. For a number that is not finite, it returns
// null.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case Choice:
		return json.Marshal(v.word)
	case Switch:
		return json.Marshal(v.number != 0)
	}
	if math.IsInf(v.number, 0) || math.IsNaN(v.number) {
		return []byte("null"), nil
	}
	return json.Marshal(v.number)
}

// UnmarshalJSON reads the result of MarshalJSON. It reads a whole number as a
// number, which [Spec.Resolve] converts.
func (v *Value) UnmarshalJSON(b []byte) error {
	var x any
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	switch x := x.(type) {
	case float64:
		*v = Of(x)
	case string:
		*v = Of(x)
	case bool:
		*v = Of(x)
	default:
		return fmt.Errorf("%s is no value of a parameter; give a number, a word, true or false", b)
	}
	return nil
}

// Values are the values of parameters by name.
type Values map[string]Value

// Has reports whether there is a value with the given name.
func (v Values) Has(name string) bool {
	_, ok := v[name]
	return ok
}

// Number returns the value with the given name, which must be a number.
func (v Values) Number(name string) float64 {
	return v.of(name, Real, Whole).number
}

// Int returns the value with the given name, which must be a whole number.
func (v Values) Int(name string) int {
	return int(v.of(name, Whole).number)
}

// Word returns the value with the given name, which must be a word.
func (v Values) Word(name string) string {
	return v.of(name, Choice).word
}

// On reports whether the switch with the given name is on.
func (v Values) On(name string) bool {
	return v.of(name, Switch).number != 0
}

// of returns the value with a name. It panics if there is no such value, or if the value has none of the
// kinds.
func (v Values) of(name string, kinds ...Kind) Value {
	x, ok := v[name]
	if !ok || !slices.Contains(kinds, x.kind) {
		panic(noValue + name)
	}
	return x
}

const noValue = "param: no value of this type: "

// Parse reads a value of the parameter as a user writes it: a number, a word, true or
// false.
func (p *Param) Parse(s string) (Value, error) {
	switch p.Kind {
	case Choice:
		return Of(s), nil
	case Switch:
		isTrue, err := strconv.ParseBool(s)
		if err != nil {
			return Value{}, fmt.Errorf("%q is neither true nor false", s)
		}
		return Of(isTrue), nil
	}
	if slices.Contains(p.Words, s) {
		return Of(s), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return Value{}, fmt.Errorf("%q is not a number; give %s", s,
			joinWords(append([]string{p.Range.Text(p.Symbol)}, p.Words...)))
	}
	return Of(x), nil
}

// Own returns those values whose names are parameters of s.
func (s *Spec) Own(values Values) Values {
	subset := Values{}
	for name, v := range values {
		if s.Param(name) != nil {
			subset[name] = v
		}
	}
	return subset
}
