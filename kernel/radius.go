package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// Radius returns the largest eigenvalue of A ≥ 0, its spectral radius, rounded
// up: von-neumann of A takes α below its inverse. Cost: some tens of sweeps of one
// column, or hundreds and a sampled factor or two where many eigenvalues are next to
// it, once for a graph. Without room for the factor in [graph.Graph.Memory] it is
// thousands, or the error is [iterative.ErrMemory].
func Radius(ctx context.Context, g *graph.Graph) (float64, error) {
	return g.Radius(false, func() (float64, error) {
		m, err := expm.NewAdjacency(ctx, g)
		if err != nil {
			return 0, err
		}
		_, upper := m.Interval()
		w := newPerron(g, 0, upper)
		err = w.search(ctx, func() bool { return false })
		if !errors.Is(err, errPerron) {
			return w.upper, err
		}
		return radiusByLanczos(ctx, g)
	})
}

// radiusByLanczos is [Radius] where rounding is in the way of anything better.
func radiusByLanczos(ctx context.Context, g *graph.Graph) (float64, error) {
	pairs, err := largest(ctx, g, 1e-10)
	if err != nil {
		return 0, err
	}
	return pairs.Values[0] + pairs.Residuals[0] + 1e-14*pairs.Values[0], nil
}

// RoughRadius returns the largest eigenvalue of A ≥ 0 to about a per cent, from
// below: enough to choose α and β by. Cost: some tens of sweeps, once for a graph.
func RoughRadius(ctx context.Context, g *graph.Graph) (float64, error) {
	return g.Radius(true, func() (float64, error) {
		pairs, err := largest(ctx, g, 1e-2)
		if err != nil {
			return 0, err
		}
		return pairs.Values[0], nil
	})
}

// largest finds the largest eigenvalue of A.
func largest(ctx context.Context, g *graph.Graph, tolerance float64) (*lanczos.Pairs, error) {
	problem := lanczos.Problem{A: &sparse.Operator[float64]{A: g.A, Workers: g.Workers}}
	return problem.Lanczos(ctx, 1, &lanczos.Settings{Tolerance: tolerance, Basis: radiusBasis, Workers: g.Workers})
}

// radiusBasis is the number of vectors that a search for the largest eigenvalue
// keeps, about half the usual one: it is to take little more memory than the
// series that follows.
const radiusBasis = 32

// radiusBytes is the memory of [Radius].
func radiusBytes(n int) int64 {
	bytes, _ := lanczos.Bytes(n, 1, 0, &lanczos.Settings{Basis: radiusBasis})
	return bytes
}

// nearestPole is the least 1 − αρ of von-neumann of A. The series takes some
// 12/√(1 − αρ) sweeps, and solves lose as many digits.
const nearestPole = 1e-9

// alphasBelow says which α von-neumann of A takes where ρ is the largest
// eigenvalue, with so many digits that refused, if it is positive, is not among
// them.
func alphasBelow(rho, refused float64) string {
	end, digits := 1/rho, 10
	if refused > 0 {
		end = min(end, refused)
	}
	text := fmt.Sprintf("%.*g", digits, end)
	for refused > 0 && digits < 17 {
		if most, _ := strconv.ParseFloat(text, 64); most <= refused {
			break
		}
		digits++
		text = fmt.Sprintf("%.*g", digits, end)
	}
	return fmt.Sprintf("0 < α < %s on this graph, whose largest eigenvalue is %.*g", text, digits, rho)
}

// AlphaRange says in words which α the named kernel takes on a graph, "" if it
// has no such parameter or, without a graph, if that depends on it. The error
// is that of [Radius], and so is the cost where it depends on the graph.
func AlphaRange(ctx context.Context, g *graph.Graph, name string, p Parameters) (string, error) {
	f := find(name)
	if f == nil || !slices.Contains(f.takes, "alpha") {
		return "", nil
	}
	of := cmp.Or(p.Matrix, f.usual.Matrix)
	what := f.alphas()
	if of == Adjacency {
		if g == nil {
			return "", nil
		}
		rho, err := Radius(ctx, g)
		if err != nil {
			return "", err
		}
		what = alphasBelow(rho, 0)
	}
	return titled(f.name, of) + " takes " + what, nil
}

// nearRadius returns the engine of (I − αA)⁻¹ for α near 1/ρ, given an upper bound on
// ρ, or says what α may be: a series in A on [−ρ, ρ] or, where that would take many
// sweeps, solves. For an α in its range no more is found out about ρ than what 1 − αρ
// is, to a tenth.
func nearRadius(ctx context.Context, g *maps, alpha, upper float64) (engine, error) {
	w := newPerron(g.Graph, 0, upper)
	err := w.search(ctx, func() bool {
		rest := 1 - alpha*w.ratio
		return alpha > 0 && rest > nearestPole && alpha*(w.ratio-w.lower) <= rest/10
	})
	rho := w.upper
	if errors.Is(err, errPerron) {
		rho, err = radiusByLanczos(ctx, g.Graph)
	}
	if err != nil {
		return nil, err
	}
	rest := 1 - alpha*rho
	switch {
	case !(alpha > 0 && rest > 0):
		return nil, &ParameterError{"alpha", fmt.Sprintf("%v is out of range; von-neumann of the adjacency takes %s", alpha, alphasBelow(rho, alpha))}
	case rest < nearestPole:
		return nil, &ParameterError{"alpha", fmt.Sprintf("%v is too near to the end of its range; von-neumann of the adjacency takes up to %.12g on this graph, %.3g less than 1/ρ = %.12g: beyond it rounding leaves few digits", alpha, (1-nearestPole)/rho, nearestPole/rho, 1/rho)}
	case rest < nearSolves && alpha*w.ratio < 1:
		system, err := iterative.VonNeumannAdjacency(ctx, g.Graph, alpha, w.best, rest-4*epsilon)
		switch scale := (*graph.ScaleError)(nil); {
		case err == nil:
			return &solves{system: system, scale: 1}, nil
		case errors.Is(err, iterative.ErrParameter), errors.As(err, &scale): // rounding is in the way
		default:
			return nil, err
		}
	}
	m, err := expm.NewBounded(&sparse.Operator[float64]{A: g.A, Workers: g.Workers}, -rho, rho, g.Workers)
	return &series{m: m, f: expm.Inverse(1, -alpha)}, err
}

// farFromPole is the α·ρ below which any bound on ρ will do.
const farFromPole = 0.95

// nearSolves is the 1 − αρ below which von-neumann of A is computed by solves: a
// series would take some 300 sweeps.
const nearSolves = 1.6e-3
