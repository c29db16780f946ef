package classify

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// softmaxFit minimises, from θ as it is given,
//
//	Σ_a v_y_a·(log Σ_c exp z_ac − z_a,y_a) + ½·Σ_j ridge_j·θ_j²
//	z_ac = offset_ac + b_c + ⟨w_c, x_a⟩ + Σ_s u_s·S_s(a, c)
//
// over the items, where θ holds the p weights w_c of each of k classes, each with zeros
// behind it up to softmaxStride, their biases, if there are any, and the weights u of
// shared columns. It takes steps of Newton's
// method, each solved by conjugate gradients as far as it deserves. Cost: about 100
// products of the features with k weights each.
type softmaxFit[T sparse.Float] struct {
	features *sparse.Block[T]
	rows     []int     // a-th item's row of features
	items    []int     // and of shared columns
	triangle *triangle // whose rows the features are: of item a they are 0 behind a; nil: none
	y        []int     // of each item, a position in class
	class    []int     // the classes that have logits
	classes  int       // number of classes of which shared columns have values
	biases   int       // how many: one for each class, or none
	shared   *SharedColumns
	q        int       // how many shared columns there are
	offset   []float64 // of logits; nil: 0
	weight   []float64 // v of each of class; nil: 1

	isBiasOnly bool // biases and shared weights are fitted, weights stay as they are

	ridge [3]float64 // of weights, biases and shared weights

	theta     []float64
	tolerance float64 // of the norm of the gradient, relative to its norm where all logits are 0
	limit     int     // of steps

	z, share                              []float64 // logits without the offset, and the softmax with it
	gradient, step, direction, residual   []float64
	image, stepLogits, directionLogits, r []float64 // r: a number for each item and class
	sums                                  sched.Sums
	batches                               []batch[T] // one for each worker
}

// begin makes room for θ, which is 0, and all else of its size.
func (s *softmaxFit[T]) begin() {
	params, logits := len(s.class)*softmaxStride(s.features.Cols)+s.biases+s.q, len(s.items)*len(s.class)
	for _, v := range []*[]float64{&s.theta, &s.gradient, &s.step, &s.direction, &s.residual, &s.image} {
		*v = make([]float64, params)
	}
	for _, v := range []*[]float64{&s.z, &s.share, &s.stepLogits, &s.directionLogits, &s.r} {
		*v = make([]float64, logits)
	}
	s.batches = make([]batch[T], sched.Workers(0))
	for w := range s.batches {
		s.batches[w].begin(s)
	}
}

// softmaxBytes returns the memory that begin allocates.
func softmaxBytes(items, features, classes int) int64 {
	stride := int64(softmaxStride(features))
	return 8*int64(classes)*(8*stride+7*int64(items)) + 8*(softmaxBatch+1)*stride*int64(sched.Workers(0))
}

// solve returns [ErrIterationLimit] if the limit came before the tolerance. It may be
// called again after the ridge has changed.
func (s *softmaxFit[T]) solve(ctx context.Context) error {
	if err := s.logitsTo(ctx, s.z, s.theta); err != nil {
		return err
	}
	reference, err := s.reference(ctx)
	if err != nil {
		return err
	}
	value := s.value(s.theta, s.z)
	for range s.limit {
		if !finite(value) || !finite(reference) {
			return ErrNotFinite
		}
		norm, err := s.differentiate(ctx)
		if err != nil {
			return err
		}
		if norm <= s.tolerance*reference {
			return nil
		}
		if err := s.newton(ctx, norm, forcing(len(s.class), norm/reference)); err != nil {
			return err
		}
		next, ok := s.search(value)
		if !ok {
			return nil // the rest is below rounding
		}
		value = next
	}
	return ErrIterationLimit
}

// forcing returns the relative residual of the linear system of a Newton step, given the norm of
// the gradient relative to its norm where all logits are 0. Far from the minimum an inexact step
// suffices. With many classes, whose products dominate the time, this saves a third of the
// products for five λ.
func forcing(classes int, left float64) float64 {
	if classes >= manyClasses && left > 5e-3 {
		return 0.3
	}
	return min(0.1, math.Sqrt(left))
}

// addRidge adds the ridge times θ to g.
func (s *softmaxFit[T]) addRidge(g, theta []float64) {
	gw, gb, gu := split(s, g)
	weights, biases, shared := split(s, theta)
	simd.AddScaled(gw, s.ridge[0], weights)
	simd.AddScaled(gb, s.ridge[1], biases)
	simd.AddScaled(gu, s.ridge[2], shared)
}

