package method

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/validate"
)

// chooseSolved is choose for regularised least squares: every label is judged
// by the machines of all others, which one eigendecomposition of each kernel
// has for all λ. Chosen is the largest share of right answers less the mean
// squared error of one-hot targets, halved and summed over classes; the first
// among equals.
func (r *kernelPredictor) chooseSolved(ctx context.Context) error {
	grams, class, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	lambdas := len(r.strengths)
	found := make([][]trial.Outcome, len(grams)*lambdas)
	squares, scales := make([]float64, len(found)), make([]float64, len(grams))
	fold := validate.Folds(class, r.set.folds(len(class)), r.set.RNGSeed)
	err = sched.Run(ctx, r.set.Workers, len(grams), func(_, i int) error {
		scales[i] = kernel.Rescale(grams[i])
		path, err := classify.NewRLSPath(ctx, classify.NewDenseGram(sparse.DenseOf(grams[i])), class, len(r.p.Names))
		if err != nil {
			return err
		}
		for l, lambda := range r.strengths {
			decisions, err := path.LeaveOneOutTo(nil, lambda)
			if errors.Is(err, classify.ErrIndefinite) {
				continue // rounding is larger than λ
			}
			if err != nil {
				return err
			}
			found[i*lambdas+l] = leftOut(grams[i], class, fold, path.Pairs(), decisions)
			// Targets are ±1, two apart where those of one-hot are one apart.
			squares[i*lambdas+l] = path.SquaredError(decisions) * float64(len(path.Pairs())) / 4
		}
		return nil
	})
	if err != nil {
		return err
	}
	choose := func(without int) int {
		best, most := -1, 0.0
		for i, list := range found {
			if list == nil {
				continue
			}
			right, of := countRight(list, without)
			if merit := float64(right)/float64(max(1, of)) - squares[i]/2; best < 0 || merit > most {
				best, most = i, merit
			}
		}
		return best
	}
	best := max(0, choose(-1))
	r.best, r.strength = best/lambdas, r.strengths[best%lambdas]
	r.gram, r.scale = grams[r.best], scales[r.best]
	r.judge(found[best])
	r.judgeChoice(found, choose)
	return nil
}

// leftOut returns what the decisions by all other items say about each item.
// One that has nothing in common with the others is given their largest class.
func leftOut(k *sparse.Block[float64], class, fold []int, pairs classify.Pairs, decisions []float64) []trial.Outcome {
	list := make([]trial.Outcome, len(class))
	y := append([]int(nil), class...)
	for i := range class {
		y[i] = -1
		list[i].Class, list[i].Fold = class[i], fold[i]
		if list[i].Unreached = !related(k.Row(i), y); !list[i].Unreached {
			list[i].Pairs, list[i].Decisions = pairs, decisions[i*len(pairs):(i+1)*len(pairs)]
		} else {
			list[i].Largest = validate.Majority(withoutItem(class, i))
		}
		y[i] = class[i]
	}
	return list
}

func withoutItem(class []int, i int) []int {
	return append(append([]int(nil), class[:i]...), class[i+1:]...)
}

// maxSolved is the number of labels up to which least squares is solved by a
// Cholesky factor of the kernel among them. Beyond it no value of the kernel
// is made: conjugate gradients take some tens of products with a column for
// each class, where the block of all labels takes one with a column for each.
const maxSolved = 2000

// solve trains the machines on all labels.
func (r *kernelPredictor) solve(ctx context.Context) (err error) {
	if len(r.p.Row) > maxSolved {
		r.gram = nil
		return r.solveWithout(ctx)
	}
	k, err := r.seenAll(ctx)
	if err != nil {
		return err
	}
	r.dual, err = (&classify.RLS{Lambda: r.strength}).Fit(ctx, k, r.p.Class, len(r.p.Names))
	return err
}

