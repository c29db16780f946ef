package kernel

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// PersonalizedPageRank is the PageRank of walks that restart at nodes in proportion to the weights p of a column. The
// graph may be directed. It is not a kernel, because a walk leaves a sink by the weights of the whole column.
var PersonalizedPageRank = &param.Spec{
	Name:   "personalized-pagerank",
	Title:  "x = α·(Tᵀx + s·q) + (1−α)·p, s: sum of x at sinks",
	Works:  param.Undirected | param.Directed,
	Source: "Brin and Page, The anatomy of a large-scale hypertextual Web search engine, WWW 1998",
	Params: []param.Param{
		{
			Name: "alpha", Symbol: "α",
			Meaning: "share of a walk that goes on at a step",
			Range:   param.Range{Most: 1, BelowMost: true}, Default: param.Of(0.85),
		},
		{Name: "sinks", Meaning: "q, where a walk goes on from a node without out-edges", Kind: param.Choice, Words: []string{"seeds", "all"}, Default: param.Of("seeds")},
	},
}

func (f *Function) pageRank(ctx context.Context, g *graph.Graph) error {
	arcs := g.In
	if arcs == nil {
		arcs = g.A
	}
	lengths, err := sparse.RowSums(ctx, arcs, g.Workers,
		func(col []uint32, _ []float64) float64 { return float64(len(col)) })
	if err != nil {
		return err
	}
	inverse := blocks.Inverses(g.Degrees)
	w := &restartingWalk{f: f, graph: g, lengths: lengths, inverse: inverse,
		alpha: f.Values.Number("alpha"),
		op:    &sparse.Operator[float64]{A: arcs, Right: inverse, Workers: g.Workers}}
	if f.Values.Word("sinks") == "all" {
		w.uniform = 1 / float64(f.team.TotalOf(len(g.Degrees)))
	}
	f.apply = w.applyTo
	return nil
}

// restartingWalk is the map of [PersonalizedPageRank]: p is a column of weights ≥ 0 divided by their sum; q is p, or
// 1/n at all n nodes.
type restartingWalk struct {
	f       *Function
	graph   *graph.Graph
	op      *sparse.Operator[float64] // Tᵀ
	lengths []float64                 // entries of each row
	inverse []float64                 // inverse degrees, 0 at sinks
	alpha   float64
	uniform float64 // weight of every node in q; 0: q is p
}

// applyTo iterates the map. A step contracts the sum of absolute values by α, so that the error is at most α/(1−α)
// times the last change plus 1/(1−α) times the rounding errors of a step. After patience steps, and on directed
// graphs again until mostSteps, a solve of the linear system improves the iterate, unless it needs more than
// mostSolveBytes.
func (w *restartingWalk) applyTo(ctx context.Context, y, b *sparse.Block[float64], s *Settings) (*Report, error) {
	p, err := w.startWeights(b)
	if err != nil {
		return nil, err
	}
	cols := b.Cols
	q := p
	if w.uniform > 0 {
		q = sparse.NewBlock[float64](b.Rows, cols)
		for i := range q.Rows {
			copy(q.Row(i), slices.Repeat([]float64{w.uniform}, cols))
		}
	}
	blocks.Copy(y, p)
	next := sparse.NewBlock[float64](b.Rows, cols)
	r := &Report{Method: "power iteration",
		ColumnBound: make([]float64, cols)}
	lost := w.lost(y)
	room := budget.Subtract(s.Memory, pageRankWorkspace(b.Rows, 0, cols).Required(0))
	solves := patience // sweeps before the next solve
	if solveBytes(b.Rows, cols) > mostSolveBytes {
		solves = math.MaxInt
	}
	for isDone := false; !isDone; r.Sweeps++ {
		if r.Sweeps >= solves {
			var solved int
			if w.graph.In == nil {
				r.Method = "conjugate gradients"
				solves = math.MaxInt
				solved, err = w.solve(ctx, y, p, room)
			} else {
				r.Method = "stabilized biconjugate gradients"
				solves = 4 * r.Sweeps // half of the sweeps should be steps
				solved, err = w.improve(ctx, y, p, q, r.Sweeps)
			}
			if err != nil {
				return nil, err
			}
			r.Sweeps += solved
			lost = w.lost(y)
		}
		sums, err := w.step(ctx, y, next, p, q, lost)
		if err != nil {
			return nil, err
		}
		lost = sums[:cols]
		isDone = true
		left := 1.0 // steps that a column still needs if changes shrink by α
		for j, norm := range blocks.Norms(w.f.team, y) {
			change := w.alpha * sums[cols+j]
			rounding := sums[2*cols+j]
			r.ColumnBound[j] = (change + rounding) / (1 - w.alpha)
			if r.ColumnBound[j] > s.Tolerance*norm && change > rounding && r.Sweeps < mostSteps {
				isDone = false
				aim := max(rounding, s.Tolerance*norm*(1-w.alpha)-rounding)
				left = max(left, math.Ceil(math.Log(aim/change)/math.Log(w.alpha)))
			}
		}
		if s.Progress != nil {
			s.Progress("computing", int64(r.Sweeps+1), int64(r.Sweeps+1)+int64(left))
		}
	}
	return r, nil
}

