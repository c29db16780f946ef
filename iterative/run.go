package iterative

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type run struct {
	cg                 *CG
	v                  passes
	rec                recurrence
	settings           Settings
	stagnant           bool
	columns            []column
	relative, verified []float64 // one for each column
}

type recurrence struct {
	cg               *CG
	v                *passes
	result           *Result
	exact            bool              // r is the true residual
	products, rr, rz []float64         // one for each column
	dot              func(sparse.Rows) // dotRows; stored, because each method value is an allocation
}

type passes struct {
	cg      *CG
	team    *sparse.Team
	x, b    *sparse.Block[float64]
	r, p, q *sparse.Block[float64] // residual, direction, A·direction
	z       *sparse.Block[float64] // preconditioned residual, in the memory of q; nil if z is diag(inverse)·r

	alpha, beta []float64 // one for each column

	inverse []float64 // inverse diagonal of the preconditioner, or ones
	ones    []float64 // nil until unit is called

	parts []float64 // sums of chunks
	dots  sched.Sums
	null  nullShare
}

// begin prepares the vectors and counters of a solve.
func (r *run) begin(c *CG, x, b *sparse.Block[float64], s Settings) {
	n := b.Rows
	k := b.Cols
	r.cg, r.v.cg, r.rec.cg, r.rec.v = c, c, c, &r.v
	r.v.team, r.v.x, r.v.b, r.settings, r.stagnant = sparse.TeamOf(c.A), x,
		b, s, false
	r.rec.result = &Result{
		ColumnSteps: make([]int, k),
		Residual:    make([]float64, k),
		Relative:    make([]float64, k),
		estimate:    make([]float64, k),
	}
	for _, block := range []**sparse.Block[float64]{&r.v.r, &r.v.p, &r.v.q} {
		*block = blocks.Reshape(*block, n, k)
	}
	r.columns = blocks.Grow(r.columns, k)
	for j := range r.columns {
		r.columns[j] = column{limit: s.MaxIterations}
	}
	for _, v := range []*[]float64{&r.v.alpha, &r.v.beta, &r.rec.products,
		&r.rec.rr, &r.rec.rz, &r.relative, &r.verified} {
		*v = blocks.Grow(*v, k)
		clear(*v)
	}
	r.v.parts = blocks.Grow(r.v.parts, 2*k*blocks.Chunks(n))
	if c.Null != nil {
		r.v.null.Begin(c.Null, 2*k)
		r.v.null.scale = c.Scale
	}
	r.rec.setPreconditioner()
	r.rec.dot = r.v.dotRows
}

func (r *run) end() {
	r.cg, r.v.cg, r.rec.cg, r.v.x, r.v.b, r.settings = nil, nil, nil, nil,
		nil, Settings{}
}

// chunks is [blocks.EachChunk] with one allocation less, because a step has many calls.
func (r *passes) chunks(do func(r *passes, chunk, lo, hi int)) {
	rows := r.b.Rows
	_ = sched.Run(context.Background(), r.cg.Workers, blocks.Chunks(rows), func(_, chunk int) error {
		do(r, chunk, chunk*blocks.ChunkRows, min((chunk+1)*blocks.ChunkRows, rows))
		return nil
	})
}

// start prepares the recurrence at the first approximation.
func (r *run) start(ctx context.Context) error {
	switch {
	case !r.settings.Start && r.cg.easy == nil && !r.cg.complete:
		r.v.clear(r.v.x)
	case r.settings.Start:
		blocks.DivideRows(r.v.x, r.cg.Scale)
	}
	r.rec.rightHandSide()
	for j := range r.columns {
		col := &r.columns[j]
		col.norm = math.Sqrt(r.rec.rr[j])
		if err := checkNorm(j, col.norm); err != nil {
			return err
		}
		col.target = r.settings.Tolerance * col.norm
		if r.settings.Absolute != nil {
			col.target = r.settings.Absolute[j]
		}
	}
	var err error
	switch {
	case r.settings.Start:
		err = r.subtractProduct(ctx)
	case r.cg.complete:
		err = r.startComplete(ctx)
	case r.cg.easy != nil:
		r.rec.startEasy()
	}
	if err != nil {
		return err
	}
	r.rec.exact = r.cg.easy == nil || r.settings.Start
	if err := r.open(ctx); err != nil {
		return err
	}
	for j := range r.columns {
		r.columns[j].first = r.columns[j].residual
	}
	r.record()
	return nil
}

// startComplete stores in x the solution by the complete factor, and in r the residual of x. It counts as a step.
func (r *run) startComplete(ctx context.Context) error {
	if err := r.cg.Precond.ApplyTo(ctx, r.v.x, r.v.r); err != nil {
		return err
	}
	if r.cg.Null != nil {
		r.v.chunks(func(r *passes, chunk, lo, hi int) { r.addNull(chunk, lo, hi, r.x) })
		r.v.null.total()
		r.v.chunks(func(r *passes, _, lo, hi int) { r.removeNull(lo, hi, r.x) })
	}
	for j := range r.columns {
		if c := &r.columns[j]; c.norm > 0 {
			c.steps = 1
			r.rec.result.Steps = 1
		}
	}
	return r.subtractProduct(ctx)
}

