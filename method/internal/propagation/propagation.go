package propagation

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	mostSteps = 1000
	settled   = 0x1p-23 // a unit in the last place of float32
)

// Propagation is a computation of label propagation. Memory is in bytes; 0: no limit.
type Propagation struct {
	P      *problem.Problem
	Prior  cwk.Prior
	Alpha  float64 // share of a walk that ends at each labelled node
	Steps  int     // steps of a walk; 0: until it has settled
	Center bool    // subtract the mean score of each class, weighted by degrees
	Memory int64

	// Rough allows few digits of a harmonic function: the solve ends at roughTolerance, or after mostSteps steps. It has no
	// effect if several processes share weights over many orders of magnitude.
	Rough bool

	// Raw, if not nil, receives scores in double precision, with negative centred scores. For a signed graph these are
	// values of the harmonic function.
	Raw *sparse.Block[float64]

	// Highest, if not nil, receives the highest scores of each node in place of all scores.
	Highest *problem.Highest

	Workers int

	// Progress, if not nil, is called with "walk", the finished part, and the whole.
	Progress func(stage string, done, total int64)

	// HeldOut, if not nil, is the result of [Propagation.OutOfFold] for the same labels.
	HeldOut *HeldOut

	scores   *sparse.Block[float32] // scores of all classes, or of a slab
	heldOut  map[int][]float32      // receives the scores of these nodes in place of Highest; nil: none
	reached  *roaring.Bitmap
	gathered int64 // sum of entries × columns over all sweeps

	// better counts held-out labels that only centred scores predict rightly, worse the labels that only plain scores
	// predict rightly.
	better, worse float64
	centeredBy    []float64 // class means that centred scores subtract
}

func walk[T sparse.Float](l *Propagation, steps int) *cwk.Walk[T] {
	return &cwk.Walk[T]{
		A: l.P.A, Degrees: l.P.Degrees, Prior: l.Prior, Steps: steps,
		Memory: l.Memory, Workers: l.Workers,
		Seeds:    l.P.Seeds(),
		Variants: []cwk.Variant{{Absorb: l.Alpha}},
	}
}

// Validate returns an error that lists all parameters out of range.
func (l *Propagation) Validate() error {
	return walk[float32](l, mostSteps).Validate()
}

// ScoresTo stores the scores of all nodes in scores, or in Highest if scores is nil, and adds its sweeps to work. reached
// must hold the nodes that labels reach. If a solve does not converge, or too large a share of the walks meets no label, the
// error is a [*problem.Error].
func (l *Propagation) ScoresTo(ctx context.Context, scores *sparse.Block[float32],
	reached *roaring.Bitmap, work *graph.Work) error {
	l.reached = reached
	p := l.P
	l.centeredBy = make([]float64, len(p.Names))
	width := l.Workspace().Width(l.Memory)
	propagate := l.absorb
	harmonic := false
	if l.Steps > 0 {
		propagate = l.walkFor
	} else if !walks(l) {
		solve, err := l.harmonicSolve(ctx)
		if err != nil {
			return err
		}
		work.Sweeps += 2 // for degrees of all edges, and of edges between nodes without labels
		harmonic = true
		propagate = func(ctx context.Context, lo, hi int, report func(done float64)) (int, error) {
			return l.harmonic(ctx, solve, lo, hi, report)
		}
	}
	for lo := 0; lo < len(p.Names); lo += width {
		hi := min(lo+width, len(p.Names))
		if scores != nil {
			l.scores = scores.Columns(lo, hi)
		} else {
			l.scores = sparse.NewBlock[float32](len(p.Degrees), hi-lo)
		}
		sweeps, err := propagate(ctx, lo, hi, func(done float64) {
			if l.Progress != nil {
				const parts = 1000
				l.Progress("walk", int64(parts*(float64(lo)+done*float64(hi-lo))),
					parts*int64(len(p.Names)))
			}
		})
		if err != nil {
			return err
		}
		work.Sweeps += sweeps
		l.gathered += sparse.EntriesOf(p.A) * int64(sweeps) * int64(hi-lo)
		if scores == nil || l.Center {
			release(l, lo, scores == nil)
		}
	}
	l.scores = scores
	if harmonic || l.Center {
		normalise(l)
	}
	if l.Raw != nil {
		l.completeRaw(harmonic)
	}
	return nil
}

