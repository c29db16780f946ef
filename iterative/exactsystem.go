package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// exactFactor returns the exact factor of the system. The first call makes it. The error wraps [ErrFill] if the system has
// no such factor.
func (s *System) exactFactor(ctx context.Context) (*exact, error) {
	if s.direct != nil || s.directErr != nil {
		return s.direct, s.directErr
	}
	if s.noFactor() {
		return nil, errNoFactor
	}
	n := len(s.Graph.Degrees)
	entries := s.Graph.A.NNZ()
	limits := limitsOf
	memory := s.Memory
	switch {
	case n <= ExactFirst || n <= exactWide && s.wide && isLean(n, entries):
		limits = noLimits
		memory = 0 // the factor is small
	case s.wide && isLean(n, entries):
	case s.free != nil && isSparseAsForest(n, entries):
		limits = forestLimits
	default:
		return nil, fmt.Errorf("%w: it has more than %d nodes", ErrFill, ExactFirst)
	}
	a, err := freePart(ctx, s.Graph.WithoutHeavyLoops().A, s.free)
	if err != nil {
		return nil, err
	}
	f, err := newExact(ctx, a, s.Edge, s.Ground, s.heaviest(),
		limits, memory, s.Graph.Workers)
	if errors.Is(err, ErrFill) {
		s.directErr = err
	}
	s.direct = f
	return f, err
}

// heaviest returns the row of the largest element of each vector of the null space, or nil for a definite system. Holding this
// row at 0 costs the fewest digits, because means are near its value.
func (s *System) heaviest() []int {
	if s.Null == nil {
		return nil
	}
	place := map[uint32]int{}
	var rows []int
	for i, p := range s.Graph.Components.Of {
		if s.Null.Unit[i] == 0 {
			continue
		}
		index, ok := place[p]
		if !ok {
			place[p] = len(rows)
			rows = append(rows, i)
		} else if s.squareOf(i) > s.squareOf(rows[index]) {
			rows[index] = i
		}
	}
	return rows
}

// EliminateTo stores the solution of M·X = B in x, or M⁺·B if M is singular, by elimination without subtraction. If B ≥ 0 and
// M is definite, the precision of X does not depend on the weights. Otherwise ErrorBound includes the digits that cancel
// because of the signs of B. x must not be b. The result has only the error bounds. The error wraps [ErrFill] if the graph has
// more than [ExactFirst] nodes, if several processes share it, or if products of weights underflow to 0. Cost: a factor, which
// is kept, and two solves with it.
func (s *System) EliminateTo(ctx context.Context,
	x, b *sparse.Block[float64]) (*Result, error) {
	if s.quotients != nil && s.free == nil { // Ground is a difference
		return nil, ErrStagnation
	}
	if err := s.checkSymmetric(ctx); err != nil {
		return nil, err
	}
	f, err := s.exactFactor(ctx)
	if err != nil {
		return nil, err
	}
	size, err := s.solveByFactor(ctx, f, x, b)
	if err != nil {
		return nil, err
	}
	// bound has upper bounds of the norms of the columns of diag(s)·E.
	bound := make([]float64, size.Cols)
	for i := range size.Rows {
		scale := blocks.Factor(s.Scale, i)
		for j, v := range size.Row(i) {
			bound[j] += float64(scale*v) * float64(scale*v)
		}
	}
	for j, v := range bound {
		bound[j] = math.Sqrt(v) * (1 + 1e-6)
	}
	return &Result{ErrorBound: bound, Rounding: bound}, nil
}

// eliminatedTo is EliminateTo that also fills the fields of the result about an iteration, with residuals of 0. If record
// is not nil, it is called once with these residuals.
func (s *System) eliminatedTo(ctx context.Context, x, b *sparse.Block[float64],
	record func(int, []float64)) (*Result, error) {
	for j, norm := range columnNorms(s.team(), b) {
		if err := checkNorm(j, norm); err != nil {
			return nil, err
		}
	}
	out, err := s.EliminateTo(ctx, x, b)
	if err != nil {
		return nil, err
	}
	out.Sweeps = 1
	out.ColumnSteps = make([]int, b.Cols)
	out.Residual = make([]float64, b.Cols)
	out.Relative = make([]float64, b.Cols)
	if record != nil {
		record(0, out.Relative)
	}
	return out, nil
}

