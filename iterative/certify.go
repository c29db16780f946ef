package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/sparse"
)

// SpanError is returned where float64 cannot solve a system to the tolerance because the
// weights of the graph span too many orders of magnitude. It wraps [graph.ErrScale].
type SpanError struct {
	Least, Most    float64 // smallest and largest weight of an edge
	Asked, Reached float64 // errors relative to the largest value; Reached is +Inf if nothing is known
}

// Error implements error.
func (e *SpanError) Error() string {
	return fmt.Sprintf("%v from %.3g to %.3g: float64 has too few digits to solve with a graph that has such weak links between strong ones (error up to %.2g, wanted %.2g); "+
		"leave out the weakest edges, or compute weights with a smaller exponent", graph.ErrScale, e.Least, e.Most, e.Reached, e.Asked)
}

// Unwrap returns [graph.ErrScale].
func (e *SpanError) Unwrap() error { return graph.ErrScale }

const (
	// wideSpan is the ratio of weights from which on a residual that is small does not
	// imply that the error is.
	wideSpan = 1e3

	// ExactFirst is the number of nodes up to which a system is eliminated at once, because
	// that takes less than a second, whatever the graph.
	ExactFirst = 1024

	// certifiedGoal is the smallest error that a solve aims at, relative to the largest value.
	certifiedGoal = 1e-8

	// A certified error may exceed the tolerance by acceptedExcess, because the bound is
	// that much above the error on most graphs. Residuals are reduced for a few rounds.
	acceptedExcess  = 100
	certifiedRounds = 4
)

// certifiedTo is [System.SolveTo] with Settings.Certify.
//
// With N = Edge·L + diag(Ground) and δ its diagonal, let v be such that N·v ≥ q·δ in every
// row. N has an inverse without negative elements, so that
//
//	|N⁻¹·R| ≤ max_i |R_i|/δ_i · v/q
//
// for the residual R, rounding errors included: v are expected numbers of steps of a walk,
// from each node to a clamped one or the ground. They are solved for as one more column. A
// singular N is treated in the same way with one node of each component held, where v is 0.
func (s *System) certifiedTo(ctx context.Context, x, b *sparse.Block[float64], settings *Settings) (*Result, error) {
	plain := *settings
	plain.Certify, plain.Absolute, plain.Start = false, nil, false
	small := b.Rows <= ExactFirst && s.team() == nil
	if s.Least > 0 && !small { // the residual bounds the error, whatever the weights
		return s.SolveTo(ctx, x, b, &plain)
	}
	least, most, err := s.Graph.WeightRange(ctx)
	if err != nil {
		return nil, err
	}
	if least == 0 || most/least <= wideSpan && !small {
		return s.SolveTo(ctx, x, b, &plain)
	}
	goal := plain.withDefaults().Tolerance
	c := &certificate{System: s, goal: max(goal, certifiedGoal), refusal: &SpanError{Least: least, Most: most, Asked: goal, Reached: math.Inf(1)}}
	if small {
		return c.eliminateTo(ctx, x, b, 0, plain.Recorder)
	}
	res, err := c.iterateTo(ctx, x, b, &plain)
	if err != nil || c.refusal.Reached <= acceptedExcess*c.goal {
		return res, err
	}
	return c.eliminateTo(ctx, x, b, s.Memory, plain.Recorder)
}

// certificate is a certified solve under way.
type certificate struct {
	*System
	goal    float64
	refusal *SpanError // with the smallest error reached so far
	held    []int      // the node of each component where v is 0, −1 in another process; nil for a definite system
	norms   []float64  // bounds of the norms of the errors of the columns, by the latest check
}

// eliminateTo solves by elimination in memory, or returns the refusal.
func (c *certificate) eliminateTo(ctx context.Context, x, b *sparse.Block[float64], memory int64, record func(int, []float64)) (*Result, error) {
	if c.team() != nil {
		return nil, sparse.ErrDivided
	}
	norms, err := columnNorms(ctx, nil, b, c.Graph.Workers)
	if err != nil {
		return nil, err
	}
	for j, norm := range norms {
		if err := checkNorm(j, norm); err != nil {
			return nil, err
		}
	}
	f, err := c.exactFactor(ctx, memory)
	if errors.Is(err, ErrFill) {
		return nil, c.refusal
	}
	if err != nil {
		return nil, err
	}
	bound, err := c.scaling().eliminate(ctx, f, x, b)
	if err != nil {
		return nil, err
	}
	worst := 0.0
	for j := range b.Cols {
		largest, off := 0.0, 0.0
		for i := range x.Rows {
			largest = max(largest, math.Abs(x.Row(i)[j]/blocks.Factor(c.Scale, i)))
			off = math.Max(off, bound.Row(i)[j])
		}
		if largest > 0 {
			worst = math.Max(worst, off/largest)
		}
	}
	if !(worst <= acceptedExcess*c.goal) {
		c.refusal.Reached = min(worst, c.refusal.Reached)
		return nil, c.refusal
	}
	relative := make([]float64, b.Cols)
	if record != nil {
		record(0, relative)
	}
	norms = c.scaling().normsOf(bound)
	return &Result{ErrorBound: norms, Rounding: norms, Sweeps: 1, ColumnSteps: make([]int, b.Cols), Residual: make([]float64, b.Cols), Relative: relative, Eliminated: true}, nil
}

