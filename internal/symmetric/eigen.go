package symmetric

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Eigen returns the eigenvalues of h in increasing order, and orthonormal eigenvectors as the columns
// of a matrix: H = V·diag(λ)·Vᵀ. If many is not nil, it receives the eigenvalues and returns the
// number of largest eigenvalues whose vectors are computed; otherwise all are.
//
// The elements of h must be finite. The result has the same bits for any number of workers (0: one
// for each processor). The error is that of the context, and is returned at once; h must not change
// afterwards, because the computation may continue.
//
// Cost: 4n³/3 operations, at most as many for the vectors of T, and 2n² for each vector; memory for
// 3n² numbers in addition to h.
func Eigen(ctx context.Context, h *mat.SymDense, many func(values []float64) int, workers int) (values []float64, vectors *mat.Dense, err error) {
	if many == nil {
		many = func(values []float64) int { return len(values) }
	}
	var failed error
	err = sched.Abandon(ctx, func() {
		values, vectors = eigen(h, many, func(pieces int, do func(piece int)) {
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

// eigen implements Eigen. each calls do for every piece 0 ≤ piece < pieces in parallel, or returns at
// once if the context has ended.
func eigen(h *mat.SymDense, many func(values []float64) int, each func(pieces int, do func(piece int))) ([]float64, *mat.Dense) {
	n := h.SymmetricDim()
	if n == 0 {
		return nil, new(mat.Dense)
	}
	t, r := reduce(h, each)
	// Scale T by a power of two, so that squares neither overflow nor underflow.
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
	rows, spare, first := divide(t, n, func(scaled []float64) int {
		for _, v := range scaled {
			values = append(values, v*scale)
		}
		return many(values)
	}, each)
	r.turn(rows, first)
	if first == n {
		return values, new(mat.Dense)
	}

	v := mat.NewDense(n, n-first, spare[:n*(n-first)])
	each((n+piece-1)/piece, func(at int) {
		for i := at * piece; i < min(n, (at+1)*piece); i++ {
			row := v.RawRowView(i)
			for j := range row {
				row[j] = rows[(first+j)*r.width+i]
			}
		}
	})
	return values, v
}