const (
	patience  = 100    // steps that cost about as much as a solve
	mostSteps = 30_000 // enough for α up to 0.999

	// mostSolveBytes is the memory of the largest solve, so that a memory limit never changes a result.
	mostSolveBytes = 1 << 30
)

// pageRankWorkspace returns the workspace of applyTo. Memory for a factor is optional.
func pageRankWorkspace(n int, entries int64, cols int) budget.Workspace {
	w := budget.Held(budget.Times(5, budget.Block[float64](n, cols)), budget.Times(6, budget.Vector[float64](n)))
	if solve := solveBytes(n, cols); solve <= mostSolveBytes {
		w.Fixed = budget.AllOf(w.Fixed, solve)
		w = w.And(iterative.FactorWorkspace(n, entries, false))
	}
	return w
}

func solveBytes(n, cols int) budget.Size {
	return budget.AllOf(budget.Times(7, budget.Block[float64](n, cols+1)), budget.Times(6, budget.Vector[float64](n)))
}

func (w *restartingWalk) lost(x *sparse.Block[float64]) []float64 {
	return w.f.sumRows(x, x.Cols, func(i int, sums []float64) {
		for j, v := range x.Row(i) {
			if w.inverse[i] == 0 {
				sums[j] += v
			}
		}
	})
}

// solve stores in y the solution x = (I − αTᵀ)⁻¹·((1−α)·p + α·s·q), and returns its sweeps. At nodes with edges x =
// D·z, where z solves a system with D − αA; at sinks, x is the right-hand side.
func (w *restartingWalk) solve(ctx context.Context, y, p *sparse.Block[float64],
	memory int64) (sweeps int, err error) {
	system, err := iterative.VonNeumann(w.graph, false, w.alpha)
	if err != nil {
		return 0, err
	}
	system.Memory = memory
	cols := p.Cols
	if w.uniform > 0 {
		cols++ // one more for q
	}
	startOf := func(i, j int) float64 {
		if j == p.Cols {
			return w.uniform
		}
		return p.Row(i)[j]
	}
	right := sparse.NewBlock[float64](p.Rows, cols) // 0 at sinks, where the system has no entries
	z := sparse.NewBlock[float64](p.Rows, cols)
	for i, d := range w.graph.Degrees {
		for j := range right.Row(i) {
			if d > 0 {
				right.Row(i)[j] = startOf(i, j)
			}
		}
	}
	out, err := system.SolveTo(ctx, z, right, &iterative.Settings{Tolerance: leastTolerance})
	if err != nil && !errors.Is(err, iterative.ErrStagnation) && !errors.Is(err, iterative.ErrIterationLimit) {
		return 0, err
	}
	for i, d := range w.graph.Degrees {
		for j := range z.Row(i) {
			if z.Row(i)[j] *= d; d == 0 {
				z.Row(i)[j] = startOf(i, j)
			}
		}
	}
	lost := w.lost(z)
	for i := range y.Rows {
		row := y.Row(i)
		for j, v := range z.Row(i)[:y.Cols] {
			if w.uniform == 0 {
				row[j] = (1 - w.alpha) * v / (1 - w.alpha*lost[j])
			} else {
				row[j] = (1 - w.alpha) * (v + z.Row(i)[y.Cols]*w.alpha*lost[j]/(1-w.alpha*lost[y.Cols]))
			}
		}
	}
	return out.Sweeps, nil
}