// iterateTo solves by conjugate gradients and stores in refusal the error that is reached.
// The error is that of a sweep or of the context.
func (c *certificate) iterateTo(ctx context.Context, x, b *sparse.Block[float64], plain *Settings) (*Result, error) {
	k := b.Cols
	wide, y := sparse.NewBlock[float64](b.Rows, k+1), sparse.NewBlock[float64](b.Rows, k+1)
	for i := range b.Rows {
		copy(wide.Row(i), b.Row(i))
	}
	c.stepsTo(wide, k)
	set := *plain
	set.certified = true
	if plain.Recorder != nil {
		set.Recorder = func(step int, residual []float64) { plain.Recorder(step, residual[:k]) }
	}
	var whole *Result
	var bounds []float64 // of the norms of errors
	for range certifiedRounds {
		res, err := c.SolveTo(ctx, y, wide, &set)
		if res == nil {
			return nil, err
		}
		if whole != nil {
			res.Sweeps, res.Steps = res.Sweeps+whole.Sweeps, res.Steps+whole.Steps
			res.SampledCholesky = res.SampledCholesky || whole.SampledCholesky
		}
		whole = res
		reached, floor, err := c.check(ctx, y, wide)
		if err != nil {
			return nil, err
		}
		whole.Sweeps++
		if reached < c.refusal.Reached {
			c.refusal.Reached, bounds = reached, c.norms
			for i := range x.Rows {
				copy(x.Row(i), y.Row(i))
			}
		}
		if reached <= c.goal || !(floor <= acceptedExcess*c.goal) || set.Tolerance <= 1e-15 {
			break
		}
		set.Start = true
		set.Tolerance = max(1e-15, min(0.1, c.goal/reached)*set.withDefaults().Tolerance)
	}
	if whole.ErrorEstimate != nil {
		whole.ErrorEstimate = whole.ErrorEstimate[:k]
		for j, v := range bounds { // which are far above the error too
			whole.ErrorEstimate[j] = min(whole.ErrorEstimate[j], v)
		}
	}
	whole.ColumnSteps, whole.Residual, whole.Relative = whole.ColumnSteps[:k], whole.Residual[:k], whole.Relative[:k]
	return whole, nil
}

// stepsTo stores the right-hand side of diag(s)·v in column k of b.
func (c *certificate) stepsTo(b *sparse.Block[float64], k int) {
	diag := c.certified()
	if c.Null == nil {
		for i, d := range diag {
			b.Row(i)[k] = d / blocks.Factor(c.Scale, i)
		}
		return
	}
	c.hold(diag)
	parts, team := c.Graph.Components, c.team()
	total := make([]blocks.ExactSum, len(parts.Sizes))
	for i, p := range parts.Of {
		if c.held[p] == i {
			continue
		}
		if team.Counts(i) {
			total[p].Add(diag[i])
		}
		b.Row(i)[k] = diag[i] / blocks.Factor(c.Scale, i)
	}
	blocks.AddExact(team, total)
	for p, i := range c.held {
		if i >= 0 {
			b.Row(i)[k] = -total[p].Value() / blocks.Factor(c.Scale, i)
		}
	}
}

