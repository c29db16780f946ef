package choose

import (
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/param"
)

// Combinations returns every combination of the values in the grids of a declaration's parameters, on a graph g, which
// may be nil. A parameter in values has only its value there. Later parameters vary faster.
func Combinations(s *param.Spec, values param.Values,
	g param.Graph) ([]param.Values, error) {
	list := []param.Values{{}}
	for i := range s.Params {
		p := &s.Params[i]
		if isReplaced(s, p, values) {
			continue
		}
		var longer []param.Values
		for _, v := range list {
			grid := []param.Value{values[p.Name]}
			if _, fixed := values[p.Name]; !fixed {
				var err error
				if grid, err = p.GridOn(v, g); err != nil {
					return nil, err
				}
			}
			for _, x := range grid {
				one := maps.Clone(v)
				one[p.Name] = x
				longer = append(longer, one)
			}
		}
		list = longer
	}
	for i, v := range list {
		var err error
		if list[i], err = s.Resolve(v, g); err != nil {
			return nil, err
		}
	}
	if _, err := s.Resolve(values, g); err != nil {
		return nil, err
	}
	return list, nil
}

// isReplaced reports whether p has no value, because p replaces another parameter and is not given, or because a given
// parameter replaces p.
func isReplaced(s *param.Spec, p *param.Param, values param.Values) bool {
	return p.Instead != "" && !values.Has(p.Name) ||
		slices.ContainsFunc(s.Params, func(o param.Param) bool {
			return o.Instead == p.Name && values.Has(o.Name)
		})
}