func harmonicSystem(ctx context.Context, l *Propagation) (*iterative.System, error) {
	p := l.P
	g, err := graph.New(ctx, p.A,
		&graph.Settings{Components: p.Components, Workers: l.Workers})
	if err != nil {
		return nil, err
	}
	g.Memory = l.room()
	if slices.Equal(g.Degrees, p.Degrees) { // one copy suffices
		g.Degrees = p.Degrees
	}
	return iterative.Harmonic(ctx, g, p.Row)
}

// completeRaw centres l.Raw if l.Center is set. Otherwise it scales a harmonic function without negative weights to the sum
// one.
func (l *Propagation) completeRaw(harmonic bool) {
	for v := range l.Raw.Rows {
		row := l.Raw.Row(v)
		if l.Center && l.reached.Contains(uint32(v)) {
			for c := range row {
				row[c] += 1/float64(len(row)) - l.centeredBy[c]
			}
		} else if sum := floats.Sum(row); harmonic && !l.P.Signed && sum > 0 {
			floats.Scale(1/sum, row)
		}
	}
}

func (l *Propagation) keep(node, lo int, values []float64) {
	simd.ConvertTo(l.scores.Row(node), values)
	if l.Raw != nil {
		copy(l.Raw.Row(node)[lo:], values)
	}
}

// release copies l.scores, of the classes from lo on, to l.heldOut or adds them to l.Highest. If l.Center is set, the scores
// f of k classes at reached nodes first become max(0, 1/k + f − mean).
func release(l *Propagation, lo int, keepsHighest bool) {
	buffer := make([]float64, l.scores.Cols+1)
	team := l.P.Team()
	means := buffer[:l.scores.Cols]
	total := &buffer[l.scores.Cols]
	for i := range roaring.Values(l.reached) {
		if !team.Counts(int(i)) {
			continue
		}
		d := l.P.Degrees[i]
		*total += d
		for c, v := range l.scores.Row(int(i)) {
			means[c] += float64(d * float64(v))
		}
	}
	team.Sum(buffer)
	for c := range means {
		means[c] /= max(*total, math.SmallestNonzeroFloat64)
	}
	copy(l.centeredBy[lo:], means)
	for i := range roaring.Values(l.reached) {
		row := l.scores.Row(int(i))
		if l.Center {
			center(row, means, len(l.P.Names))
		}
		if keepsHighest && l.heldOut == nil {
			l.Highest.Add(int(i), lo, row)
		}
	}
	for node, row := range l.heldOut {
		copy(row[lo:], l.scores.Row(node))
	}
}

// center replaces each score f by max(0, 1/classes + f − mean). scores and means may cover some of the classes only.
func center(scores []float32, means []float64, classes int) {
	for c, v := range scores {
		scores[c] = float32(max(0, 1/float64(classes)+float64(v)-means[c]))
	}
}

// normalise scales the scores of each reached node to the sum one, in l.heldOut, l.Highest or l.scores.
func normalise(l *Propagation) {
	for i := range roaring.Values(l.reached) {
		row := l.heldOut[int(i)]
		switch {
		case l.heldOut == nil && l.scores == nil:
			l.Highest.Normalize(int(i), settled)
			continue
		case l.heldOut == nil:
			row = l.scores.Row(int(i))
		}
		if l.P.Signed && !l.Center {
			values := make([]float64, len(row))
			simd.ConvertTo(values, row)
			propagate.SignedShares(values, slices.Clone(values))
			simd.ConvertTo(row, values)
			continue
		}
		scaleToOne(row)
	}
}

// scaleToOne makes scores add up to one.
func scaleToOne(row []float32) {
	sum := 0.0
	for _, v := range row {
		sum += float64(v)
	}
	if math.Abs(sum-1) > settled && sum > 0 {
		for c, v := range row {
			row[c] = float32(float64(v) / sum)
		}
	}
}

