package method

import (
	"slices"

	"github.com/heatwalk/heatwalk/param"
)

// trying returns a declaration with the grids of the settings: values by the name of their
// parameter, which stand for themselves on every graph. A parameter in whose place one of
// them stands is left out.
func (s *Settings) trying(of *param.Spec) *param.Spec {
	own := *of
	own.Params = nil
	for _, p := range of.Params {
		if slices.ContainsFunc(of.Params, func(q param.Param) bool { return q.Instead == p.Name && len(s.Lists[q.Name]) > 0 }) {
			continue
		}
		if s.Fixed && len(p.Grid) > 1 {
			p.Grid = nil
		}
		if list := s.Lists[p.Name]; len(list) > 0 {
			p.Grid, p.On, p.Instead = list, nil, ""
		}
		own.Params = append(own.Params, p)
	}
	return &own
}
