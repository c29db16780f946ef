package lanczos

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

// denseRows is the number of rows up to which a map is always made dense.
const denseRows = 256

// denseBytes is the memory that it takes.
func denseBytes(n int) int64 { return 5 * 8 * int64(n) * int64(n) }

// dense solves the problem with the matrix of A, made by n/4 products.
func (w *solve) dense(ctx context.Context) (*Pairs, error) {
	w.allocateBlocks()
	k := &w.krylov
	sign := w.p.Which.sign()
	full := mat.NewDense(w.n, w.n, nil)
	for at := 0; at < w.n; at += width {
		clear(k.x.Data)
		for j := range min(width, w.n-at) {
			k.x.Row(at + j)[j] = 1
		}
		if err := w.p.A.StepTo(ctx, k.y, k.x, sparse.Step[float64]{Alpha: sign}); err != nil {
			return nil, err
		}
		w.result.Products++
		for i := range w.n {
			for j := range min(width, w.n-at) {
				full.Set(i, at+j, k.y.Row(i)[j])
			}
		}
	}
	if !finite(full.RawMatrix().Data) {
		return nil, ErrNotFinite
	}
	w.norm = max(w.norm, mat.Norm(full, 2)/float64(w.n))
	w.banish(full)
	h := mat.NewSymDense(w.n, nil)
	for i := range w.n {
		for j := i; j < w.n; j++ {
			h.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	values, vectors, err := fallingEigen(ctx, h, w.remaining, k.e.Workers)
	if err != nil {
		return nil, err
	}
	_, count := vectors.Dims()
	k.v = newBasis(w.n, count)
	for j := range count {
		for i := range w.n {
			column(k.v.panel(i/segment, 0), j, count)[i%segment] = vectors.At(i, j)
		}
	}
	return w.finish(ctx, values[:count])
}

// remaining notes the norm and returns how many pairs are wanted beside the known ones,
// given the eigenvalues of B, rising.
func (w *solve) remaining(values []float64) int {
	rest := values[w.known.count():] // the lowest ones are where the known ones were moved to
	w.norm = max(w.norm, math.Abs(rest[0]), math.Abs(rest[len(rest)-1]))
	count := w.wanted
	for count > 0 && w.omits(values[len(values)-count]) {
		count--
	}
	return count
}

// banish moves the known eigenvalue below all others: B − shift·U·Uᵀ.
func (w *solve) banish(b *mat.Dense) {
	known := w.known
	if known.count() == 0 {
		return
	}
	shift := 4 * mat.Norm(b, 1)
	if shift == 0 {
		shift = 1
	}
	for i, c := range known.of {
		for j, d := range known.of {
			if c == d {
				b.Set(i, j, b.At(i, j)-shift*known.Unit[i]*known.Unit[j])
			}
		}
	}
}
