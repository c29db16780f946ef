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
	classes := n.seeds.Classes
	var steps [3]*sparse.Block[float32] // W_(l−2) Y, W_(l−1) Y, W_l Y
	for i := range steps {
		steps[i] = n.block(classes*len(folds), classes*len(folds))
	}
	for i, row := range n.seeds.Row {
		for v, fold := range folds {
			if fold == noFold || n.fold[i] != fold {
				steps[1].Row(row)[v*classes+n.seeds.Class[i]] = 1
			}
		}
	}
	pairs := make([][]*mat.Dense, len(folds))
	for l := 1; l <= walkSteps; l++ {
		previous, now, next := steps[0], steps[1], steps[2]
		correction := float32(0)
		if l > 2 {
			correction = 1
		}
		err := n.op.StepTo(ctx, next, now, sparse.Step[float32]{Alpha: 1, Visit: func(r sparse.Rows) {
			if l == 1 {
				return
			}
			for i := r.Lo; i < r.Hi; i++ {
				back, y := max(turns[i]-correction, 0), next.Row(i)
				for j, v := range previous.Row(i) {
					y[j] = max(y[j]-float32(back*v), 0)
				}
			}
		}})
		if err != nil {
			return nil, err
		}
		n.countSweep(next.Cols)
		for v, fold := range folds {
			pairs[v] = append(pairs[v], n.pairsOf(next, v, fold))
		}
		steps[0], steps[1], steps[2] = now, next, previous
	}
	return pairs, nil
}

// pairsOf returns Yᵀ W Y of a fold, made symmetric.
func (n *network) pairsOf(walks *sparse.Block[float32], group, fold int) *mat.Dense {
	classes := n.seeds.Classes
	sum := mat.NewDense(classes, classes, nil)
	for i, row := range n.seeds.Row {
		if fold != noFold && n.fold[i] == fold {
			continue
		}
		target := sum.RawRowView(n.seeds.Class[i])
		for c, v := range walks.Row(row)[group*classes : (group+1)*classes] {
			target[c] += float64(v)
		}
	}
	both := mat.NewDense(classes, classes, nil)
	both.Add(sum, sum.T())
	both.Scale(0.5, both)
	return both
}
