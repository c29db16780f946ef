package kernel

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// unevenDegrees is the ratio of degrees from which on the pseudo-inverse of L is computed by that
// of L̃: with weights over many decades the rounding errors in residuals of heavy nodes exceed the
// residuals of light ones.
const unevenDegrees = 1e3

// areUneven reports whether positive degrees differ by that much.
func (d *degrees) areUneven() bool { return d.Largest > unevenDegrees*d.least }

// weightedMap is the pseudo-inverse of L by that of L̃ = D^-½LD^-½,
//
//	L⁺ = P·D^-½·L̃⁺·D^-½·P
//
// where P takes the mean of each component off. An error e of x = L⁺b has the energy
// of that of y = L̃⁺D^-½Pb, so that with the least positive eigenvalues λ of L, in the
// components where b is not zero, and λ̃ of L̃, and the residual r of y,
//
//	‖e‖² ≤ eᵀLe/λ ≤ ‖r‖²/(λ̃·λ)
//
// Rounding errors of r are those of a map of norm 2, whatever the weights.
type weightedMap struct {
	team  *sparse.Team
	inner *solves // L̃⁺
	plain *solves // L⁺, of which the least eigenvalue is wanted
	root  []float64
	least []float64 // lower bounds of λ, by component; nil: not known yet

	b    *sparse.Block[float64]
	sums []blocks.ExactSum // by component
}

func newWeighted(g *graph.Graph) (*weightedMap, error) {
	g = g.WithoutHeavyLoops()
	inner, err := iterative.ShiftedLaplacian(g, true, 1, 0)
	if err != nil {
		return nil, err
	}
	plain, err := iterative.ShiftedLaplacian(g, false, 1, 0)
	if err != nil {
		return nil, err
	}
	return &weightedMap{
		team:  sparse.TeamOf(g.A),
		inner: &solves{system: inner, scale: 1}, plain: &solves{system: plain, scale: 1}, root: inner.Scale,
		sums: make([]blocks.ExactSum, len(g.Components.Sizes)),
	}, nil
}

func (e *weightedMap) applyTo(ctx context.Context, dst, x *sparse.Block[float64], o effort, again bool) (*engineResult, error) {
	if o.certify {
		if err := e.findLeast(ctx, x.Stride, o.memory); err != nil {
			return nil, err
		}
	}
	if e.b == nil || e.b.Cols != x.Cols {
		e.b = sparse.NewBlock[float64](x.Rows, x.Cols)
	}
	blocks.Copy(e.b, x)
	slack := e.centre(e.b)
	scaleRows(e.b, e.b, func(i int) float64 { return 1 / e.root[i] })
	if again {
		scaleRows(dst, dst, func(i int) float64 { return e.root[i] })
	}
	out, err := e.inner.applyTo(ctx, dst, e.b, o, again)
	if err != nil {
		return nil, err
	}
	before := blocks.Norms(e.team, dst)
	scaleRows(dst, dst, func(i int) float64 { return 1 / e.root[i] })
	sizes := blocks.Norms(e.team, dst)
	e.centre(dst)
	if e.least == nil {
		e.relate(out.bound, before, sizes)
		return out, nil
	}
	scaled, least := e.inner.system.Least, e.leastOf()
	for j := range out.bound {
		gain := math.Sqrt(scaled / least[j])
		rounding := slack[j]/scaled*gain + 8*epsilon*sizes[j]
		out.bound[j] = out.bound[j]*gain + rounding
		out.rounded[j] = out.rounded[j]*gain + rounding
	}
	return out, nil
}

// relate makes estimates of errors of columns with one norm such of columns with another.
func (e *weightedMap) relate(estimate, before, after []float64) {
	for j := range estimate {
		if before[j] > 0 {
			estimate[j] *= after[j] / before[j]
		}
	}
}

func (e *weightedMap) function() (m *expm.Map, f expm.Function) { return m, f }

func (e *weightedMap) release() {
	e.inner.release()
	e.plain.release()
}

func (e *weightedMap) eliminate(ctx context.Context, dst, x *sparse.Block[float64], memory int64) (*engineResult, error) {
	return e.plain.eliminate(ctx, dst, x, memory)
}

// centre takes the mean of each component off the columns of b. It returns by how much
// the norms of columns of D^-½b may be wrong that are made of them then.
func (e *weightedMap) centre(b *sparse.Block[float64]) (slack []float64) {
	parts := e.inner.system.Graph.Components
	slack = make([]float64, b.Cols)
	for j := range b.Cols {
		clear(e.sums)
		for lo, hi := range e.team.Counted(0, b.Rows) {
			for i := lo; i < hi; i++ {
				e.sums[parts.Of[i]].Add(b.Row(i)[j])
			}
		}
		blocks.AddExact(e.team, e.sums)
		for i, c := range parts.Of {
			if e.team.IsPadding(i) {
				continue
			}
			mean := e.sums[c].Value() / float64(parts.Sizes[c])
			if size := (math.Abs(b.Row(i)[j]) + math.Abs(mean)) / e.root[i]; e.team.Counts(i) {
				slack[j] += size * size
			}
			b.Row(i)[j] -= mean
		}
	}
	e.team.Sum(slack)
	for j, square := range slack {
		slack[j] = 8 * epsilon * math.Sqrt(square)
	}
	return slack
}

// leastOf returns for each column of b the bound of λ in the components where the column is not zero.
func (e *weightedMap) leastOf() []float64 {
	least := make([]float64, e.b.Cols) // negated
	for j := range least {
		least[j] = math.Inf(-1)
	}
	for i, c := range e.inner.system.Graph.Components.Of {
		for j, v := range e.b.Row(i) {
			if v != 0 {
				least[j] = max(least[j], -e.least[c])
			}
		}
	}
	e.team.Max(least)
	for j, v := range least {
		least[j] = -v
	}
	return least
}

// findLeast finds λ̃, and λ where that may be far above the bound that follows from it,
// the least degree times λ̃.
func (e *weightedMap) findLeast(ctx context.Context, cols int, memory int64) error {
	if e.least != nil {
		return nil
	}
	e.inner.system.Memory, e.plain.system.Memory = memory, memory
	if err := e.inner.findLeast(ctx, cols); err != nil {
		return err
	}
	const far = 1e-2
	scaled, known := e.inner.system.Least, 0.0
	if scaled < far {
		switch err := e.plain.findLeast(ctx, cols); {
		case err == nil:
			known = e.plain.system.Least
		case !errors.As(err, new(*param.ParameterError)): // not that it is lost in rounding
			return err
		}
		e.plain.system.Release()
	}
	g := e.inner.system.Graph
	least := make([]float64, len(g.Components.Sizes)) // negated
	for c := range least {
		least[c] = math.Inf(-1)
	}
	for i, c := range g.Components.Of {
		if d := g.Degrees[i]; d > 0 {
			least[c] = max(least[c], -max(known, d*scaled*(1-8*epsilon)))
		}
	}
	e.team.Max(least)
	for c, v := range least {
		least[c] = -v
	}
	e.least = least
	return nil
}
