package lanczos

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
)

// recurrence is the three-term recurrence of Lanczos on each column of a block
// by itself, all columns in one sweep, without reorthogonalisation:
//
//	β·v_{j+1} = A·v_j − α·v_j − β·v_{j−1}
//
// It stores two vectors for each column, not normalised, and the numbers α and β. Copies of Ritz
// values that appear without reorthogonalisation do no harm, because only the ends of the spectrum
// are read from them.
type recurrence struct {
	a              sparse.Applier[float64]
	e              *engine
	u, previous, w *sparse.Block[float64]
	scale, earlier []float64 // of u and before, to unit length; 0 once a column has ended
	columns        []chain
	alpha, beta    []float64 // of a step
	steps          int       // each a sweep
}

// chain is the tridiagonal matrix of one column.
type chain struct {
	symmetric.Tridiagonal
	last float64 // β that couples to the next vector; 0 once the space is invariant
	done bool
}

func newRecurrence(a sparse.Applier[float64], cols, workers int) *recurrence {
	n, _ := a.Dims()
	block := func() *sparse.Block[float64] { return sparse.NewBlock[float64](n, cols) }
	return &recurrence{
		a: a, e: newEngine(sparse.TeamOf(a), n, workers),
		u: block(), previous: block(), w: block(),
		scale: make([]float64, cols), earlier: make([]float64, cols),
		alpha: make([]float64, cols), beta: make([]float64, cols),
		columns: make([]chain, cols),
	}
}

// start begins with random columns that are 0 in the rows of zero: draw fills a row of them, with
// random numbers, see [engine.draw].
func (r *recurrence) start(ctx context.Context, seed uint64, zero []uint32, draw func(rng *rand.Rand, row []float64)) error {
	source := func(number int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(number*segment))) }
	err := r.e.draw(ctx, r.u, source, draw)
	if err != nil {
		return err
	}
	clearRows(r.u, zero)
	norms := make([]float64, len(r.scale))
	err = r.e.eachRow(ctx, len(norms), func(i int, sums []float64) {
		for j, v := range r.u.Row(i) {
			sums[j] += float64(v * v)
		}
	})
	r.e.normsTo(norms)
	for j, norm := range norms {
		r.columns[j] = chain{done: norm == 0}
		if norm > 0 {
			r.scale[j] = 1 / norm
		}
	}
	return err
}

// step does one step for all columns that have not ended.
func (r *recurrence) step(ctx context.Context) error {
	cols := len(r.columns)
	if err := r.multiply(ctx); err != nil {
		return err
	}
	r.e.TotalTo(r.alpha, cols, 0)
	err := r.e.eachRow(ctx, cols, func(i int, sums []float64) {
		w, u := r.w.Row(i), r.u.Row(i)
		for j := range w {
			w[j] -= float64(r.alpha[j] * float64(r.scale[j]*u[j]))
			sums[j] += float64(w[j] * w[j])
		}
	})
	if err != nil {
		return err
	}
	r.e.TotalTo(r.beta, cols, 0)
	for j := range r.columns {
		c := &r.columns[j]
		r.beta[j] = math.Sqrt(r.beta[j])
		if !finite([]float64{r.alpha[j], r.beta[j]}) {
			return fmt.Errorf("%w in column %d at step %d", ErrNotFinite, j, r.steps+1)
		}
		if c.done {
			r.beta[j] = 0
			continue
		}
		if r.steps > 0 {
			c.Off = append(c.Off, c.last)
		}
		c.Diag = append(c.Diag, r.alpha[j])
		c.last = r.beta[j]
		if c.last <= 16*epsilon*c.Norm() {
			c.last, c.done, r.beta[j] = 0, true, 0
		}
	}
	r.advance()
	return nil
}

// multiply stores A·v − β·v_before in w, and sums v·w.
func (r *recurrence) multiply(ctx context.Context) error {
	if err := r.a.StepTo(ctx, r.w, r.u, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	return r.e.eachRow(ctx, len(r.columns), func(i int, sums []float64) {
		w, u, previous := r.w.Row(i), r.u.Row(i), r.previous.Row(i)
		for j := range w {
			w[j] = float64(r.scale[j]*w[j]) - float64(r.beta[j]*float64(r.earlier[j]*previous[j]))
			sums[j] += float64(float64(r.scale[j]*u[j]) * w[j])
		}
	})
}

// advance makes the new vector the current one.
func (r *recurrence) advance() {
	r.previous, r.u, r.w = r.u, r.w, r.previous
	r.earlier, r.scale = r.scale, r.earlier
	for j, b := range r.beta {
		r.scale[j] = 0
		if b > 0 {
			r.scale[j] = 1 / b
		}
	}
	r.steps++
}
