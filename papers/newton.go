package papers

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// inverseTo stores K⁻¹x/σ² in dst.
func (r *transduction) inverseTo(ctx context.Context,
	dst, x *sparse.Block[float64]) error {
	variance := r.v.Number("variance")
	r.columns += x.Cols
	return r.op.StepTo(ctx, dst, x,
		sparse.Step[float64]{Alpha: r.v.Number("alpha") / variance,
			Beta: 1 / variance})
}

// minimise moves t to the minimum for the current ν, by Newton's method. It ends where
// the gradient is the tolerance times ν, or consists of rounding errors.
func (r *transduction) minimise(ctx context.Context, tolerance float64) error {
	reference := math.Sqrt(r.dot(r.nu, r.nu))
	if err := r.inverseTo(ctx, r.inverse, r.t); err != nil {
		return err
	}
	value := r.value(0)
	last := math.Inf(1)
	for range 200 {
		for i := range r.t.Rows {
			if r.team.IsPadding(i) { // whose values stay 0
				continue
			}
			share := r.share.Row(i)
			gradient := r.gradient.Row(i)
			classify.Softmax(share, r.t.Row(i))
			for c, p := range share {
				gradient[c] = p - r.nu.Row(i)[c] + r.inverse.Row(i)[c]
			}
		}
		norm := math.Sqrt(r.dot(r.gradient, r.gradient))
		if norm <= tolerance*reference || norm < 1e-9*reference && norm > last/2 {
			return nil
		}
		last = norm
		if err := r.newton(ctx, norm, min(0.1, math.Sqrt(norm/reference))); err != nil {
			return err
		}
		if err := r.inverseTo(ctx, r.image, r.step); err != nil {
			return err
		}
		slope := r.dot(r.gradient, r.step)
		size := 1.0
		slack := 1e-14 * (1 + math.Abs(value)) // rounding of the value
		next := r.value(size)
		for ; next > value+1e-4*size*slope+slack && size > 1e-10; next = r.value(size) {
			size /= 2
		}
		value = next
		simd.AddScaled(r.t.Data, size, r.step.Data)
		simd.AddScaled(r.inverse.Data, size, r.image.Data)
	}
	return iterative.ErrIterationLimit
}

// value returns the objective at t + size·step, where image is K⁻¹/σ² of the step.
func (r *transduction) value(size float64) float64 {
	point := make([]float64, r.t.Cols)
	return blocks.Sums(r.team, r.t.Rows, 1, func(i int, sums []float64) {
		for c := range point {
			point[c] = r.t.Row(i)[c]
			inverse := r.inverse.Row(i)[c]
			if size > 0 {
				point[c] += size * r.step.Row(i)[c]
				inverse += size * r.image.Row(i)[c]
			}
			sums[0] += point[c] * (inverse/2 - r.nu.Row(i)[c])
		}
		highest := slices.Max(point)
		exps := 0.0
		for _, x := range point {
			exps += math.Exp(x - highest)
		}
		sums[0] += highest + math.Log(exps)
	})[0]
}

// newton stores −H⁻¹·gradient in step, H the second derivative, by conjugate gradients to a residual of the given share of the gradient's norm.
func (r *transduction) newton(ctx context.Context, norm, share float64) error {
	for i := range r.t.Rows {
		clear(r.step.Row(i))
		for c, x := range r.gradient.Row(i) {
			r.residual.Row(i)[c] = -x
			r.direction.Row(i)[c] = -x / r.scale(i, c)
		}
	}
	product := r.weighResidual()
	for range 2000 {
		if err := r.inverseTo(ctx, r.image, r.direction); err != nil {
			return err
		}
		for i := range r.t.Rows {
			mean := 0.0
			d := r.direction.Row(i)
			for c, p := range r.share.Row(i) {
				mean += float64(p * d[c])
			}
			for c, p := range r.share.Row(i) {
				r.image.Row(i)[c] += p * (d[c] - mean)
			}
		}
		along := product / r.dot(r.direction, r.image)
		simd.AddScaled(r.step.Data, along, r.direction.Data)
		simd.AddScaled(r.residual.Data, -along, r.image.Data)
		if math.Sqrt(r.dot(r.residual, r.residual)) <= share*norm {
			return nil
		}
		next := r.weighResidual()
		for i := range r.t.Rows {
			for c, d := range r.direction.Row(i) {
				r.direction.Row(i)[c] = r.residual.Row(i)[c]/r.scale(i, c) +
					next/product*d
			}
		}
		product = next
	}
	return nil // the step so far is a descent direction
}

// scale returns the diagonal of the second derivative.
func (r *transduction) scale(i, c int) float64 {
	p := r.share.Row(i)[c]
	return r.diagonal[i] + p*(1-p)
}

// weighResidual returns the sum of squares of the residual over the diagonal.
func (r *transduction) weighResidual() float64 {
	return blocks.Sums(r.team, r.residual.Rows, 1, func(i int, sums []float64) {
		for c, x := range r.residual.Row(i) {
			sums[0] += x * x / r.scale(i, c)
		}
	})[0]
}

// dot returns the sum of products of two blocks.
func (r *transduction) dot(x, y *sparse.Block[float64]) float64 {
	return blocks.Total(nil, blocks.Dots(r.team, x, y))
}
