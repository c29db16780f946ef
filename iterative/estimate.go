package iterative

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type progress struct {
	energy   float64 // Σ α·rᵀz over all steps, about xᵀ·A·x
	longest  float64 // largest α of about the last ten steps
	first    float64 // rᵀz before the first step
	steps    int
	residual float64 // norm of the residual in the recurrence
}

// usual is a factor of error estimates. It makes estimates below the error rare, although norms differ and residuals are
// rounded.
const usual = 3

// estimate returns the estimated error of a column relative to the column, both in the norm of A. The error is the sum of
// α·rᵀz over all future steps (Hestenes and Stiefel 1952). estimate takes the largest α of the last steps, and lets rᵀz fall
// at its mean rate.
func (c *column) estimate() float64 {
	p := &c.progress
	if c.norm == 0 || c.residual == 0 {
		return 0
	}
	if p.steps == 0 || !(p.energy > 0) {
		return 1
	}
	rz := c.rz
	if c.residual > p.residual && p.residual > 0 { // the recurrence is below the rounding errors
		ratio := c.residual / p.residual
		rz *= ratio * ratio
	}
	fall := math.Pow(rz/p.first, 1/float64(p.steps))
	return min(1, usual*math.Sqrt(p.longest*rz/(max(1-fall,
		1/float64(p.steps+1))*p.energy)))
}

// estimateByFactor fills ErrorEstimate by the complete factor C: the error of X is about C⁺·R with the residual R. It first
// adds numbers of random signs to R, because R may look smaller than its rounding errors.
func (s *System) estimateByFactor(ctx context.Context, out *Result,
	x *sparse.Block[float64]) error {
	v := &s.cg.run.v
	signs := rand.New(rand.NewPCG(rngSeed, 0))
	for i, d := range s.diagonal(true) {
		rounding := math.Copysign(4*unitRoundoff*d/blocks.Factor(s.Scale, i),
			signs.Float64()-0.5)
		row := v.r.Row(i)
		for j, value := range x.Row(i) {
			row[j] += float64(rounding * value)
		}
	}
	z := blocks.Reshape(v.q, v.r.Rows, v.r.Cols)
	if err := s.factor.ApplyTo(ctx, z, v.r); err != nil {
		return err
	}
	blocks.ScaleRows(z, z, s.Scale)
	s.Null.RemoveTo(z, z, s.Graph.Workers)
	norms := columnNorms(nil, z)
	for j := range norms {
		norms[j] *= usual
	}
	out.ErrorEstimate = norms
	return nil
}
