package beliefs

import (
	"context"

	"gonum.org/v1/gonum/mat"

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
	turns, err := n.squares(ctx)
	if err != nil {
		return nil, err
	}
	classes := n.seeds.Classes
	var blocks [3]*sparse.Block[float32] // W_(l−2) Y, W_(l−1) Y, W_l Y
	for i := range blocks {
		blocks[i] = n.block(classes*len(folds), classes*len(folds))
	}
	for i, row := range n.seeds.Row {
		for v, fold := range folds {
			if fold == noFold || n.fold[i] != fold {
				blocks[1].Row(row)[v*classes+n.seeds.Class[i]] = 1
			}
		}
	}
	pairs := make([][]*mat.Dense, len(folds))
	for l := 1; l <= walkSteps; l++ {
		previous, now, next := blocks[0], blocks[1], blocks[2]
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
		blocks[0], blocks[1], blocks[2] = now, next, previous
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

// squares returns the sums of the squared weights of each row, relative to the mean weight: the weight of
// walks of two steps that return.
func (n *network) squares(ctx context.Context) ([]float32, error) {
	sums := make([]float32, len(n.g.Degrees))
	rows, _ := sparse.LocalRows(n.g.A)
	ranges := rows.Ranges()
	pieces := make([]float64, len(ranges))
	err := rows.Sweep(ctx, n.g.Workers, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			sum := float64(len(col))
			if val != nil {
				sum = 0
				for _, w := range val {
					sum += float64(w / n.unit * (w / n.unit))
				}
			}
			if p.Pieces > 1 {
				pieces[p.Index] = sum
			} else {
				sums[i] = float32(sum)
			}
		}
		return nil
	})
	n.countSweep(1)
	for k, r := range ranges {
		if r.Pieces > 1 {
			sums[r.Lo] += float32(pieces[k])
		}
	}
	if n.team != nil { // each process has summed its share of the named rows
		named := make([]float64, n.team.Named)
		for i := range named {
			named[i] = float64(sums[n.team.First+i])
		}
		n.team.Sum(named)
		for i, s := range named {
			sums[n.team.First+i] = float32(s)
		}
	}
	return sums, err
}
