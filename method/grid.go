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

	// Beside are values that are never chosen: those of a learner beside the one along its
	// path, and of [propagate.CorrectAndSmooth]. A prediction tells them, and takes those of
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
	Alpha    []float64 // absorption, 0 … 1
	Steps    []int     // last step t_max
	MinSteps int       // first step t_min
	Features []Features

	// Along holds values, by its name, of the parameter along the path of a learner
	// ([classify.Path]): of a cost or of λ. Of one that is missing the usual values are tried.
	Along map[string][]float64

	path    *classify.Path // whose settings are those of the grid, nil: of none
	settled []*Setting     // of the learner, without a path its defaults first; nil: it is not known yet
}

// along returns the grid of a learner with a path.
func (g *Grid) along(path *classify.Path) *Grid {
	own := *g
	list, there := g.Along[path.Along]
	if !there {
		list = increasing(path.Param(path.Along).Grid)
	}
	own.Along, own.path, own.settled = map[string][]float64{path.Along: list}, path, []*Setting{}
	for _, x := range list {
		own.settled = append(own.settled, &Setting{&path.Spec, spec.Values{path.Along: spec.Of(x)}})
	}
	return &own
}

// settings returns how many settings of the learner there are, where that is not known those on
// the first path of which there are values.
func (g *Grid) settings() int {
	if g.settled != nil {
		return len(g.settled)
	}
	for _, path := range paths() {
		if n := len(g.Along[path.Along]); n > 0 {
			return n
		}
	}
	return 0
}

// tried returns the values of all settings of the learner.
func (g *Grid) tried() []spec.Values {
	all := make([]spec.Values, len(g.settled))
	for i, s := range g.settled {
		all[i] = s.Values
	}
	return all
}

// like reports whether two grids have the same values.
func (g *Grid) like(o *Grid) bool {
	return slices.Equal(g.Alpha, o.Alpha) && slices.Equal(g.Steps, o.Steps) && g.MinSteps == o.MinSteps && slices.Equal(g.Features, o.Features) &&
		maps.EqualFunc(g.Along, o.Along, slices.Equal)
}

// MarshalJSON writes the values by name, those of the path of the learner that goes without
// saying before the features and others after them.
func (g Grid) MarshalJSON() ([]byte, error) {
	type entry struct {
		name  string
		value any
	}
	first := learners[0].Path.Along
	list := []entry{{"alpha", g.Alpha}, {"steps", g.Steps}, {"min_steps", g.MinSteps}, {first, g.Along[first]}, {"features", g.Features}}
	for _, name := range slices.Sorted(maps.Keys(g.Along)) {
		if name != first {
			list = append(list, entry{name, g.Along[name]})
		}
	}
	var text bytes.Buffer
	for i, e := range list {
		value, err := json.Marshal(e.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "%c%q:%s", "{,"[min(i, 1)], e.name, value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (g *Grid) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*g = Grid{Along: map[string][]float64{}}
	for name, value := range all {
		var err error
		switch name {
		case "alpha":
			err = json.Unmarshal(value, &g.Alpha)
		case "steps":
			err = json.Unmarshal(value, &g.Steps)
		case "min_steps":
			err = json.Unmarshal(value, &g.MinSteps)
		case "features":
			err = json.Unmarshal(value, &g.Features)
		default:
			var list []float64
			if err = json.Unmarshal(value, &list); list != nil {
				g.Along[name] = list
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// smallGrid returns the grid that methods on walks choose from unless told otherwise: what is
// usually tried of [cwk.Spec] and along paths.
func smallGrid(features ...Features) *Grid {
	g := &Grid{Features: features}
	for _, p := range walkParams() {
		g.try(p.Name, p.Grid)
	}
	return g
}

// noGrid returns the single setting of the defaults of [cwk.Spec] and of paths, plain.
func noGrid() *Grid {
	g := &Grid{Features: []Features{Plain}}
	for _, p := range walkParams() {
		g.try(p.Name, []spec.Value{p.Default})
	}
	return g
}

// walkParams are the parameters that grids have values of.
func walkParams() []spec.Param {
	list := slices.Clone(cwk.Spec.Params)
	for _, path := range paths() {
		list = append(list, *path.Param(path.Along))
	}
	return list
}

// fix puts those of the given values that a grid has in place of its own: along paths and,
// where one of the methods learns from walks, parameters of [cwk.Spec].
func (g *Grid) fix(given spec.Values, methods []Method) {
	walks := slices.ContainsFunc(methods, func(m Method) bool { return slices.Contains(m.Takes(), "features") })
	for _, p := range walkParams() {
		if v, is := given[p.Name]; is && (walks || cwk.Spec.Param(p.Name) == nil) {
			g.try(p.Name, []spec.Value{v})
		}
	}
}

// try puts values of a parameter in place of what the grid has, in increasing order, and
// reports whether it has such a parameter. Of the first step the last value counts.
func (g *Grid) try(name string, list []spec.Value) bool {
	if !slices.ContainsFunc(walkParams(), func(p spec.Param) bool { return p.Name == name }) {
		return false
	}
	numbers := increasing(list)
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
	default:
		along := maps.Clone(g.Along)
		if along == nil {
			along = map[string][]float64{}
		}
		along[name] = numbers
		g.Along = along
	}
	return true
}

// increasing returns numbers in increasing order.
func increasing(list []spec.Value) []float64 {
	var numbers []float64
	for _, v := range list {
		numbers = append(numbers, spec.Values{"": v}.Number(""))
	}
	slices.Sort(numbers)
	return numbers
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
	check := func(name, symbol string, within spec.Range, values []float64, empty bool) {
		for _, x := range values {
			if !within.Contains(x) {
				bad("%s %v is out of range; want %s", name, x, within.Text(symbol))
			}
		}
		if empty {
			bad("%s has no value", name)
		} else if !slices.IsSortedFunc(values, func(a, b float64) int { return cmp.Or(cmp.Compare(a, b), -1) }) { // equal ones are not
			bad("%s repeats a value or is out of order", name)
		}
	}
	check("alpha", "α", cwk.Spec.Param("alpha").Range, g.Alpha, len(g.Alpha) == 0)
	check("steps", "T", cwk.Spec.Param("steps").Range, steps, len(steps) == 0)
	for _, path := range paths() {
		p := path.Param(path.Along)
		list, there := g.Along[p.Name]
		check(p.Name, p.Symbol, p.Range, list, there && len(list) == 0)
	}
	check("features", "", spec.Range{}, features, len(features) == 0)
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
// parts, the first of several; a learner without a path has its first setting.
func (g *Grid) usual() int {
	to := noGrid()
	f := max(0, slices.Index(g.Features, to.Features[0]))
	a := nearestOf(g.Alpha, to.Alpha[0])
	s := nearestOf(g.steps(), to.Steps[0])
	at := ((f*len(g.Alpha)+a)*len(g.steps()) + s) * g.settings()
	if g.path != nil {
		at += nearestOf(g.Along[g.path.Along], to.Along[g.path.Along][0])
	}
	return at
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
	steps, settings := g.steps(), g.settings()
	p := Parameters{MinSteps: g.MinSteps, Declared: g.settled[i%settings]}
	i /= settings
	p.Steps = steps[i%len(steps)]
	i /= len(steps)
	p.Alpha = g.Alpha[i%len(g.Alpha)]
	p.Features = g.Features[i/len(g.Alpha)]
	return p
}
