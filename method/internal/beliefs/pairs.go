package beliefs

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/sparse"
)

// walkSteps is the greatest length of the walks that pair labels.
const walkSteps = 3

// walkPairs returns, for each of the folds (noFold: of all labels), the matrices N_l = Yᵀ W_l Y made
// symmetric, l = 1 … walkSteps, where W_l counts walks of l edges that do not turn back:
//
//	W_1 = A,  W_2 = A W_1 − D,  W_l = A W_(l−1) − (D − 1) W_(l−2)
//
// Cost: a sweep for each length, and one for the squares of weights.
func (n *network) walkPairs(ctx context.Context, folds []int) ([][]*mat.Dense, error) {
	turns, err := blocks.RowSquares(ctx, n.g.A, n.unit, n.g.Workers)
	if err != nil {
		return nil, err
	}
	n.countSweep(1)
	classes, rows := n.seeds.Classes, len(n.g.Degrees)
	columns := classes * len(folds)
	pairs := make([][]*mat.Dense, len(folds))
	for v := range pairs {
		for range walkSteps {
			pairs[v] = append(pairs[v], mat.NewDense(classes, classes, nil))
		}
	}
	width := sweepWidth(rows, columns, n.memory)
	var steps [3]*sparse.Block[float32] // W_(l−2) Y, W_(l−1) Y, W_l Y of the columns of a sweep
	for i := range steps {
		steps[i] = n.block(width, columns)
	}
	for lo := 0; lo < columns; lo += width {
		hi := min(lo+width, columns)
		previous, now, next := steps[0].Columns(0, hi-lo), steps[1].Columns(0, hi-lo), steps[2].Columns(0, hi-lo)
		for i := 0; lo > 0 && i < rows; i++ {
			clear(now.Row(i))
		}
		for i, row := range n.seeds.Row {
			for v, fold := range folds {
				if j := v*classes + n.seeds.Class[i]; lo <= j && j < hi && (fold == noFold || n.fold[i] != fold) {
					now.Row(row)[j-lo] = 1
				}
			}
		}
		for l := range walkSteps {
			err := n.op.StepTo(ctx, next, now, sparse.Step[float32]{Alpha: 1, Visit: func(r sparse.Rows) {
				if l == 0 {
					return
				}
				for i := r.Lo; i < r.Hi; i++ {
					back, y := turns[i], next.Row(i)
					if l > 1 {
						back--
					}
					back = max(back, 0)
					for j, v := range previous.Row(i) {
						y[j] = max(y[j]-float32(back*v), 0)
					}
				}
			}})
			if err != nil {
				return nil, err
			}
			n.countSweep(next.Cols)
			n.addPairs(pairs, l, folds, next, lo)
			previous, now, next = now, next, previous
		}
	}
	for _, walks := range pairs {
		for _, sum := range walks {
			sum.Add(sum, mat.DenseCopyOf(sum.T()))
			sum.Scale(0.5, sum)
		}
	}
	return pairs, nil
}

// addPairs adds Yᵀ W Y of the columns of W Y from lo on to the pairs of step l of each fold.
func (n *network) addPairs(pairs [][]*mat.Dense, l int, folds []int, walks *sparse.Block[float32], lo int) {
	for i, row := range n.seeds.Row {
		for j, v := range walks.Row(row) {
			fold, c := (lo+j)/n.seeds.Classes, (lo+j)%n.seeds.Classes
			if folds[fold] == noFold || n.fold[i] != folds[fold] {
				pairs[fold][l].RawRowView(n.seeds.Class[i])[c] += float64(v)
			}
		}
	}
}
