package spec

import "slices"

// Trying returns the declaration with other grids: the given values by the name of
// their parameter, which stand for themselves on every graph. A parameter in whose place
// one of them stands is left out.
func (s *Spec) Trying(lists map[string][]Value) *Spec {
	own := *s
	own.Params = nil
	for _, p := range s.Params {
		replaced := slices.ContainsFunc(s.Params, func(q Param) bool { return q.Instead == p.Name && len(lists[q.Name]) > 0 })
		if replaced {
			continue
		}
		if list := lists[p.Name]; len(list) > 0 {
			p.Grid, p.On, p.Instead = list, nil, ""
		}
		own.Params = append(own.Params, p)
	}
	return &own
}

// Defaults returns the declaration with nothing to choose: each parameter that is tried
// with several values has its default alone.
func (s *Spec) Defaults() *Spec {
	own := *s
	own.Params = slices.Clone(s.Params)
	for i := range own.Params {
		if p := &own.Params[i]; len(p.Grid) > 1 {
			p.Grid = nil
		}
	}
	return &own
}
