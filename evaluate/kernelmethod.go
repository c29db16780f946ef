package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
)

// kernelMethod is a support vector machine on a kernel of package kernel. Only
// the block between labelled nodes is ever made: all nodes are predicted by
// one application of the kernel to the machines' dual coefficients.
type kernelMethod struct{ kernel string }

// kernelMethods returns a method for every symmetric kernel.
func kernelMethods() []Method {
	var list []Method
	for _, name := range kernel.Names() {
		if kernelGrid(name, kernel.Parameters{}) != nil {
			list = append(list, kernelMethod{name})
		}
	}
	return list
}

func (m kernelMethod) Name() string { return m.kernel }

// Takes implements [Method]: the parameters of the kernel, and the cost.
func (m kernelMethod) Takes() []string {
	return append(slices.Clone(kernel.Takes(m.kernel)), "cost")
}

// Tune implements [Method]: parameters are chosen inside each training set.
func (kernelMethod) Tune(context.Context, *Problem, []Split, *Settings) (*Choice, error) {
	return nil, nil
}

// kernelGrid returns the parameters that a kernel is tried with, but for those
// that are given, or nil for what is no symmetric kernel.
func kernelGrid(name string, given kernel.Parameters) []kernel.Parameters {
	powers := make([]float64, 0, 15)
	for e := -7; e <= 7; e++ {
		powers = append(powers, math.Ldexp(1, e))
	}
	shares := []float64{0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.999}
	grid := []kernel.Parameters{{}}
	cross := func(count int, set func(p *kernel.Parameters, i int)) {
		var wider []kernel.Parameters
		for _, p := range grid {
			for i := range count {
				set(&p, i)
				wider = append(wider, p)
			}
		}
		grid = wider
	}
	beta := func() {
		cross(len(powers), func(p *kernel.Parameters, i int) { p.Beta = powers[i] })
	}
	alpha := func(values []float64) {
		cross(len(values), func(p *kernel.Parameters, i int) { p.Alpha = values[i] })
	}
	switch name {
	case "diffusion":
		grid[0].Laplacian = kernel.Normalized
		beta()
	case "exponential":
		grid[0].Matrix = kernel.NormalizedAdjacency
		beta()
	case "von-neumann":
		alpha(shares)
	case "regularized-laplacian":
		grid[0].Laplacian = kernel.Normalized
		alpha(powers)
	case "pseudo-inverse":
		grid[0].Laplacian = kernel.Normalized
	case "regularized-commute-time":
		alpha(shares)
	case "pagerank":
		grid[0].Symmetric = true
		alpha(shares)
	case "p-step":
		steps := []int{1, 2, 3, 5, 7, 10, 20}
		cross(len(steps), func(p *kernel.Parameters, i int) { p.Steps = steps[i] })
	case "matern":
		grid[0].Laplacian = kernel.Normalized
		nu, kappa := []float64{0.5, 1.5, 2.5}, []float64{1, 2, 4, 8, 16}
		cross(len(nu), func(p *kernel.Parameters, i int) { p.Nu = nu[i] })
		cross(len(kappa), func(p *kernel.Parameters, i int) { p.Kappa = kappa[i] })
	case "modularity":
		grid[0].Rank = 64
	default:
		return nil
	}
	for i := range grid {
		override(&grid[i], given, kernel.Takes(name))
	}
	return slices.Compact(grid)
}

// override puts what is given in place of what is tried.
func override(p *kernel.Parameters, given kernel.Parameters, takes []string) {
	for _, name := range takes {
		switch {
		case name == "laplacian" && given.Laplacian != "":
			p.Laplacian = given.Laplacian
		case name == "matrix" && given.Matrix != "":
			p.Matrix = given.Matrix
		case name == "beta" && given.Beta != 0:
			p.Beta = given.Beta
		case name == "alpha" && given.Alpha != 0:
			p.Alpha = given.Alpha
		case name == "shift" && given.Shift != 0:
			p.Shift = given.Shift
		case name == "steps" && given.Steps != 0:
			p.Steps = given.Steps
		case name == "nu" && given.Nu != 0:
			p.Nu = given.Nu
		case name == "kappa" && given.Kappa != 0:
			p.Kappa = given.Kappa
		case name == "rank" && given.Rank != 0:
			p.Rank = given.Rank
		case name == "resolution" && given.Resolution != 0:
			p.Resolution = given.Resolution
		}
	}
}

