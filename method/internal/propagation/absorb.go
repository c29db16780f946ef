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

// absorption is the state of walks that labels absorb, for classes lo ≤ c < hi.
type absorption struct {
	l      *Propagation
	lo, hi int

	// x has a row for each node: the values of the classes, and the share of a walk from the node that no label has absorbed.
	x, next *sparse.Block[float64]

	scale []float64   // factor of each row of A in a step
	ends  []float64   // share of a walk that ends at each node
	class map[int]int // class of each labelled node
	prior func(node int) []float64
}

func (l *Propagation) newAbsorption(lo, hi int) *absorption {
	p := l.P
	n := len(p.Degrees)
	a := &absorption{l: l, lo: lo, hi: hi, x: sparse.NewBlock[float64](n, hi-lo+1), next: sparse.NewBlock[float64](n, hi-lo+1),
		scale: blocks.Inverses(p.Degrees), ends: make([]float64, n), class: map[int]int{}, prior: l.Prior.Distributions(p.Seeds())}
	for i := range n {
		copy(a.x.Row(i), a.prior(i)[lo:hi])
		if l.reached.Contains(uint32(i)) {
			a.x.Row(i)[hi-lo] = 1
		} else {
			a.ends[i] = 1
			a.scale[i] = 0
		}
	}
	values := a.values()
	for i, row := range p.Row {
		a.class[row] = p.Class[i]
		a.ends[row] = l.Alpha
		if p.Degrees[row] == 0 {
			a.ends[row] = 1
		}
		a.scale[row] *= 1 - a.ends[row]
		clear(values.Row(row))
		if c := p.Class[i]; lo <= c && c < hi {
			values.Row(row)[c-lo] = 1
		}
	}
	return a
}

// values returns the columns of the classes.
func (a *absorption) values() *sparse.Block[float64] { return a.x.Columns(0, a.hi-a.lo) }

// step makes a step, and returns the largest share of a walk that no label has absorbed.
func (a *absorption) step(ctx context.Context, op *sparse.Operator[float64]) (float64, error) {
	mass := make([]float64, sched.Workers(a.l.Workers))
	err := op.StepTo(ctx, a.next, a.x, sparse.Step[float64]{Alpha: 1, Visit: func(rows sparse.Rows) {
		for i := rows.Lo; i < rows.Hi; i++ {
			row := a.next.Row(i)
			if c, isLabelled := a.class[i]; isLabelled && a.lo <= c && c < a.hi {
				row[c-a.lo] += a.ends[i]
			} else if !isLabelled && a.ends[i] > 0 {
				copy(row, a.prior(i)[a.lo:a.hi])
			}
			mass[rows.Worker] = max(mass[rows.Worker], row[a.hi-a.lo])
		}
	}})
	if err != nil {
		return 0, err
	}
	a.x, a.next = a.next, a.x
	total := []float64{floats.Max(mass)}
	a.l.P.Team().Max(total)
	return total[0], nil
}

// absorb stores in the scores the limit of endless walks, for classes lo ≤ c < hi. It is for directed graphs, which have no
// symmetric system, and for labels that absorb only part of a walk. On a small graph it solves a dense system. Otherwise it
// makes steps until little of a walk is left, the part that no label has absorbed: this bounds the distance to the limit. If
// more is left after walkSteps steps, the error is a [*problem.Error]. Nodes that no label reaches get their prior.
func (l *Propagation) absorb(ctx context.Context, lo, hi int,
	report func(done float64)) (sweeps int, err error) {
	a := l.newAbsorption(lo, hi)
	n := len(l.P.Degrees)
	if n <= iterative.ExactFirst && l.P.Team() == nil {
		return 1, l.eliminate(ctx, a.values(), a.ends, lo)
	}
	op := &sparse.Operator[float64]{A: l.P.A, Left: a.scale, Workers: l.Workers}
	limit := walkSteps
	if l.Rough {
		limit = mostSteps
	}
	for left := 1.0; sweeps < limit && left > unabsorbed; {
		left, err = a.step(ctx, op)
		if err != nil {
			return sweeps, err
		}
		sweeps++
		report(float64(sweeps) / float64(limit))
		if sweeps == limit && left > unabsorbed && !l.Rough {
			return sweeps - 1, &problem.Error{Method: "lp", Err: fmt.Errorf("%w: up to %.2g of a walk has not met a label after %d steps",
				iterative.ErrIterationLimit, left, limit)}
		}
	}
	for i := range n {
		l.keep(i, lo, a.values().Row(i))
	}
	return sweeps, nil
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
