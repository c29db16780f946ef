package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/double"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
)

// refinement solves a [System] beyond float64: solutions and residuals are sums of two
// numbers each, the system's own solves find the corrections (iterative refinement with
// extra precision, Demmel et al. 2006). With Z = diag(1/s)·X and C = diag(s)·B it solves
//
//	(Edge·L + diag(Ground))·Z = C,  L·z = Σ_j w_ij·(z_i − z_j)
//
// where degrees, s and Ground are those of the exact weights, and loops are no part of L.
//
// Errors are bounded row by row and rest on no eigenvalue. A definite M has an inverse
// without negative elements, and M·1 = Ground, so that |E| ≤ max_i |R_i|/Ground_i. For
// a singular one a node g of each component is held: the inverse of the rest of L has no
// negative element, so that given v with L·v ≥ q > 0 in all rows but g
//
//	|E_i − E_g| ≤ max_i |R_i|/q_i·(v_i − v_g)
//
// v, found by a refinement itself, are hitting times of g where q are the degrees.
type refinement struct {
	// least is a lower bound of the positive eigenvalues of a singular M, +Inf if there
	// is none: the least of the matrix without the rows and columns of the nodes g is
	// between (Cauchy), and not below any min_i (L·v)_i/(s_i²·v_i) with v > 0 (Collatz and
	// Wielandt).
	least float64

	system *System
	degree double.Degrees // exact degrees of the nodes; nil: neither s nor Ground is made of them
	weight double.Degrees // s², nil for ones
	q      []float64      // the lower bounds q_i of (L·v)_i by node, or Ground of a definite M
	sweeps int            // of the graph, that finding v took

	// Upper bounds of norms by component, of length-n vectors on its nodes.
	mass      []double.Number // ‖s‖² itself
	timesNorm []float64       // ‖v∘s‖, where v = 1 for a definite M
	scaleNorm []float64       // ‖s‖
}

// refinementFits returns [ErrMemory] if memory, unless it is 0, has no room for what a
// refinement holds, and solves take beside the blocks of the system's own for as many
// columns.
func refinementFits(n, cols int, memory int64) error {
	if memory > 0 && memory < 40*int64(n)+tall.BlockBytes[float64](n, max(1, cols/2)) {
		return ErrMemory
	}
	return nil
}

// RefineTo stores the solution of M·X = B in x, or M⁺·B, rounded once: see [System.Plain].
// The result has Sweeps, ErrorBound, Least and SampledCholesky alone; with nil blocks it has
// Least. Only the systems of [ShiftedLaplacian] and [VonNeumann] are refined; else, and
// where no bound is found, the error is [ErrStagnation]. Where memory in bytes, 0 for no
// limit, has no room beside the blocks of the system's own solve, the error is [ErrMemory].
// Cost: that of the system's own for some two to ten right-hand sides.
func (s *System) RefineTo(ctx context.Context, x, b *sparse.Block[float64], memory int64) (*Result, error) {
	if s.refined == nil {
		f, err := s.refinement(ctx, memory)
		if err != nil {
			return nil, err
		}
		s.refined = f
	}
	if b == nil {
		return &Result{Least: s.refined.least}, nil
	}
	return s.refined.solveTo(ctx, x, b, memory)
}

// refinement prepares refined solves.
func (s *System) refinement(ctx context.Context, memory int64) (*refinement, error) {
	if err := refinementFits(len(s.Graph.Degrees), 1, memory); err != nil {
		return nil, err
	}
	if s.free != nil || s.quotients != nil || s.rest == nil && s.Ground != nil {
		return nil, ErrStagnation
	}
	f := &refinement{system: s, q: make([]float64, len(s.Graph.Degrees))}
	if s.Scale != nil && !s.Plain || s.rest != nil && s.rest.ofDegree {
		var err error
		if f.degree, err = double.DegreesOf(ctx, s.Graph.A); err != nil {
			return nil, err
		}
		if s.Scale != nil && !s.Plain {
			f.weight = f.degree
		}
		f.sweeps++
	}
	parts := s.Graph.Components
	f.mass = make([]double.Number, len(parts.Sizes))
	f.timesNorm, f.scaleNorm = make([]float64, len(parts.Sizes)), make([]float64, len(parts.Sizes))
	for i, c := range parts.Of {
		f.mass[c] = f.mass[c].Plus(f.weight.At(i))
		f.scaleNorm[c] += f.weight.At(i).Hi
	}
	if s.Ground == nil {
		return f, f.findTimes(ctx)
	}
	for i, c := range parts.Of {
		f.q[i] = f.ground(i).Hi
		if f.q[i] == 0 { // a row that is zero
			f.q[i] = math.Inf(1)
		}
		f.timesNorm[c] = f.scaleNorm[c]
	}
	f.finishNorms()
	return f, nil
}

