package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var vonNeumann = Family{
	Spec: param.Spec{
		Name: "von-neumann", Title: "(I − αS)⁻¹",
		Works:  param.Undirected | param.Signed,
		Source: "Zhou et al., Learning with local and global consistency, NIPS 16, 2004 (S); Kandola, Shawe-Taylor and Cristianini, Learning semantic similarity, NIPS 15, 2003 (A)",
		Params: []param.Param{matrixParam(normalizedAdjacency), {
			Name: "alpha", Symbol: "α",
			Meaning: "share of a walk that goes on at a step",
			Default: param.Of(usualShare), Grid: shares(),
			On: func(x float64, v param.Values, g param.Graph) (float64, error) {
				if v.Word("matrix") != adjacency {
					return x, nil
				}
				radius, err := g.Radius(x >= 0.9) // near the pole the estimate does not suffice
				return x / radius, err
			},
			Check: func(v param.Values) error {
				alpha, title := v.Number("alpha"),
					titleOf("von-neumann", v.Word("matrix"))
				switch {
				case v.Word("matrix") == adjacency: // the range depends on the graph
					return nil
				case !(alpha > 0 && alpha < 1):
					return fmt.Errorf("%v is out of range; %s takes 0 < α < 1",
						alpha, title)
				}
				return checkRest(alpha, title)
			},
		}},
	},
	newOn: func(ctx context.Context, g *matrices, v param.Values) (Kernel, error) {
		if v.Word("matrix") == adjacency {
			return newVonNeumannAdjacency(ctx, g, v.Number("alpha"))
		}
		return newWalkInverse(ctx, g, v.Number("alpha"), 1, nil)
	},
	work: func(v param.Values, d *degrees) work {
		alpha := v.Number("alpha")
		if v.Word("matrix") != adjacency {
			return walkInverseWork(alpha)
		}
		w := functionOf(alpha*d.Largest < farFromPole)
		w.search = true
		return w
	},
}

// newWalkInverse returns scale·(I − αS)⁻¹. At the nodes in stay the kernel is the identity.
func newWalkInverse(ctx context.Context, g *matrices, alpha, scale float64,
	stay []int) (*spectral, error) {
	s, err := iterative.VonNeumann(g.Graph, true, alpha)
	if err != nil {
		return nil, err
	}
	m, err := g.of(ctx, sparse.NormalizedLaplacian)
	if err != nil {
		return nil, err
	}
	// I − αS is (1−α)I + αL̃, except for rows without entries.
	return g.spectral(&solves{system: s, scale: scale, lone: stay},
		newInverseRoot(m, alpha, 1-alpha, math.Sqrt(scale),
			lone(g.Degrees)), nil), nil
}

func walkInverseWork(alpha float64) work {
	return work{inverse: true, half: 2*alpha/(1-alpha) <= narrow}
}

// newVonNeumannAdjacency returns (I − αA)⁻¹.
func newVonNeumannAdjacency(ctx context.Context, g *matrices,
	alpha float64) (Kernel, error) {
	m, err := g.of(ctx, sparse.Adjacency)
	if err != nil {
		return nil, err
	}
	if !(alpha > 0 && alpha*m.Hi < farFromPole) {
		e, err := g.nearRadius(ctx, alpha, m.Hi)
		if err != nil {
			return nil, err
		}
		return g.spectral(e, nil, nil), nil
	}
	root := expm.Smooth(func(x float64) float64 { return 1 / math.Sqrt(1-alpha*x) })
	return g.spectral(&series{m: m, f: expm.Inverse(1, -alpha)},
		&series{m: m, f: root}, nil), nil
}

// nearestPole is the smallest 1 − αρ that von-neumann of A accepts. A series takes some 12/√(1 − αρ) sweeps, and
// solves lose about log₁₀ 1/(1 − αρ) digits.
const nearestPole = 1e-9

// alphasBelow returns as text the range of α on A for the largest eigenvalue rho. If refused is positive, the range
// ends at refused at most.
func alphasBelow(rho, refused float64) string {
	end := 1 / rho
	if refused > 0 { // ρ is an upper bound
		end = min(end, refused)
	}
	return fmt.Sprintf("0 < α < %s on this graph, whose largest eigenvalue is %.10g", param.End(end, refused, true, 10), rho)
}

// nearRadius returns the engine of (I − αA)⁻¹ for α near 1/ρ: a series in A on [−ρ, ρ], or solves if a series would
// take many sweeps. It bounds ρ so closely that 1 − αρ has an error of at most a tenth.
func (g *matrices) nearRadius(ctx context.Context, alpha, upper float64) (engine, error) {
	sizes, err := graph.AbsoluteWeights(ctx, g.Graph)
	if err != nil {
		return nil, err
	}
	w := newPerron(sizes, upper)
	err = w.search(ctx, func() bool {
		gap := 1 - alpha*w.ratio
		return alpha > 0 && gap > nearestPole && alpha*(w.ratio-w.lower) <= gap/10
	})
	rho := w.upper
	if errors.Is(err, errPerron) {
		rho, err = radiusByLanczos(ctx, sizes)
	}
	if err != nil {
		return nil, err
	}
	gap := 1 - alpha*rho
	switch {
	case !(alpha > 0 && gap > 0):
		return nil, refuse("von-neumann", "alpha",
			"%v is out of range; von-neumann of the adjacency takes %s", alpha,
			alphasBelow(rho, alpha))
	case gap < nearestPole:
		return nil, refuse("von-neumann", "alpha",
			"%v is too near to the end of its range; von-neumann of the adjacency takes up to %s on this graph, %.3g less than 1/ρ = %.12g: beyond it rounding leaves few digits", alpha, param.End((1-nearestPole)/rho, alpha, false, 12), nearestPole/rho, 1/rho)
	case gap < nearSolves && alpha*w.ratio < 1:
		system, err := iterative.VonNeumannAdjacency(ctx, g.Graph, alpha, w.best,
			gap-4*epsilon)
		switch {
		case err == nil:
			return &solves{system: system, scale: 1}, nil
		case errors.Is(err, iterative.ErrParameter), errors.Is(err, graph.ErrScale): // rounding is the cause
		default:
			return nil, err
		}
	}
	m, err := expm.NewBounded(&sparse.Operator[float64]{A: g.A, Workers: g.Workers},
		-rho, rho, g.Workers)
	return &series{m: m, f: expm.Inverse(1, -alpha)}, err
}

// If α·ρ is below farFromPole, any bound of ρ suffices.
const farFromPole = 0.95

// nearSolves is the 1 − αρ below which solves replace a series of more than some 300 sweeps.
const nearSolves = 1.6e-3
