package method

import (
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/param"
)

// trying returns a declaration with the grids of the settings: values by the name of their
// parameter, which stand for themselves on every graph. A parameter in whose place one of
// them stands is left out.
func (s *Settings) trying(spec *param.Spec) *param.Spec {
	tried := *spec
	tried.Params = nil
	for _, p := range spec.Params {
		if slices.ContainsFunc(spec.Params, func(q param.Param) bool { return q.Instead == p.Name && len(s.Lists[q.Name]) > 0 }) {
			continue
		}
		if s.Fixed && len(p.Grid) > 1 {
			p.Grid = nil
		}
		if list := s.Lists[p.Name]; len(list) > 0 {
			p.Grid, p.On, p.Instead = slices.Clone(list), nil, ""
			p.Default = list[0] // of a parameter that stood in place of another, which has none
			if p.Kind == param.Real || p.Kind == param.Whole {
				slices.SortFunc(p.Grid, func(a, b param.Value) int {
					return cmp.Compare(param.Values{"": a}.Number(""), param.Values{"": b}.Number(""))
				})
			}
		}
		tried.Params = append(tried.Params, p)
	}
	return &tried
}