// finishNorms makes upper bounds of norms of sums of squares.
func (f *refinement) finishNorms() {
	const up = 1 + 1e-6
	for c := range f.timesNorm {
		f.timesNorm[c], f.scaleNorm[c] = math.Sqrt(f.timesNorm[c])*up, math.Sqrt(f.scaleNorm[c])*up
	}
}

// rest says what Ground is made of: share, of the degree where there are entries.
type rest struct {
	share    double.Number
	ofDegree bool
}

// ground returns row i's exact Ground.
func (f *refinement) ground(i int) double.Number {
	r := f.system.rest
	switch {
	case r == nil:
		return double.Number{}
	case r.ofDegree && f.degree[i].Hi > 0:
		return r.share.Times(f.degree[i])
	}
	return double.Number{Hi: f.system.Ground[i]}
}

// refining is a refinement of some columns under way.
type refining struct {
	*refinement
	z      double.Block
	r, y   *sparse.Block[float64] // residual and correction
	result *Result

	// rhs returns C_ij and a bound of its rounding; enough reports whether the residual of
	// column j, as in worst, is small enough.
	rhs    func(i, j int) (c double.Number, slack float64)
	enough func(j int, worst float64) bool

	// Residuals max_i |R_i|/q_i by column.
	worst      []float64   // largest residual of the solution so far
	byWorker   [][]float64 // over the rows that each worker has seen
	best       []float64   // the smallest of all rounds
	bestBefore []float64   // the smallest of the rounds up to stallRounds ago
}

const (
	mostRounds  = 40
	stallRounds = 4 // in which the residual must fall to a half

	// correctionTolerance is that of a correction's residual.
	correctionTolerance = 1e-6
)

// run makes corrections until all columns have enough, or no more comes of it.
func (f *refining) run(ctx context.Context) error {
	k := f.z.Hi.Cols
	f.worst, f.best, f.bestBefore = make([]float64, k), make([]float64, k), make([]float64, k)
	for j := range k {
		f.best[j], f.bestBefore[j] = math.Inf(1), math.Inf(1)
	}
	for round := 0; ; round++ {
		if err := f.residual(ctx); err != nil {
			return err
		}
		going := false
		for j, worst := range f.worst {
			f.best[j] = min(f.best[j], worst)
			stalled := round > 0 && round%stallRounds == 0 && !(f.best[j] <= f.bestBefore[j]/2)
			if round%stallRounds == 0 {
				f.bestBefore[j] = f.best[j]
			}
			if stalled || !(worst < math.Inf(1)) || round == mostRounds || f.enough(j, worst) {
				for i := range f.r.Rows { // no correction
					f.r.Row(i)[j] = 0
				}
				continue
			}
			going = true
		}
		if !going {
			return nil
		}
		if err := f.correct(ctx); err != nil {
			return err
		}
	}
}

// correct adds the system's solution for the residual to z.
func (f *refining) correct(ctx context.Context) error {
	s := f.system
	divideRows(f.r, s.Scale)
	res, err := s.SolveTo(ctx, f.y, f.r, &Settings{Tolerance: correctionTolerance})
	if res == nil {
		return err
	}
	slow := errors.Is(err, ErrIterationLimit) && !res.SampledCholesky
	if err != nil && (slow || !errors.Is(err, ErrStagnation) && !errors.Is(err, ErrIndefinite) && !errors.Is(err, ErrIterationLimit)) {
		return err
	}
	f.result.Sweeps += res.Sweeps
	f.result.SampledCholesky = f.result.SampledCholesky || res.SampledCholesky
	divideRows(f.y, s.Scale)
	for i := range f.y.Rows {
		for j, v := range f.y.Row(i) {
			if v != 0 {
				f.z.Set(i, j, f.z.At(i, j).Plus(double.Number{Hi: v}))
			}
		}
	}
	return nil
}

