package classify

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// softmaxFit minimises, from θ as it is given,
//
//	Σ_a (log Σ_c exp z_ac − z_a,y_a) + ½·Σ_j ridge_j·θ_j²
//	z_ac = offset_ac + b_c + ⟨w_c, x_a⟩ + Σ_s u_s·S_s(a, c)
//
// over the items, where θ holds the p weights w_c of each of k classes, their biases,
// if there are any, and the weights u of shared columns. It takes steps of Newton's
// method, each solved by conjugate gradients as far as it deserves. Cost: about 100
// products of the features with k weights each.
type softmaxFit[T Float] struct {
	features Features[T]
	items    []int // a-th item's row of features
	y        []int // of each item, a position in class
	class    []int // that have logits
	classes  int   // that shared columns have values of
	biases   int   // how many: one for each class, or none
	shared   *SharedColumns
	q        int       // how many shared columns there are
	offset   []float64 // of logits; nil: 0

	ridge [3]float64 // of weights, biases and shared weights

	theta     []float64
	tolerance float64 // of the norm of the gradient, beside its norm where all logits are 0
	limit     int     // of steps

	z, share                              []float64 // logits without the offset, and the softmax with it
	gradient, step, direction, residual   []float64
	image, stepLogits, directionLogits, r []float64 // r: a number for each item and class
	sums                                  sched.Sums
}

// begin makes room for θ, which is 0, and all else of its size.
func (s *softmaxFit[T]) begin() {
	params, logits := len(s.class)*s.features.Cols+s.biases+s.q, len(s.items)*len(s.class)
	for _, v := range []*[]float64{&s.theta, &s.gradient, &s.step, &s.direction, &s.residual, &s.image} {
		*v = make([]float64, params)
	}
	for _, v := range []*[]float64{&s.z, &s.share, &s.stepLogits, &s.directionLogits, &s.r} {
		*v = make([]float64, logits)
	}
}

// softmaxBytes returns what begin makes room for.
func softmaxBytes(items, features, classes int) int64 {
	return 8 * int64(classes) * (8*int64(features) + 7*int64(items))
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
		if err := s.newton(ctx, norm, min(0.1, math.Sqrt(norm/reference))); err != nil {
			return err
		}
		next, ok := s.search(value)
		if !ok {
			return nil // rounding hides what is left
		}
		value = next
	}
	return ErrIterationLimit
}

// split returns the weights, biases and shared weights of θ.
func (s *softmaxFit[T]) split(theta []float64) (weights, biases, shared []float64) {
	w := len(s.class) * s.features.Cols
	return theta[:w], theta[w : w+s.biases], theta[w+s.biases:]
}

// softmaxPiece is how many items are added up at a time.
const softmaxPiece = 256

// pieces calls do for the items lo ≤ a < hi of each piece.
func (s *softmaxFit[T]) pieces(ctx context.Context, do func(piece, lo, hi int)) error {
	return sched.Run(ctx, 0, (len(s.items)+softmaxPiece-1)/softmaxPiece, func(_, piece int) error {
		do(piece, piece*softmaxPiece, min(len(s.items), (piece+1)*softmaxPiece))
		return nil
	})
}

// column returns the values of a shared column for item a, one for each class.
func (s *softmaxFit[T]) column(a, column int) []float64 {
	return s.shared.Values.Row(s.items[a])[column*s.classes : (column+1)*s.classes]
}

// logitsTo stores the logits of θ without the offset in z.
func (s *softmaxFit[T]) logitsTo(ctx context.Context, z, theta []float64) error {
	weights, biases, shared := s.split(theta)
	k, p := len(s.class), s.features.Cols
	return s.pieces(ctx, func(_, lo, hi int) {
		for a := lo; a < hi; a++ {
			x, to := s.features.Row(s.items[a]), z[a*k:(a+1)*k]
			for c := range to {
				to[c] = inner(x, weights[c*p:(c+1)*p])
			}
			addScaled(to, 1, biases)
			for j, u := range shared {
				column := s.column(a, j)
				for c, class := range s.class {
					to[c] += u * column[class]
				}
			}
		}
	})
}

