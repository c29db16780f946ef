package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// linkColumns bounds the columns that are multiplied by S² together.
const linkColumns = 64

// linkSlab returns how many columns that is for m labels within a limit, 0 for none.
func linkSlab(n, m int, limit int64) int {
	slab := min(m, linkColumns)
	for slab > 1 && limit > 0 && 2*tall.BlockBytes[float64](n, slab) > limit {
		slab /= 2
	}
	return slab
}

// relateLinks adds the scores of least squares on the kernel S² with S = D^-½AD^-½, λ
// chosen as for the diffusion kernel. It relates nodes by the neighbours that they share:
// these may be of one class where neighbours are not. Cost: two products with a column for
// each label and each class.
func (r *weigher) relateLinks(ctx context.Context) error {
	gram, err := r.linkGram(ctx)
	if err != nil {
		return err
	}
	scale := choose.Rescale(gram)
	_, coef, err := r.addScores(ctx, []*sparse.Block[float64]{gram})
	if err != nil {
		return err
	}
	x := r.weighted(coef, scale)
	if err := r.timesLinks(ctx, x, sparse.NewBlock[float64](x.Rows, x.Cols)); err != nil {
		return err
	}
	r.keepScores(x, 1)
	return nil
}

// linkGram returns S² between labels.
func (r *weigher) linkGram(ctx context.Context) (*sparse.Block[float64], error) {
	n, m := len(r.p.Degrees), len(r.p.Row)
	slab := linkSlab(n, m, beside(r.p, r.set))
	gram, x, y := sparse.NewBlock[float64](m, m), sparse.NewBlock[float64](n, slab), sparse.NewBlock[float64](n, slab)
	for lo := 0; lo < m; lo += slab {
		for v := range n {
			clear(x.Row(v))
		}
		columns := r.p.Row[lo:min(m, lo+slab)]
		for j, row := range columns {
			x.Row(row)[j] = 1
		}
		if err := r.timesLinks(ctx, x, y); err != nil {
			return nil, err
		}
		for i, row := range r.p.Row {
			copy(gram.Row(i)[lo:lo+len(columns)], x.Row(row))
		}
	}
	return gram, nil
}

// timesLinks stores S²·X = D^½·T²·D^-½·X in x. Nodes without neighbours have zeros. y is
// overwritten.
func (r *weigher) timesLinks(ctx context.Context, x, y *sparse.Block[float64]) error {
	for v, d := range r.p.Degrees {
		for c := range x.Row(v) {
			if d == 0 {
				x.Row(v)[c] = 0
			} else {
				x.Row(v)[c] /= math.Sqrt(d)
			}
		}
	}
	op := sparse.NewOperator[float64](sparse.Transition, r.p.A, r.p.Degrees)
	op.Workers = r.set.Workers
	if err := op.ApplyTo(ctx, y, x); err != nil {
		return err
	}
	if err := op.ApplyTo(ctx, x, y); err != nil {
		return err
	}
	r.out.Work.Add(problem.Work{Sweeps: 2, EntryColumns: 2 * r.p.A.NNZ() * int64(x.Cols)})
	for v, d := range r.p.Degrees {
		for c := range x.Row(v) {
			x.Row(v)[c] *= math.Sqrt(d)
		}
	}
	return nil
}