// logitsOf stores the logits of item a in dst.
func (s *softmaxFit[T]) logitsOf(dst, z []float64, a int) {
	k := len(s.class)
	copy(dst, z[a*k:(a+1)*k])
	if s.offset != nil {
		addScaled(dst, 1, s.offset[a*k:(a+1)*k])
	}
}

// value returns the objective, for the logits z of θ.
func (s *softmaxFit[T]) value(theta, z []float64) float64 {
	row := make([]float64, len(s.class))
	sum := 0.0
	for a, y := range s.y {
		s.logitsOf(row, z, a)
		sum += float64(weightOf(s.weight, y) * (logSum(row) - row[y]))
	}
	weights, biases, shared := split(s, theta)
	return sum + (s.ridge[0]*inner(weights, weights)+s.ridge[1]*inner(biases, biases)+s.ridge[2]*inner(shared, shared))/2
}

// reference returns the norm of the gradient where all logits and θ are 0.
func (s *softmaxFit[T]) reference(ctx context.Context) (float64, error) {
	for j := range s.r {
		s.r[j] = 1 / float64(len(s.class))
	}
	s.subtractTruth()
	err := s.adjointTo(ctx, s.gradient, s.r)
	return math.Sqrt(inner(s.gradient, s.gradient)), err
}

// differentiate stores the softmax of the logits and the gradient, and returns its norm.
func (s *softmaxFit[T]) differentiate(ctx context.Context) (float64, error) {
	s.predict()
	copy(s.r, s.share)
	s.subtractTruth()
	if err := s.adjointTo(ctx, s.gradient, s.r); err != nil {
		return 0, err
	}
	s.addRidge(s.gradient, s.theta)
	return math.Sqrt(inner(s.gradient, s.gradient)), nil
}

// weightOf returns the weight of the items of class y, 1 without weights.
func weightOf(weights []float64, y int) float64 {
	if weights == nil {
		return 1
	}
	return weights[y]
}

// subtractTruth subtracts the one-hot classes from r and multiplies each item by its weight.
func (s *softmaxFit[T]) subtractTruth() {
	k := len(s.class)
	for a, y := range s.y {
		row := s.r[a*k : (a+1)*k]
		row[y]--
		if s.weight != nil {
			simd.ScaleTo(row, s.weight[y], row)
		}
	}
}

// predict stores the softmax of the logits.
func (s *softmaxFit[T]) predict() {
	k := len(s.class)
	for a := range s.y {
		row := s.share[a*k : (a+1)*k]
		s.logitsOf(row, s.z, a)
		Softmax(row, row)
	}
}

// newton stores in step and its logits the solution of H·step = −gradient, H the second
// derivative, up to a residual of forcing times the norm of the gradient.
func (s *softmaxFit[T]) newton(ctx context.Context, norm, forcing float64) error {
	const limit = 1000
	clear(s.step)
	clear(s.stepLogits)
	for j, g := range s.gradient {
		s.residual[j] = -g
	}
	copy(s.direction, s.residual)
	square := norm * norm
	for range limit {
		if err := s.curve(ctx); err != nil {
			return err
		}
		curvature := inner(s.direction, s.image)
		if !(curvature > 0) {
			return nil // nothing is left but rounding
		}
		length := square / curvature
		simd.AddScaled(s.step, length, s.direction)
		simd.AddScaled(s.stepLogits, length, s.directionLogits)
		simd.AddScaled(s.residual, -length, s.image)
		next := inner(s.residual, s.residual)
		if next <= forcing*forcing*norm*norm {
			return nil
		}
		turn := next / square
		square = next
		for j, r := range s.residual {
			s.direction[j] = r + float64(turn*s.direction[j])
		}
	}
	return nil
}

// search takes the step, or as much of it as lowers the value, and returns that. It
// reports false if only rounding is left to gain.
func (s *softmaxFit[T]) search(value float64) (float64, bool) {
	slope := inner(s.gradient, s.step)
	theta, z := s.direction, s.directionLogits
	for t := 1.0; t > 1e-9; t /= 2 {
		copy(theta, s.theta)
		simd.AddScaled(theta, t, s.step)
		copy(z, s.z)
		simd.AddScaled(z, t, s.stepLogits)
		next := s.value(theta, z)
		falls, rounding := next <= value+1e-4*t*slope, -t*slope <= 1e-15*math.Abs(value)
		if falls || rounding {
			copy(s.theta, theta)
			copy(s.z, z)
			return next, !rounding
		}
	}
	return value, false
}

// logSum returns log Σ exp z_c.
func logSum(z []float64) float64 {
	top := slices.Max(z)
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
	top := slices.Max(scores)
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