// adjointTo stores in g the sum over items and classes of r times the derivative of
// their logits by θ.
func (s *softmaxFit[T]) adjointTo(ctx context.Context, g, r []float64) error {
	s.sums.Begin(len(g))
	k, p := len(s.class), s.features.Cols
	err := s.pieces(ctx, func(piece, lo, hi int) {
		weights, biases, shared := s.split(s.sums.Of(piece))
		for a := lo; a < hi; a++ {
			x, row := s.features.Row(s.items[a]), r[a*k:(a+1)*k]
			for c, v := range row {
				addScaled(weights[c*p:(c+1)*p], v, x)
			}
			addScaled(biases, 1, row[:len(biases)])
			for j := range shared {
				column := s.column(a, j)
				for c, class := range s.class {
					shared[j] += row[c] * column[class]
				}
			}
		}
	})
	s.sums.TotalTo(g)
	return err
}

// addRidge adds the ridge times θ to g.
func (s *softmaxFit[T]) addRidge(g, theta []float64) {
	gw, gb, gu := s.split(g)
	weights, biases, shared := s.split(theta)
	addScaled(gw, s.ridge[0], weights)
	addScaled(gb, s.ridge[1], biases)
	addScaled(gu, s.ridge[2], shared)
}

// logitsOf stores the logits of item a in dst.
func (s *softmaxFit[T]) logitsOf(dst, z []float64, a int) {
	k := len(s.class)
	copy(dst, z[a*k:(a+1)*k])
	if s.offset != nil {
		addScaled(dst, 1, s.offset[a*k:(a+1)*k])
	}
}

// value returns what is to be minimised, for the logits z of θ.
func (s *softmaxFit[T]) value(theta, z []float64) float64 {
	row := make([]float64, len(s.class))
	sum := 0.0
	for a, y := range s.y {
		s.logitsOf(row, z, a)
		sum += logSum(row) - row[y]
	}
	weights, biases, shared := s.split(theta)
	return sum + (s.ridge[0]*inner(weights, weights)+s.ridge[1]*inner(biases, biases)+s.ridge[2]*inner(shared, shared))/2
}

// reference returns the norm of the gradient where all logits and θ are 0.
func (s *softmaxFit[T]) reference(ctx context.Context) (float64, error) {
	for j := range s.r {
		s.r[j] = 1 / float64(len(s.class))
	}
	for a, y := range s.y {
		s.r[a*len(s.class)+y]--
	}
	err := s.adjointTo(ctx, s.gradient, s.r)
	return math.Sqrt(inner(s.gradient, s.gradient)), err
}

// differentiate stores the softmax of the logits and the gradient, and returns its norm.
func (s *softmaxFit[T]) differentiate(ctx context.Context) (float64, error) {
	s.predict()
	copy(s.r, s.share)
	for a, y := range s.y {
		s.r[a*len(s.class)+y]--
	}
	if err := s.adjointTo(ctx, s.gradient, s.r); err != nil {
		return 0, err
	}
	s.addRidge(s.gradient, s.theta)
	return math.Sqrt(inner(s.gradient, s.gradient)), nil
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
// derivative, until the residual is so much of the gradient's norm.
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
		addScaled(s.step, length, s.direction)
		addScaled(s.stepLogits, length, s.directionLogits)
		addScaled(s.residual, -length, s.image)
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

// curve stores the logits of the direction, and in image H times the direction: what
// H adds to the logits v of an item is π_c·(v_c − Σ_b π_b·v_b).
func (s *softmaxFit[T]) curve(ctx context.Context) error {
	if err := s.logitsTo(ctx, s.directionLogits, s.direction); err != nil {
		return err
	}
	k := len(s.class)
	for a := range s.y {
		share, v := s.share[a*k:(a+1)*k], s.directionLogits[a*k:(a+1)*k]
		mean := inner(share, v)
		for c, q := range share {
			s.r[a*k+c] = q * (v[c] - mean)
		}
	}
	if err := s.adjointTo(ctx, s.image, s.r); err != nil {
		return err
	}
	s.addRidge(s.image, s.direction)
	return nil
}

// search takes the step, or as much of it as lowers the value, and returns that. It
// reports false if only rounding is left to gain.
func (s *softmaxFit[T]) search(value float64) (float64, bool) {
	slope := inner(s.gradient, s.step)
	theta, z := s.direction, s.directionLogits
	for t := 1.0; t > 1e-9; t /= 2 {
		copy(theta, s.theta)
		addScaled(theta, t, s.step)
		copy(z, s.z)
		addScaled(z, t, s.stepLogits)
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
