package method

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// machinesAtATime is the number of machines whose decisions are computed in
// one application of the kernel.
const machinesAtATime = 32

// score turns the decisions on every node into scores. Those of a learner that is linear in the kernel come from one
// application of it to the dual coefficients.
func (r *kernelPredictor) score(ctx context.Context) error {
	n, outputs := len(r.p.Degrees), r.fitted.Pairs
	if r.learner.Dual {
		r.full, r.gram = nil, nil
		isVoted := r.learner.Path != nil
		width := min(len(outputs), machinesAtATime)
		if outputs[0].Negative == classify.Rest || !isVoted {
			width = len(outputs) // probabilities are normalised over all
		} else {
			r.nodes.counts = pages.Make[uint8](n * len(r.p.Names))
		}
		if isVoted {
			r.out.Scores = chunks.Block[float32](n, len(r.p.Names))
		}
		return r.decide(ctx, width, func(lo int, decisions *sparse.Block[float64]) error {
			if isVoted {
				return r.nodes.addAllVotes(ctx, outputs, decisions, lo)
			}
			return r.nodes.shareAll(ctx, outputs, 0, func(_ []float64, i int) []float64 { return decisions.Row(i) })
		})
	}
	if r.learner.Whole {
		place := make([]int, n)
		for a, i := range r.items {
			place[i] = a
		}
		return r.nodes.shareAll(ctx, outputs, len(r.items), func(row []float64, i int) []float64 {
			r.full.RowTo(row, place[i])
			return r.fitted.ScoresTo(nil, row, row[place[i]])
		})
	}
	values, report, err := kernel.Matrix(ctx, r.kernels[r.best], sched.UpTo(n), r.items, r.settings("walk"))
	if err != nil {
		return err
	}
	r.out.Work.Sweeps += report.Sweeps
	choose.Scale(values, r.scale)
	return r.nodes.shareAll(ctx, outputs, 0, func(_ []float64, i int) []float64 { return r.fitted.ScoresTo(nil, values.Row(i), 0) })
}

// decide applies the kernel to the dual coefficients of width classifiers at a time,
// K[:, L]·C = K·(E_L·C), and calls visit with the decisions on all nodes of those from
// number lo on.
func (r *kernelPredictor) decide(ctx context.Context, width int, visit func(lo int, decisions *sparse.Block[float64]) error) error {
	n, machines := len(r.p.Degrees), r.fitted.Machines
	x, y := sparse.NewBlock[float64](n, width), sparse.NewBlock[float64](n, width)
	for lo := 0; lo < len(machines); lo += width {
		batch := machines[lo:min(lo+width, len(machines))]
		coef, decisions := x.Columns(0, len(batch)), y.Columns(0, len(batch))
		for j := range batch {
			for _, row := range r.p.Row {
				coef.Row(row)[j] = 0
			}
			for s, i := range batch[j].Index {
				coef.Row(r.p.Row[i])[j] = r.scale * batch[j].Coef[s]
			}
		}
		report, err := r.kernels[r.best].ApplyTo(ctx, decisions, coef, r.settings("walk"))
		if err != nil {
			return err
		}
		r.noteSweeps(report.Sweeps, len(batch))
		for i := range n {
			row := decisions.Row(i)
			for j := range row {
				row[j] -= batch[j].Rho
			}
		}
		if err := visit(lo, decisions); err != nil {
			return err
		}
	}
	return nil
}

// noteSweeps adds sweeps with a number of columns to the work.
func (r *kernelPredictor) noteSweeps(sweeps, columns int) {
	r.out.Work.Add(problem.Work{Sweeps: sweeps, EntryColumns: sparse.EntriesOf(r.p.A) * int64(sweeps) * int64(columns)})
}

// solveTolerance is the residual of the solution without a kernel block,
// relative to the targets, all ±1.
const solveTolerance = 1e-7

// solve returns (K + diag(ridge))⁻¹·T for the kernel between the labels, without a value of it, by
// conjugate gradients on E_Lᵀ·K·E_L + diag(ridge). The error wraps [kernel.ErrUnsolved]
// where the tolerance is not reached.
func (r *kernelPredictor) solve(ctx context.Context, ridge []float64, t *mat.Dense) (*mat.Dense, error) {
	labels, machines := t.Dims()
	width := min(machines, solveColumns)
	operator := kernel.NewAmong(r.kernels[r.best], r.p.Row, r.scale, ridge, width, r.settings("walk"))
	coef, err := operator.Solve(ctx, sparse.BlockOf(labels, machines, t.RawMatrix().Data), solveTolerance, r.set.Workers)
	r.noteSweeps(operator.Sweeps, width)
	if errors.Is(err, kernel.ErrUnsolved) {
		return nil, fmt.Errorf("method: least squares with a ridge of %v: %w; choose a larger λ, or the support vector machine", slices.Min(ridge), err)
	} else if err != nil {
		return nil, err
	}
	return sparse.DenseOf(coef), nil
}