// improve adds to y an approximate solution of (I − αM)·z = r, where r = αM·y + (1−α)·p − y is the residual and M a step with the
// jumps from sinks, by at most most sweeps of Bi-CGSTAB (van der Vorst 1992). A column whose residual does not shrink
// stays as it is.
func (w *restartingWalk) improve(ctx context.Context, y, p, q *sparse.Block[float64], most int) (sweeps int, err error) {
	var start, residual, direction, image, next, z *sparse.Block[float64]
	for _, block := range []**sparse.Block[float64]{&start, &residual, &direction, &image, &next, &z} {
		*block = sparse.NewBlock[float64](y.Rows, y.Cols)
	}
	if err := w.multiply(ctx, start, y, q); err != nil {
		return 0, err
	}
	addColumns(start, slices.Repeat([]float64{1 - w.alpha}, y.Cols), p)
	blocks.Copy(residual, start)
	blocks.Copy(direction, start)
	squares := blocks.Dots(w.f.team, start, start)
	left := squares // squares of residual norms
	products := squares
	divide := func(a, b []float64) []float64 { // −a/b, 0 in finished columns
		q := make([]float64, y.Cols)
		for j := range q {
			if left[j] > leastTolerance*squares[j] && b[j] != 0 {
				q[j] = -a[j] / b[j]
			}
		}
		return q
	}
	for sweeps = 1; sweeps < most; sweeps += 2 {
		if err := w.multiply(ctx, image, direction, q); err != nil {
			return sweeps, err
		}
		length := divide(products, blocks.Dots(w.f.team, start, image))
		addColumns(z, length, direction)
		addColumns(residual, length, image)
		if err := w.multiply(ctx, next, residual, q); err != nil {
			return sweeps, err
		}
		damping := divide(blocks.Dots(w.f.team, next, residual), blocks.Dots(w.f.team, next, next))
		addColumns(z, damping, residual)
		addColumns(residual, damping, next)
		addColumns(direction, damping, image)
		last := products
		products = blocks.Dots(w.f.team, start, residual)
		left = blocks.Dots(w.f.team, residual, residual)
		turn := divide(products, last)
		for j, f := range divide(length, damping) {
			turn[j] *= f
		}
		if floats.Norm(turn, 1) == 0 {
			break
		}
		for i := range direction.Rows {
			row := direction.Row(i)
			for j, r := range residual.Row(i) {
				row[j] = r + float64(turn[j]*row[j])
			}
		}
	}
	for i := range y.Rows {
		row := y.Row(i)
		for j, v := range z.Row(i) {
			if left[j] < squares[j] {
				row[j] = max(0, row[j]+v)
			}
		}
	}
	return sweeps, nil
}

func (w *restartingWalk) multiply(ctx context.Context, dst, x, q *sparse.Block[float64]) error {
	if err := w.op.StepTo(ctx, dst, x, sparse.Step[float64]{Alpha: w.alpha, Beta: -1}); err != nil {
		return err
	}
	jumps := w.lost(x)
	floats.Scale(w.alpha, jumps)
	addColumns(dst, jumps, q)
	return nil
}

func addColumns(y *sparse.Block[float64], factors []float64, x *sparse.Block[float64]) {
	for i := range y.Rows {
		row := y.Row(i)
		for j, v := range x.Row(i) {
			row[j] += float64(factors[j] * v)
		}
	}
}

func (w *restartingWalk) startWeights(b *sparse.Block[float64]) (*sparse.Block[float64], error) {
	cols := b.Cols
	sums := w.f.sumRows(b, 2*cols, func(i int, sums []float64) {
		for j, weight := range b.Row(i) {
			sums[j] += weight
			sums[cols+j] += min(0, weight)
		}
	})
	for j, total := range sums[:cols] {
		if sums[cols+j] < 0 || !(total > 0) || math.IsInf(total, 1) {
			return nil, param.Refuse(w.f.Name, "block",
				"the weights of seeds in column %d are not all 0 or more with a sum above 0", j+1)
		}
	}
	p := sparse.NewBlock[float64](b.Rows, cols)
	for i := range p.Rows {
		for j, weight := range b.Row(i) {
			p.Row(i)[j] = weight / sums[j]
		}
	}
	return p, nil
}

// step replaces x in y by the next x. lost holds the sum of x at sinks for each column; next is scratch space. It
// returns, for all columns, the new sums at sinks, then the sums of the changes, then bounds of the sums of rounding
// errors.
func (w *restartingWalk) step(ctx context.Context, y, next, p, q *sparse.Block[float64],
	lost []float64) ([]float64, error) {
	if err := w.op.StepTo(ctx, next, y, sparse.Step[float64]{Alpha: w.alpha}); err != nil {
		return nil, err
	}
	cols := y.Cols
	const operations = 8 // operations per row, besides its entries
	return w.f.sumRows(y, 3*cols, func(i int, sums []float64) {
		row, last := next.Row(i), y.Row(i)
		for j, share := range p.Row(i) {
			row[j] += (1-w.alpha)*share + w.alpha*lost[j]*q.Row(i)[j]
			sums[cols+j] += math.Abs(row[j] - last[j])
			sums[2*cols+j] += 0x1p-53 * (w.lengths[i] + operations) * row[j]
			if w.inverse[i] == 0 {
				sums[j] += row[j]
			}
		}
		copy(last, row)
	}), nil
}

// sumRows returns count sums over the rows of b of all processes. add adds row i to its sums. A node of several
// processes is counted once.
func (f *Function) sumRows(b *sparse.Block[float64], count int,
	add func(i int, sums []float64)) []float64 {
	sums := make([]float64, count)
	copies := make([]float64, count)
	for i := range b.Rows {
		if f.team.Counts(i) {
			add(i, sums)
		} else {
			add(i, copies)
		}
	}
	f.team.Sum(sums)
	return sums
}
