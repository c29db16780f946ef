package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Label propagation makes so many steps at the most, of conjugate gradients or
// of a walk.
const propagationSteps = 1000

// A walk ends when no class of no node has changed by more than settled in the
// last settleSteps steps, a few units in the last place of float32.
const (
	settleSteps = 10
	settled     = 0x1p-23
)

// labelPropagation gives a node the class of the label that a walk from it is
// most likely to meet first (Zhu et al. 2003). A node that no label reaches keeps
// its prior. Labels that absorb less of a walk, and walks of a given length, give the
// distributions P_t of the walk of package cwk.
type labelPropagation struct{}

var propagationSpec = spec.Spec{
	Name: "lp", Title: "limit of the absorbing walk, label propagation", Works: spec.Undirected | spec.Directed,
	Params: []spec.Param{
		{Name: "alpha", Symbol: "α", Meaning: "probability that a labelled node keeps its label at a step",
			Range: spec.Range{Least: 0, Most: 1, AboveLeast: true}, Default: spec.Number(1)},
		{Name: "steps", Symbol: "steps", Meaning: "length of the walk; 0: until it has settled", Kind: spec.Whole,
			Range: spec.FromTo(0, cwk.MaxSteps), Default: spec.Int(0)},
	},
}

// Declarations implements [Declared].
func (labelPropagation) Declarations() []*spec.Spec { return []*spec.Spec{&propagationSpec} }

// Name implements [Method].
func (labelPropagation) Name() string { return "lp" }

// Takes implements [Method].
func (labelPropagation) Takes() []string {
	return append([]string{"prior"}, propagationSpec.Takes()...)
}

// Tune implements [Method]: there is nothing to choose.
func (labelPropagation) Tune(context.Context, *Problem, *validate.Splits, *Settings) (*Choice, error) {
	return nil, nil
}

// Predict implements [Method].
func (labelPropagation) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	if par != nil && par.Declared != nil {
		set.Given = par.Declared.Values
	}
	v, given, err := propagationValues(&set)
	if err != nil {
		return nil, err
	}
	set.Memory = ledger.Beside(p, set.Memory)
	start := time.Now()
	whole := walkOf[float32](p, &set, propagationSteps)
	whole.Variants = []cwk.Variant{{Absorb: v.Number("alpha")}}
	if err := whole.Validate(); err != nil {
		return nil, err
	}
	r := &predictor{p: p, set: &set, prior: set.Prior, out: &Prediction{}}
	if given {
		r.out.Parameters, r.out.Settings = Parameters{Declared: &Setting{&propagationSpec, v}}, 1
	}
	if r.out.Reached, err = p.Reached(ctx, set.Workers, &r.out.Work); err != nil {
		return nil, err
	}
	n, _ := p.A.Dims()
	r.out.Scores = sparse.NewBlock[float32](n, len(p.Names))
	if set.Raw {
		r.out.Raw = piece.Block[float64](n, len(p.Names))
	}
	width, factor := propagated(p, &set)
	propagate := func(ctx context.Context, lo, hi int, tell func(done float64)) (int, error) {
		return r.settle(ctx, v.Number("alpha"), lo, hi, tell)
	}
	if steps := v.Int("steps"); steps > 0 {
		propagate = func(ctx context.Context, lo, hi int, tell func(done float64)) (int, error) {
			return r.walkFor(ctx, v.Number("alpha"), steps, lo, hi, tell)
		}
	} else if !walks(p, &set) {
		g, err := graph.NewOf(ctx, p.A, p.Parts, set.Workers)
		if err != nil {
			return nil, err
		}
		g.Memory = factor
		h, err := iterative.NewHarmonic(ctx, g, p.Row)
		if err != nil {
			return nil, err
		}
		r.out.Work.Add(Work{Sweeps: 2}) // for degrees, of all edges and of those between free nodes
		propagate = func(ctx context.Context, lo, hi int, tell func(done float64)) (int, error) {
			return r.harmonic(ctx, h, lo, hi, tell)
		}
	}
	for lo := 0; lo < len(p.Names); lo += width {
		hi := min(lo+width, len(p.Names))
		sweeps, err := propagate(ctx, lo, hi, func(done float64) {
			r.tell("walk", (float64(lo)+done*float64(hi-lo))/float64(len(p.Names)))
		})
		if err != nil {
			return nil, err
		}
		r.out.Work.Add(Work{Sweeps: sweeps, EntryColumns: p.A.NNZ() * int64(sweeps) * int64(hi-lo)})
	}
	r.out.Seconds.Walk = time.Since(start).Seconds()
	return r.out, r.finish(ctx)
}

// propagationValues returns the values of label propagation, and whether one of them
// was given.
func propagationValues(set *Settings) (v spec.Values, given bool, err error) {
	own := propagationSpec.Own(set.Given)
	v, err = propagationSpec.Resolve(own, nil)
	return v, len(own) > 0, err
}

