package method

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/spec"
)

// Features says from which walk the features of a training node are taken.
type Features string

const (
	// Plain: from the walk in which all training nodes are labelled. A training
	// row then carries its own label, which a test row never does.
	Plain Features = "plain"

	// Honest: from the walk in which the training nodes of its own fold are
	// unlabelled, so that training rows and test rows are alike.
	Honest Features = "honest"
)

// Parameters are the settings of coinciding walk kernels with a learner: the
// kernel K = Σ PₜPₜᵀ/(Steps−MinSteps+1), t from MinSteps to Steps, of the walk
// with absorption Alpha, and the values of the learner. With another kernel they are
// that kernel's and the learner's, for the kernel divided by its mean value between a
// labelled node and itself.
type Parameters struct {
	Alpha    float64
	Steps    int
	MinSteps int
	Features Features

	// Kernel are the values of the kernel that the learner is on, nil for walks and
	// where there is no kernel; Declared those of the learner, or of a method without a
	// kernel, nil: it has none.
	Kernel   *Setting
	Declared *Setting

	// Beside are values that are never chosen: those of support vector machines beside
	// their cost, and of [propagate.CorrectAndSmooth]. A prediction tells them, and takes those of
	// its settings.
	Beside []Setting
}

// Setting is the values of a declaration's parameters.
type Setting struct {
	Spec   *spec.Spec
	Values spec.Values
}

// text lists the values as a person reads them.
func (s *Setting) text() string { return s.Spec.Text(s.Values) }

// MarshalJSON writes the parameters that belong to the kernel and the learner.
func (p Parameters) MarshalJSON() ([]byte, error) {
	all := spec.Values{}
	if p.onWalks() {
		all["alpha"], all["features"] = spec.Of(p.Alpha), spec.Of(string(p.Features))
		all["steps"], all["min_steps"] = spec.Of(p.Steps), spec.Of(p.MinSteps)
	}
	if k := p.Kernel; k != nil {
		all["kernel"] = spec.Of(k.Spec.Name)
		maps.Copy(all, k.Values)
	}
	if p.Declared != nil {
		maps.Copy(all, p.Declared.Values)
	}
	for _, b := range p.Beside {
		maps.Copy(all, b.Values)
	}
	return json.Marshal(all)
}

// onWalks reports whether the learner is on walks.
func (p *Parameters) onWalks() bool { return p.Features != "" }

