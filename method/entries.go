package method

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
)

// Parse returns the methods of a list of names separated by commas, see [MethodList]. A name is METHOD or KERNEL+LEARNER;
// each part may be followed by parameters, as in "diffusion:beta=2:laplacian=combinatorial+rls:lambda=0.1". If the learner
// is not named, its parameters follow the kernel. The error is a [choose.ErrUsage]; for an unknown name it suggests the
// nearest name.
func Parse(list string) ([]engine.Entry, error) { return ParseList(list, engine.Classes) }

// ParseList returns the methods of a list as [Parse] does, for engines that predict t.
func ParseList(list string, t engine.Target) ([]engine.Entry, error) {
	var entries []engine.Entry
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		if name, _, _ := strings.Cut(text, ":"); len(entries) > 0 && strings.Contains(name, "=") {
			return nil, choose.Usage("%q is no method, and parameters of one are joined by ':'; write %s:%s", name, entries[len(entries)-1].Name, name)
		}
		e, err := parseEntry(text, t)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(o engine.Entry) bool { return o.Name == e.Name }) {
			return nil, choose.Usage("method %q is named twice; leave one out", e.Name)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseEntry reads one method with its parameters.
func parseEntry(text string, t engine.Target) (e engine.Entry, err error) {
	parts := splitName(text)
	names := make([]string, len(parts))
	for i, component := range parts {
		names[i], _, _ = strings.Cut(component, ":")
	}
	m, err := findMethod(strings.Join(names, "+"), t)
	if err != nil {
		return e, err
	}
	e = engine.Entry{Name: m.Name, Method: m, Own: param.Values{}}
	for i, component := range parts {
		for _, setting := range strings.Split(component, ":")[1:] {
			name, value, ok := strings.Cut(setting, "=")
			if !ok || name == "" || value == "" {
				return e, choose.Usage("%q in %q is no parameter; write NAME:PARAMETER=VALUE", setting, text)
			}
			if spec := declaredIn(m, names[i]); len(parts) > 1 && spec != nil &&
				paramOf(spec, name) == nil &&
				(i > 0 || declares(m, name) || !slices.Contains(m.Takes, name)) {
				return e, choose.Usage("%s: there is no parameter %q; it takes %s",
					names[i], name, strings.Join(spec.Takes(), ", "))
			}
			parameter, values, err := parseValues(m, name, value)
			if err != nil {
				return e, choose.Usage("%s: %w", m.Name, err)
			}
			if e.Own.Has(parameter) {
				return e, choose.Usage("%s is given twice in %q; leave one out", name, text)
			}
			e.Own[parameter] = values[0]
			e.Name = text
		}
	}
	if t == engine.Numbers && m.Check != nil {
		err = m.Check(&engine.Settings{Given: e.Own})
	}
	return e, err
}

// splitName returns the parts of a name between "+". It does not split at the "+" of an exponent, as in 1e+3.
func splitName(text string) (parts []string) {
	start := 0
	for i := 1; i+1 < len(text); i++ {
		if c := text[i+1]; text[i] == '+' && (c < '0' || c > '9') {
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

func declares(m *engine.Engine, name string) bool {
	return slices.ContainsFunc(m.Specs,
		func(spec *param.Spec) bool { return paramOf(spec, name) != nil })
}

func declaredIn(m *engine.Engine, name string) *param.Spec {
	for _, spec := range m.Specs {
		if spec.Name == name {
			return spec
		}
	}
	return nil
}

// paramOf returns the parameter of spec with a name, in which an underscore may stand for a dash. If there is none, it
// returns nil.
func paramOf(spec *param.Spec, name string) *param.Param {
	if p := spec.Param(name); p != nil {
		return p
	}
	return spec.Param(strings.ReplaceAll(name, "_", "-"))
}

// parseValues returns the declared name of the parameter of m that is called name, and its values parsed from texts.
func parseValues(m *engine.Engine, name string,
	texts ...string) (parameter string, list []param.Value, err error) {
	for _, spec := range m.Specs {
		p := paramOf(spec, name)
		if p == nil {
			continue
		}
		for _, text := range texts {
			x, err := p.Parse(text)
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", p.Name, err)
			}
			v, err := spec.Resolve(param.Values{p.Name: x}, nil)
			if wrong := new(param.ParameterError); errors.As(err, &wrong) {
				return "", nil, fmt.Errorf("%s: %s", wrong.Parameter, wrong.What)
			} else if err != nil {
				return "", nil, err
			}
			list = append(list, v[p.Name])
		}
		if len(list) > 1 && p.Grid == nil &&
			(spec == &walks.Spec || spec == &auto.Spec || engine.OnPath(spec)) {
			return "", nil, fmt.Errorf("%s has one value alone", p.Name)
		}
		return p.Name, list, nil
	}
	name = strings.ReplaceAll(name, "-", "_")
	switch {
	case len(m.Takes) == 0:
		return "", nil, fmt.Errorf("it has no parameter, and so no %q", name)
	case !slices.Contains(m.Takes, name):
		return "", nil, fmt.Errorf("there is no parameter %q; it takes %s", name,
			strings.Join(m.Takes, ", "))
	}
	return "", nil, fmt.Errorf("%s is one for all methods; set it once, outside the names of methods", name)
}

// Settle sets the Settings of each entry to the values to choose from, and returns the settings for all methods. The grid is
// "small" for the usual values, "none" for the defaults, "paper" for the values of the methods' papers, or the name of a
// file with values by method, see docs/formats.md. In a file, values for a method override values for all methods; an
// entry's own values override both.
//
// Errors come from reading the file, or are [ErrGrid] for its contents, a [choose.ErrUsage] for an entry's own values, or a
// [*param.ParameterError] for a value that leaves an entry nothing to try; Settle joins them.
func Settle(ctx context.Context, entries []engine.Entry, grid string) (*engine.Settings, error) {
	base := &engine.Settings{Fixed: grid == "none"}
	file, err := openGrid(ctx, grid)
	errs := []error{err}
	if err != nil {
		file = new(gridFile)
	}
	var methods []*engine.Engine
	for i := range entries {
		e := &entries[i]
		methods = append(methods, e.Method)
		set := base.WithDefaults()
		if set.Lists, err = file.of(e.Method); err == nil {
			set.Fix(e.Own)
		}
		if check := e.Method.Check; check != nil && err == nil {
			err = check(&set)
		}
		e.Settings = &set
		errs = append(errs, err)
	}
	return base, errors.Join(append(errs, file.check(methods))...)
}

// A grid file must have fewer than maxGridFile bytes.
const maxGridFile = 1 << 20

// gridFile has values to choose from, by method and by parameter. The file is one JSON object: a key with a value or a list
// is a parameter of all methods that have it; a key with an object is a method or a kernel.
type gridFile struct {
	name   string
	values map[string]map[string][]string
}

//go:embed paper.json
var paperGrid []byte

// ErrGrid is wrapped by every error about the values of a grid.
var ErrGrid = errors.New("method: bad grid")

// openGrid returns the grid with a name. "small" and "none" have no values, and "paper" has the values of the methods'
// papers. Any other name is a file with the values. Values of kernels in "paper" are those of section 4.1 of Neumann,
// Garnett and Kersting.
func openGrid(ctx context.Context, name string) (*gridFile, error) {
	switch name {
	case "small", "none":
		return new(gridFile), nil
	case "paper":
		return readGrid(name, bytes.NewReader(paperGrid))
	}
	f, err := textio.OpenFile(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })() // ends a read from a pipe
	g, err := readGrid(name, f)
	return g, cmp.Or(sched.Cause(ctx), err)
}

// readGrid reads a grid file shorter than 1 MiB. It returns errors of reading, or a [*textio.Error] that wraps [ErrGrid].
func readGrid(name string, r io.Reader) (*gridFile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxGridFile))
	if err != nil {
		return nil, err
	}
	g := &gridFile{name, map[string]map[string][]string{}}
	if len(text) == maxGridFile {
		return nil, g.wrong("longer than 1 MiB")
	}
	var keys map[string]any
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")),
		&keys); err != nil || keys == nil {
		return nil, g.wrong(`no JSON object (%v); write {"cost": [1, 2], "diffusion": {"beta": [0.5, 1]}}`, err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		name := key
		parameters, isMethod := keys[key].(map[string]any)
		if !isMethod {
			name = ""
			parameters = map[string]any{key: keys[key]}
		} else if !slices.ContainsFunc(All(),
			func(m *engine.Engine) bool { return belongs(m, name) }) {
			return nil, g.wrong("there is no method %q in this program; choose from %s", name,
				MethodList())
		}
		for _, parameter := range slices.Sorted(maps.Keys(parameters)) {
			value := parameters[parameter]
			list, isList := value.([]any)
			if !isList {
				list = []any{value}
			}
			var texts []string
			for _, x := range list {
				switch x.(type) {
				case nil, []any, map[string]any:
					return nil, g.wrong("%s: a value is a number, a word, true or false", parameter)
				}
				if text := fmt.Sprint(x); !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
			if len(texts) == 0 {
				return nil, g.wrong("%s has no value", parameter)
			}
			if g.values[name] == nil {
				g.values[name] = map[string][]string{}
			}
			g.values[name][parameter] = texts
		}
	}
	return g, nil
}

func (g *gridFile) wrong(format string, args ...any) error {
	return &textio.Error{File: g.name, Msg: fmt.Sprintf(format, args...),
		Err: ErrGrid}
}

// check returns an error if g has values of a parameter that none of the methods to which the values apply has.
func (g *gridFile) check(methods []*engine.Engine) error {
	for _, name := range slices.Sorted(maps.Keys(g.values)) {
		var names []string
		for _, parameter := range slices.Sorted(maps.Keys(g.values[name])) {
			names = names[:0]
			isDeclared := false
			for _, m := range methods {
				if name == "" || belongs(m, name) {
					names, isDeclared = append(names, m.Name), isDeclared ||
						declares(m, parameter)
				}
			}
			if len(names) > 0 && !isDeclared {
				return g.wrong("no parameter %q: %s", parameter,
					strings.Join(names, ", "))
			}
		}
	}
	return nil
}

func (g *gridFile) of(m *engine.Engine) (lists map[string][]param.Value, err error) {
	lists = map[string][]param.Value{}
	for _, name := range []string{"", kernelName(m), m.Name} {
		for _, parameter := range slices.Sorted(maps.Keys(g.values[name])) {
			if !declares(m, parameter) {
				continue
			}
			name, list, wrong := parseValues(m, parameter,
				g.values[name][parameter]...)
			if wrong != nil {
				return nil, g.wrong("%s: %v", m.Name, wrong)
			}
			lists[name] = list
		}
	}
	return lists, err
}

func kernelName(m *engine.Engine) string {
	kernel, _, _ := strings.Cut(m.Name, "+")
	return kernel
}

func belongs(m *engine.Engine, name string) bool {
	return m.Name == name || kernelName(m) == name
}
