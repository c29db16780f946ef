package classify

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// softmaxStride is the distance between the weights of two classes in θ: the number of features,
// rounded up to the multiple of 4 that [simd.DotPanels] requires.
func softmaxStride(features int) int { return (features + 3) &^ 3 }

// split returns the weights, biases and shared weights of θ.
func split[T sparse.Float](s *softmaxFit[T], theta []float64) (weights, biases, shared []float64) {
	w := len(s.class) * softmaxStride(s.features.Cols)
	return theta[:w], theta[w : w+s.biases], theta[w+s.biases:]
}

// softmaxPiece is the number of items whose sums are added together, a multiple of softmaxBatch.
// softmaxBatch is the number of items that are multiplied with the weights of one class after the
// other, so that the weights are read from memory once for all of them. It is a multiple of four.
const (
	softmaxPiece = 256
	softmaxBatch = 32
)

// pieces calls do for one batch of items after the other, of which the last may be smaller,
// with the number of their piece.
func (s *softmaxFit[T]) pieces(ctx context.Context, do func(piece int, b *batch[T])) error {
	return sched.Run(ctx, len(s.batches), (len(s.items)+softmaxPiece-1)/softmaxPiece, func(worker, piece int) error {
		b := &s.batches[worker]
		for lo := piece * softmaxPiece; lo < min(len(s.items), (piece+1)*softmaxPiece); lo += softmaxBatch {
			b.take(lo, min(softmaxBatch, len(s.items)-lo))
			do(piece, b)
		}
		return nil
	})
}

// logitsTo stores the logits of θ without the offset in z.
func (s *softmaxFit[T]) logitsTo(ctx context.Context, z, theta []float64) error {
	return s.pieces(ctx, func(_ int, b *batch[T]) { b.logitsTo(z, theta) })
}

// adjointTo stores in g the sum over items and classes of r times the derivative of
// their logits by θ.
func (s *softmaxFit[T]) adjointTo(ctx context.Context, g, r []float64) error {
	s.sums.Begin(len(g))
	err := s.pieces(ctx, func(piece int, b *batch[T]) { b.addAdjoint(s.sums.Of(piece), r) })
	s.sums.TotalTo(g)
	return err
}

// curve stores the logits of the direction, and in image H times the direction. For an item with
// the logits v and probabilities π, the product has the elements π_c·(v_c − Σ_b π_b·v_b), times its weight.
func (s *softmaxFit[T]) curve(ctx context.Context) error {
	k := len(s.class)
	s.sums.Begin(len(s.image))
	err := s.pieces(ctx, func(piece int, b *batch[T]) {
		b.logitsTo(s.directionLogits, s.direction)
		for a := b.lo; a < b.lo+b.count; a++ {
			share, v := s.share[a*k:(a+1)*k], s.directionLogits[a*k:(a+1)*k]
			mean, weight := inner(share, v), weightOf(s.weight, s.y[a])
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

// batch is up to softmaxBatch items one after the other, whose products with weights are
// made together.
type batch[T sparse.Float] struct {
	s         *softmaxFit[T]
	lo, count int
	width     int                     // of features that may not be 0, rounded up
	x         [softmaxBatch][]float64 // their features; behind the last one its again, up to a multiple of four
	unused    []float64               // weights of an additional class if the number of classes is odd
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

// take reads the features of count items from lo on.
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
		simd.ConvertTo(b.x[i], b.s.features.Row(b.s.rows[lo+min(i, count-1)])[:width])
	}
}

// sharedRow returns the values of the shared columns for item a.
func (b *batch[T]) sharedRow(a int) []float64 {
	if b.s.q == 0 {
		return nil
	}
	return b.s.shared.Values.Row(b.s.items[a])
}

// logitsTo stores the logits of θ for the items in z.
func (b *batch[T]) logitsTo(z, theta []float64) {
	s := b.s
	weights, biases, shared := split(s, theta)
	k, stride := len(s.class), softmaxStride(s.features.Cols)
	row := func(c int) []float64 { return weights[min(c, k-1)*stride:][:b.width] }
	for c := 0; c < k; c += 4 {
		for i := 0; i < b.count; i += 2 {
			var sums [8]float64
			if b.width > 0 {
				simd.DotPanels(&sums, b.x[i][:b.width], b.x[i+1][:b.width], row(c), row(c+1), row(c+2), row(c+3))
			}
			copy(z[(b.lo+i)*k:][c:k], sums[:4])
			if i+1 < b.count {
				copy(z[(b.lo+i+1)*k:][c:k], sums[4:])
			}
		}
	}
	for a := b.lo; a < b.lo+b.count; a++ {
		target, row := z[a*k:(a+1)*k], b.sharedRow(a)
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

// addAdjoint adds to g the sum over the items and classes of r times the derivative of
// their logits by θ.
func (b *batch[T]) addAdjoint(g, r []float64) {
	s := b.s
	weights, biases, shared := split(s, g)
	k, stride := len(s.class), softmaxStride(s.features.Cols)
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
			simd.AddPanels(weights[c*stride:][:b.width], spare, x[0][:b.width], x[1][:b.width], x[2][:b.width], x[3][:b.width], &factors)
		}
	}
	for a := b.lo; a < b.lo+b.count; a++ {
		source, row := r[a*k:(a+1)*k], b.sharedRow(a)
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
