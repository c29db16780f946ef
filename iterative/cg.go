package iterative

import (
	"context"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// CG solves A·X = B by preconditioned conjugate gradients (Hestenes and Stiefel 1952). Each column
// has its own recurrence, and all columns share one sweep in a step. A must be symmetric, and
// positive definite on the complement of Null.
//
// With Scale = s the system is diag(1/s)·A·diag(1/s)·X = B. The iteration runs on A, while residuals, tolerances and Null
// belong to the scaled system. For example, D − αA with s = d^½ is the system I − αS.
//
// A CG keeps its buffers between solves: three blocks of the size of X, four with a preconditioner
// other than Jacobi's. It must not be used concurrently.
type CG struct {
	A       sparse.Applier[float64]
	Scale   []float64        // positive; nil means ones
	Null    *blocks.Disjoint // null space of the scaled system; nil: A is definite
	Precond Preconditioner   // preconditioner of A, or nil
	Workers int              // number of goroutines for vectors, 0: one for each processor

	ladder *ladder // nil: Precond serves all columns
	run    run

	// complete states that Precond is the inverse of A, or A⁺ outside the null space. Without Start the iteration begins at
	// Precond's solution.
	complete bool

	// easy are eigenvectors of the scaled system with the eigenvalues ground/s², which slow the iteration down the most.
	// Without Start the iteration begins at the exact solution for the part of B in the span of easy. If image = A·1 is
	// set, easy only approximates eigenvectors: ground/s² are Rayleigh quotients, and the iteration begins at Galerkin's
	// approximation.
	easy          *blocks.Disjoint
	ground, image []float64
}

type column struct {
	target   float64 // the column has converged if residual ≤ target
	norm     float64 // norm of the right-hand side
	first    float64 // residual before the first step
	residual float64 // current norm of the residual
	rz       float64 // rᵀM⁻¹r
	progress progress
	steps    int
	limit    int
	status   status
}

type status uint8

const (
	live status = iota
	converged
	exhausted // reached the limit of steps
	indefinite
	noDirection // only rounding errors are left
	waiting     // waits for the ladder's next preconditioner
)

func (c *column) relative() float64 {
	if c.norm == 0 {
		return 0
	}
	return c.residual / c.norm
}

// advance counts a step and returns its length α = rᵀz/pq, where pq = pᵀAp for the direction p. If the column is not live,
// or if pq ≤ 0, which makes the column indefinite, advance returns 0.
func (c *column) advance(pq float64) (alpha float64) {
	switch {
	case c.status != live:
		return 0
	case !(pq > 0) || math.IsInf(pq, 0):
		c.status = indefinite
		return 0
	}
	alpha = c.rz / pq
	c.steps++
	if c.progress.steps == 0 {
		c.progress.first = c.rz
	}
	c.progress.steps++
	c.progress.energy += float64(alpha * c.rz)
	c.progress.longest = max(0.8*c.progress.longest, alpha)
	return alpha
}

// turn returns the β of the next direction z + β·p, given rr = rᵀr and rz = rᵀz. If rz ≤ 0, z consists of rounding errors,
// and the column gets the status noDirection. With a null space this may happen before the residual is small.
func (c *column) turn(rr, rz float64) (beta float64) {
	if c.status != live {
		return 0
	}
	c.residual = math.Sqrt(rr)
	c.progress.residual = c.residual
	if !(rz > 0) {
		c.status = noDirection
		return 0
	}
	beta = rz / c.rz
	c.rz = rz
	return beta
}

// SolveTo stores in x the solution of A·X = B. If A has a null space, the solution is X = A⁺B, orthogonal to the null
// space. If Start is set, SolveTo begins with x. x must not be b.
//
// The error is [ErrIterationLimit], [ErrIndefinite], [ErrStagnation], the error of the context, or an error of a sweep. If
// it is one of the first three, SolveTo also returns the result, and each column of x has the smallest energy error of its
// steps.
//
// Cost: a sweep for each step, one more for the true residual, and one more for a start that is not zero. Allocations per
// step do not grow with the system.
func (c *CG) SolveTo(ctx context.Context, x, b *sparse.Block[float64],
	s *Settings) (*Result, error) {
	n, cols := c.A.Dims()
	switch {
	case n != cols || b.Rows != n || x.Rows != n || b.Cols != x.Cols,
		c.Scale != nil && len(c.Scale) != n,
		c.Null != nil && len(c.Null.Unit) != n,
		s != nil && s.Absolute != nil && len(s.Absolute) != b.Cols:
		panic(badShape)
	case n > 0 && &x.Data[0] == &b.Data[0]:
		panic(badOverlap)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	r := &c.run
	r.begin(c, x, b, s.withDefaults())
	defer r.end()
	if err := r.solve(ctx); err != nil {
		return nil, err
	}
	return r.rec.result, r.verdict()
}

// solve runs the recurrence of all columns. It continues if a true residual is larger than the residual of the recurrence,
// or if columns wait for the next preconditioner.
func (r *run) solve(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	for {
		if r.count(live) > 0 { // p starts at z
			r.v.clear(r.v.p)
			r.rec.turn()
		}
		for r.count(live) > 0 {
			if err := r.step(ctx); err != nil {
				return err
			}
		}
		again, err := r.verify(ctx)
		if err == nil && !again {
			again, err = r.climb(ctx)
		}
		if err != nil {
			return err
		}
		if !again {
			r.finish()
			return sched.Cause(ctx)
		}
		if err := r.open(ctx); err != nil {
			return err
		}
	}
}

// verify computes the true residuals, and reports whether a column that seemed converged or stuck must continue.
func (r *run) verify(ctx context.Context) (again bool, err error) {
	if r.settings.Recurrence || r.rec.exact {
		return false, nil
	}
	if err := r.trueResidual(ctx); err != nil {
		return false, err
	}
	if err := r.discard(ctx); err != nil {
		return false, err
	}
	for j := range r.columns {
		c := &r.columns[j]
		if c.status == noDirection {
			c.status = converged
		}
		if c.status != converged && c.status != indefinite ||
			c.residual <= c.target {
			continue
		}
		// A column is stuck at rounding errors if its second start has not halved the residual of the first.
		stuck := r.verified[j] > 0 && c.residual > r.verified[j]/2
		r.verified[j] = c.residual
		switch {
		case !stuck && c.steps < c.limit:
			c.status = live
			again = true
		case c.status == converged:
			r.stagnant = true
		}
	}
	return again, nil
}

// discard sets columns of x to zero if their residual is worse than the residual of zero. Rounding errors may dominate such
// columns if the map is nearly singular.
func (r *run) discard(ctx context.Context) error {
	hasDiscarded := false
	for j := range r.columns {
		if c := &r.columns[j]; c.residual <= worthless*c.norm {
			continue
		}
		hasDiscarded = true
		for i := range r.v.x.Rows {
			r.v.x.Row(i)[j] = 0
		}
	}
	if !hasDiscarded {
		return nil
	}
	return r.trueResidual(ctx)
}

const worthless = 2

// climb continues the waiting columns with the next preconditioner.
func (r *run) climb(ctx context.Context) (again bool, err error) {
	if r.cg.ladder == nil || r.count(waiting) == 0 {
		return false, nil
	}
	if r.cg.Precond, err = r.cg.ladder.climb(ctx); err != nil {
		return false, err
	}
	r.v.p, r.v.q = blocks.Reshape(r.v.p, r.v.b.Rows, r.v.b.Cols),
		blocks.Reshape(r.v.q, r.v.b.Rows, r.v.b.Cols)
	for j := range r.columns {
		c := &r.columns[j]
		if c.status != waiting {
			continue
		}
		c.status = live
		c.progress = progress{energy: c.progress.energy}
		if r.cg.ladder.allowed > 0 {
			c.limit = c.steps + r.cg.ladder.allowed
		}
	}
	if !r.cg.ladder.again {
		r.cg.ladder = nil
	}
	r.rec.setPreconditioner()
	return true, nil
}

// step does one step of every live column.
func (r *run) step(ctx context.Context) error {
	if err := r.rec.multiply(ctx); err != nil {
		return err
	}
	r.rec.exact = false
	for j := range r.columns {
		c := &r.columns[j]
		r.v.alpha[j] = c.advance(r.rec.products[j])
		if c.status == indefinite && r.cg.ladder != nil { // rounding errors stop Jacobi
			c.status = waiting
		}
	}
	r.rec.update()
	if !r.isLastStep() {
		if err := r.rec.precondition(ctx); err != nil {
			return err
		}
	}
	for j := range r.columns {
		r.v.beta[j] = r.columns[j].turn(r.rec.rr[j], r.rec.rz[j])
	}
	r.rec.turn()
	r.rec.result.Steps++
	r.record()
	if r.cg.ladder != nil {
		r.cg.ladder.review(r.columns)
	}
	return nil
}

// isLastStep reports whether no column needs another direction, so that the preconditioner need not
// be applied.
func (r *run) isLastStep() bool {
	if r.rec.v.z == nil {
		return false
	}
	for j := range r.columns {
		c := &r.columns[j]
		if c.status == live && !(math.Sqrt(r.rec.rr[j]) <= c.target) {
			return false
		}
		r.rec.rz[j] = c.rz
	}
	return true
}

// record marks columns that have converged and reports the residuals.
func (r *run) record() {
	var worst float64
	enough := r.settings.Enough != nil && r.settings.Enough(r.v.x.Data, r.v.r.Data)
	for j := range r.columns {
		col := &r.columns[j]
		if col.status == live && (col.residual <= col.target || enough) {
			col.status = converged
		}
		if col.status == live && col.steps >= col.limit {
			col.status = exhausted
		}
		r.relative[j] = col.relative()
		worst = max(worst, col.relative())
	}
	r.rec.result.History = append(r.rec.result.History, worst)
	if r.settings.Recorder != nil {
		r.settings.Recorder(r.rec.result.Steps, r.relative)
	}
}

func (r *run) count(s status) (n int) {
	for j := range r.columns {
		if r.columns[j].status == s {
			n++
		}
	}
	return n
}

func (r *run) verdict() error {
	res := r.rec.result
	for j := range r.columns {
		col := &r.columns[j]
		res.ColumnSteps[j], res.Residual[j], res.Relative[j] = col.steps,
			col.residual, col.relative()
		res.estimate[j] = col.estimate()
	}
	worst := -1
	for j := range r.columns {
		col := &r.columns[j]
		if col.residual <= col.target ||
			r.settings.Recurrence && col.status == converged {
			continue
		}
		if col.status == indefinite {
			return fmt.Errorf("%w: column %d broke down at step %d, residual %.3g",
				ErrIndefinite, j, col.steps, col.residual)
		}
		if worst < 0 || col.residual*r.columns[worst].target > r.columns[worst].residual*col.target {
			worst = j
		}
	}
	if worst < 0 {
		return nil
	}
	col := &r.columns[worst]
	if r.stagnant && col.status == converged {
		return fmt.Errorf("%w: column %d stays at residual %.3g, asked for %.3g",
			ErrStagnation, worst, col.residual, col.target)
	}
	return fmt.Errorf("%w: after %d steps column %d has residual %.3g, asked for %.3g",
		ErrIterationLimit, col.steps, worst, col.residual, col.target)
}