// Predict implements [Method].
func (m kernelMethod) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.filled()
	if err := set.Grid.Validate(); err != nil {
		return nil, err
	}
	if p.Directed {
		return nil, fmt.Errorf("%w: method %s needs a graph without directions", ErrUsage, m.kernel)
	}
	r := &kernelPredictor{predictor: predictor{p: p, set: &set, out: &Prediction{Learner: KernelSVM}}, grid: kernelGrid(m.kernel, set.Kernel), costs: set.Grid.Cost}
	if n, _ := p.A.Dims(); m.kernel == "modularity" {
		r.grid[0].Rank = min(r.grid[0].Rank, n)
	}
	if set.Kernel.Laplacian == kernel.RandomWalk && slices.Contains(kernel.Takes(m.kernel), "laplacian") {
		return nil, fmt.Errorf("%w: %s of the random-walk Laplacian is not symmetric; choose combinatorial or normalized", ErrUsage, m.kernel)
	}
	if par != nil {
		r.grid, r.costs = []kernel.Parameters{par.Of}, []float64{par.Cost}
	}
	var err error
	if r.out.Reached, err = cwk.Reached(ctx, p.A, p.Row, false, set.Workers); err != nil {
		return nil, err
	}
	graph, err := iterative.NewGraph(ctx, p.A, set.Workers)
	if err != nil {
		return nil, err
	}
	if r.kernels, err = kernel.NewAll(ctx, graph, m.kernel, r.grid); err != nil {
		return nil, err
	}
	for _, phase := range []struct {
		do      func(context.Context) error
		seconds *float64
	}{
		{r.choose, &r.out.Seconds.Choose},
		{r.learn, &r.out.Seconds.Classify},
		{r.score, &r.out.Seconds.Walk},
		{r.finish, &r.out.Seconds.Classify},
	} {
		start := time.Now()
		if err := phase.do(ctx); err != nil {
			return nil, err
		}
		*phase.seconds += time.Since(start).Seconds()
	}
	r.out.Parameters = Parameters{Kernel: m.kernel, Of: kernel.Used(m.kernel, r.grid[r.best]), Cost: r.cost}
	r.out.Settings = len(r.grid) * len(r.costs)
	return r.out, nil
}

// kernelPredictor holds what passes from one phase of a prediction to the next.
type kernelPredictor struct {
	predictor
	grid    []kernel.Parameters
	costs   []float64
	kernels []kernel.Kernel

	best  int // of the grid
	cost  float64
	seen  []int                  // labels that machines are tried on
	gram  *sparse.Block[float64] // among them, of the best kernel, scaled
	scale float64                // of the kernel: one over its mean on the diagonal
	svm   *classify.KernelModel
}

// settings returns those of kernels.
func (r *kernelPredictor) settings(phase string) *kernel.Settings {
	s := &kernel.Settings{Memory: r.set.Memory}
	if r.set.Progress != nil {
		s.Progress = func(done, expected int) { r.set.Progress(phase, float64(done)/float64(max(done, expected, 1))) }
	}
	return s
}

// rowsOf returns the rows of labels.
func (r *kernelPredictor) rowsOf(labels []int) []int {
	rows := make([]int, len(labels))
	for i, l := range labels {
		rows[i] = r.p.Row[l]
	}
	return rows
}

// choose finds the kernel and the cost with most right answers out of fold,
// the first among equals, and fits the votes to its decisions.
func (r *kernelPredictor) choose(ctx context.Context) error {
	r.seen = sample(r.p.Class, r.set.Sample, r.set.Seed, 0)
	class := make([]int, len(r.seen))
	for i, l := range r.seen {
		class[i] = r.p.Class[l]
	}
	grams, sweeps, err := kernel.Grams(ctx, r.kernels, r.rowsOf(r.seen), r.settings("choose"))
	if err != nil {
		return err
	}
	r.out.Work.Sweeps += sweeps
	fold := Folds(class, min(r.set.Folds, len(class)), r.set.Seed)
	found := make([][]outcome, len(grams)*len(r.costs))
	scales := make([]float64, len(grams))
	err = sched.Run(ctx, r.set.Workers, len(grams), func(_, i int) error {
		scales[i] = rescale(grams[i])
		return crossOutcomes(ctx, grams[i], class, len(r.p.Names), fold, r.costs, r.set, found[i*len(r.costs):(i+1)*len(r.costs)])
	})
	if err != nil {
		return err
	}
	best, most := 0, -1
	for i, list := range found {
		if right := countRight(list); right > most {
			best, most = i, right
		}
	}
	r.best, r.cost = best/len(r.costs), r.costs[best%len(r.costs)]
	r.gram, r.scale = grams[r.best], scales[r.best]
	r.judge(found[best])
	return nil
}

// rescale makes the mean of the diagonal 1 and returns the factor.
func rescale(k *sparse.Block[float64]) float64 {
	var trace float64
	for i := range k.Rows {
		trace += k.Row(i)[i]
	}
	if !(trace > 0) {
		return 1
	}
	f := float64(k.Rows) / trace
	kernel.ScaleTo(k, f, k)
	return f
}