// walkFor stores the classes lo ≤ c < hi of the walk's distributions after so many steps
// in the scores.
func (r *predictor) walkFor(ctx context.Context, alpha float64, steps, lo, hi int, tell func(done float64)) (sweeps int, err error) {
	w := walkOf[float64](r.p, r.set, steps)
	w.Variants = []cwk.Variant{{Absorb: alpha}}
	w.Progress = func(done, all int) {
		sweeps = done
		tell(float64(done) / float64(all))
	}
	err = w.RunColumns(ctx, lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[float64]) {
		if t < steps {
			return
		}
		for i := rows.Lo; i < rows.Hi; i++ {
			r.keep(i, lo, p.Row(i))
		}
	})
	return sweeps, err
}

// propagated returns how many classes are propagated at a time, and how many bytes
// a factor may take beside them, 0 for any number: where there is room for it beside
// a single class, there is beside all that go together.
func propagated(p *Problem, set *Settings) (cols int, factor int64) {
	cols = len(p.Names)
	if set.Memory == 0 {
		return cols, 0
	}
	need := func(cols int) int64 { return propagatedBytes(p, set, cols) + factorBytes(p, set, cols) }
	if need(1) > set.Memory {
		need = func(cols int) int64 { return propagatedBytes(p, set, cols) }
	}
	for cols > 1 && need(cols) > set.Memory {
		cols--
	}
	return cols, max(1, set.Memory-propagatedBytes(p, set, cols))
}

// walks reports whether label propagation walks: where it has no symmetric system to
// solve, or is given a length or labels that do not absorb all of a walk.
func walks(p *Problem, set *Settings) bool {
	v, _, err := propagationValues(set)
	return err != nil || p.Directed || v.Int("steps") > 0 || v.Number("alpha") < 1
}

// propagatedBytes is what that takes, with the scores, but for the factor.
func propagatedBytes(p *Problem, set *Settings, cols int) int64 {
	n := len(p.Degrees)
	scores := sparse.BlockBytes[float32](n, len(p.Names))
	if set.Raw {
		scores += piece.Bytes[float64](n, len(p.Names))
	}
	if v, _, err := propagationValues(set); err == nil && v.Int("steps") > 0 {
		return scores + 2*sparse.BlockBytes[float64](n, cols) + 16*int64(n)
	}
	if walks(p, set) {
		return scores + 2*sparse.BlockBytes[float32](n, cols) + 16*int64(n)
	}
	const graphVectors = 3 // degrees, loops, and sums without them
	return scores + sparse.BlockBytes[float64](n, cols) + graphVectors*8*int64(n) + iterative.HarmonicBytes(n, cols)
}

// factorBytes is what the factor takes that solves slow systems, beside the solve of
// so many columns.
func factorBytes(p *Problem, set *Settings, cols int) int64 {
	if walks(p, set) {
		return 0
	}
	return iterative.SolveFactorBytes(len(p.Degrees), p.A.NNZ(), cols)
}

// harmonic stores the classes lo ≤ c < hi of the harmonic function in the
// scores, as exact as float32. It returns the number of sweeps; tell hears what
// share of them is done.
func (r *predictor) harmonic(ctx context.Context, h *iterative.Harmonic, lo, hi int, tell func(done float64)) (sweeps int, err error) {
	p := r.p
	f := sparse.NewBlock[float64](len(p.Degrees), hi-lo)
	for i, row := range p.Row {
		if c := p.Class[i]; lo <= c && c < hi {
			f.Row(row)[c-lo] = 1
		}
	}
	far, tolerance := 0.0, harmonicTolerance
	if r.set.Raw {
		tolerance = rawTolerance
	}
	res, err := h.SolveTo(ctx, f, &iterative.Settings{
		Tolerance: tolerance, MaxIterations: propagationSteps,
		Recorder: func(step int, residual []float64) {
			gone := math.Log(slices.Max(residual)) / math.Log(tolerance)
			far = min(1, max(far, gone, float64(step)/propagationSteps))
			tell(far)
		},
	})
	if errors.Is(err, iterative.ErrIterationLimit) || errors.Is(err, iterative.ErrStagnation) || errors.Is(err, iterative.ErrIndefinite) {
		short := int64(0)
		if need := propagatedBytes(p, r.set, 1) + factorBytes(p, r.set, 1); res.Refused && need > r.set.Memory {
			short = need - r.set.Memory
		}
		return 0, &ConvergenceError{Method: labelPropagation{}.Name(), Short: short, err: err}
	}
	if err != nil {
		return 0, err
	}
	for i := range f.Rows {
		if r.out.Reached.Contains(uint32(i)) {
			r.keep(i, lo, f.Row(i))
		} else {
			r.keep(i, lo, priorOf(r.prior, r.p, i)[lo:hi])
		}
	}
	return res.Sweeps + 1, nil
}

// ConvergenceError says that a method did not come to its tolerance. It wraps the
// error of the iteration.
type ConvergenceError struct {
	Method string
	Short  int64 // bytes of memory that a preconditioner would take beside those there were; 0: it was there, or could not be made
	err    error
}

// Error implements error.
func (e *ConvergenceError) Error() string { return fmt.Sprintf("method: %s: %v", e.Method, e.err) }

