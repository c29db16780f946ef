package param

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	Undirected uint = 1 << iota // graphs whose matrix is symmetric
	Directed                    // graphs with directions
	Vectors                     // tables of vectors without a graph
	Graphs                      // collections of graphs
	Signed                      // undirected graphs with negative weights
)

// Uses of arcs by methods.
const (
	AlongArcs      = "a node takes the labels that its own walk along the arcs reaches"
	BothDirections = "arcs are used in both directions"
)

// Spec declares a kernel, learner or method.
type Spec struct {
	Name   string  // name as users write it, such as "diffusion"
	Title  string  // formula without the name: "exp(−βL)"
	Source string  // authors, title, year, and section or equation; may be empty
	Works  uint    // a sum of constants such as [Undirected]
	Arcs   string  // use of the arcs of directed graphs: [AlongArcs], [BothDirections], or "" if the formula says it
	Params []Param // parameters in the order of lists
}

// List is a list of declarations: of kernels, learners or models of graphs.
type List[D declaration] []D

// declaration is a pointer to a struct that embeds a [Spec].
type declaration interface {
	comparable
	spec() *Spec
}

func (s *Spec) spec() *Spec { return s }

// Specs returns the Spec of each declaration.
func (l List[D]) Specs() []*Spec {
	list := make([]*Spec, len(l))
	for i, d := range l {
		list[i] = d.spec()
	}
	return list
}

// Names returns the names in order.
func (l List[D]) Names() (names []string) {
	for _, d := range l {
		names = append(names, d.spec().Name)
	}
	return names
}

// Named returns the declaration with the given name, or nil.
func (l List[D]) Named(name string) (zero D) {
	for _, d := range l {
		if d.spec().Name == name {
			return d
		}
	}
	return zero
}

// Add adds a declaration of another package, in an init function. It panics if the declaration is incomplete or its name is
// taken.
func (l *List[D]) Add(d D, isComplete bool) {
	name := d.spec().Name
	var zero D
	if l.Named(name) != zero {
		panic("param: there is a declaration with this name: " + name)
	}
	if !isComplete || name == "" {
		panic("param: the declaration lacks a function that it needs: " + name)
	}
	*l = append(*l, d)
}

// owners maps the name of a parameter to the kind of declarations that has claimed the name, see [Claim].
var owners = map[string]string{}

// Claim reserves the names of the parameters of specs for a kind of declarations, for example "kernel". It panics if another
// kind has reserved a name, because the values of a kernel and its learner are kept by name. Call it in init functions.
func Claim(kind string, specs ...*Spec) {
	for _, s := range specs {
		for _, p := range s.Params {
			if owner, isClaimed := owners[p.Name]; isClaimed && owner != kind {
				panic(fmt.Sprintf("param: %s: a %s has a parameter %s; rename it", s.Name, owner, p.Name))
			}
			owners[p.Name] = kind
		}
	}
}

// Param is a parameter.
type Param struct {
	Name    string // name of the flag and in files, such as "beta"
	Symbol  string // symbol in formulas, such as "β"
	Meaning string // meaning in a few words: "time of the diffusion"
	Kind    Kind
	Range   Range    // range of numbers
	Words   []string // words of a Choice, or in place of a number
	Default Value
	Grid    []Value // usual values, increasing; nil: the default alone

	// Otherwise, if not "", says in help texts which value counts if no value is given. It is needed if this value is not
	// always Default.
	Otherwise string

	// Sooner, if not "", names the values with which an iteration converges sooner, "smaller" or "larger", for messages.
	Sooner string

	// On, if not nil, converts a number x of Default or Grid to the value on a graph g, given the values v of the preceding
	// parameters.
	On func(x float64, v Values, g Graph) (float64, error)

	// Instead, if not "", names another parameter that this parameter may replace. It then has no default: complete values
	// hold one of the two parameters.
	Instead string

	// Check, if not nil, returns an error if the values of the preceding parameters exclude a value that is in its range.
	Check func(v Values) error
}