// hold chooses the node of each component with the largest diagonal element: of several the first, or
// of several processes a named node, or the one of the first process.
func (c *certificate) hold(diag []float64) {
	parts, team := c.Graph.Components, c.team()
	c.held = make([]int, len(parts.Sizes))
	for p := range c.held {
		c.held[p] = -1
	}
	for i, p := range parts.Of {
		if team.IsPadding(i) {
			continue
		}
		if at := c.held[p]; at < 0 || diag[i] > diag[at] || diag[i] == diag[at] && team.IsNamed(i) && !team.IsNamed(at) {
			c.held[p] = i
		}
	}
	if team == nil {
		return
	}
	largest, first := make([]float64, len(c.held)), make([]float64, len(c.held))
	for p, i := range c.held {
		if largest[p] = math.Inf(-1); i >= 0 {
			largest[p] = diag[i]
		}
	}
	team.Max(largest)
	for p, i := range c.held {
		if i >= 0 && diag[i] < largest[p] {
			c.held[p] = -1
		}
		if first[p] = float64(-team.Size()); c.held[p] >= 0 {
			first[p] = float64(-team.Rank())
		}
	}
	team.Max(first)
	for p, i := range c.held {
		if !team.IsNamed(i) && first[p] != float64(-team.Rank()) {
			c.held[p] = -1
		}
	}
}

// certified returns the diagonal of N, but 0 in rows without a bound of their own.
func (c *certificate) certified() []float64 {
	diag := c.diagonal(true)
	for i := range diag {
		if c.Null != nil && c.Null.Unit[i] == 0 || c.team().IsPadding(i) {
			diag[i] = 0
		}
	}
	return diag
}

// check returns a bound of the errors of the columns but the last one, which is diag(s)·v,
// relative to the largest element of each column of diag(1/s)·Y, and the part of it that
// rounding makes.
func (c *certificate) check(ctx context.Context, y, b *sparse.Block[float64]) (reached, floor float64, err error) {
	k := y.Cols - 1
	z := blocks.Reshape(c.cg.run.q, y.Rows, y.Cols) // buffers that the recurrence does not use now
	image := blocks.Reshape(c.cg.run.r, y.Rows, y.Cols)
	c.cg.run.q, c.cg.run.r = z, image
	blocks.Copy(z, y)
	divideRows(z, c.Scale)
	if err := c.cg.A.StepTo(ctx, image, z, sparse.Step[float64]{Alpha: 1}); err != nil {
		return 0, 0, err
	}
	parts, diag, team := c.Graph.Components, c.certified(), c.team()
	largest, steps := make([]float64, k), make([]float64, len(parts.Sizes))
	size := make([]float64, len(parts.Sizes))
	held := make([]float64, len(parts.Sizes)) // v of the node that is held
	for p, i := range c.held {
		if held[p] = math.Inf(-1); i >= 0 {
			held[p] = z.Row(i)[k]
		}
	}
	team.Max(held)
	for i := range z.Rows {
		row := z.Row(i)
		for j, v := range row[:k] {
			largest[j] = max(largest[j], math.Abs(v))
		}
		if diag[i] > 0 {
			p := parts.Of[i]
			steps[p] = math.Max(steps[p], row[k]-held[p])
			size[p] = math.Max(size[p], math.Abs(row[k]))
		}
	}
	for _, v := range [][]float64{largest, steps, size} {
		team.Max(v)
	}
	const rounding = 20 * 0x1p-52
	residual, slack, q := make([]float64, k), make([]float64, k), 1.0
	worst, square, total := make([]float64, k), 0.0, 0.0 // relative to δ; ‖diag(s)·v‖², ‖s‖²
	for i, d := range diag {
		if d == 0 || c.held != nil && c.held[parts.Of[i]] == i {
			continue
		}
		p := parts.Of[i]
		row, of := image.Row(i), b.Row(i)
		scale := blocks.Factor(c.Scale, i)
		q = math.Min(q, row[k]/d-rounding*size[p])
		if team.Counts(i) {
			v := scale * (z.Row(i)[k] - held[p])
			square += float64(v * v)
			total += float64(scale * scale)
		}
		for j, v := range row[:k] {
			rounded, left := rounding*(scale*math.Abs(of[j])/d+largest[j]), math.Abs(scale*of[j]-v)/d
			slack[j], residual[j] = max(slack[j], steps[p]*rounded), math.Max(residual[j], steps[p]*left)
			worst[j] = math.Max(worst[j], rounded+left)
		}
	}
	least, sums := []float64{-q}, []float64{square, total}
	team.Max(least)
	team.Sum(sums)
	for _, v := range [][]float64{residual, slack, worst} {
		team.Max(v)
	}
	if q, square, total = -least[0], sums[0], sums[1]; !(q > 0.25) {
		return math.Inf(1), math.Inf(1), nil
	}
	c.norms = worst
	for j := range k {
		worst[j] = min(worst[j]*math.Sqrt(square), (residual[j]+slack[j])*math.Sqrt(total)) / q
		if largest[j] > 0 {
			floor = math.Max(floor, slack[j]/q/largest[j])
			reached = math.Max(reached, (residual[j]+slack[j])/q/largest[j])
		}
	}
	return reached, floor, nil
}