// residual stores C − M·Z in r, and the worst of its rows in worst.
func (f *refining) residual(ctx context.Context) error {
	s, k := f.system, f.z.Hi.Cols
	f.byWorker = make([][]float64, sched.Workers(s.Graph.Workers))
	for i := range f.byWorker {
		f.byWorker[i] = make([]float64, k)
	}
	f.result.Sweeps++
	err := double.Laplacian(ctx, s.Graph.A, s.Graph.Workers, f.z, f.finishRow)
	clear(f.worst)
	for _, list := range f.byWorker {
		for j, v := range list {
			f.worst[j] = math.Max(f.worst[j], v) // NaN stays
		}
	}
	return err
}

// finishRow makes the residual of what was added up.
func (f *refining) finishRow(worker, i int, sums []double.Number, sizes []float64) {
	ground := f.ground(i)
	edge, terms := double.Number{Hi: f.system.Edge}, 4*float64(f.r.Rows+16) // of which degrees are made
	row, worst := f.r.Row(i), f.byWorker[worker]
	for j, sum := range sums {
		c, slack := f.rhs(i, j)
		grounded := ground.Times(f.z.At(i, j))
		r := c.Minus(grounded).Minus(sum.Times(edge))
		row[j] = r.Value()
		slack += double.Rounding * (f.system.Edge*sizes[j] + terms*(math.Abs(grounded.Hi)+math.Abs(c.Hi)))
		worst[j] = math.Max(worst[j], (math.Abs(row[j])*(1+8*epsilon)+slack+tiny)/f.q[i])
	}
}

const (
	epsilon = 0x1p-52

	// tiny is beyond what underflow takes from a residual.
	tiny = 1e-290
)

// findTimes finds v and q. pinned is the node g of each component, that of the largest degree.
func (f *refinement) findTimes(ctx context.Context) error {
	s := f.system
	n, parts := len(f.q), s.Graph.Components
	pinned, total := make([]int, len(parts.Sizes)), make([]double.Number, len(parts.Sizes))
	degrees := s.Graph.WithoutHeavyLoops().Degrees
	for c := range pinned {
		pinned[c] = -1
	}
	for i, c := range parts.Of {
		if at := pinned[c]; at < 0 || degrees[i] > degrees[at] {
			pinned[c] = i
		}
	}
	for i, c := range parts.Of {
		if pinned[c] != i {
			f.q[i] = s.Edge * degrees[i]
			total[c] = total[c].Plus(double.Number{Hi: f.q[i]})
		} else {
			f.q[i] = math.Inf(1)
		}
	}
	block := func() *sparse.Block[float64] { return sparse.NewBlock[float64](n, 1) }
	run := &refining{refinement: f, z: double.NewBlock(n, 1), r: block(), y: block(), result: &Result{}}
	run.rhs = func(i, _ int) (double.Number, float64) {
		if c := parts.Of[i]; pinned[c] == i { // so that the right-hand side has no part in the null space
			return double.Number{Hi: -total[c].Hi, Lo: -total[c].Lo}, 0
		}
		return double.Number{Hi: f.q[i]}, 0
	}
	const loosest = 1. / 8
	run.enough = func(_ int, worst float64) bool { return worst <= loosest }
	if err := run.run(ctx); err != nil {
		return err
	}
	f.sweeps += run.result.Sweeps
	if !(run.worst[0] <= 4*loosest) {
		return fmt.Errorf("%w: no hitting times", ErrStagnation)
	}
	for i := range f.q {
		f.q[i] *= 1 - run.worst[0] - 8*epsilon
	}
	f.least = math.Inf(1)
	for i, c := range parts.Of {
		v, m := run.z.At(i, 0).Minus(run.z.At(pinned[c], 0)).Hi, f.weight.At(i).Hi
		f.timesNorm[c] += m * v * v
		if pinned[c] != i {
			f.least = min(f.least, f.q[i]/(m*v)*(1-1e-12))
		}
	}
	f.finishNorms()
	return nil
}