// Graph is what defaults and grids of parameters depend on.
type Graph interface {
	Len() int            // nodes
	MeanDegree() float64 // mean degree of the nodes with edges

	// MaxDegree returns the largest degree, or 1 if there are no edges. For a hypergraph it is an upper bound.
	MaxDegree() float64

	// Radius returns the largest eigenvalue of the adjacency matrix if exact is set,
	// otherwise an approximation.
	Radius(exact bool) (float64, error)
}

// Range is an interval of numbers. The zero value is the interval of all numbers.
type Range struct {
	Least, Most           float64 // both 0: no limit
	AboveLeast, BelowMost bool    // the end itself is left out
}

// Above returns the numbers above x.
func Above(x float64) Range {
	return Range{Least: x, Most: math.Inf(1), AboveLeast: true, BelowMost: true}
}

// From returns the numbers from x on.
func From(x float64) Range {
	return Range{Least: x, Most: math.Inf(1), BelowMost: true}
}

// Contains reports whether x lies in the range.
func (r Range) Contains(x float64) bool {
	if r == (Range{}) {
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return (x > r.Least || x == r.Least && !r.AboveLeast) &&
		(x < r.Most || x == r.Most && !r.BelowMost)
}

// Text returns the range of a parameter with the given symbol, such as "0 < α < 1".
func (r Range) Text(symbol string) string {
	lower := "≤"
	upper := "≤"
	if r.AboveLeast {
		lower = "<"
	}
	if r.BelowMost {
		upper = "<"
	}
	switch {
	case r == (Range{}):
		return "a finite " + symbol
	case math.IsInf(r.Most, 1) && r.AboveLeast:
		return fmt.Sprintf("%s > %s", symbol, decimal(r.Least))
	case math.IsInf(r.Most, 1):
		return fmt.Sprintf("%s ≥ %s", symbol, decimal(r.Least))
	}
	return fmt.Sprintf("%s %s %s %s %s", decimal(r.Least), lower, symbol, upper,
		decimal(r.Most))
}

// decimal returns a number without an exponent, if it is whole and not huge.
func decimal(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// ParameterError says that a parameter does not take a value.
type ParameterError struct {
	Of        string // the name of the kernel, learner or method
	Parameter string // such as "beta"
	What      string // the problem; the remedy
}

// Error implements error.
func (e *ParameterError) Error() string {
	if e.Of == e.Parameter {
		return e.Of + ": " + e.What
	}
	return e.Of + ": " + e.Parameter + ": " + e.What
}

// Refuse returns the [*ParameterError] of a parameter of a kernel, learner or method, with a formatted problem.
func Refuse(name, parameter, format string, args ...any) error {
	return &ParameterError{name, parameter, fmt.Sprintf(format, args...)}
}

// CheckTolerance returns a [*ParameterError] if tolerance is below 0 or at least 1. A tolerance of
// 0 means the default.
func CheckTolerance(name string, tolerance float64) error {
	if !(tolerance >= 0 && tolerance < 1) {
		return Refuse(name, "tolerance", "%g is out of range; give 0 < tolerance < 1, or 0 for the default", tolerance)
	}
	return nil
}

// CheckSettings returns the error of [CheckTolerance], or a [*ParameterError] if limit, a memory limit in
// bytes, is negative. A limit of 0 means no limit.
func CheckSettings(name string, tolerance float64, limit int64) error {
	err := CheckTolerance(name, tolerance)
	if limit < 0 {
		err = errors.Join(err, Refuse(name, "memory", "%d bytes; give 0 for no limit", limit))
	}
	return err
}

// NoProbabilities says why a method does not work on graphs with negative weights.
const NoProbabilities = "it takes probabilities, which negative weights do not give; take lp, lgc, diffusion or another function of L or S"

// CheckSigned returns an error if signed is set and s does not work on graphs with negative weights.
func CheckSigned(s *Spec, signed bool) error {
	if !signed || s.Works&Signed != 0 {
		return nil
	}
	return Refuse(s.Name, s.Name, "%s", NoProbabilities)
}

// Takes returns the names of the parameters.
func (s *Spec) Takes() []string {
	names := make([]string, len(s.Params))
	for i, p := range s.Params {
		names[i] = p.Name
	}
	return names
}

// Param returns the parameter with the given name, or nil.
func (s *Spec) Param(name string) *Param {
	i := slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Params[i]
}

// Resolve returns complete values: values, and defaults for missing parameters. If g is nil, defaults are the numbers of the
// declaration, and [Param].On is not called. For an unknown parameter or a value out of range the error is a
// [*ParameterError]; other errors come from the graph.
func (s *Spec) Resolve(values Values, g Graph) (Values, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if s.Param(name) == nil {
			return nil, Refuse(s.Name, name, "%s has no such parameter; it takes %s", s.Name,
				joinWords(s.Takes()))
		}
	}
	instead := map[string]bool{}
	for i := range s.Params {
		p := &s.Params[i]
		if p.Instead == "" || !values.Has(p.Name) {
			continue
		}
		if values.Has(p.Instead) {
			return nil, Refuse(s.Name, p.Name, "stands in place of %s; give one of the two", p.Instead)
		}
		instead[p.Instead] = true
	}
	v := make(Values, len(s.Params))
	for i := range s.Params {
		p := &s.Params[i]
		x, ok := values[p.Name]
		if !ok && p.Instead != "" || instead[p.Name] {
			continue
		}
		if !ok {
			var err error
			if x, err = p.on(p.Default, v, g); err != nil {
				return nil, err
			}
		}
		if p.Kind == Whole && x.kind == Real && x.number == math.Trunc(x.number) ||
			p.Kind == Real && x.kind == Whole {
			x.kind = p.Kind
		}
		if err := s.check(p, x); err != nil {
			return nil, err
		}
		v[p.Name] = x
		if p.Check != nil {
			if err := p.Check(v); err != nil {
				return nil, Refuse(s.Name, p.Name, "%s", err.Error())
			}
		}
	}
	return v, nil
}

// GridOn returns the default grid of a parameter on a graph, given the values of the previous parameters. The error comes
// from the graph.
func (p *Param) GridOn(v Values, g Graph) ([]Value, error) {
	if p.Grid == nil {
		x, err := p.on(p.Default, v, g)
		return []Value{x}, err
	}
	grid := make([]Value, len(p.Grid))
	for i, x := range p.Grid {
		var err error
		if grid[i], err = p.on(x, v, g); err != nil {
			return nil, err
		}
	}
	return grid, nil
}

func (p *Param) on(x Value, v Values, g Graph) (_ Value, err error) {
	if p.On != nil && g != nil {
		x.number, err = p.On(x.number, v, g)
	}
	return x, err
}

// check returns an error if x is not a value of p, whatever the other parameters are.
func (s *Spec) check(p *Param, x Value) error {
	wrong := func(what string) error { return Refuse(s.Name, p.Name, "%s", what) }
	switch {
	case x.kind == Choice && slices.Contains(p.Words, x.word):
		return nil
	case p.Kind == Choice:
		return wrong(fmt.Sprintf("%q is none of its values; give %s", x,
			joinWords(p.Words)))
	case x.kind != p.Kind && p.Kind == Whole:
		return wrong(fmt.Sprintf("%v is not a whole number; %s takes %s", x, s.Name,
			p.Range.Text(p.Symbol)))
	case x.kind != p.Kind:
		return wrong(fmt.Sprintf("%v is of another type", x))
	case (p.Kind == Real || p.Kind == Whole) && !p.Range.Contains(x.number):
		return wrong(fmt.Sprintf("%v is out of range; %s takes %s", x, s.Name,
			p.Range.Text(p.Symbol)))
	}
	return nil
}

// Text lists values in the order of the parameters, such as "normalized, beta = 0.5, balance equal", by the names that
// a user types. A word of a parameter with a symbol is written alone.
func (s *Spec) Text(v Values) string {
	var parts []string
	for _, p := range s.Params {
		x, ok := v[p.Name]
		switch {
		case !ok || p.Kind == Switch && x.number == 0:
		case p.Kind == Choice && p.Symbol != "":
			parts = append(parts, x.word)
		case p.Kind == Switch || x.kind == Choice:
			parts = append(parts, strings.TrimSuffix(p.Name+" "+x.word, " "))
		default:
			parts = append(parts, p.Name+" = "+x.String())
		}
	}
	return strings.Join(parts, ", ")
}

func joinWords(words []string) string {
	switch n := len(words); n {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
}
