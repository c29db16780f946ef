package method

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/param"
)

// Features selects the walk that yields the features of a training node.
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

	// Constant are values that are never chosen: those of a learner's other parameters than the one
	// along its path, and of [propagate.CorrectAndSmooth]. A prediction reports them and reads
	// them from its settings.
	Constant []Setting
}

// Balanced reports that all classes weigh the same, see [classify.WeightsParam].
func (p *Parameters) Balanced() bool {
	settings := p.Constant
	if p.Declared != nil {
		settings = append(settings[:len(settings):len(settings)], *p.Declared)
	}
	return slices.ContainsFunc(settings, func(s Setting) bool {
		v, hasWeights := s.Values[classify.WeightsParam.Name]
		return hasWeights && v == param.Of("balanced")
	})
}

// Setting is the values of a declaration's parameters.
type Setting struct {
	Spec   *param.Spec
	Values param.Values
}

// text lists the values for messages.
func (s *Setting) text() string { return s.Spec.Text(s.Values) }

// MarshalJSON writes the parameters that belong to the kernel and the learner.
func (p Parameters) MarshalJSON() ([]byte, error) {
	values := param.Values{}
	if p.onWalks() {
		values["alpha"], values["features"] = param.Of(p.Alpha), param.Of(string(p.Features))
		values["steps"], values["min_steps"] = param.Of(p.Steps), param.Of(p.MinSteps)
	}
	if k := p.Kernel; k != nil {
		values["kernel"] = param.Of(k.Spec.Name)
		maps.Copy(values, k.Values)
	}
	if p.Declared != nil {
		maps.Copy(values, p.Declared.Values)
	}
	for _, b := range p.Constant {
		maps.Copy(values, b.Values)
	}
	return json.Marshal(values)
}

