package lanczos

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

// denseRows is the number of rows up to which a map is always made dense.
const denseRows = 256

// denseBytes returns the memory of [run.dense] for a map with n rows.
func denseBytes(n int) int64 { return 5 * 8 * int64(n) * int64(n) }

// dense solves the problem with the matrix of A, made by n/4 products, if there is memory for it.
func (r *run) dense(ctx context.Context) (*Pairs, error) {
	if err := r.reserve(denseBytes(r.dim), "the map as a dense matrix"); err != nil {
		return nil, err
	}
	r.images.allocate()
	sign := r.p.Which.sign()
	n, rows := r.dim, without(r.n, r.p.Excluded)
	full := mat.NewDense(n, n, nil)
	for at := 0; at < n; at += width {
		clear(r.x.Data)
		for j := range min(width, n-at) {
			r.x.Row(rows[at+j])[j] = 1
		}
		if err := r.p.A.StepTo(ctx, r.y, r.x, sparse.Step[float64]{Alpha: sign}); err != nil {
			return nil, err
		}
		r.products++
		for i, row := range rows {
			for j := range min(width, n-at) {
				full.Set(i, at+j, r.y.Row(row)[j])
			}
		}
	}
	if !finite(full.RawMatrix().Data) {
		return nil, ErrNotFinite
	}
	r.norm = max(r.norm, mat.Norm(full, 2)/float64(n))
	banish(full, rows, r.known)
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	values, vectors, err := fallingEigen(ctx, h, r.remaining, r.e.Workers)
	if err != nil {
		return nil, err
	}
	_, count := vectors.Dims()
	v := newBasis(r.n, count)
	for j := range count {
		for i, row := range rows {
			column(v.panel(row/segment, 0), j, count)[row%segment] = vectors.At(i, j)
		}
	}
	return r.finish(ctx, v.slice(0, count), values[:count], nil)
}

// remaining returns the number of wanted pairs in addition to the known ones, given the eigenvalues
// of B, rising, and stores the norm.
func (r *run) remaining(values []float64) int {
	rest := values[r.known.count():] // the lowest ones are where the known ones were moved to
	r.norm = max(r.norm, math.Abs(rest[0]), math.Abs(rest[len(rest)-1]))
	count := r.wanted
	for count > 0 && r.omits(values[len(values)-count]) {
		count--
	}
	return count
}

// without returns the rows 0 … n−1 that are not among those to skip, which rise.
func without(n int, skip []uint32) []int {
	rows := make([]int, 0, n-len(skip))
	for i := range n {
		if len(skip) > 0 && int(skip[0]) == i {
			skip = skip[1:]
			continue
		}
		rows = append(rows, i)
	}
	return rows
}

// banish moves the known eigenvalue below all others: B − shift·U·Uᵀ, where B has the given rows.
func banish(b *mat.Dense, rows []int, known *known) {
	if known.count() == 0 {
		return
	}
	shift := 4 * mat.Norm(b, 1)
	if shift == 0 {
		shift = 1
	}
	for i, row := range rows {
		for j, col := range rows {
			if known.of[row] == known.of[col] {
				b.Set(i, j, b.At(i, j)-shift*known.Unit[row]*known.Unit[col])
			}
		}
	}
}
