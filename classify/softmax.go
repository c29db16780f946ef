package classify

import (
	"context"
	"math"
)

// softmaxMap is a linear map L from parameters θ to the logits of items, with an
// inner product of parameters and a ridge Λ. Logits z have a row of k numbers for
// each item, one for each class.
type softmaxMap interface {
	// logitsTo stores Lθ in z.
	logitsTo(ctx context.Context, z, theta []float64) error
	// adjointTo stores L*r in g: ⟨L*r, θ⟩ = Σ r·Lθ for all θ.
	adjointTo(ctx context.Context, g, r []float64) error
	// addRidge adds Λθ to g.
	addRidge(g, theta []float64)
	// inner returns ⟨u, v⟩, where z is Lv.
	inner(u, v, z []float64) float64
}

// softmaxFit minimises, from θ as it is given,
//
//	F(θ) = Σ_i (log Σ_c exp z_ic − z_i,y_i) + ½⟨θ, Λθ⟩,  z = offset + Lθ,
//
// over items with the classes y of k classes, by Newton's method; the equations of a
// step are solved by conjugate gradients in the inner product of the map, as far as
// the step deserves. Cost: about 100 products with L and as many with L*.
type softmaxFit struct {
	of        softmaxMap
	y         []int
	k         int
	offset    []float64 // of the logits; nil: 0
	theta     []float64
	tolerance float64 // of the norm of the gradient, beside that where all logits are 0
	limit     int     // of Newton's steps

	z, share []float64 // logits Lθ without the offset, and their softmax

	gradient, step, direction, image  []float64
	gradientLogits, stepLogits        []float64
	directionLogits, residual, weight []float64
}

// solve returns [ErrIterationLimit] if the limit came before the tolerance, and
// [ErrIndefinite] if the inner product is none.
func (s *softmaxFit) solve(ctx context.Context) error {
	items, params := len(s.y)*s.k, len(s.theta)
	for _, v := range []*[]float64{&s.z, &s.share, &s.gradientLogits, &s.stepLogits, &s.directionLogits, &s.weight} {
		*v = make([]float64, items)
	}
	for _, v := range []*[]float64{&s.gradient, &s.step, &s.direction, &s.image, &s.residual} {
		*v = make([]float64, params)
	}
	reference, err := s.gradientAt(ctx, nil)
	if err != nil {
		return err
	}
	if err := s.of.logitsTo(ctx, s.z, s.theta); err != nil {
		return err
	}
	value := s.value(s.theta, s.z)
	for range s.limit {
		if !finite(value) {
			return ErrNotFinite
		}
		norm, err := s.gradientAt(ctx, s.theta)
		if err != nil {
			return err
		}
		if norm <= s.tolerance*reference {
			return nil
		}
		slope, err := s.newton(ctx, norm, min(0.1, math.Sqrt(norm/reference)))
		if err != nil {
			return err
		}
		next, ok := s.search(value, slope)
		if !ok {
			return nil // rounding hides what is left
		}
		value = next
	}
	return ErrIterationLimit
}

// gradientAt stores the gradient at θ and its logits, and returns its norm. θ = nil
// stands for logits of 0, without the ridge.
func (s *softmaxFit) gradientAt(ctx context.Context, theta []float64) (float64, error) {
	k := s.k
	for i, y := range s.y {
		row := s.share[i*k : (i+1)*k]
		if theta == nil {
			clear(row)
		} else {
			s.logitsOf(row, s.z, i)
		}
		Softmax(row, row)
		copy(s.weight[i*k:], row)
		s.weight[i*k+y]--
	}
	if err := s.of.adjointTo(ctx, s.gradient, s.weight); err != nil {
		return 0, err
	}
	if theta != nil {
		s.of.addRidge(s.gradient, theta)
	}
	if err := s.of.logitsTo(ctx, s.gradientLogits, s.gradient); err != nil {
		return 0, err
	}
	square := s.of.inner(s.gradient, s.gradient, s.gradientLogits)
	if !finite(square) {
		return 0, ErrNotFinite
	}
	return math.Sqrt(max(0, square)), nil
}

// logitsOf stores the logits of item i in dst, where z is Lθ.
func (s *softmaxFit) logitsOf(dst, z []float64, i int) {
	copy(dst, z[i*s.k:(i+1)*s.k])
	if s.offset != nil {
		addScaled(dst, 1, s.offset[i*s.k:(i+1)*s.k])
	}
}