// walkFor stores in the scores the distributions of walks after l.Steps steps, for classes lo ≤ c < hi.
func (l *Propagation) walkFor(ctx context.Context, lo, hi int,
	report func(done float64)) (sweeps int, err error) {
	w := walk[float64](l, l.Steps)
	w.Progress = func(_ string, done, total int64) {
		sweeps = int(done)
		report(float64(done) / float64(total))
	}
	err = w.Run(ctx, lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[float64]) {
		if t < l.Steps {
			return
		}
		for i := rows.Lo; i < rows.Hi; i++ {
			l.keep(i, lo, p.Row(i))
		}
	}, nil)
	return sweeps, err
}

// harmonic stores the harmonic function for classes lo ≤ c < hi in the scores.
func (l *Propagation) harmonic(ctx context.Context, solve harmonicSolve, lo, hi int,
	report func(done float64)) (sweeps int, err error) {
	p := l.P
	f := sparse.NewBlock[float64](len(p.Degrees), hi-lo)
	for i, row := range p.Row {
		if c := p.Class[i]; lo <= c && c < hi {
			f.Row(row)[c-lo] = 1
		}
	}
	sweeps, err = solve(ctx, f, report)
	if err != nil {
		return 0, err
	}
	prior := l.Prior.Distributions(p.Seeds())
	for i := range f.Rows {
		if l.reached.Contains(uint32(i)) {
			l.keep(i, lo, f.Row(i))
		} else {
			l.keep(i, lo, prior(i)[lo:hi])
		}
	}
	return sweeps + 1, nil
}

// harmonicSolve stores the harmonic function in the rows of f without a label; other rows must hold the known values. It
// calls report with the finished share of the work.
type harmonicSolve func(ctx context.Context, f *sparse.Block[float64], report func(done float64)) (sweeps int, err error)

// harmonicSolve returns a solve by the reduction of the graph to the labelled nodes. If there is none, the solve iterates.
func (l *Propagation) harmonicSolve(ctx context.Context) (harmonicSolve, error) {
	r, err := l.reduction(ctx)
	if r != nil {
		return func(_ context.Context, f *sparse.Block[float64], _ func(float64)) (int, error) {
			r.ExtendTo(f)
			return 0, nil
		}, nil
	}
	if err != nil {
		return nil, err
	}
	h, err := harmonicSystem(ctx, l)
	if err != nil {
		return nil, err
	}
	h.Sampled = l.Rough
	return func(ctx context.Context, f *sparse.Block[float64], report func(done float64)) (int, error) {
		return l.iterate(ctx, h, f, report)
	}, nil
}

func (l *Propagation) iterate(ctx context.Context, h *iterative.System, f *sparse.Block[float64],
	report func(done float64)) (sweeps int, err error) {
	far := 0.0
	tolerance := harmonicTolerance
	if l.Raw != nil {
		tolerance = rawTolerance
	}
	// Several processes have no factor, without which a rough residual shows nothing if weights span many orders of
	// magnitude.
	isRough := l.Rough && !(l.P.Team() != nil && h.IsWide())
	if isRough {
		tolerance = roughTolerance
	}
	res, err := h.SolveTo(ctx, f, nil, &iterative.Settings{
		Tolerance: tolerance, MaxIterations: mostSteps,
		Recorder: func(step int, residual []float64) {
			gone := math.Log(slices.Max(residual)) / math.Log(tolerance)
			far = min(1, max(far, gone, float64(step)/mostSteps))
			report(far)
		},
	})
	if isRough && errors.Is(err, iterative.ErrIterationLimit) {
		err = nil
	}
	if errors.Is(err, iterative.ErrIterationLimit) ||
		errors.Is(err, iterative.ErrStagnation) ||
		errors.Is(err, iterative.ErrIndefinite) {
		return 0, &problem.Error{Method: "lp", Err: err}
	}
	if err != nil {
		return 0, err
	}
	return res.Sweeps, nil
}

// Relative tolerances of the harmonic function: if Rough is set; otherwise, for scores in float32, and for Raw scores.
const (
	roughTolerance    = 1e-3
	harmonicTolerance = 1e-8
	rawTolerance      = 1e-12
)