// Chosen returns the values that may have been chosen, with their declarations: of the walk or the
// kernel, then of the learner.
func (p *Parameters) Chosen() (list []Setting) {
	if p.onWalks() {
		list = append(list, Setting{&cwk.Spec, param.Values{"alpha": param.Of(p.Alpha), "steps": param.Of(p.Steps)}})
	}
	for _, s := range []*Setting{p.Kernel, p.Declared} {
		if s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// onWalks reports whether the learner is on walks.
func (p *Parameters) onWalks() bool { return p.Features != "" }

// String lists the parameters for messages.
func (p Parameters) String() string {
	declared := ""
	if p.Declared != nil {
		declared = p.Declared.text()
	}
	parts := []string{declared}
	switch k := p.Kernel; {
	case k != nil:
		parts = []string{k.Spec.Name, k.text(), declared}
	case p.onWalks():
		steps := "steps"
		if p.Steps == 1 {
			steps = "step"
		}
		if p.MinSteps > 0 {
			steps += fmt.Sprintf(" from %d on", p.MinSteps)
		}
		parts = []string{fmt.Sprintf("α = %v, %d %s", p.Alpha, p.Steps, steps), declared, string(p.Features) + " features"}
	}
	for _, b := range p.Constant {
		parts = append(parts, b.text())
	}
	return strings.Join(slices.DeleteFunc(parts, func(text string) bool { return text == "" }), ", ")
}

// Grid is a set of parameters: every combination of its values. Values are in
// increasing order. The steps of a setting are never below the first step that counts.
type Grid struct {
	// Values are those of parameters by name: of [cwk.Spec], and along the paths of learners
	// ([classify.Path]). Of one that is missing the usual values are tried.
	Values   map[string][]param.Value
	Features []Features

	path    *classify.Path // whose settings are those of the grid, nil: of none
	settled []*Setting     // of the learner; nil: it is not known yet
	space   *choose.Space  // of settled, without a path
}

// gridParams are the parameters that grids have values of: those of [cwk.Spec] and along paths.
func gridParams(paths ...*classify.Path) []*param.Param {
	var list []*param.Param
	for i := range cwk.Spec.Params {
		list = append(list, &cwk.Spec.Params[i])
	}
	for _, path := range paths {
		list = append(list, path.Param(path.Parameter))
	}
	return list
}

// of returns the grid with values of the parameters of walks and along some paths alone.
func (g *Grid) of(paths ...*classify.Path) *Grid {
	grid := &Grid{Values: map[string][]param.Value{}, Features: g.Features}
	for _, p := range gridParams(paths...) {
		list, isListed := g.Values[p.Name]
		if !isListed {
			list = p.Grid
		}
		if !isListed && list == nil {
			list = []param.Value{p.Default}
		}
		grid.Values[p.Name] = list
	}
	return grid
}

// along returns the grid of a learner with a path.
func (g *Grid) along(path *classify.Path) *Grid {
	grid := g.of(path)
	grid.path, grid.settled = path, []*Setting{}
	for _, x := range grid.numbers(path.Parameter) {
		grid.settled = append(grid.settled, &Setting{&path.Spec, param.Values{path.Parameter: param.Of(x)}})
	}
	return grid
}

// with returns the grid with other values of a parameter, in increasing order. Of one that is not
// chosen the last value counts.
func (g *Grid) with(p *param.Param, list []param.Value) *Grid {
	grid := *g
	grid.Values = maps.Clone(g.Values)
	list = slices.SortedFunc(slices.Values(list), func(a, b param.Value) int { return cmp.Compare(number(a), number(b)) })
	if p.Grid == nil && len(list) > 0 {
		list = list[len(list)-1:]
	}
	grid.Values[p.Name] = list
	return &grid
}

func number(v param.Value) float64 { return param.Values{"": v}.Number("") }

// numbers returns the values of a parameter.
func (g *Grid) numbers(name string) []float64 {
	list := make([]float64, len(g.Values[name]))
	for i, v := range g.Values[name] {
		list[i] = number(v)
	}
	return list
}

// alphas returns the absorptions.
func (g *Grid) alphas() []float64 { return g.numbers("alpha") }

// minSteps returns the first step that counts.
func (g *Grid) minSteps() int {
	if first := g.numbers("min-steps"); len(first) > 0 {
		return int(first[0])
	}
	return 0
}

// steps returns the last steps at or above the first.
func (g *Grid) steps() (list []int) {
	first := g.minSteps()
	for _, t := range g.numbers("steps") {
		if int(t) >= first {
			list = append(list, int(t))
		}
	}
	return list
}

// ofWalk returns the grid of all settings of the learner with the walk and the features of
// p alone.
func (g *Grid) ofWalk(p Parameters) *Grid {
	one := *g
	one.Values = maps.Clone(g.Values)
	for name, v := range map[string]param.Value{"alpha": param.Of(p.Alpha), "steps": param.Of(p.Steps), "min-steps": param.Of(p.MinSteps)} {
		one.Values[name] = []param.Value{v}
	}
	one.Features = []Features{p.Features}
	return &one
}

// settings returns how many settings of the learner there are, where that is not known those on
// the first path of which there are values.
func (g *Grid) settings() int {
	if g.settled != nil {
		return len(g.settled)
	}
	for _, path := range paths() {
		if n := len(g.Values[path.Parameter]); n > 0 {
			return n
		}
	}
	return 0
}

// learnerSettings returns the values of all settings of the learner.
func (g *Grid) learnerSettings() []param.Values {
	settings := make([]param.Values, len(g.settled))
	for i, s := range g.settled {
		settings[i] = s.Values
	}
	return settings
}

// MarshalJSON writes the values by name: the parameters of walks, the cost of the default
// learner, the features, and the parameters of other learners.
func (g Grid) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	write := func(name string, value any) error {
		list, err := json.Marshal(value)
		fmt.Fprintf(&text, ",%q:%s", name, list)
		return err
	}
	var errs []error
	for i, p := range gridParams(paths()...) {
		list := g.Values[p.Name]
		switch walk := i < len(cwk.Spec.Params); {
		case p.Grid == nil && len(list) == 1: // one value
			errs = append(errs, write(strings.ReplaceAll(p.Name, "-", "_"), list[0]))
		case walk || i == len(cwk.Spec.Params) || list != nil:
			errs = append(errs, write(p.Name, list))
		}
		if i == len(cwk.Spec.Params) {
			errs = append(errs, write("features", g.Features))
		}
	}
	return append(append([]byte{'{'}, text.Bytes()[1:]...), '}'), errors.Join(errs...)
}

// smallGrid returns the default grid of methods on walks: the usual values of [cwk.Spec] and of
// the parameters along paths.
func smallGrid(features ...Features) *Grid { return (&Grid{Features: features}).of(paths()...) }

// noGrid returns the single setting of the defaults of [cwk.Spec] and of paths, plain.
func noGrid() *Grid {
	g := &Grid{Values: map[string][]param.Value{}, Features: []Features{Plain}}
	for _, p := range gridParams(paths()...) {
		g.Values[p.Name] = []param.Value{p.Default}
	}
	return g
}

// fixed returns the grid with those of the given values that it has in place of its own: along
// paths and, where one of the methods learns from walks, of [cwk.Spec].
func (g *Grid) fixed(values param.Values, methods []Method) *Grid {
	walks := slices.ContainsFunc(methods, func(m Method) bool { return slices.Contains(m.Takes(), "features") })
	for _, p := range gridParams(paths()...) {
		if v, isFixed := values[p.Name]; isFixed && (walks || cwk.Spec.Param(p.Name) == nil) {
			g = g.with(p, []param.Value{v})
		}
	}
	return g
}

func (f Features) rank() int { return slices.Index([]Features{Plain, Honest}, f) }

// gridError holds the problems of a grid. It is an [ErrGrid].
type gridError struct{ error }

func (gridError) Is(target error) bool { return target == ErrGrid }

// validate returns all problems of the grid as a gridError.
func (g *Grid) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, f := range g.Features {
		if f.rank() < 0 {
			bad("features %q are neither %q nor %q", f, Plain, Honest)
		}
	}
	if first := g.minSteps(); first < 0 {
		bad("min_steps %d is negative", first)
	}
	if len(g.steps()) == 0 {
		bad("no steps at or above min_steps %d", g.minSteps())
	}
	var features []float64
	for _, f := range g.Features {
		features = append(features, float64(f.rank()))
	}
	check := func(name, symbol string, interval param.Range, values []float64) {
		for _, x := range values {
			if !interval.Contains(x) {
				bad("%s %v is out of range; want %s", name, x, interval.Text(symbol))
			}
		}
		if len(values) == 0 {
			bad("%s has no value", name)
		} else if !slices.IsSortedFunc(values, func(a, b float64) int { return cmp.Or(cmp.Compare(a, b), -1) }) { // equal ones are not
			bad("%s repeats a value or is out of order", name)
		}
	}
	for _, p := range gridParams(paths()...) {
		if _, isListed := g.Values[p.Name]; isListed && p.Grid != nil {
			check(p.Name, p.Symbol, p.Range, g.numbers(p.Name))
		}
	}
	check("features", "", param.Range{}, features)
	if len(errs) == 0 {
		return nil
	}
	return gridError{errors.Join(errs...)}
}

