package method

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// Entry is a method of a list with its own parameters and settings.
type Entry struct {
	Name   string // as it was written
	Method Method

	// Own are the values of parameters that stand behind the name, which are not chosen.
	Own param.Values

	// Settings are those of the method, see [Settle]; nil: those of all.
	Settings *Settings
}

// Parse returns the methods of a list of names joined by commas, see [MethodList]. Parameters
// may stand behind each part of a name, as in
// "diffusion:beta=2:laplacian=combinatorial+rls:lambda=0.1". Parameters of a learner that is
// not named stand behind its kernel. The error is a [split.ErrUsage]; of an unknown name it
// gives the nearest, or all that exist.
func Parse(list string) ([]Entry, error) {
	var entries []Entry
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		if name, _, _ := strings.Cut(text, ":"); len(entries) > 0 && strings.Contains(name, "=") {
			return nil, split.Usage("%q is no method, and parameters of one are joined by ':'; write %s:%s", name, entries[len(entries)-1].Name, name)
		}
		e, err := parseEntry(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(o Entry) bool { return o.Name == e.Name }) {
			return nil, split.Usage("method %q is named twice; leave one out", e.Name)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseEntry reads one method with its parameters.
func parseEntry(text string) (Entry, error) {
	parts := splitName(text)
	names := make([]string, len(parts))
	for i, component := range parts {
		names[i], _, _ = strings.Cut(component, ":")
	}
	m, err := named(strings.Join(names, "+"))
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Name: m.Name(), Method: m, Own: param.Values{}}
	for i, component := range parts {
		for _, setting := range strings.Split(component, ":")[1:] {
			name, value, ok := strings.Cut(setting, "=")
			if !ok || name == "" || value == "" {
				return Entry{}, split.Usage("%q in %q is no parameter; write NAME:PARAMETER=VALUE", setting, text)
			}
			if spec := declaredIn(m, names[i]); len(parts) > 1 && spec != nil && paramOf(spec, name) == nil && (i > 0 || declares(m, name) || !slices.Contains(m.Takes(), name)) {
				return Entry{}, split.Usage("%s: there is no parameter %q; it takes %s", names[i], name, strings.Join(spec.Takes(), ", "))
			}
			parameter, values, err := parseValues(m, name, value)
			if err != nil {
				return Entry{}, split.Usage("%s: %w", m.Name(), err)
			}
			if e.Own.Has(parameter) {
				return Entry{}, split.Usage("%s is given twice in %q; leave one out", name, text)
			}
			e.Own[parameter], e.Name = values[0], text
		}
	}
	return e, nil
}

// splitName returns the parts of a name that are joined by "+"; the sign of an exponent, as in
// 1e+3, joins nothing.
func splitName(text string) (parts []string) {
	start := 0
	for i := 1; i+1 < len(text); i++ {
		if c := text[i+1]; text[i] == '+' && (c < '0' || c > '9') {
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return append(parts, text[start:])
}

// declares reports whether a declaration of a method has a parameter.
func declares(m Method, name string) bool {
	return slices.ContainsFunc(m.Declarations(), func(spec *param.Spec) bool { return paramOf(spec, name) != nil })
}

// declaredIn returns the declaration of a part of a method, nil if it has none of that name.
func declaredIn(m Method, name string) *param.Spec {
	for _, spec := range m.Declarations() {
		if spec.Name == name {
			return spec
		}
	}
	return nil
}

// paramOf returns the parameter with a name, in which an underscore may stand for a dash.
func paramOf(spec *param.Spec, name string) *param.Param {
	if p := spec.Param(name); p != nil {
		return p
	}
	return spec.Param(strings.ReplaceAll(name, "_", "-"))
}

// parseValues returns the parameter of a method that has a name, and its values from text.
func parseValues(m Method, name string, texts ...string) (parameter string, list []param.Value, err error) {
	for _, spec := range m.Declarations() {
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
		if len(list) > 1 && p.Grid == nil && (spec == &walkSpec || spec == &autoSpec || onPath(spec)) {
			return "", nil, fmt.Errorf("%s has one value alone", p.Name)
		}
		return p.Name, list, nil
	}
	switch name = strings.ReplaceAll(name, "-", "_"); {
	case len(m.Takes()) == 0:
		return "", nil, fmt.Errorf("it has no parameter, and so no %q", name)
	case !slices.Contains(m.Takes(), name):
		return "", nil, fmt.Errorf("there is no parameter %q; it takes %s", name, strings.Join(m.Takes(), ", "))
	}
	return "", nil, fmt.Errorf("%s is one for all methods; set it once, outside the names of methods", name)
}