// String lists the parameters as a person reads them.
func (p Parameters) String() string {
	own := ""
	if p.Declared != nil {
		own = p.Declared.text()
	}
	parts := []string{own}
	switch k := p.Kernel; {
	case k != nil:
		parts = []string{k.Spec.Name, k.text(), own}
	case p.onWalks():
		steps := "steps"
		if p.Steps == 1 {
			steps = "step"
		}
		if p.MinSteps > 0 {
			steps += fmt.Sprintf(" from %d on", p.MinSteps)
		}
		parts = []string{fmt.Sprintf("α = %v, %d %s", p.Alpha, p.Steps, steps), own, string(p.Features) + " features"}
	}
	for _, b := range p.Beside {
		parts = append(parts, b.text())
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// Grid is a set of parameters: every combination of its values. Values are in
// increasing order. The steps of a setting are never below MinSteps.
type Grid struct {
	Alpha    []float64  `json:"alpha"`     // absorption, 0 … 1
	Steps    []int      `json:"steps"`     // last step t_max
	MinSteps int        `json:"min_steps"` // first step t_min
	Cost     []float64  `json:"cost"`      // C of the support vector machine, > 0
	Features []Features `json:"features"`

	// Lambda holds values of λ > 0, which regularised least squares has in
	// place of a cost; without any it takes the usual ones. Only without
	// Cost are they part of the grid.
	Lambda []float64 `json:"lambda,omitempty"`

	// Declared holds settings of a learner with a declaration, which it has in place of
	// costs, its defaults first; nil: of another.
	Declared []*Setting `json:"-"`
}

// of returns the grid of a learner.
func (g *Grid) of(l learner) *Grid {
	own := *g
	if l != rls {
		own.Lambda = nil
		return &own
	}
	own.Cost = nil
	if len(own.Lambda) == 0 {
		own.try("lambda", usualLambdas)
	}
	return &own
}

// settings returns how many settings of the learner there are.
func (g *Grid) settings() int {
	switch {
	case g.Declared != nil:
		return len(g.Declared)
	case len(g.Cost) > 0:
		return len(g.Cost)
	}
	return len(g.Lambda)
}

// setting returns a setting of the learner.
func (g *Grid) setting(i int) *Setting {
	switch {
	case g.Declared != nil:
		return g.Declared[i]
	case len(g.Cost) > 0:
		return &Setting{machines[kernelSVM], spec.Values{"cost": spec.Of(g.Cost[i])}}
	}
	return &Setting{machines[rls], spec.Values{"lambda": spec.Of(g.Lambda[i])}}
}

// tried returns the values of all settings of the learner.
func (g *Grid) tried() []spec.Values {
	all := make([]spec.Values, g.settings())
	for i := range all {
		all[i] = g.setting(i).Values
	}
	return all
}

// smallGrid returns the grid that methods on walks choose from unless told otherwise: what is
// usually tried of [cwk.Spec].
func smallGrid(features ...Features) *Grid {
	g := &Grid{Features: features}
	g.try("cost", usualCosts)
	g.try("lambda", usualLambdas)
	for _, p := range cwk.Spec.Params {
		g.try(p.Name, p.Grid)
	}
	return g
}

// noGrid returns the single setting of the defaults of [cwk.Spec], C = 0.5 or λ = 0.1,
// plain.
func noGrid() *Grid {
	g := &Grid{Cost: []float64{0.5}, Lambda: []float64{0.1}, Features: []Features{Plain}}
	for _, p := range cwk.Spec.Params {
		g.try(p.Name, []spec.Value{p.Default})
	}
	return g
}

// fix puts those of the given values that a grid has in place of its own: costs and λ and,
// where one of the methods learns from walks, parameters of [cwk.Spec].
func (g *Grid) fix(given spec.Values, methods []Method) {
	fixed := []*spec.Spec{machines[kernelSVM], machines[rls]}
	if slices.ContainsFunc(methods, func(m Method) bool { return slices.Contains(m.Takes(), "features") }) {
		fixed = append(fixed, &cwk.Spec)
	}
	for _, of := range fixed {
		for name, v := range of.Own(given) {
			g.try(name, []spec.Value{v})
		}
	}
}

// try puts values of a parameter in place of what the grid has, in increasing order, and
// reports whether it has such a parameter. Of the first step the last value counts.
func (g *Grid) try(name string, list []spec.Value) bool {
	if !slices.Contains([]string{"alpha", "steps", "min-steps", "cost", "lambda"}, name) {
		return false
	}
	var numbers []float64
	for _, v := range list {
		numbers = append(numbers, spec.Values{name: v}.Number(name))
	}
	slices.Sort(numbers)
	whole := make([]int, len(numbers))
	for i, x := range numbers {
		whole[i] = int(x)
	}
	switch name {
	case "alpha":
		g.Alpha = numbers
	case "steps":
		g.Steps = whole
	case "min-steps":
		for _, t := range whole {
			g.MinSteps = t
		}
	case "cost":
		g.Cost = numbers
	case "lambda":
		g.Lambda = numbers
	}
	return true
}

func (f Features) rank() int { return slices.Index([]Features{Plain, Honest}, f) }

// validate reports every problem of the grid at once; the error wraps
// [ErrGrid].
func (g *Grid) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, f := range g.Features {
		if f.rank() < 0 {
			bad("features %q are neither %q nor %q", f, Plain, Honest)
		}
	}
	if g.MinSteps < 0 {
		bad("min_steps %d is negative", g.MinSteps)
	}
	if len(g.steps()) == 0 {
		bad("no steps at or above min_steps %d", g.MinSteps)
	}
	var steps, features []float64
	for _, t := range g.Steps {
		steps = append(steps, float64(t))
	}
	for _, f := range g.Features {
		features = append(features, float64(f.rank()))
	}
	for _, list := range []struct {
		name, symbol string
		within       spec.Range
		values       []float64
		empty        bool
	}{
		{"alpha", "α", cwk.Spec.Param("alpha").Range, g.Alpha, len(g.Alpha) == 0},
		{"steps", "T", cwk.Spec.Param("steps").Range, steps, len(steps) == 0},
		{"cost", "C", spec.Above(0), g.Cost, g.settings() == 0},
		{"lambda", "λ", spec.Above(0), g.Lambda, false},
		{"features", "", spec.Range{}, features, len(features) == 0},
	} {
		for _, x := range list.values {
			if !list.within.Contains(x) {
				bad("%s %v is out of range; want %s", list.name, x, list.within.Text(list.symbol))
			}
		}
		if list.empty {
			bad("%s has no value", list.name)
		} else if !slices.IsSortedFunc(list.values, func(a, b float64) int { return cmp.Or(cmp.Compare(a, b), -1) }) { // equal ones are not
			bad("%s repeats a value or is out of order", list.name)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrGrid, errors.Join(errs...))
}

// steps returns the last steps at or above the first.
func (g *Grid) steps() []int {
	for i, t := range g.Steps {
		if t >= g.MinSteps {
			return g.Steps[i:]
		}
	}
	return nil
}

// Size returns the number of settings.
func (g *Grid) Size() int {
	return len(g.Alpha) * len(g.steps()) * g.settings() * len(g.Features)
}

// usual returns the number of the setting that is nearest to [noGrid] in each of its
// parts, the first of several; a declared learner has its first setting.
func (g *Grid) usual() int {
	to := noGrid()
	f := max(0, slices.Index(g.Features, to.Features[0]))
	a := nearestOf(g.Alpha, to.Alpha[0])
	s := nearestOf(g.steps(), to.Steps[0])
	at := ((f*len(g.Alpha)+a)*len(g.steps()) + s) * g.settings()
	switch {
	case g.Declared != nil:
		return at // with its defaults
	case len(g.Cost) == 0:
		return at + nearestOf(g.Lambda, to.Lambda[0])
	}
	return at + nearestOf(g.Cost, to.Cost[0])
}

func nearestOf[T int | float64](values []T, x T) int {
	best := 0
	for i, v := range values {
		if math.Abs(float64(v-x)) < math.Abs(float64(values[best]-x)) {
			best = i
		}
	}
	return best
}

// at returns setting number i. Features vary slowest, then Alpha, Steps and
// Cost or Lambda: the settings of one walk and one kind of features lie
// together.
func (g *Grid) at(i int) Parameters {
	steps, settings := g.steps(), g.settings()
	p := Parameters{MinSteps: g.MinSteps, Declared: g.setting(i % settings)}
	i /= settings
	p.Steps = steps[i%len(steps)]
	i /= len(steps)
	p.Alpha = g.Alpha[i%len(g.Alpha)]
	p.Features = g.Features[i/len(g.Alpha)]
	return p
}
