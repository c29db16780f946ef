package param

import (
	"maps"
	"slices"
	"strings"
)

// Term is a name with texts of parameters, as users write it: "diffusion:beta=2:laplacian=combinatorial".
type Term struct {
	Name  string
	Texts map[string]string // texts by parameter, for [Spec.ParseValues]
}

// ParseTerm returns the Term of a text. The error is a [*ParameterError].
func ParseTerm(text string) (Term, error) {
	parts := strings.Split(strings.TrimSpace(text), ":")
	n := Term{Name: strings.TrimSpace(parts[0]), Texts: map[string]string{}}
	for _, term := range parts[1:] {
		name, value, ok := strings.Cut(term, "=")
		switch {
		case !ok || name == "" || value == "":
			return n, Refuse(n.Name, n.Name, "%q is no parameter; write %s:PARAMETER=VALUE", term, n.Name)
		case n.Texts[name] != "":
			return n, Refuse(n.Name, name, "given twice; leave one out")
		}
		n.Texts[name] = value
	}
	return n, nil
}

// ParseValues returns the values of parameters that are given as texts by name. The error is a [*ParameterError] about an
// unknown parameter, or about the first parameter of the declaration with a wrong value.
func (s *Spec) ParseValues(texts map[string]string) (Values, error) {
	values := Values{}
	for i := range s.Params {
		p := &s.Params[i]
		text, ok := texts[p.Name]
		if !ok {
			continue
		}
		v, err := p.Parse(text)
		if err != nil {
			return nil, Refuse(s.Name, p.Name, "%s", err.Error())
		}
		values[p.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if s.Param(name) == nil {
			takes := "it has none"
			if names := s.Takes(); len(names) > 0 {
				takes = "it has " + strings.Join(names, ", ")
			}
			return nil, Refuse(s.Name, name, "there is no such parameter; %s", takes)
		}
	}
	return values, nil
}