const (
	// solveTolerance is the residual of the solution without a kernel block,
	// relative to the targets, all ±1.
	solveTolerance = 1e-7

	// solveSteps is the number of products with the kernel after which that
	// solution is given up.
	solveSteps = 1000
)

// solveWithout trains the machines without the kernel between labels, by
// conjugate gradients on E_Lᵀ·K·E_L + λI. The error wraps those of
// [iterative.CG.SolveTo] where the tolerance is not reached.
func (r *kernelPredictor) solveWithout(ctx context.Context) error {
	targets, err := classify.NewTargets(r.p.Class, len(r.p.Names))
	if err != nil {
		return err
	}
	m, machines := len(r.p.Row), len(targets.Pairs)
	n, _ := r.p.A.Dims()
	t, coef := sparse.BlockOf(m, machines, targets.Value), sparse.NewBlock[float64](m, machines)
	between := &labelMap{
		kernel: r.kernels[r.best], rows: r.p.Row, scale: r.scale, lambda: r.strength, settings: r.settings("walk"),
		x: sparse.NewBlock[float64](n, machines), y: sparse.NewBlock[float64](n, machines),
	}
	cg := &iterative.CG{A: between, Workers: r.set.Workers}
	_, err = cg.SolveTo(ctx, coef, t, &iterative.Settings{Tolerance: solveTolerance, MaxIterations: solveSteps})
	r.out.Work.Sweeps += between.sweeps
	r.out.Work.EntryColumns += r.p.A.NNZ() * int64(between.sweeps) * int64(machines)
	if errors.Is(err, iterative.ErrIterationLimit) || errors.Is(err, iterative.ErrStagnation) || errors.Is(err, iterative.ErrIndefinite) {
		return fmt.Errorf("method: least squares with λ = %v: %w; choose a larger λ, or the support vector machine", r.strength, err)
	}
	if err != nil {
		return err
	}
	items := make([]int, m)
	for i := range items {
		items[i] = i
	}
	r.dual = &classify.KernelModel{
		Classes: len(r.p.Names), Items: m, Pairs: targets.Pairs, Machines: make([]classify.Machine, machines),
	}
	for c := range r.dual.Machines {
		k := &r.dual.Machines[c]
		k.Index, k.Coef = items, make([]float64, m)
		for i := range items {
			k.Coef[i] = coef.Row(i)[c]
		}
	}
	return nil
}

// labelMap is the map scale·K + λI between labelled nodes, made of products
// with the kernel of all nodes.
type labelMap struct {
	kernel        kernel.Kernel
	rows          []int // of the labels
	scale, lambda float64
	settings      *kernel.Settings

	x, y   *sparse.Block[float64] // of all nodes; x is 0 but during a product
	sweeps int
}

// Dims implements [sparse.Applier].
func (l *labelMap) Dims() (r, c int) { return len(l.rows), len(l.rows) }

// StepTo implements [sparse.Applier].
func (l *labelMap) StepTo(ctx context.Context, dst, p *sparse.Block[float64], s sparse.Step[float64]) error {
	x, y := l.x.Columns(0, p.Cols), l.y.Columns(0, p.Cols)
	for i, row := range l.rows {
		copy(x.Row(row), p.Row(i))
	}
	report, err := l.kernel.ApplyTo(ctx, y, x, l.settings)
	for _, row := range l.rows {
		clear(x.Row(row))
	}
	if err != nil {
		return err
	}
	l.sweeps += report.Sweeps
	for i, row := range l.rows {
		to, image := dst.Row(i), y.Row(row)
		for j, v := range p.Row(i) {
			sum := float64(s.Alpha*(float64(l.scale*image[j])+float64(l.lambda*v))) + float64(s.Beta*v)
			if s.Prev != nil {
				sum += float64(s.Delta * s.Prev.Row(i)[j])
			}
			to[j] = sum
		}
	}
	if s.Visit != nil {
		s.Visit(sparse.Rows{Hi: len(l.rows)})
	}
	return nil
}
