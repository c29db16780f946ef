package shell

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
)

// ParameterText returns a comma and the values of the parameters for a summary. It returns "" without
// parameters.
func ParameterText(s *param.Spec, v param.Values) string {
	if text := s.Text(v); text != "" {
		return ", " + text
	}
	return ""
}

type KernelParameters struct {
	Spec   *param.Spec
	Values param.Values
}

// MarshalJSON writes an object with the values and the name of the kernel.
func (p KernelParameters) MarshalJSON() ([]byte, error) {
	values := maps.Clone(p.Values)
	values["kernel"] = param.Of(p.Spec.Name)
	return json.Marshal(values)
}

type ParameterInfo struct {
	Name    string        `json:"name"`
	Symbol  string        `json:"symbol,omitempty"`
	Meaning string        `json:"meaning"`
	Words   []string      `json:"words,omitempty"`
	Range   string        `json:"range,omitempty"`
	Default string        `json:"default"`
	Grid    []param.Value `json:"grid,omitempty"`
}

func DescribeParameter(p *param.Param) ParameterInfo {
	info := ParameterInfo{Name: p.Name, Symbol: p.Symbol, Meaning: p.Meaning,
		Words: p.Words, Default: p.Default.String(), Grid: p.Grid}
	if p.Range != (param.Range{}) {
		info.Range = p.Range.Text(p.Symbol)
	}
	switch {
	case p.Instead != "":
		info.Default = "in place of " + p.Instead
	case p.Otherwise != "":
		info.Default = p.Otherwise
	case p.On != nil:
		info.Default = "depends on the graph"
	}
	return info
}

type Specs = param.List[*param.Spec]

// Learners returns the learners on kernels and features, the default first.
func Learners() Specs { return classify.Learners().Specs() }

// NodeKernels returns the kernels between nodes, the default first.
func NodeKernels() Specs {
	return append(Specs{&cwk.Spec}, kernel.Families().Specs()...)
}

// ParseNamed parses the value NAME:PARAMETER=VALUE of a flag. It returns nil after recording an error.
func (line *CommandLine) ParseNamed(flag, text string,
	list Specs) (*param.Spec, param.Term) {
	n, err := param.ParseTerm(text)
	if wrong := new(param.ParameterError); errors.As(err, &wrong) {
		line.Problem(flag, "%s", wrong.Error())
		return nil, n
	}
	s := list.Named(n.Name)
	if s == nil {
		line.Problem(flag, "%s", unknownName(n.Name, list.Names()))
	}
	return s, n
}

func unknownName(name string, names []string) string {
	if name == "" {
		return "it is missing; give one of " + strings.Join(names, ", ")
	}
	if suggestion := words.Nearest(name, names); suggestion != "" {
		return Quote(name) + " does not exist; did you mean " + suggestion + "?"
	}
	return Quote(name) + " does not exist; give one of " + strings.Join(names, ", ")
}

// ParseGiven parses the parameters in text. values has the given parameters, and complete also the
// defaults of the other parameters of s. Problems are recorded for flag. If flag is "", they are recorded
// for the flags called as the parameters.
func (line *CommandLine) ParseGiven(flag string, text map[string]string,
	s *param.Spec) (values, complete param.Values) {
	values = param.Values{}
	wrongs := map[string]bool{}
	note := func(parameter, what string) {
		switch {
		case wrongs[parameter]:
		case flag == "":
			line.Problem("--"+parameter, "%s", what)
		case parameter == s.Name:
			line.Problem(flag, "%s: %s", s.Name, what)
		default:
			line.Problem(flag, "%s: %s: %s", s.Name, parameter, what)
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

func itTakes(names []string) string {
	if len(names) == 0 {
		return "it takes none"
	}
	return "it takes " + strings.Join(names, ", ")
}
