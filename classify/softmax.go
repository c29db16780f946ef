package classify

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// softmaxFit minimises
//
//	Σ_a v_y_a·(log Σ_c exp z_ac − z_a,y_a) + ½·Σ_j ridge_j·θ_j²
//	z_ac = offset_ac + b_c + ⟨w_c, x_a⟩ + Σ_s u_s·S_s(a, c)
//
// over the items. θ holds the weights w_c of each class, padded with zeros to softmaxStride, then biases, if any, and then
// the weights u of shared columns. It takes steps of Newton's method, each solved by conjugate gradients to the residual of
// [forcingTerm]. Cost: about 100 products of the features with k weights each.
type softmaxFit[T sparse.Float] struct {
	features *sparse.Block[T]
	rows     []int     // row of features of each item
	items    []int     // rows of shared columns, by item
	triangle *triangle // features are its rows, 0 after column a in row a; nil: none
	y        []int     // index in class of the class of each item
	class    []int     // classes with logits
	classes  int       // number of classes of shared columns
	biases   int       // number of biases: one for each class, or none
	shared   *SharedColumns
	q        int       // number of shared columns
	offset   []float64 // offset of logits; nil: 0
	weight   []float64 // v, by class; nil: 1

	isBiasOnly bool // only biases and shared weights are fitted

	ridge [3]float64 // ridges of weights, biases and shared weights

	theta     []float64
	tolerance float64 // bound of the gradient's norm, relative to zero logits
	enough    float64 // bound of the gradient's norm, relative to the ridge's gradient
	limit     int

	z, share                              []float64 // logits without the offset, softmax with it
	gradient, step, direction, residual   []float64
	image, stepLogits, directionLogits, r []float64 // r: by item and class
	sums                                  sched.Sums
	batches                               []batch[T]
}

func (s *softmaxFit[T]) begin() {
	params := len(s.class)*softmaxStride(s.features.Cols) + s.biases + s.q
	logits := len(s.items) * len(s.class)
	for _, v := range []*[]float64{&s.theta, &s.gradient, &s.step, &s.direction,
		&s.residual, &s.image} {
		*v = make([]float64, params)
	}
	for _, v := range []*[]float64{&s.z, &s.share, &s.stepLogits,
		&s.directionLogits, &s.r} {
		*v = make([]float64, logits)
	}
	s.batches = make([]batch[T], sched.Workers(0))
	for w := range s.batches {
		s.batches[w].begin(s)
	}
}

func softmaxWorkspace(items, features, classes int) budget.Workspace {
	stride := softmaxStride(features)
	return budget.Held(budget.Times(classes, budget.Vector[float64](8*stride+7*items)),
		budget.Times(sched.Workers(0), budget.Vector[float64]((softmaxBatch+1)*stride)))
}

// solve minimises the objective, starting from s.theta. If it reaches s.limit steps, it returns [ErrIterationLimit]. It may
// be called again after the ridge has changed.
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
		s.predict()
		copy(s.r, s.share)
		s.subtractTruth()
		if err := s.adjoint(ctx); err != nil {
			return err
		}
		s.addRidge(s.gradient, s.theta)
		norm := math.Sqrt(inner(s.gradient, s.gradient))
		weights, _, _ := s.split(s.theta)
		if norm <= s.tolerance*reference || norm <= s.enough*s.ridge[0]*math.Sqrt(inner(weights, weights)) {
			return nil
		}
		if err := s.newton(ctx, norm, forcingTerm(len(s.class), norm/reference)); err != nil {
			return err
		}
		next, ok := s.search(value)
		if !ok {
			return nil // only rounding errors are left
		}
		value = next
	}
	return ErrIterationLimit
}

// forcingTerm returns the relative residual at which a Newton step ends. left is the norm of the gradient over its norm at
// zero logits.
func forcingTerm(classes int, left float64) float64 {
	if classes >= manyClasses && left > 5e-3 {
		return 0.3
	}
	return min(0.1, math.Sqrt(left))
}

func (s *softmaxFit[T]) addRidge(g, theta []float64) {
	gw, gb, gu := s.split(g)
	weights, biases, shared := s.split(theta)
	simd.AddScaled(gw, s.ridge[0], weights)
	simd.AddScaled(gb, s.ridge[1], biases)
	simd.AddScaled(gu, s.ridge[2], shared)
}

func (s *softmaxFit[T]) logitsOf(dst, z []float64, a int) {
	k := len(s.class)
	copy(dst, z[a*k:(a+1)*k])
	if s.offset != nil {
		addScaled(dst, 1, s.offset[a*k:(a+1)*k])
	}
}

