package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// errorMeasure returns the error of an image y, as a multiple of the tolerance, given the bounds of its columns.
type errorMeasure = func(y *sparse.Block[float64], bound []float64) float64

func (c *computation) image(ctx context.Context, e engine,
	dst *sparse.Block[float64], nodes []int,
	measure errorMeasure) (*engineResult, error) {
	x := c.x.Columns(0, len(nodes))
	setUnits(x, nodes, 1)
	defer setUnits(x, nodes, 0)
	return c.imageOf(ctx, e, dst, x, measure)
}

// imageOf stores the engine's image of x in dst. It repeats the computation with smaller tolerances until measure
// returns at most 1, or until float64 allows no smaller error. Systems of up to [iterative.ExactFirst] nodes are
// eliminated at once.
func (c *computation) imageOf(ctx context.Context, e engine,
	dst, x *sparse.Block[float64], measure errorMeasure) (a *engineResult, err error) {
	if a, err := c.small(ctx, e, dst, x, measure); a != nil || err != nil {
		return a, err
	}
	t := &attempts{c: c, measure: measure}
	for done := false; !done; {
		a, err = e.applyTo(ctx, dst, x,
			effort{tolerance: c.effort, memory: budget.Subtract(c.s.Memory, c.need), progress: c.log.reportAttempt,
				certify: c.bounded || c.s.certifies(c.k.Len())}, t.again)
		if done, err = t.planNext(dst, a, err); done && err == nil {
			done, err = acceptResult(c, a, t.miss, t.rounded)
		}
	}
	if err != nil {
		return nil, c.refineError(err)
	}
	c.log.finishSlab(a.assumed)
	return a, nil
}

// acceptResult reports whether a result is final. miss is the error of the result, and rounded its part from
// rounding, as multiples of the tolerance. If miss exceeds the limit, acceptResult returns an error that names a
// tolerance that can be met. If miss is then only an estimate, the result is not final, and the next attempt bounds
// its error.
func acceptResult(c *computation, a *engineResult, miss, rounded float64) (bool, error) {
	limit := c.s.limit()
	if miss <= 1 || miss*c.s.Tolerance <= limit {
		return true, nil
	}
	if a.assumed == estimated {
		c.bounded = true
		return false, nil
	}
	return true, tooTight(limit, max(miss, 2*rounded)*c.s.Tolerance)
}

// refineError returns err. If rounding stopped an iteration, it returns a [*ToleranceError] with the tolerance that
// an elimination meets instead.
func (c *computation) refineError(err error) error {
	if lost(err) && c.eliminated > 0 && c.eliminated < 1 {
		return tooTight(c.s.Tolerance, c.eliminated)
	}
	return err
}

type attempts struct {
	c         *computation
	measure   errorMeasure
	count     int     // attempts without an error
	again     bool    // the next attempt begins with the last result
	restarted bool    // an attempt began at zero with the smallest tolerance
	reached   float64 // error before the restart

	miss, rounded float64 // errors of the last attempt, see planNext
}