// solveByFactor stores the solution of M·X = B in x, and returns bounds of the errors of the elements of diag(1/s)·X. In a
// singular component the bounds hold up to a constant of the component.
func (s *System) solveByFactor(ctx context.Context, f *exact,
	x, b *sparse.Block[float64]) (bound *sparse.Block[float64], err error) {
	k := b.Cols
	bound = sparse.NewBlock[float64](b.Rows, k)
	mean := s.removeMeans(x, bound, b)
	if err := f.factor.ApplyTo(ctx, x, x); err != nil {
		return nil, err
	}
	if err := f.factor.ApplyTo(ctx, bound, bound); err != nil {
		return nil, err
	}
	const rounding = 16 * unitRoundoff
	relative := f.error + rounding
	blocks.Scale(bound, relative)
	if mean == nil {
		blocks.ScaleRows(x, x, s.Scale)
		return bound, nil
	}
	// X = diag(s)·(Z − mean of Z), the mean weighted by s².
	for j := range k {
		mean.clear()
		for i := range x.Rows {
			mean.add(i, s.squareOf(i)*x.Row(i)[j])
		}
		for i := range x.Rows {
			if s.Null.Unit[i] == 0 {
				continue
			}
			z := x.Row(i)[j]
			m := mean.of(i)
			bound.Row(i)[j] += rounding * (math.Abs(z) + math.Abs(m))
			x.Row(i)[j] = blocks.Factor(s.Scale, i) * (z - m)
		}
	}
	return bound, nil
}

func (s *System) squareOf(i int) float64 {
	f := blocks.Factor(s.Scale, i)
	return f * f
}

// removeMeans stores diag(s)·B in c, without the part of B in the null space. It stores in size the sums of the absolute
// values of the terms of c. If the system is definite, means is nil.
func (s *System) removeMeans(c, size, b *sparse.Block[float64]) (means *componentMeans) {
	blocks.ScaleRows(c, b, s.Scale)
	for i := range c.Rows {
		for j, v := range c.Row(i) {
			size.Row(i)[j] = math.Abs(v)
		}
	}
	if s.Null == nil {
		return nil
	}
	means = newMeans(s)
	sizes := newMeans(s)
	for j := range b.Cols {
		means.clear()
		sizes.clear()
		for i := range b.Rows {
			means.add(i, c.Row(i)[j])
			sizes.add(i, size.Row(i)[j])
		}
		for i := range b.Rows {
			m := s.squareOf(i)
			if s.Null.Unit[i] == 0 {
				continue
			}
			c.Row(i)[j] -= float64(m * means.of(i))
			size.Row(i)[j] += float64(m * sizes.of(i))
		}
	}
	return means
}

// componentMeans computes for each component a sum divided by the sum of s².
type componentMeans struct {
	part   []uint32
	unit   []float64 // 0 in rows outside the null space
	sums   []blocks.ExactSum
	minus  []blocks.ExactSum
	weight []float64
}

// newMeans returns empty sums, with the sum of s² of each component.
func newMeans(s *System) *componentMeans {
	parts := s.Graph.Components
	m := &componentMeans{part: parts.Of, unit: s.Null.Unit,
		weight: make([]float64, len(parts.Sizes))}
	m.sums, m.minus = make([]blocks.ExactSum, len(parts.Sizes)),
		make([]blocks.ExactSum, len(parts.Sizes))
	for i, c := range parts.Of {
		m.weight[c] += s.squareOf(i)
	}
	return m
}

func (m *componentMeans) clear() {
	clear(m.sums)
	clear(m.minus)
}

// add adds v to the sum of the component of row i. Separate sums of positive and negative numbers keep all digits.
func (m *componentMeans) add(i int, v float64) {
	if m.unit[i] == 0 {
		return
	}
	if v < 0 {
		m.minus[m.part[i]].Add(-v)
	} else {
		m.sums[m.part[i]].Add(v)
	}
}

func (m *componentMeans) of(i int) float64 {
	c := m.part[i]
	plus := m.sums[c]
	minus := m.minus[c]
	return ((plus.Sum - minus.Sum) + (plus.Rest - minus.Rest)) / m.weight[c]
}