func (s *softmaxFit[T]) value(theta, z []float64) float64 {
	row := make([]float64, len(s.class))
	sum := 0.0
	for a, y := range s.y {
		s.logitsOf(row, z, a)
		sum += float64(weightOf(s.weight, y) * (logSum(row) - row[y]))
	}
	weights, biases, shared := s.split(theta)
	return sum + (s.ridge[0]*inner(weights, weights)+
		s.ridge[1]*inner(biases, biases)+s.ridge[2]*inner(shared, shared))/2
}

// reference returns the norm of the gradient at θ = 0 and zero logits, without the offset.
func (s *softmaxFit[T]) reference(ctx context.Context) (float64, error) {
	for j := range s.r {
		s.r[j] = 1 / float64(len(s.class))
	}
	s.subtractTruth()
	err := s.adjoint(ctx)
	return math.Sqrt(inner(s.gradient, s.gradient)), err
}

func weightOf(weights []float64, y int) float64 {
	if weights == nil {
		return 1
	}
	return weights[y]
}

// subtractTruth subtracts the one-hot class of each item from its row of r, and multiplies the row by the item's weight.
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

func (s *softmaxFit[T]) predict() {
	k := len(s.class)
	for a := range s.y {
		row := s.share[a*k : (a+1)*k]
		s.logitsOf(row, s.z, a)
		Softmax(row, row)
	}
}

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
			return nil // only rounding errors are left
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

// search moves θ by the step, halved until the objective decreases, and returns the new objective. value is the objective
// before. search returns false if only rounding errors are left.
func (s *softmaxFit[T]) search(value float64) (float64, bool) {
	slope := inner(s.gradient, s.step)
	theta := s.direction
	z := s.directionLogits
	for t := 1.0; t > 1e-9; t /= 2 {
		copy(theta, s.theta)
		simd.AddScaled(theta, t, s.step)
		copy(z, s.z)
		simd.AddScaled(z, t, s.stepLogits)
		next := s.value(theta, z)
		falls := next <= value+1e-4*t*slope
		rounding := -t*slope <= 1e-15*math.Abs(value)
		if falls || rounding {
			copy(s.theta, theta)
			copy(s.z, z)
			return next, !rounding
		}
	}
	return value, false
}