// planNext decides whether an attempt was the last one, and sets the effort of the next. miss is the error of the
// image, and rounded its part from rounding, both as multiples of the tolerance. The first line that holds decides:
//
//	miss ≤ 1                                      done
//	strict, rounded > mostGain, and miss ≤
//	    2·rounded or two attempts                 ErrTolerance
//	attempts left, and strict or miss > 2·rounded a smaller tolerance, from the last image
//	strict, two attempts, no restart, rounded < 1 the smallest tolerance, from zero
//	strict                                        ErrTolerance
//	otherwise                                     done, above a tolerance that need not be met
//
// A tolerance is strict if it must be met. No attempt is left after [mostAttempts], or after a result that no smaller
// tolerance of the engine would improve.
func (t *attempts) planNext(y *sparse.Block[float64], a *engineResult,
	err error) (done bool, _ error) {
	c := t.c
	switch {
	case t.restarted && errors.Is(err, iterative.ErrIndefinite):
		return true, tooTight(c.s.Tolerance, t.reached)
	case err != nil:
		return true, err
	}
	t.again = true
	t.count++
	c.log.note(a.sweeps, a.method)
	miss := t.measure(y, a.bound)
	t.miss = miss
	if miss <= 1 {
		return true, nil
	}
	rounded := t.measure(y, a.rounded)
	t.rounded = rounded
	promise := 2 * rounded // engines may stop if rounding is half of the bound
	if a.isSmallest {
		promise = max(promise, miss)
	}
	switch {
	case c.strict && rounded > mostGain && (t.count > 1 || miss <= 2*rounded):
		return true, tooTight(c.s.Tolerance, promise*c.s.Tolerance)
	case !a.isSmallest && t.count <= mostAttempts && (c.strict || miss > 2*rounded):
		aim := 0.5
		if !c.strict {
			aim = max(aim, 1.5*rounded)
		}
		c.effort *= aim / miss
		return false, nil
	case c.strict && t.count > 1 && !t.restarted && rounded < 1: // a start at zero may reach a smaller error
		t.again = false
		t.restarted = true
		t.reached = max(miss, promise) * c.s.Tolerance
		c.effort = epsilon
		return false, nil
	case c.strict:
		return true, tooTight(c.s.Tolerance, max(miss, promise)*c.s.Tolerance)
	}
	return true, nil
}

// small returns the result of an elimination on up to [iterative.ExactFirst] nodes, or nil if it misses the limit of
// the settings. It ignores the memory limit, on which bits must not depend.
func (c *computation) small(ctx context.Context, e engine,
	dst, x *sparse.Block[float64],
	measure errorMeasure) (*engineResult, error) {
	if x.Rows > iterative.ExactFirst {
		return nil, nil
	}
	a, err := e.eliminate(ctx, dst, x)
	switch {
	case errors.Is(err, iterative.ErrStagnation), errors.Is(err, iterative.ErrFill):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if miss := measure(dst, a.bound); miss > 1 && miss*c.s.Tolerance > c.s.limit() {
		c.eliminated = miss * c.s.Tolerance
		return nil, nil
	}
	c.log.reportAttempt(a.sweeps, a.sweeps)
	c.log.note(a.sweeps, a.method)
	c.log.finishSlab("")
	return a, nil
}

// setUnits sets element (nodes[j], j) of x to v. If x is zero elsewhere, its columns are multiples of unit vectors.
func setUnits(x *sparse.Block[float64], nodes []int, v float64) {
	for j, i := range nodes {
		x.Row(i)[j] = v
	}
}

// finishSlab counts a slab as done, and notes in the report what its error bound assumes.
func (c *slabLog) finishSlab(assumed string) {
	c.done++
	c.slabSweeps = c.sweeps
	c.last = c.attempt
	if assumed != "" {
		c.report.Condition = assumed
	}
}

// mostGain is the factor by which a smaller tolerance may reduce the rounding part of an error.
const mostGain = 8

// mostAttempts bounds the reductions of the tolerance after a miss. Residuals fall in steps, so that one iterate may
// miss several tolerances.
const mostAttempts = 8

// tooTight returns a [*ToleranceError] with the reached tolerance rounded up to two digits.
func tooTight(asked, reached float64) error {
	return &ToleranceError{Asked: asked, Reached: reached * 1.06}
}

// ToleranceError is the error if rounding errors may exceed the tolerance. It wraps [ErrTolerance].
type ToleranceError struct {
	Asked   float64
	Reached float64 // a tolerance that can be met; if it is 1 or more, none can
}

// Error implements error.
func (e *ToleranceError) Error() string {
	if !(e.Reached < 1) {
		return fmt.Sprintf("%v here: asked for %.3g where no digit can be promised; take parameters farther from the end of their range", ErrTolerance, e.Asked)
	}
	return fmt.Sprintf("%v here: asked for %.3g where %.2g can be promised; loosen the tolerance", ErrTolerance, e.Asked, e.Reached)
}

// Unwrap returns [ErrTolerance].
func (e *ToleranceError) Unwrap() error { return ErrTolerance }