// solveTo is [System.RefineTo].
func (f *refinement) solveTo(ctx context.Context, x, b *sparse.Block[float64], memory int64) (*Result, error) {
	if err := refinementFits(b.Rows, b.Cols, memory); err != nil {
		return nil, err
	}
	out := &Result{ErrorBound: make([]float64, b.Cols), Sweeps: f.sweeps, Least: f.least}
	f.sweeps = 0
	width := max(1, b.Cols/2) // the blocks of the system's own solves are those of so many now
	f.system.cg.run.r, f.system.cg.run.p, f.system.cg.run.q, f.system.cg.run.z = nil, nil, nil, nil
	block := func() *sparse.Block[float64] { return sparse.NewBlock[float64](b.Rows, width) }
	lo, r, y := block(), block(), block()
	for at := 0; at < b.Cols; at += width {
		k := min(width, b.Cols-at)
		run := &refining{refinement: f, z: double.Block{Hi: x.Columns(at, at+k), Lo: lo.Columns(0, k)}, r: r.Columns(0, k), y: y.Columns(0, k), result: out}
		for i := range b.Rows {
			clear(run.z.Hi.Row(i))
			clear(run.z.Lo.Row(i))
		}
		if err := run.columns(ctx, b.Columns(at, at+k), out.ErrorBound[at:at+k]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// columns solves for the columns of b.
func (f *refining) columns(ctx context.Context, b *sparse.Block[float64], bound []float64) error {
	parts, k := f.system.Graph.Components, b.Cols
	components := len(parts.Sizes)
	singular := f.system.Ground == nil
	terms := float64(b.Rows + 16)

	// By component and column: what is to be taken off B, and the size of what it is
	// made of.
	off, size := make([]double.Number, components*k), make([]float64, components*k)
	touched := make([]bool, components*k)
	for i, c := range parts.Of {
		for j, v := range b.Row(i) {
			if v == 0 {
				continue
			}
			at := int(c)*k + j
			touched[at] = true
			p := f.weight.Root(i).Times(double.Number{Hi: v})
			off[at], size[at] = off[at].Plus(p), size[at]+math.Abs(p.Hi)
		}
	}
	for at := range off {
		off[at] = off[at].Over(f.mass[at/k])
		size[at] /= f.mass[at/k].Hi
	}
	f.rhs = func(i, j int) (double.Number, float64) {
		v := f.weight.Root(i).Times(double.Number{Hi: b.Row(i)[j]})
		if !singular {
			if math.IsInf(f.q[i], 1) {
				return double.Number{}, 0
			}
			return v, 0
		}
		at, m := int(parts.Of[i])*k+j, f.weight.At(i)
		return v.Minus(m.Times(off[at])), double.Rounding * (4*math.Abs(v.Hi) + terms*m.Hi*size[at])
	}
	reach, spread := make([]float64, k), make([]float64, k)
	for at, yes := range touched {
		if yes {
			reach[at%k] = math.Hypot(reach[at%k], f.timesNorm[at/k])
			spread[at%k] = math.Hypot(spread[at%k], f.scaleNorm[at/k])
		}
	}
	f.enough = func(j int, worst float64) bool {
		return worst*reach[j] <= epsilon/4*f.norm(j, f.means(j, singular))
	}
	if err := f.run(ctx); err != nil {
		return err
	}
	for j := range k {
		means, largest := f.means(j, singular), 0.0
		for i, c := range parts.Of {
			largest = max(largest, math.Abs(f.z.Hi.Row(i)[j]))
			v := f.z.At(i, j)
			if singular {
				v = v.Minus(means[c])
			}
			f.z.Hi.Row(i)[j] = f.weight.Root(i).Times(v).Value()
		}
		var norm float64
		for i := range b.Rows {
			norm = math.Hypot(norm, f.z.Hi.Row(i)[j])
		}
		bound[j] = (f.worst[j]*reach[j]+terms*double.Rounding*largest*spread[j]+epsilon*norm)*(1+1e-6) + tiny
	}
	return nil
}

// means returns the means of z in each component, weighted by s²: nil where they stay.
func (f *refining) means(j int, singular bool) []double.Number {
	if !singular {
		return nil
	}
	sums := make([]double.Number, len(f.mass))
	for i, c := range f.system.Graph.Components.Of {
		sums[c] = sums[c].Plus(f.weight.At(i).Times(f.z.At(i, j)))
	}
	for c := range sums {
		sums[c] = sums[c].Over(f.mass[c])
	}
	return sums
}

// norm returns that of column j of X.
func (f *refining) norm(j int, means []double.Number) (norm float64) {
	for i, c := range f.system.Graph.Components.Of {
		v := f.z.At(i, j)
		if means != nil {
			v = v.Minus(means[c])
		}
		norm = math.Hypot(norm, f.weight.Root(i).Hi*v.Hi)
	}
	return norm
}