func (r *run) subtractProduct(ctx context.Context) error {
	r.rec.result.Sweeps++
	return r.cg.A.StepTo(ctx, r.v.r, r.v.x,
		sparse.Step[float64]{Alpha: -1, Delta: 1, Prev: r.v.r})
}

func checkNorm(j int, norm float64) error {
	if norm <= math.MaxFloat64 {
		return nil
	}
	return fmt.Errorf("%w: column %d of the right-hand sides has norm %g; its numbers and their squares must be finite", ErrParameter, j, norm)
}

// startEasy stores in x the solution for the part of B in the span of CG.easy, and subtracts A·x from r without a sweep.
func (r *recurrence) startEasy() {
	var share blocks.Share
	share.Compute(r.cg.easy, r.v.b, r.cg.Workers, nil)
	r.v.chunks(func(r *passes, _, lo, hi int) {
		share.EachRun(lo, hi, func(p blocks.Run) {
			for i := p.Lo; i < p.Hi; i++ {
				x := r.x.Row(i)
				res := r.r.Row(i)
				if p.Total == nil && !p.Own {
					clear(x)
					continue
				}
				s := blocks.Factor(r.cg.Scale, i)
				u := 1.0
				source := r.b.Row(i)
				if p.Total != nil {
					u = p.Unit[i-p.Lo]
					source = p.Total
				}
				f := u * s
				g := u * s / r.cg.ground[i]
				if r.cg.image != nil {
					f = r.cg.image[i] * g
				}
				for j, v := range source {
					x[j] = g * v
					res[j] -= float64(f * v)
				}
			}
		})
	})
}

func (r *passes) clear(b *sparse.Block[float64]) {
	r.chunks(func(r *passes, _, lo, hi int) {
		for i := lo; i < hi; i++ {
			clear(b.Row(i))
		}
	})
}

// rightHandSide stores s∘(B − P₀B) in r, and squared column norms of B − P₀B in rr; P₀ projects on the null space.
func (r *recurrence) rightHandSide() {
	projected := r.outside(r.v.r)
	r.v.chunks(func(r *passes, chunk, lo, hi int) {
		rr := r.part(chunk, 0)
		clear(rr)
		for i := lo; i < hi; i++ {
			target := r.r.Row(i)
			s := blocks.Factor(r.cg.Scale, i)
			for j, v := range projected.Row(i) {
				rr[j] += float64(v * v)
				target[j] = s * v
			}
		}
	})
	r.v.total(r.rr, 0)
}

// outside returns B − P₀B, where P₀ projects on the null space. If there is a null space, outside stores the result in
// room.
func (r *recurrence) outside(room *sparse.Block[float64]) *sparse.Block[float64] {
	if r.cg.Null == nil {
		return r.v.b
	}
	r.cg.Null.RemoveTo(room, r.v.b, r.cg.Workers)
	return room
}

// subtractAgain stores s∘(B − P₀B) − A·X in r. It overwrites q, which is free between steps.
func (r *recurrence) subtractAgain(ctx context.Context) error {
	projected := r.outside(r.v.q)
	scale := r.cg.Scale
	if scale == nil {
		scale = r.v.unit()
	}
	r.exact = true
	r.result.Sweeps++
	return r.cg.A.StepTo(ctx, r.v.r, r.v.x, sparse.Step[float64]{Alpha: -1, Visit: func(rows sparse.Rows) {
		res := simd.RowsOf(r.v.r.Data, r.v.r.Stride, rows.Lo)
		simd.AddRows(res, rows.Hi-rows.Lo, r.v.b.Cols, res, scale[rows.Lo:rows.Hi],
			simd.RowsOf(projected.Data, projected.Stride, rows.Lo))
	}})
}

// trueResidual stores s∘(B − P₀B) − A·X in r, and the norms of the residuals in the columns.
func (r *run) trueResidual(ctx context.Context) error {
	if err := r.rec.subtractAgain(ctx); err != nil {
		return err
	}
	r.rec.measure()
	for j := range r.columns {
		r.columns[j].residual = math.Sqrt(r.rec.rr[j])
	}
	return nil
}

func (r *recurrence) setPreconditioner() {
	r.v.z = nil
	switch p := r.cg.Precond.(type) {
	case nil:
		r.v.inverse = r.v.unit()
	case *jacobi:
		r.v.inverse = p.inverse
	default:
		r.v.inverse = r.v.unit()
		r.v.z = r.v.q
	}
}

