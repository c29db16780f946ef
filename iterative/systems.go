package iterative

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// ErrParameter is wrapped by errors about a system or a block that is out of range. A setting that is out of range gives a
// [*param.ParameterError] instead.
var ErrParameter = errors.New("iterative: parameter out of range")

// ShiftedLaplacian is the system a·L + c·I, or a·L̃ + c·I if normalized is set. a must be positive and c ≥ 0. With c = 0 its
// solution is (a·L)⁺·B.
func ShiftedLaplacian(g *graph.Graph, normalized bool,
	a, c float64) (*System, error) {
	if !(a > 0) || math.IsInf(a, 1) || !(c >= 0) || math.IsInf(c, 1) {
		return nil, fmt.Errorf("%w: %g·L + %g·I; the factor of L must be positive and that of I not negative", ErrParameter, a, c)
	}
	s := &System{Graph: g, Edge: a, Least: c}
	if normalized {
		s.Scale = blocks.Roots(g.Degrees)
	}
	if c == 0 {
		s.Null = g.NullSpace(normalized)
		return s, nil
	}
	s.easy = g.NullSpace(normalized)
	if normalized {
		s.Ground = groundOf(g, c)
		return s, nil
	}
	s.Ground = slices.Repeat([]float64{c}, len(g.Degrees))
	return s, nil
}

// VonNeumann is the system D − αA, or I − αS if normalized is set, with 0 < α < 1. The solution of D − αA is (D − αA)⁺·B, which
// is 0 in rows without entries. If normalized is set, a row without entries is a row of the identity.
func VonNeumann(g *graph.Graph, normalized bool, alpha float64) (*System, error) {
	if !(alpha > 0 && alpha < 1) {
		what := "D − αA"
		if normalized {
			what = "I − αS"
		}
		return nil, fmt.Errorf("%w: α = %g; %s is definite for 0 < α < 1",
			ErrParameter, alpha, what)
	}
	s := &System{Graph: g, Edge: alpha, Least: 1 - alpha,
		Ground: groundOf(g, 1-alpha)}
	if normalized {
		s.Scale, s.easy = blocks.Roots(g.Degrees), g.NullSpace(true)
	}
	team := sparse.TeamOf(g.A)
	unit := make([]float64, len(g.Degrees))
	extreme := []float64{math.Inf(-1), 0} // negated smallest degree; 1 if a row has no entries
	for i, d := range g.Degrees {
		switch {
		case d > 0:
			extreme[0] = max(extreme[0], -d)
		case normalized:
			s.Ground[i] = 1
		case team.IsPadding(i):
		default:
			s.Ground[i] = 0
			unit[i] = 1
			extreme[1] = 1
		}
	}
	if normalized {
		return s, nil
	}
	team.Max(extreme)
	s.Least = 0
	if smallest := -extreme[0]; !math.IsInf(smallest, 1) {
		s.Least = (1 - alpha) * smallest
	}
	if extreme[1] != 0 {
		s.Null = blocks.NewDisjointRows(unit)
	}
	return s, nil
}

// groundOf returns c·d, and c for rows without entries.
func groundOf(g *graph.Graph, c float64) []float64 {
	ground := make([]float64, len(g.Degrees))
	for i, d := range g.Degrees {
		ground[i] = c
		if d > 0 {
			ground[i] = c * d
		}
	}
	return ground
}
