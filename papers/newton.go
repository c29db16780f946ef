package papers

import (
	"context"
	"math"
	"slices"

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

// minimise moves t to the minimum for the current ν by Newton's method. It ends when the norm of the gradient is at most
// tolerance times the norm of ν, or when the gradient consists of rounding errors.
func (r *transduction) minimise(ctx context.Context, tolerance float64) error {
	reference := math.Sqrt(r.dot(r.nu, r.nu))
	if err := r.inverseTo(ctx, r.inverse, r.t); err != nil {
		return err
	}
	value := r.value(0)
	last := math.Inf(1)
	for range 200 {
		for i := range r.t.Rows {
			if r.team.IsPadding(i) { // its values stay 0
				continue
			}
			nu := r.nu.Row(i)
			inverse := r.inverse.Row(i)
			gradient := r.gradient.Row(i)
			scale := r.scale.Row(i)
			for c, p := range r.share.Row(i) {
				gradient[c] = p - nu[c] + inverse[c]
				scale[c] = 1 / (r.diagonal[i] + p*(1-p))
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

// value returns the objective at t + size·step, and stores the softmax of t + size·step in share. image must be K⁻¹/σ² times
// step.
func (r *transduction) value(size float64) float64 {
	for i := range r.t.Rows {
		if r.team.IsPadding(i) {
			continue
		}
		nu := r.nu.Row(i)
		inverse := r.inverse.Row(i)
		step := r.step.Row(i)
		image := r.image.Row(i)
		share := r.share.Row(i)
		value := 0.0
		for c, x := range r.t.Row(i) {
			product := inverse[c]
			if size > 0 {
				x += size * step[c]
				product += size * image[c]
			}
			share[c] = x
			value += x * (product/2 - nu[c])
		}
		highest := slices.Max(share)
		sum := 0.0
		for c, x := range share {
			share[c] = math.Exp(x - highest)
			sum += share[c]
		}
		for c := range share {
			share[c] /= sum
		}
		r.term[i] = value + highest + math.Log(sum)
	}
	return blocks.Total(r.team, r.term)
}

// newton stores −H⁻¹·gradient in step, where H is the second derivative. It uses conjugate gradients, preconditioned by the
// diagonal of H, until the norm of the residual is at most share·norm. norm is the norm of the gradient.
func (r *transduction) newton(ctx context.Context, norm, share float64) error {
	for i := range r.t.Rows {
		clear(r.step.Row(i))
		for c, x := range r.gradient.Row(i) {
			r.residual.Row(i)[c] = -x
			r.direction.Row(i)[c] = -x * r.scale.Row(i)[c]
		}
	}
	product := r.dot(r.residual, r.direction)
	for range 2000 {
		if err := r.inverseTo(ctx, r.image, r.direction); err != nil {
			return err
		}
		for i := range r.t.Rows {
			share := r.share.Row(i)
			d := r.direction.Row(i)
			image := r.image.Row(i)
			mean := 0.0
			for c, p := range share {
				mean += float64(p * d[c])
			}
			for c, p := range share {
				image[c] += p * (d[c] - mean)
			}
		}
		along := product / r.dot(r.direction, r.image)
		simd.AddScaled(r.step.Data, along, r.direction.Data)
		simd.AddScaled(r.residual.Data, -along, r.image.Data)
		if math.Sqrt(r.dot(r.residual, r.residual)) <= share*norm {
			return nil
		}
		for i, x := range r.residual.Data {
			r.image.Data[i] = x * r.scale.Data[i]
		}
		next := r.dot(r.residual, r.image)
		for i, x := range r.image.Data {
			r.direction.Data[i] = x + next/product*r.direction.Data[i]
		}
		product = next
	}
	return nil // the step so far is a descent direction
}

func (r *transduction) dot(x, y *sparse.Block[float64]) float64 {
	return blocks.Total(nil, blocks.Dots(r.team, x, y))
}
