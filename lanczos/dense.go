package lanczos

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

// denseRows is the number of rows up to which a map is always solved as a dense matrix.
const denseRows = 256

// dense finds the wanted pairs by an eigendecomposition of A as a dense matrix, which it makes by n/4 products of A.
func (r *run) dense(ctx context.Context) (*Pairs, error) {
	r.m.allocate()
	sign := r.p.Which.sign()
	n := r.dim
	team := r.m.e.team
	places := r.places()
	full := mat.NewDense(n, n, nil)
	for offset := 0; offset < n; offset += width {
		clear(r.m.x.Data)
		for i, row := range places {
			if offset <= row && row < offset+width {
				r.m.x.Row(i)[row-offset] = 1
			}
		}
		if err := r.p.A.StepTo(ctx, r.m.y, r.m.x, sparse.Step[float64]{Alpha: sign}); err != nil {
			return nil, err
		}
		r.m.products++
		image := gather(team, n, width, places, r.m.y.Row)
		for i := range n {
			copy(full.RawRowView(i)[offset:], image.Row(i))
		}
	}
	if !finite(full.RawMatrix().Data) {
		return nil, ErrNotFinite
	}
	r.norm = max(r.norm, mat.Norm(full, 2)/float64(n))
	if excluded := r.deflation; excluded.count() > 0 {
		banish(full, gather(team, n, 2, places,
			func(i int) []float64 { return []float64{float64(excluded.component[i]), excluded.Unit[i]} }))
	}
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	values, vectors, err := fallingEigen(ctx, h, r.countRemaining, r.m.e.Workers)
	if err != nil {
		return nil, err
	}
	_, count := vectors.Dims()
	v := newBasis(r.n, count)
	for j := range count {
		for i, row := range places {
			if row >= 0 {
				column(v.panel(i/segment, 0), j,
					count)[i%segment] = vectors.At(row, j)
			}
		}
	}
	return r.finish(ctx, v.slice(0, count), values[:count], nil)
}

// countRemaining returns the number of wanted pairs in addition to the known pairs, without omitted pairs. values must be
// all eigenvalues of B in increasing order. countRemaining also raises r.norm to the largest absolute value.
func (r *run) countRemaining(values []float64) int {
	remainder := values[r.deflation.count():] // the lowest are the known value, which banish has moved
	r.norm = max(r.norm, math.Abs(remainder[0]),
		math.Abs(remainder[len(remainder)-1]))
	count := r.target
	for count > 0 && r.omits(values[len(values)-count]) {
		count--
	}
	return count
}

// places returns, for each row of this process, the row of the dense matrix. It is −1 for padding and for excluded rows.
func (r *run) places() []int {
	team := r.m.e.team
	free := make([]float64, team.TotalOf(r.n)) // 1 in rows that are not excluded
	places := make([]int, r.n)
	for _, i := range r.p.Excluded {
		places[i] = -1
	}
	for lo, hi := range team.CountingRows(0, r.n) {
		for i := lo; i < hi; i++ {
			free[team.Row(i)] = float64(1 + places[i])
		}
	}
	team.Sum(free)
	rank := make([]int, len(free)+1)
	for row, k := range free {
		rank[row+1] = rank[row] + int(k)
	}
	for i, place := range places {
		switch {
		case team.IsPadding(i):
			places[i] = -1
		case place == 0:
			places[i] = rank[team.Row(i)]
		}
	}
	return places
}

func gather(team *sparse.Team, rows, cols int, places []int,
	row func(i int) []float64) *sparse.Block[float64] {
	gathered := sparse.BlockOf(rows, cols, make([]float64, rows*cols))
	for lo, hi := range team.CountingRows(0, len(places)) {
		for i := lo; i < hi; i++ {
			if places[i] >= 0 {
				copy(gathered.Row(places[i]), row(i))
			}
		}
	}
	team.Sum(gathered.Data)
	return gathered
}

// banish moves the known eigenvalue below all others: it stores B − 4‖B‖₁·U·Uᵀ in b, where the columns of U are the known
// eigenvectors. At most one column of U is not 0 in row i. Row i of vectors holds the index of this column and its
// element in row i.
func banish(b *mat.Dense, vectors *sparse.Block[float64]) {
	shift := 4 * mat.Norm(b, 1)
	if shift == 0 {
		shift = 1
	}
	for i := range vectors.Rows {
		for j := range vectors.Rows {
			u, v := vectors.Row(i), vectors.Row(j)
			if u[0] == v[0] {
				b.Set(i, j, b.At(i, j)-shift*u[1]*v[1])
			}
		}
	}
}