// Size returns the number of settings.
func (g *Grid) Size() int {
	return len(g.alphas()) * len(g.steps()) * g.settings() * len(g.Features)
}

// spaces returns the candidates of a grid: the walks, and the settings of the learner.
func (g *Grid) spaces() (walks, learner *choose.Space) {
	usual := g.usual()
	walks = &choose.Space{
		Axes:  []choose.Axis{{Values: len(g.Features)}, {Values: len(g.alphas()), Ordered: true, Last: true}, {Values: len(g.steps()), Ordered: true}},
		Order: []int{0, 2, 1}, Usual: usual / g.settings(),
	}
	if g.path == nil {
		return walks, g.space
	}
	along := choose.Axis{Values: g.settings(), Ordered: true, Falling: g.path.Ridge}
	return walks, &choose.Space{Axes: []choose.Axis{along}, Usual: usual % g.settings()}
}

// usual returns the number of the setting that is nearest to [noGrid] in each of its
// parts, the first of several.
func (g *Grid) usual() int {
	defaults, steps := noGrid(), g.steps()
	f := max(0, slices.Index(g.Features, defaults.Features[0]))
	a := nearestOf(g.alphas(), defaults.alphas()[0])
	s := nearestOf(steps, defaults.steps()[0])
	index := ((f*len(g.alphas())+a)*len(steps) + s) * g.settings()
	switch {
	case g.path != nil:
		index += nearestOf(g.numbers(g.path.Parameter), defaults.numbers(g.path.Parameter)[0])
	case g.space != nil:
		index += g.space.Usual
	}
	return index
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

// at returns setting number i. Features vary slowest, then Alpha, Steps and settings of the
// learner: those of one walk and one kind of features lie together.
func (g *Grid) at(i int) Parameters {
	alphas, steps, settings := g.alphas(), g.steps(), g.settings()
	p := Parameters{MinSteps: g.minSteps(), Declared: g.settled[i%settings]}
	i /= settings
	p.Steps = steps[i%len(steps)]
	i /= len(steps)
	p.Alpha = alphas[i%len(alphas)]
	p.Features = g.Features[i/len(alphas)]
	return p
}
