package lanczos

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
)

// normSteps is the number of steps of Lanczos that estimates a norm within a factor of two.
const normSteps = 20

// measureNorm computes a lower bound of ‖A‖, for methods without Ritz values of both ends, by the recurrence of Lanczos on a
// random vector without reorthogonalisation:
//
//	β·v_{j+1} = A·v_j − α·v_j − β·v_{j−1}
//
// Copies of Ritz values do no harm, because only the smallest and the largest are used. Cost: a sweep with one column for each
// step.
func (r *run) measureNorm(ctx context.Context) error {
	e := r.m.e
	u := sparse.NewBlock[float64](r.n, 1)
	previous := sparse.NewBlock[float64](r.n, 1)
	w := sparse.NewBlock[float64](r.n, 1)
	source := func(number int) *rand.Rand { return rand.New(rand.NewPCG(r.s.RNGSeed, uint64(number*segment))) }
	e.draw(u, source, func(rng *rand.Rand, row []float64) { row[0] = rng.NormFloat64() })
	clearRows(u, r.p.Excluded)
	sumRows := func(value func(i int) float64) float64 {
		e.eachRow(1, func(i int, sums []float64) { sums[0] += value(i) })
		var sum [1]float64
		e.TotalTo(sum[:], 1, 0)
		return sum[0]
	}
	length := math.Sqrt(sumRows(func(i int) float64 { return float64(u.Row(i)[0] * u.Row(i)[0]) }))
	var t symmetric.Tridiagonal
	// factors that scale u and the previous vector to unit length
	scale := 1 / length
	earlier := 0.0
	beta := 0.0
	ended := length == 0
	for step := 1; step <= normSteps && !ended; step++ {
		if err := r.p.A.StepTo(ctx, w, u, sparse.Step[float64]{Alpha: 1}); err != nil {
			return err
		}
		alpha := sumRows(func(i int) float64 {
			image := w.Row(i)
			image[0] = float64(scale*image[0]) -
				float64(beta*float64(earlier*previous.Row(i)[0]))
			return float64(float64(scale*u.Row(i)[0]) * image[0])
		})
		square := sumRows(func(i int) float64 {
			image := w.Row(i)
			image[0] -= float64(alpha * float64(scale*u.Row(i)[0]))
			return float64(image[0] * image[0])
		})
		if step > 1 {
			t.Off = append(t.Off, beta)
		}
		t.Diag = append(t.Diag, alpha)
		beta = math.Sqrt(square)
		if !finite([]float64{alpha, beta}) {
			return fmt.Errorf("%w at step %d", ErrNotFinite, step)
		}
		ended = beta <= 16*epsilon*t.Norm() // the space is invariant
		previous, u, w = u, w, previous
		earlier = scale
		scale = 1 / beta
		r.m.products++
		r.report(r.m.products)
	}
	for _, v := range t.Eigenvalues() {
		r.norm = max(r.norm, math.Abs(v))
	}
	return nil
}
