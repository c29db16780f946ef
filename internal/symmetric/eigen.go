package symmetric

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

const (
	strip = simd.StripWidth // rows of vectors that are rotated together
	batch = 1 << 16         // rotations that are collected
)

// Eigen returns the eigenvalues of h, rising, and its orthonormal eigenvectors,
// the columns of a matrix: H = V·diag(λ)·Vᵀ. Numbers must be finite. Neither
// workers, 0 for one for each processor, nor anything else changes a bit. The
// error is the context's, returned as soon as it is done; h must stay as it is
// even then. Cost: about 9n³ operations, 3n² numbers beside h.
func Eigen(ctx context.Context, h *mat.SymDense, workers int) (values []float64, vectors *mat.Dense, err error) {
	var failed error
	err = sched.Abandon(ctx, func() {
		values, vectors = eigen(h, func(pieces int, do func(piece int)) {
			err := sched.Run(ctx, workers, pieces, func(_, piece int) error {
				do(piece)
				return nil
			})
			if failed == nil {
				failed = err
			}
		})
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, nil, err
	}
	return values, vectors, nil
}

// eigen is Eigen; each calls its argument for every piece 0 ≤ piece < pieces, or
// not at all if the result is not wanted any more.
func eigen(h *mat.SymDense, each func(pieces int, do func(piece int))) (values []float64, vectors *mat.Dense) {
	n := h.SymmetricDim()
	if n == 0 {
		return nil, new(mat.Dense)
	}
	t, q := reduce(h, each)

	// A strip holds some rows of the vectors, element by element.
	strips := make([][]float64, (n+strip-1)/strip)
	each(len(strips), func(b int) {
		strips[b] = make([]float64, n*strip)
		for k := range min(strip, n-b*strip) {
			for i, v := range q[(b*strip+k)*n:][:n] {
				strips[b][i*strip+k] = v
			}
		}
	})
	collected := make([]simd.Rotation, 0, min(batch, 2*n*n))
	apply := func() {
		each(len(strips), func(b int) { simd.RotateStrip(strips[b], collected) })
		collected = collected[:0]
	}
	found := t.diagonalize(func(i int, c, s float64) {
		if len(collected) == cap(collected) {
			apply()
		}
		collected = append(collected, simd.Rotation{Row: i, C: c, S: s})
	})
	apply()

	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(found[i], found[j]) })
	values = make([]float64, n)
	for to, from := range order {
		values[to] = found[from]
	}
	each(len(strips), func(b int) {
		for k := range min(strip, n-b*strip) {
			row := q[(b*strip+k)*n:][:n]
			for to, from := range order {
				row[to] = strips[b][from*strip+k]
			}
		}
	})
	return values, mat.NewDense(n, n, q)
}