// measure computes rᵀr, and with Jacobi rᵀz.
func (r *recurrence) measure() {
	clear(r.v.alpha)
	r.addUp(func(r *passes, chunk, lo, hi int) { r.lessen(chunk, lo, hi, r.r) }) // any finite block times 0
}

func (r *recurrence) addUp(pass func(r *passes, chunk, lo, hi int)) {
	r.v.chunks(pass)
	r.v.total(r.rr, 0)
	r.v.total(r.rz, 1)
}

// open begins a recurrence from the residual in r.
func (r *run) open(ctx context.Context) error {
	r.rec.measure()
	if r.rec.exact && r.isSolved() {
		return nil
	}
	if err := r.rec.precondition(ctx); err != nil {
		return err
	}
	for j := range r.columns {
		col := &r.columns[j]
		r.v.alpha[j], r.v.beta[j] = 0, 0
		col.rz, col.residual = r.rec.rz[j], math.Sqrt(r.rec.rr[j])
		if col.status == live && col.residual <= col.target {
			col.status = converged
		}
	}
	return nil
}

// isSolved reports whether all residuals have reached their targets. If they have, it marks the columns as converged, so
// that no preconditioner is applied.
func (r *run) isSolved() bool {
	for j := range r.columns {
		if c := &r.columns[j]; !(math.Sqrt(r.rec.rr[j]) <= c.target) {
			return false
		}
	}
	for j := range r.columns {
		c := &r.columns[j]
		c.residual = math.Sqrt(r.rec.rr[j])
		c.status = converged
	}
	return true
}

// multiply computes q = A·p and pᵀq.
func (r *recurrence) multiply(ctx context.Context) error {
	r.v.dots.Begin(r.v.b.Cols)
	r.result.Sweeps++
	err := r.cg.A.StepTo(ctx, r.v.q, r.v.p,
		sparse.Step[float64]{Alpha: 1, Visit: r.dot})
	r.v.dots.TotalTo(r.products)
	r.v.team.Sum(r.products)
	return err
}

func (r *recurrence) update() {
	r.addUp(func(r *passes, chunk, lo, hi int) { r.lessen(chunk, lo, hi, r.q) })
}

// precondition subtracts from rᵀz and rᵀr the parts of z and r in the null space. If the preconditioner is not Jacobi's, it
// first computes z and rᵀz, which other passes compute for Jacobi's.
func (r *recurrence) precondition(ctx context.Context) error {
	if r.v.z != nil {
		r.projectResidual()
		if err := r.cg.Precond.ApplyTo(ctx, r.v.z, r.v.r); err != nil {
			return err
		}
		r.v.chunks((*passes).productsChunk)
		r.v.total(r.rz, 1)
	}
	if r.cg.Null != nil {
		r.v.null.total()
		// The parts of r and z in the null space would decide the last steps, so that rᵀr and rᵀz must omit them.
		k := r.v.b.Cols
		for products := range slices.Chunk(r.v.null.Totals, 2*k) {
			inZ := products[:k]
			inR := products[k:]
			for j := range inZ {
				r.rz[j] -= float64(inZ[j] * inR[j])
				r.rr[j] -= float64(inR[j] * inR[j])
			}
		}
		for j := range r.rz {
			r.rz[j], r.rr[j] = max(0, r.rz[j]), max(0, r.rr[j])
		}
	}
	return nil
}

// projectResidual subtracts from r the part of r in the null space. Rounding errors let this part grow, and a factor of a
// singular matrix would enlarge it.
func (r *recurrence) projectResidual() {
	if r.cg.Null == nil {
		return
	}
	r.v.null.total()
	const negligible = 1e-14 // share of the norm of a column
	isNeeded := false
	k := r.v.b.Cols
	for products := range slices.Chunk(r.v.null.Totals, 2*k) {
		for j, v := range products[k:] {
			if math.Abs(v) <= negligible*math.Sqrt(r.rr[j]) {
				products[k+j] = math.Copysign(0, -1)
			} else {
				isNeeded = true
			}
		}
	}
	if isNeeded {
		r.v.chunks(func(r *passes, _, lo, hi int) {
			var room [blocks.ChunkRows]float64
			factors := r.null.factors(&room, lo, hi, false)
			r.null.Subtract(lo, hi, r.b.Cols, factors, r.r, r.r)
		})
	}
}

func (r *recurrence) turn() { r.v.chunks((*passes).turnChunk) }

// finish turns x into the solution of the scaled system.
func (r *run) finish() {
	if r.cg.Scale != nil {
		r.v.chunks(func(r *passes, _, lo, hi int) {
			for i, s := range r.cg.Scale[lo:hi] {
				row := r.x.Row(lo + i)
				for j := range row {
					row[j] *= s
				}
			}
		})
	}
	if r.cg.Null != nil {
		r.cg.Null.RemoveTo(r.v.x, r.v.x, r.cg.Workers)
	}
}
