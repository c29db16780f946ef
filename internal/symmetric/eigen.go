package symmetric

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Eigen returns the eigenvalues of h, increasing, and orthonormal eigenvectors as the columns of a matrix: H =
// V·diag(λ)·Vᵀ. If count is nil, Eigen computes all vectors. Otherwise count must return the number of vectors to
// compute; they belong to the largest eigenvalues.
//
// The elements of h must be finite. The result has the same bits for any number of workers; 0 means one for each
// processor. When ctx ends, Eigen returns the error of the context. h must not be changed even then, because a
// goroutine may still read it.
//
// Cost: 4n³/3 operations, at most as many for the vectors of the tridiagonal matrix, and 2n² for each vector. Memory:
// 3n² numbers in addition to h.
func Eigen(ctx context.Context, h *mat.SymDense, count func(values []float64) int,
	workers int) ([]float64, *mat.Dense, error) {
	if count == nil {
		count = func(values []float64) int { return len(values) }
	}
	var values []float64 // not results, because an abandoned goroutine may still write them
	var vectors *mat.Dense
	var failed error
	err := sched.Abandon(ctx, func() {
		values, vectors = eigen(h, count, func(pieces int, do func(piece int)) {
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

// eigen is Eigen without a context. parallel may do nothing after a cancellation, because the result is then discarded.
func eigen(h *mat.SymDense, count func(values []float64) int,
	parallel runner) ([]float64, *mat.Dense) {
	n := h.SymmetricDim()
	if n == 0 {
		return nil, new(mat.Dense)
	}
	t, r := reduce(h, parallel)
	// Scaling by a power of two avoids overflow and underflow of squares.
	scale := 1.0
	if norm := t.Norm(); norm > 0 {
		_, exponent := math.Frexp(norm)
		scale = math.Ldexp(1, exponent)
	}
	for i := range t.Diag {
		t.Diag[i] /= scale
	}
	for i := range t.Off {
		t.Off[i] /= scale
	}
	var values []float64
	rows, spare, first := t.divide(n, func(scaled []float64) int {
		for _, v := range scaled {
			values = append(values, v*scale)
		}
		return count(values)
	}, parallel)
	r.turn(rows, first)
	if first == n {
		return values, new(mat.Dense)
	}

	v := mat.NewDense(n, n-first, spare[:n*(n-first)])
	parallel((n+piece-1)/piece, func(number int) {
		for i := number * piece; i < min(n, (number+1)*piece); i++ {
			row := v.RawRowView(i)
			for j := range row {
				row[j] = rows[(first+j)*r.width+i]
			}
		}
	})
	return values, v
}