// Unwrap returns the error of the iteration.
func (e *ConvergenceError) Unwrap() error { return e.err }

// The residuals of the harmonic function: for scores in float32, and for raw ones.
const (
	harmonicTolerance = 1e-8
	rawTolerance      = 1e-12
)

// keep stores the scores of a node for the classes from lo on.
func (r *predictor) keep(node, lo int, values []float64) {
	to := r.out.Scores.Row(node)[lo:]
	for j, v := range values {
		to[j] = float32(v)
	}
	if r.out.Raw != nil {
		copy(r.out.Raw.Row(node)[lo:], values)
	}
}

// priorOf returns the prior of a node, shared or its own.
func priorOf(prior cwk.Prior, p *Problem, row int) []float64 {
	if shared := prior.Shared(cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)}); shared != nil {
		return shared
	}
	return prior.Own(row)
}

// settle is harmonic for a graph whose edges have a direction, where no system
// is symmetric, and for labels that do not absorb all of a walk. Each class is kept when it has settled,
// whichever are walked beside it.
func (r *predictor) settle(ctx context.Context, alpha float64, lo, hi int, tell func(done float64)) (sweeps int, err error) {
	w := walkOf[float32](r.p, r.set, propagationSteps)
	w.Variants = []cwk.Variant{{Absorb: alpha}}
	rest := hi - lo // columns on the move
	still := make([]bool, rest)
	change := make([][]float32, sched.Workers(w.Workers)) // by worker and column, since the last look
	for i := range change {
		change[i] = make([]float32, rest)
	}
	w.Progress = func(done, all int) {
		sweeps = done
		tell(float64(done) / float64(all))
	}
	var moved float32 // by the last look, in columns on the move
	look := func(t int) bool {
		if t%settleSteps != 0 {
			return false
		}
		moved = 0
		for j := range still {
			var most float32
			for _, c := range change {
				most = max(most, c[j])
				c[j] = 0
			}
			switch {
			case still[j]:
			case most <= settled:
				still[j] = true
				rest--
			default:
				moved = max(moved, most)
			}
		}
		return rest == 0
	}
	err = w.RunUntil(ctx, lo, hi, func(t int, rows sparse.Rows, p *sparse.Block[float32]) {
		if t%settleSteps != 0 {
			return
		}
		most := change[rows.Worker]
		for i := rows.Lo; i < rows.Hi; i++ {
			kept := r.out.Scores.Row(i)[lo:hi]
			for j, v := range p.Row(i) {
				if !still[j] {
					most[j] = max(most[j], v-kept[j], kept[j]-v)
					kept[j] = v
				}
			}
		}
	}, look)
	for i := range r.out.Scores.Rows {
		if r.out.Raw == nil {
			break
		}
		for c, v := range r.out.Scores.Row(i)[lo:hi] {
			r.out.Raw.Row(i)[lo+c] = float64(v)
		}
	}
	if rest > 0 {
		r.out.Unfinished = fmt.Sprintf("walks end after %d steps, before they have settled: scores changed by up to %.2g in the last %d",
			propagationSteps, moved, settleSteps)
	}
	return sweeps, err
}

// Majority gives every node the largest class. It takes nothing from the graph.
var Majority Method = majority{}

// majority gives every node the largest class, whether a label reaches it or
// not, and the shares of the labels for scores, each class counted once more.
type majority struct{}

// Name implements [Method].
func (majority) Name() string { return "majority" }

// Takes implements [Method].
func (majority) Takes() []string { return nil }

// Tune implements [Method]: there is nothing to choose.
func (majority) Tune(context.Context, *Problem, *validate.Splits, *Settings) (*Choice, error) {
	return nil, nil
}

// Predict implements [Method].
func (majority) Predict(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	n, _ := p.A.Dims()
	r := &predictor{p: p, set: &set, prior: shares, out: &Prediction{Scores: sparse.NewBlock[float32](n, len(p.Names))}}
	var err error
	if r.out.Reached, err = p.Reached(ctx, set.Workers, &r.out.Work); err != nil {
		return nil, err
	}
	prior := shares.Shared(cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)})
	for i := range n {
		for c, v := range prior {
			r.out.Scores.Row(i)[c] = float32(v)
		}
	}
	return r.out, r.finish(ctx)
}

// reckon implements [reckoning].
func (labelPropagation) reckon(a *account, _ *Parameters) error {
	k := len(a.P.Names)
	width, room := propagated(a.P, a.left())
	a.AddSweeps(2 + (propagationSteps+1)*((k+width-1)/width))
	a.Row = 8 * sparse.Stride[float64](width)
	const blocks = "scores and propagation of all nodes"
	if err := a.Reserve(propagatedBytes(a.P, a.set, width), blocks); err != nil {
		return err
	}
	if factor := factorBytes(a.P, a.set, width); factor > 0 && (room == 0 || factor <= room) {
		if err := a.PhaseUpTo(factor, 0, "propagation, perhaps with a factor"); err != nil {
			return err
		}
	}
	a.Plan.Release(blocks)
	return a.Scores()
}