func logSum(z []float64) float64 {
	top := slices.Max(z)
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// Softmax stores exp(s_c)/Σ_b exp(s_b) in dst, and returns dst. dst may be scores. If dst is nil, Softmax allocates it.
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

// softmaxStride returns the number of features, rounded up to the multiple of 4 that [simd.DotPanels] requires.
func softmaxStride(features int) int {
	return (features + 3) &^ 3
}

func (s *softmaxFit[T]) split(theta []float64) (weights, biases, shared []float64) {
	w := len(s.class) * softmaxStride(s.features.Cols)
	return theta[:w], theta[w : w+s.biases], theta[w+s.biases:]
}

// softmaxPiece is the number of items of a piece, whose sums are added in order. softmaxBatch, a multiple of four, is the
// number of items that are multiplied with the weights together, so that weights are read from memory once for the batch.
const (
	softmaxPiece = 256
	softmaxBatch = 32
)

// forEachBatch calls do for each batch, with the number of the batch's piece. Pieces run concurrently: do must add only to
// the sums of its piece.
func (s *softmaxFit[T]) forEachBatch(ctx context.Context,
	do func(piece int, b *batch[T])) error {
	return sched.Run(ctx, len(s.batches), (len(s.items)+softmaxPiece-1)/softmaxPiece, func(worker, piece int) error {
		b := &s.batches[worker]
		for lo := piece * softmaxPiece; lo < min(len(s.items), (piece+1)*softmaxPiece); lo += softmaxBatch {
			b.take(lo, min(softmaxBatch, len(s.items)-lo))
			do(piece, b)
		}
		return nil
	})
}

func (s *softmaxFit[T]) logitsTo(ctx context.Context, z, theta []float64) error {
	return s.forEachBatch(ctx, func(_ int, b *batch[T]) { b.logitsTo(z, theta) })
}

// adjoint stores in s.gradient the sum over items and classes of s.r times the derivative of the logits by θ.
func (s *softmaxFit[T]) adjoint(ctx context.Context) error {
	s.sums.Begin(len(s.gradient))
	err := s.forEachBatch(ctx, func(piece int, b *batch[T]) { b.addAdjoint(s.sums.Of(piece), s.r) })
	s.sums.TotalTo(s.gradient)
	return err
}

// curve stores the logits v of the direction in directionLogits, and the product of the Hessian with the direction in
// image. The Hessian maps v to π_c·(v_c − Σ_b π_b·v_b), times the weight of the item.
func (s *softmaxFit[T]) curve(ctx context.Context) error {
	k := len(s.class)
	s.sums.Begin(len(s.image))
	err := s.forEachBatch(ctx, func(piece int, b *batch[T]) {
		b.logitsTo(s.directionLogits, s.direction)
		for a := b.lo; a < b.lo+b.count; a++ {
			share := s.share[a*k : (a+1)*k]
			v := s.directionLogits[a*k : (a+1)*k]
			mean := inner(share, v)
			weight := weightOf(s.weight, s.y[a])
			for c, q := range share {
				s.r[a*k+c] = weight * q * (v[c] - mean)
			}
		}
		b.addAdjoint(s.sums.Of(piece), s.r)
	})
	s.sums.TotalTo(s.image)
	s.addRidge(s.image, s.direction)
	return err
}

// batch is up to softmaxBatch consecutive items.
type batch[T sparse.Float] struct {
	s         *softmaxFit[T]
	lo, count int
	width     int                     // number of leading features that are not all 0, rounded up
	x         [softmaxBatch][]float64 // features; the last item is repeated up to a multiple of four
	unused    []float64               // row that takes the sums of a further class if the number of classes is odd
}

func (b *batch[T]) begin(s *softmaxFit[T]) {
	b.s = s
	stride := softmaxStride(s.features.Cols)
	room := make([]float64, (softmaxBatch+1)*stride)
	for i := range b.x {
		b.x[i] = room[i*stride:][:stride]
	}
	b.unused = room[softmaxBatch*stride:]
}

func (b *batch[T]) take(lo, count int) {
	b.lo, b.count, b.width = lo, count, softmaxStride(b.s.features.Cols)
	if b.s.triangle != nil {
		b.width = min(b.width, softmaxStride(lo+count))
	}
	if b.s.isBiasOnly {
		b.width = 0
	}
	width := min(b.width, b.s.features.Cols)
	for i := range (count + 3) &^ 3 {
		simd.ConvertTo(b.x[i],
			b.s.features.Row(b.s.rows[lo+min(i, count-1)])[:width])
	}
}

func (b *batch[T]) sharedRow(a int) []float64 {
	if b.s.q == 0 {
		return nil
	}
	return b.s.shared.Values.Row(b.s.items[a])
}

func (b *batch[T]) logitsTo(z, theta []float64) {
	s := b.s
	weights, biases, shared := s.split(theta)
	k := len(s.class)
	stride := softmaxStride(s.features.Cols)
	row := func(c int) []float64 { return weights[min(c, k-1)*stride:][:b.width] }
	for c := 0; c < k; c += 4 {
		for i := 0; i < b.count; i += 2 {
			var sums [8]float64
			if b.width > 0 {
				simd.DotPanels(&sums, b.x[i][:b.width], b.x[i+1][:b.width], row(c),
					row(c+1), row(c+2), row(c+3))
			}
			copy(z[(b.lo+i)*k:][c:k], sums[:4])
			if i+1 < b.count {
				copy(z[(b.lo+i+1)*k:][c:k], sums[4:])
			}
		}
	}
	for a := b.lo; a < b.lo+b.count; a++ {
		target := z[a*k : (a+1)*k]
		row := b.sharedRow(a)
		addScaled(target, 1, biases)
		for j, u := range shared {
			column := row[j*s.classes : (j+1)*s.classes]
			switch {
			case k < s.classes:
				for c, class := range s.class {
					target[c] += u * column[class]
				}
			case k < manyClasses:
				addScaled(target, u, column)
			default:
				simd.AddScaled(target, u, column)
			}
		}
	}
}

func (b *batch[T]) addAdjoint(g, r []float64) {
	s := b.s
	weights, biases, shared := s.split(g)
	k := len(s.class)
	stride := softmaxStride(s.features.Cols)
	for c := 0; c < k && b.width > 0; c += 2 {
		spare := b.unused[:b.width]
		if c+1 < k {
			spare = weights[(c+1)*stride:][:b.width]
		}
		for lo := 0; lo < b.count; lo += 4 {
			var factors [8]float64
			for i := range min(4, b.count-lo) {
				row := r[(b.lo+lo+i)*k:][:k]
				factors[i] = row[c]
				if c+1 < k {
					factors[4+i] = row[c+1]
				}
			}
			x := b.x[lo:][:4]
			simd.AddPanels(weights[c*stride:][:b.width], spare, x[0][:b.width],
				x[1][:b.width], x[2][:b.width], x[3][:b.width], &factors)
		}
	}
	for a := b.lo; a < b.lo+b.count; a++ {
		source := r[a*k : (a+1)*k]
		row := b.sharedRow(a)
		addScaled(biases, 1, source[:len(biases)])
		for j := range shared {
			column := row[j*s.classes : (j+1)*s.classes]
			switch {
			case k < s.classes:
				for c, class := range s.class {
					shared[j] += source[c] * column[class]
				}
			case k < manyClasses:
				shared[j] += inner(source, column)
			default:
				shared[j] += simd.Dot(source, column)
			}
		}
	}
}
