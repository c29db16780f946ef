package lanczos

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
)

// far are eigenvectors at the unwanted end whose eigenvalues lie far from all
// others, as that of −k·kᵀ/2m in a modularity matrix does. A filter whose
// unwanted interval need not reach to them does with half the degree, if they
// are kept out of its blocks.
type far struct {
	vectors []*tall.Disjoint
	workers int
	steep   float64 // what rounding leaves of the vectors grows e^steep-fold with a degree
}

const (
	// exact is the residual, relative to the norm, of a far eigenvector.
	exact = 1e-11

	// farCost is the part of a product that it takes to keep one of them out.
	farCost = 0.1

	// regrowth is the exponent of what may become of the rounding in a block
	// before it is removed: it is then still small beside the block.
	regrowth = 20
)

// period returns the number of steps of the recurrence between removals.
func (f *far) period() int { return max(1, int(regrowth/f.steep)) }

// remove makes blocks orthogonal to the vectors.
func (f *far) remove(ctx context.Context, blocks ...*sparse.Block[float64]) error {
	for i := range f.vectors {
		for _, x := range blocks {
			if err := f.vectors[i].RemoveTo(ctx, x, x, f.workers); err != nil {
				return err
			}
		}
	}
	return nil
}

// findFar counts the eigenvalues at the lower end that are known to rounding
// and without which the unwanted interval is much shorter.
func (w *solve) findFar() {
	k, st := &w.krylov, w.stage
	last, top := len(k.theta)-1, k.theta[0]
	span := top - st.lowest
	for i := range min(width, last) {
		at := last - i
		if k.residual[at] > exact*w.norm {
			break
		}
		lowest := k.theta[at-1] - k.residual[at-1]
		if left := (top - lowest) * (1 + farCost*float64(i+1)); left < span {
			span, st.lowest, st.far = left, lowest, i+1
		}
	}
}

// setFar gives the filter the far vectors: those of the filter before, or the
// last Ritz vectors of the map itself.
func (w *solve) setFar(ctx context.Context, f *filter) error {
	k, st := &w.krylov, w.stage
	f.far.vectors, f.far.workers = k.f.far.vectors, k.e.Workers
	f.far.steep = math.Acosh((f.centre - st.bottom) / f.half)
	if st.far == 0 || f.far.vectors != nil {
		return nil
	}
	q := make([]float64, k.size*st.far)
	for i := range k.size {
		for j := range st.far {
			q[i*st.far+j] = k.ritz.At(i, k.size-1-j)
		}
	}
	err := k.e.multiplyTo(ctx, w.image.slice(0, st.far), k.v.slice(k.locked, k.locked+k.size), q, st.far)
	if err != nil {
		return err
	}
	for j := range st.far {
		unit := make([]float64, w.n)
		for chunk := range k.e.Chunks {
			copy(unit[chunk*segment:], column(w.image.panel(chunk, 0), j, width)[:])
		}
		f.far.vectors = append(f.far.vectors, tall.NewDisjointOf(make([]uint32, w.n), 1, unit))
	}
	return nil
}