// newton stores in step and stepLogits the solution of (∂²F)·step = −gradient, to so
// much of the gradient's norm, and returns the slope ⟨gradient, step⟩.
func (s *softmaxFit) newton(ctx context.Context, norm, forcing float64) (float64, error) {
	const limit = 1000
	clear(s.step)
	clear(s.stepLogits)
	for j, g := range s.gradient {
		s.residual[j] = -g
	}
	copy(s.direction, s.residual)
	for j, g := range s.gradientLogits {
		s.directionLogits[j] = -g
	}
	square := norm * norm
	z := make([]float64, len(s.z)) // of the residual
	for range limit {
		if err := s.hessian(ctx); err != nil {
			return 0, err
		}
		curvature := s.of.inner(s.image, s.direction, s.directionLogits)
		if !(curvature > 0) {
			return 0, ErrIndefinite
		}
		length := square / curvature
		addScaled(s.step, length, s.direction)
		addScaled(s.stepLogits, length, s.directionLogits)
		addScaled(s.residual, -length, s.image)
		if err := s.of.logitsTo(ctx, z, s.residual); err != nil {
			return 0, err
		}
		next := s.of.inner(s.residual, s.residual, z)
		if !(next > forcing*forcing*norm*norm) {
			break
		}
		turn := next / square
		square = next
		for j, r := range s.residual {
			s.direction[j] = r + float64(turn*s.direction[j])
		}
		for j, r := range z {
			s.directionLogits[j] = r + float64(turn*s.directionLogits[j])
		}
	}
	return s.of.inner(s.gradient, s.step, s.stepLogits), nil
}

// hessian stores in image the second derivative applied to direction: the items'
// part is π_ic·(v_ic − Σ_b π_ib·v_ib) for logits v.
func (s *softmaxFit) hessian(ctx context.Context) error {
	k := s.k
	for i := range s.y {
		p, v := s.share[i*k:(i+1)*k], s.directionLogits[i*k:(i+1)*k]
		mean := inner(p, v)
		for c, q := range p {
			s.weight[i*k+c] = q * (v[c] - mean)
		}
	}
	if err := s.of.adjointTo(ctx, s.image, s.weight); err != nil {
		return err
	}
	s.of.addRidge(s.image, s.direction)
	return nil
}

// search takes the step, or as much of it as makes F fall, and returns F. It reports
// false if F falls nowhere along it.
func (s *softmaxFit) search(value, slope float64) (float64, bool) {
	theta, z := make([]float64, len(s.theta)), make([]float64, len(s.z))
	slack := 1e-15 * math.Abs(value)
	for t := 1.0; t > 1e-9; t /= 2 {
		copy(theta, s.theta)
		addScaled(theta, t, s.step)
		copy(z, s.z)
		addScaled(z, t, s.stepLogits)
		next := s.value(theta, z)
		if next <= value+1e-4*t*slope {
			copy(s.theta, theta)
			copy(s.z, z)
			return next, true
		}
		if -t*slope <= slack { // no better or worse than rounding
			copy(s.theta, theta)
			copy(s.z, z)
			return next, false
		}
	}
	return value, false
}

// value returns F, where z is Lθ.
func (s *softmaxFit) value(theta, z []float64) float64 {
	row := make([]float64, s.k)
	sum := 0.0
	for i, y := range s.y {
		s.logitsOf(row, z, i)
		sum += logSum(row) - row[y]
	}
	ridge := s.image
	clear(ridge)
	s.of.addRidge(ridge, theta)
	return sum + s.of.inner(ridge, theta, z)/2
}

// logSum returns log Σ exp z_c.
func logSum(z []float64) float64 {
	top := math.Inf(-1)
	for _, v := range z {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// Softmax stores exp(s_c)/Σ_b exp(s_b) in dst, which may be scores: probabilities of
// classes whose logarithms are scores, up to a constant. A nil dst allocates.
func Softmax(dst, scores []float64) []float64 {
	dst = destination(dst, len(scores))
	top := math.Inf(-1)
	for _, s := range scores {
		top = max(top, s)
	}
	sum := 0.0
	for c, s := range scores {
		dst[c] = math.Exp(s - top)
		sum += dst[c]
	}
	for c := range dst {
		dst[c] /= sum
	}
	return dst
}
