package iterative

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// FixedPointResult is what stationary sweeps found out, also when they failed.
type FixedPointResult struct {
	Steps int // sweeps

	// Change is the size of the last change, and History that of every one:
	// the largest of a number for [Propagate], the norm of a column over that
	// of its limit, the largest over the columns, for [Spread].
	Change  float64
	History []float64

	// ErrorBound bounds the norm of F's error, for each column; nil for
	// [Propagate], whose rate of convergence is not known beforehand.
	ErrorBound []float64
}

// Propagate is label propagation: it repeats F ← T·F with the clamped rows
// held, until no number changes by more than Tolerance. F is read and
// overwritten. With T = D⁻¹A the limit is harmonic,
//
//	F_U = (I − T_UU)⁻¹·T_UL·F_L
//
// on the rows U that a clamped row L can reach; other rows tend to a mean over
// their component, and keep what they have if that is constant there.
//
// MaxIterations sweeps at most (10 000 by default); the error is
// [ErrIterationLimit], with the result, the context's, or that of a sweep. Of
// the settings Tolerance, MaxIterations and Recorder are used; the recorder is
// given the change. A small change does not by itself mean a small error: on a
// graph where T_UU has an eigenvalue λ near 1 the error is 1/(1−λ) times as
// large. [Graph.Harmonic] solves to a residual.
//
// Cost: one sweep for each step, two blocks.
func Propagate(ctx context.Context, t sparse.Applier[float64], f *sparse.Block[float64], clamped []int, s *Settings) (*FixedPointResult, error) {
	n, cols := t.Dims()
	if n != cols || f.Rows != n {
		panic(badShape)
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	set := s.withDefaults()
	held := make([]bool, n)
	for _, i := range clamped {
		held[i] = true
	}
	res := &FixedPointResult{}
	from, to := f, sparse.NewBlock[float64](n, f.Cols)
	var change largest
	visit := func(rows sparse.Rows) {
		var most float64
		for i := rows.Lo; i < rows.Hi; i++ {
			was, is := from.Row(i), to.Row(i)
			if held[i] {
				copy(is, was)
				continue
			}
			for j, v := range is {
				most = max(most, math.Abs(v-was[j]))
			}
		}
		change.see(most)
	}
	for res.Steps < set.MaxIterations {
		change.value = 0
		if err := t.StepTo(ctx, to, from, sparse.Step[float64]{Alpha: 1, Visit: visit}); err != nil {
			return nil, err
		}
		from, to = to, from
		res.Steps++
		res.Change = change.value
		res.History = append(res.History, change.value)
		if set.Recorder != nil {
			set.Recorder(res.Steps, res.History[res.Steps-1:])
		}
		if change.value <= set.Tolerance {
			break
		}
	}
	copyRows(f, from)
	if res.Change > set.Tolerance {
		return res, fmt.Errorf("%w: after %d sweeps labels still change by %.3g, asked for %.3g",
			ErrIterationLimit, res.Steps, res.Change, set.Tolerance)
	}
	return res, nil
}

// largest keeps the largest of numbers that several goroutines see.
type largest struct {
	mu    sync.Mutex
	value float64
}

func (l *largest) see(v float64) {
	l.mu.Lock()
	l.value = max(l.value, v)
	l.mu.Unlock()
}

// Spread repeats F ← α·S·F + (1−α)·Y (Zhou et al. 2003, local and global
// consistency) from the F given, 0 < α < 1, where ‖S‖ ≤ 1. The limit is
// (1−α)·(I − αS)⁻¹·Y. It ends when the certified error of every column,
//
//	‖F − F*‖ ≤ α/(1−α)·‖F − F_before‖
//
// is at most Tolerance times the norm of the column of F. f must not be y.
//
// Settings and errors are those of [Propagate]; the recorder is given the
// bound of each column's error. Cost: one sweep for each step, two blocks.
func Spread(ctx context.Context, s sparse.Applier[float64], f, y *sparse.Block[float64], alpha float64, settings *Settings) (*FixedPointResult, error) {
	n, cols := s.Dims()
	if n != cols || f.Rows != n || y.Rows != n || f.Cols != y.Cols {
		panic(badShape)
	}
	if !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("%w: α = %g; the sweeps converge for 0 < α < 1", ErrParameter, alpha)
	}
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	set := settings.withDefaults()
	k := f.Cols
	res := &FixedPointResult{ErrorBound: make([]float64, k)}
	from, to := f, sparse.NewBlock[float64](n, k)
	var sums sched.Sums // of squared changes, then of squared sizes
	visit := func(rows sparse.Rows) {
		part := sums.Of(rows.Range)
		change, size := part[:k], part[k:]
		for i := rows.Lo; i < rows.Hi; i++ {
			was, is := from.Row(i), to.Row(i)
			for j, v := range is {
				d := v - was[j]
				change[j] += float64(d * d)
				size[j] += float64(v * v)
			}
		}
	}
	step := sparse.Step[float64]{Alpha: alpha, Delta: 1 - alpha, Prev: y, Visit: visit}
	totals := make([]float64, 2*k)
	for res.Steps < set.MaxIterations {
		sums.Begin(2 * k)
		if err := s.StepTo(ctx, to, from, step); err != nil {
			return nil, err
		}
		from, to = to, from
		sums.TotalTo(totals)
		res.Steps++
		res.Change = 0
		done := true
		for j := range k {
			change, size := math.Sqrt(totals[j]), math.Sqrt(totals[k+j])
			res.ErrorBound[j] = alpha / (1 - alpha) * change
			if res.ErrorBound[j] > set.Tolerance*size {
				done = false
			}
			if size > 0 {
				res.Change = max(res.Change, change/size)
			}
		}
		res.History = append(res.History, res.Change)
		if set.Recorder != nil {
			set.Recorder(res.Steps, res.ErrorBound)
		}
		if done {
			copyRows(f, from)
			return res, nil
		}
	}
	copyRows(f, from)
	return res, fmt.Errorf("%w: after %d sweeps the error is at most %.3g",
		ErrIterationLimit, res.Steps, slices.Max(res.ErrorBound))
}

// copyRows copies src to dst, unless they are the same.
func copyRows(dst, src *sparse.Block[float64]) {
	if dst == src {
		return
	}
	for i := range dst.Rows {
		copy(dst.Row(i), src.Row(i))
	}
}