// crossOutcomes stores for every cost what machines that learn from the other
// folds say about each item.
func crossOutcomes(ctx context.Context, k *sparse.Block[float64], class []int, classes int, fold []int, costs []float64, set *Settings, found [][]outcome) error {
	solver := classify.Solver{SVM: classify.SVM{Strategy: strategy(classes), Tolerance: set.tolerance, MaxIterations: trialIterations}}
	gram := &classify.DenseGram[float64]{N: k.Rows, Stride: k.Stride, Data: k.Data}
	y := make([]int, len(class))
	for f := range slices.Max(fold) + 1 {
		var rest []int
		for i := range y {
			y[i] = class[i]
			if fold[i] == f {
				y[i] = -1
			} else {
				rest = append(rest, class[i])
			}
		}
		largest := Majority(rest)
		models, err := solver.Path(ctx, gram, y, classes, costs)
		switch {
		case errors.Is(err, classify.ErrOneClass):
			models = make([]classify.KernelModel, len(costs))
		case err != nil && !errors.Is(err, classify.ErrIterationLimit):
			return err
		}
		for c := range costs {
			pairs := slices.Clone(models[c].Pairs)
			for i := range y {
				if fold[i] != f {
					continue
				}
				o := outcome{class: class[i], largest: largest}
				if len(pairs) > 0 && related(k.Row(i), y) {
					o.pairs, o.decisions = pairs, models[c].DecisionsTo(nil, k.Row(i))
				}
				found[c] = append(found[c], o)
			}
		}
	}
	return nil
}

// related reports whether an item has anything in common with those used.
func related(row []float64, y []int) bool {
	for j, v := range row {
		if y[j] >= 0 && v != 0 {
			return true
		}
	}
	return false
}

// countRight counts the outcomes whose class the machines vote for.
func countRight(list []outcome) (right int) {
	for _, o := range list {
		answer := o.largest
		if len(o.pairs) > 0 {
			answer = o.pairs.Predict(o.decisions)
		}
		if answer == o.class {
			right++
		}
	}
	return right
}

// learn trains the machines on all labels.
func (r *kernelPredictor) learn(ctx context.Context) error {
	k := r.gram
	if len(r.seen) < len(r.p.Row) {
		var report *kernel.Report
		var err error
		if k, report, err = kernel.Gram(ctx, r.kernels[r.best], r.p.Row, r.settings("walk")); err != nil {
			return err
		}
		r.out.Work.Sweeps += report.Sweeps
		kernel.ScaleTo(k, r.scale, k)
	}
	classes := len(r.p.Names)
	svm := &classify.SVM{
		Cost: r.cost, Strategy: strategy(classes), Tolerance: r.set.tolerance,
		CacheBytes: cacheBytes, Workers: r.set.Workers,
	}
	var err error
	r.svm, err = svm.Fit(ctx, &classify.DenseGram[float64]{N: k.Rows, Stride: k.Stride, Data: k.Data}, r.p.Class, classes)
	if errors.Is(err, classify.ErrIterationLimit) {
		err = nil // the machine is the best so far
	}
	r.gram = nil
	return err
}

// machinesAtATime is the number of machines whose decisions are computed in
// one application of the kernel.
const machinesAtATime = 32

// score applies the kernel to the dual coefficients, K[:, L]·C = K·(E_L·C), and
// turns the decisions on every node into scores.
func (r *kernelPredictor) score(ctx context.Context) error {
	n, _ := r.p.A.Dims()
	machines := len(r.svm.Pairs)
	r.model = &classify.LinearModel{Classes: r.svm.Classes, Pairs: r.svm.Pairs}
	width := min(machines, machinesAtATime)
	if r.svm.Pairs[0].Negative == classify.Rest {
		width = machines // exponentials are normalised over all
	}
	x, y := sparse.NewBlock[float64](n, width), sparse.NewBlock[float64](n, width)
	sums := sparse.NewBlock[float64](n, len(r.p.Names))
	coef := make([]float64, r.svm.Items)
	for lo := 0; lo < machines; lo += width {
		hi := min(lo+width, machines)
		slab, decisions := x.Columns(0, hi-lo), y.Columns(0, hi-lo)
		for m := lo; m < hi; m++ {
			r.svm.CoefTo(coef, m)
			for i, row := range r.p.Row {
				slab.Row(row)[m-lo] = r.scale * coef[i]
			}
		}
		report, err := r.kernels[r.best].ApplyTo(ctx, decisions, slab, r.settings("walk"))
		if err != nil {
			return err
		}
		r.out.Work.Sweeps += report.Sweeps
		r.out.Work.EntryColumns += r.p.A.NNZ() * int64(report.Sweeps) * int64(hi-lo)
		for i := range n {
			row := decisions.Row(i)
			for j := range row {
				row[j] -= r.svm.Machines[lo+j].Rho
			}
		}
		if err := r.addAllVotes(ctx, sums, decisions, lo); err != nil {
			return err
		}
	}
	return r.scoresFrom(ctx, sums)
}
