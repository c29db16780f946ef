package beliefs

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const walkSteps = 3

// walkPairs returns N_l = Yᵀ W_l Y, made symmetric, for l = 1 … walkSteps and the labels Y outside a fold. W_l counts walks
// of l edges that do not turn back:
//
//	W_1 = A,  W_2 = A W_1 − D,  W_l = A W_(l−1) − (D − 1) W_(l−2)
//
// Cost: a sweep for each length, and one for the squares of weights.
func walkPairs(ctx context.Context, n *network,
	fold int) (pairs []*mat.Dense, err error) {
	if n.turns == nil {
		if n.turns, err = blocks.RowSquares(ctx, n.g.A, n.unit, n.g.Workers); err != nil {
			return nil, err
		}
		n.sweeps++
	}
	classes := n.seeds.Classes
	rows := len(n.g.Degrees)
	for range walkSteps {
		pairs = append(pairs, mat.NewDense(classes, classes, nil))
	}
	width := Workspace(rows, classes).Width(n.memory)
	var steps [3]*sparse.Block[float32] // W_(l−2) Y, W_(l−1) Y and W_l Y, for the columns of a sweep
	for i := range steps {
		steps[i] = sparse.NewBlock[float32](len(n.g.Degrees), width)
	}
	for lo := 0; lo < classes; lo += width {
		hi := min(lo+width, classes)
		previous := steps[0].Columns(0, hi-lo)
		now := steps[1].Columns(0, hi-lo)
		next := steps[2].Columns(0, hi-lo)
		for i := 0; lo > 0 && i < rows; i++ {
			clear(now.Row(i))
		}
		for _, row := range n.seeds.Row {
			if j := n.known(row, fold); lo <= j && j < hi {
				now.Row(row)[j-lo] = 1
			}
		}
		for l := range walkSteps {
			err := n.op.StepTo(ctx, next, now, sparse.Step[float32]{Alpha: 1, Visit: func(r sparse.Rows) {
				if l == 0 {
					return
				}
				for i := r.Lo; i < r.Hi; i++ {
					back := n.turns[i]
					y := next.Row(i)
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
			n.sweeps++
			for _, row := range n.seeds.Row {
				if c := n.known(row, fold); c >= 0 {
					sums := pairs[l].RawRowView(c)[lo:]
					for j, v := range next.Row(row) {
						sums[j] += float64(v)
					}
				}
			}
			previous, now, next = now, next, previous
		}
	}
	for l, sum := range pairs {
		pairs[l] = halfSum(sum)
	}
	return pairs, nil
}

func halfSum(x *mat.Dense) *mat.Dense {
	var sum mat.Dense
	sum.Add(x, x.T())
	sum.Scale(0.5, &sum)
	return &sum
}
