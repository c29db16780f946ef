package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/nearest"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/kernel/graphs"
	"github.com/heatwalk/heatwalk/param"
)

// specs are declarations.
type specs []*param.Spec

// Lists of declarations; the first one is the default. For kernels between nodes it is cwk.
func learners() specs     { return classify.Learners().Specs() }
func nodeKernels() specs  { return append(specs{&cwk.Spec}, kernel.Families().Specs()...) }
func tableKernels() specs { return closed.Kernels().Specs() }
func graphKernels() specs { return graphs.Kernels().Specs() }

// names returns the names of the declarations.
func (l specs) names() (names []string) {
	for _, s := range l {
		names = append(names, s.Name)
	}
	return names
}

// named returns the declaration with the given name, or nil.
func (l specs) named(name string) *param.Spec {
	for _, s := range l {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// parseNamed parses the value NAME:PARAMETER=VALUE of a flag, with a declared name. It records an
// error and then returns nil.
func parseNamed(run *session, flag, text string, list specs) (*param.Spec, param.Named) {
	n, err := param.ParseNamed(text)
	if wrong := new(param.ParameterError); errors.As(err, &wrong) {
		run.problem(flag, "%s", wrong.Error())
		return nil, n
	}
	s := list.named(n.Name)
	if s == nil {
		run.problem(flag, "%s", unknownName(n.Name, list.names()))
	}
	return s, n
}

// unknownName returns the message about an unknown name.
func unknownName(name string, names []string) string {
	if name == "" {
		return "it is missing; give one of " + strings.Join(names, ", ")
	}
	if suggestion := nearest.Of(name, names); suggestion != "" {
		return quoted(name) + " does not exist; did you mean " + suggestion + "?"
	}
	return quoted(name) + " does not exist; give one of " + strings.Join(names, ", ")
}

// parseGiven returns the given values of the parameters of a declaration, and the same completed by
// the defaults of the others. It records errors about the flag, or for "" about the flags with the
// names of the parameters.
func parseGiven(run *session, flag string, text map[string]string, s *param.Spec) (values, complete param.Values) {
	values = param.Values{}
	wrongs := map[string]bool{}
	note := func(parameter, what string) {
		switch {
		case wrongs[parameter]:
		case flag == "":
			run.problem("--"+parameter, "%s", what)
		case parameter == s.Name:
			run.problem(flag, "%s: %s", s.Name, what)
		default:
			run.problem(flag, "%s: %s: %s", s.Name, parameter, what)
		}
		wrongs[parameter] = true
	}
	for i := range s.Params {
		p := &s.Params[i]
		if t, ok := text[p.Name]; ok {
			v, err := p.Parse(t)
			if err != nil {
				note(p.Name, err.Error())
				continue
			}
			values[p.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(text)) {
		if s.Param(name) == nil {
			note(name, "there is no such parameter; "+itTakes(s.Takes()))
		}
	}
	remainder := maps.Clone(values)
	for {
		complete, err := s.Resolve(remainder, nil)
		wrong := new(param.ParameterError)
		if !errors.As(err, &wrong) {
			return values, complete
		}
		note(wrong.Parameter, wrong.What)
		if !remainder.Has(wrong.Parameter) {
			return values, nil
		}
		delete(remainder, wrong.Parameter)
	}
}

// itTakes lists the parameters for a message.
func itTakes(names []string) string {
	if len(names) == 0 {
		return "it takes none"
	}
	return "it takes " + strings.Join(names, ", ")
}
