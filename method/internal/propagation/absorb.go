package propagation

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	walkSteps  = 10_000
	unabsorbed = 1e-6 // most of a walk that may be left at its end
)

// absorb stores in the scores the limit of endless walks, for classes lo ≤ c < hi. It is for directed graphs, which have no
// symmetric system, and for labels that absorb only part of a walk. On a small graph it solves a dense system. Otherwise it makes steps
// until little of a walk is left, the part that no label has absorbed: this bounds the distance to the limit. If more is
// left after walkSteps steps, the error is a [*problem.Error]. Nodes that no label reaches get their prior.
func (l *Propagation) absorb(ctx context.Context, lo, hi int,
	report func(done float64)) (sweeps int, err error) {
	p := l.P
	team := p.Team()
	n := len(p.Degrees)
	last := hi - lo
	prior := l.Prior.Distributions(p.Seeds())
	x := sparse.NewBlock[float64](n, last+1)
	y := sparse.NewBlock[float64](n, last+1)
	left := blocks.Inverses(p.Degrees)
	ends := make([]float64, n) // share of a walk that ends at each node
	for i := range n {
		copy(x.Row(i), prior(i)[lo:hi])
		x.Row(i)[last] = 1
		if !l.reached.Contains(uint32(i)) {
			x.Row(i)[last] = 0
			ends[i] = 1
			left[i] = 0
		}
	}
	value := x.Columns(0, last)
	class := map[int]int{}
	for i, row := range p.Row {
		class[row] = p.Class[i]
		ends[row] = l.Alpha
		if p.Degrees[row] == 0 {
			ends[row] = 1
		}
		left[row] *= 1 - ends[row]
		clear(value.Row(row))
		if c := p.Class[i]; lo <= c && c < hi {
			value.Row(row)[c-lo] = 1
		}
	}
	if n <= iterative.ExactFirst && team == nil {
		return 1, l.eliminate(ctx, value, ends, lo)
	}
	op := &sparse.Operator[float64]{A: p.A, Left: left, Workers: l.Workers}
	mass := make([]float64, sched.Workers(l.Workers))
	limit := walkSteps
	if l.Rough {
		limit = mostSteps
	}
	for ; ; sweeps++ {
		clear(mass)
		err := op.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1, Visit: func(rows sparse.Rows) {
			for i := rows.Lo; i < rows.Hi; i++ {
				if c, ok := class[i]; ok && lo <= c && c < hi {
					y.Row(i)[c-lo] += ends[i]
				} else if !ok && ends[i] > 0 {
					copy(y.Row(i), prior(i)[lo:hi])
				}
				mass[rows.Worker] = max(mass[rows.Worker], y.Row(i)[last])
			}
		}})
		if err != nil {
			return sweeps, err
		}
		x, y = y, x
		report(float64(sweeps+1) / float64(limit))
		total := []float64{floats.Max(mass)}
		team.Max(total)
		isDone := sweeps+1 == limit
		if isDone && !l.Rough && total[0] > unabsorbed {
			return sweeps, &problem.Error{Method: "lp", Err: fmt.Errorf("%w: up to %.2g of a walk has not met a label after %d steps",
				iterative.ErrIterationLimit, total[0], limit)}
		}
		if isDone || total[0] <= unabsorbed {
			for i := range n {
				l.keep(i, lo, x.Row(i)[:last])
			}
			return sweeps + 1, nil
		}
	}
}

// eliminate stores in the scores the exact limit of walks, see [iterative.Absorb]. At each step, the share share[v] of the
// walks at node v ends there, with row v of value. lo is the first class.
func (l *Propagation) eliminate(ctx context.Context, value *sparse.Block[float64], share []float64, lo int) error {
	n := value.Rows
	q := sparse.NewBlock[float64](n, n+1+value.Cols) // weights of arcs; the weight of ending; this weight times the value
	err := sparse.EachRow(ctx, l.P.A, 1, func(_, i int, col []uint32, val []float64) error {
		row := q.Row(i)
		row[n] = share[i] * l.P.Degrees[i]
		if share[i] == 1 {
			row[n] = 1
			col = nil
		}
		for e, j := range col {
			w := 1 - share[i]
			if val != nil {
				w *= val[e]
			}
			if int(j) != i {
				row[j] += w
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range n {
		blocks.AddScaled(q.Row(i)[n+1:], q.Row(i)[n], value.Row(i))
	}
	ends, err := iterative.Absorb(ctx, q)
	if err == nil && !ends {
		err = &problem.Error{Method: "lp", Err: fmt.Errorf("%w: products of weights vanish", iterative.ErrIterationLimit)}
	}
	for i := range n {
		l.keep(i, lo, q.Row(i)[n+1:])
	}
	return err
}
