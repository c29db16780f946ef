package method

import (
	"context"
	"slices"
	"sort"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/internal/heldout"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Choice is what a choice of parameters found.
type Choice struct {
	Parameters
	Accuracy float64 // of the parameters, the mean of what they were chosen by
	Tested   int     // predictions behind it for each setting; 0: there were too few labels
	Settings int     // how many parameters there were to choose from
	Work     problem.Work

	hits    []int64       // right predictions by setting
	byFold  trial.Hits    // by fold and setting; of nothing in splits
	heldOut heldout.Count // of settings that are chosen without a fold; of nothing in splits
}

// CrossValidate chooses the parameters of the grid with the highest out-of-fold
// accuracy on the labelled nodes of p, all in one walk where memory allows.
//
// The labelled nodes are dealt into stratified folds, and for every α and
// every fold there is a walk in which that fold is unlabelled. Test rows of a
// fold come from the walk that hides it. Plain training rows come from the
// same walk, honest ones from the walk that hides their own fold.
//
// A node from which no visible label can be reached is given the largest
// class and not used to train on honest features.
//
// Of all settings within one standard error of the highest accuracy the one
// whose neighbours in the grid do best is chosen. On large graphs long walks
// are tried only where the longest short one is.
//
// Unless two classes have two labels each, nothing can be learned from hiding
// one. The choice is then that of the grid which is nearest to the defaults, with
// so many steps that walks reach most nodes from a label, and was Tested on nothing.
func CrossValidate(ctx context.Context, p *Problem, s *Settings) (*Choice, error) {
	c, err := newChooser(ctx, p, s)
	if err != nil {
		return nil, err
	}
	if c.tested == 0 {
		return withoutTrial(ctx, p, c.set)
	}
	return c.chooseDeclared(ctx)
}

// chooseWalk returns the best setting of the grid.
func (c *chooser) chooseWalk(ctx context.Context) (*Choice, error) {
	grid, short := c.set.Grid, c.shortGrid(longWork)
	if short == nil {
		return c.choose(ctx)
	}
	c.set.Grid = short
	choice, err := c.choose(ctx)
	if err != nil || !longWalksPay(choice, short) {
		return choice, err
	}
	c.set.Grid = grid
	return c.choose(ctx)
}

// newChooser returns what tries the settings of s on folds of the labels of p.
// Nothing is tested with too few labels.
func newChooser(ctx context.Context, p *Problem, s *Settings) (*chooser, error) {
	set, err := s.on(p)
	if err != nil {
		return nil, err
	}
	set.Memory = p.Remaining(set.Memory)
	c := chooserOf(p, &set)
	if validate.TooFew(p.Class) {
		return c, nil
	}
	return c, c.crossTrials(ctx)
}

// On graphs where all walks of a grid take more than longWork entries × columns
// × steps, walks of more than shortSteps are tried only if the longest of the
// others comes out best.
const (
	longWork   = 4_000_000_000
	shortSteps = 40
)

// shortGrid returns the grid without its long walks, nil if there are none or
// they take no more than limit.
func (c *chooser) shortGrid(limit float64) *Grid {
	steps := c.set.Grid.steps()
	columns := len(c.set.Grid.alphas()) * c.dealt() * len(c.p.Names)
	work := float64(c.p.A.NNZ()) * float64(columns) * float64(steps[len(steps)-1])
	i := sort.SearchInts(steps, shortSteps+1)
	if work <= limit || i == 0 || i == len(steps) {
		return nil
	}
	return c.set.Grid.with(cwk.Spec.Param("steps"), spec.Grid(steps[:i]...))
}

// longWalksPay reports whether the choice from a grid of short walks is one of
// the longest.
func longWalksPay(choice *Choice, short *Grid) bool {
	return choice.Steps == short.last()
}

// choose tries the settings of the grid and returns the best.
func (c *chooser) choose(ctx context.Context) (*Choice, error) {
	hits := trial.NewHits(c.folds() * c.set.Grid.Size())
	if err := c.run(ctx, 0, len(c.set.Grid.alphas()), hits); err != nil {
		return nil, err
	}
	return c.crossChoice(hits), nil
}

// chooseOnSplits chooses the parameters with the highest mean accuracy on the
// test nodes of the given splits, as the paper does: the training nodes of
// each split are labelled in its walks, folds serve honest features alone. The
// choice is made as in [CrossValidate].
func chooseOnSplits(ctx context.Context, p *Problem, splits *validate.Splits, s *Settings) (*Choice, error) {
	set, err := s.on(p)
	if err != nil {
		return nil, err
	}
	set.Memory = p.Remaining(set.Memory)
	var work problem.Work
	choice, err := chooseInTurn(&set, func() (*Choice, error) {
		choice, err := chooseOnGrid(ctx, p, splits, &set, work)
		if err == nil {
			work = choice.Work
		}
		return choice, err
	})
	if err == nil {
		choice.Beside = set.learner.besides(set.beside)
	}
	return choice, err
}

// chooseOnGrid chooses from one grid, after so much work.
func chooseOnGrid(ctx context.Context, p *Problem, splits *validate.Splits, set *Settings, work problem.Work) (*Choice, error) {
	if !p.Directed { // they are found here for all splits
		if _, err := p.FindComponents(ctx, set.Workers, &work); err != nil {
			return nil, err
		}
	}
	quiet := *set // within a split
	quiet.Progress = untold
	found, err := set.Tally.count(set.Grid.Size(), splits.Len, func(i int, right []int64) (int, error) {
		split := splits.At(i)
		train := p.At(split.Train)
		c := chooserOf(train, &quiet)
		c.work = work
		tests := p.At(split.Test)
		if err := c.splitTrials(ctx, tests.At(validate.Sample(tests.Class, set.tested(), set.RNGSeed, 1))); err != nil {
			return 0, err
		}
		if err := c.run(ctx, 0, len(set.Grid.alphas()), trial.Hits{Right: right, Weight: make([]float64, len(right))}); err != nil {
			return 0, err
		}
		work = c.work
		set.Progress("choose", float64(i+1)/float64(splits.Len))
		return c.tested, nil
	})
	if err != nil {
		return nil, err
	}
	c := &chooser{p: p, set: set, work: work}
	return c.choice(found.Right, found.Tested), nil
}

// maxTested bounds the test nodes of a tuning split.
const maxTested = 10_000

// tested returns the bound on the test nodes of a tuning split for the learner. One without
// a path scores each by every model, or learns with them among its items.
func (s *Settings) tested() int {
	switch {
	case s.learner.path != nil:
		return maxTested
	case s.learner.Whole:
		return s.tried()
	}
	return maxTestedRows
}

// chooser tries all settings of a grid on one set of labelled nodes.
type chooser struct {
	p    *Problem
	set  *Settings
	fold []int // of each labelled node
	seen []int // the labelled nodes that machines are trained on

	// For one α: rows of the walks of cwk.FoldVariants, and trials on them for
	// each kind of features.
	picks  []cwk.Pick
	trials map[Features][]trial.Trial
	alone  []bool // see Problem.alone
	tested int
	work   problem.Work
}

// chooserOf returns what tries the settings of set on the labels of p, dealt into folds.
func chooserOf(p *Problem, set *Settings) *chooser {
	return &chooser{
		p: p, set: set, fold: validate.Folds(p.Class, set.folds(len(p.Row)), set.RNGSeed, 0),
		seen: validate.Sample(p.Class, set.tried(), set.RNGSeed, 0),
	}
}

// dealt returns the number of folds that the labels are dealt into.
func (c *chooser) dealt() int { return c.set.folds(len(c.p.Row)) }

// crossTrials sets up a trial for each fold.
func (c *chooser) crossTrials(ctx context.Context) error {
	alone, err := heldout.Alone(ctx, c.p, c.fold, c.set.Workers, &c.work)
	if err != nil {
		return err
	}
	c.alone = alone
	at := c.foldPicks()
	c.trials = make(map[Features][]trial.Trial)
	weight := heldout.WeightsOf(c.p)
	for _, kind := range c.set.Grid.Features {
		for f := range at {
			t := trial.Trial{Largest: trial.LargestWithout(c.p.Class, c.fold, f), Weight: weight}
			for i, node := range c.seen {
				own, class := c.fold[node], c.p.Class[node]
				switch {
				case own == f && alone[node]:
					t.Unreached = append(t.Unreached, trial.Unreached{Class: class, Given: c.set.Prior.Likeliest(c.p.Row[node], t.Largest)})
				case own == f:
					t.Test, t.TestClass = append(t.Test, at[f][i]), append(t.TestClass, class)
				case kind == Plain:
					t.Train, t.TrainClass = append(t.Train, at[f][i]), append(t.TrainClass, class)
				case !alone[node]:
					t.Train, t.TrainClass = append(t.Train, at[own][i]), append(t.TrainClass, class)
				}
			}
			c.trials[kind] = append(c.trials[kind], t)
		}
	}
	c.tested = len(c.seen)
	return nil
}

// foldPicks picks the rows of trials by folds. It returns the pick of each seen
// node in the variant that hides each fold.
func (c *chooser) foldPicks() [][]int {
	plain := slices.Contains(c.set.Grid.Features, Plain)
	at := make([][]int, c.dealt())
	for f := range at {
		at[f] = make([]int, len(c.seen))
		for i, node := range c.seen {
			if plain || c.fold[node] == f {
				at[f][i] = len(c.picks)
				c.picks = append(c.picks, cwk.Pick{Row: c.p.Row[node], Variant: 1 + f})
			}
		}
	}
	return at
}

// splitTrials sets up the trial of a split whose test nodes are those of tests.
func (c *chooser) splitTrials(ctx context.Context, tests *Problem) error {
	alone, err := heldout.Alone(ctx, c.p, c.fold, c.set.Workers, &c.work)
	if err != nil {
		return err
	}
	reached, err := c.p.Reached(ctx, c.p.Row, c.set.Workers, &c.work)
	if err != nil {
		return err
	}
	all := trial.Trial{Largest: validate.Majority(c.p.Class), Weight: heldout.WeightsOf(c.p)}
	for i, row := range tests.Row {
		if !reached.Contains(uint32(row)) {
			all.Unreached = append(all.Unreached, trial.Unreached{Class: tests.Class[i], Given: c.set.Prior.Likeliest(row, all.Largest)})
			continue
		}
		all.Test, all.TestClass = append(all.Test, len(c.picks)), append(all.TestClass, tests.Class[i])
		c.picks = append(c.picks, cwk.Pick{Row: row})
	}
	c.trials = make(map[Features][]trial.Trial)
	for _, kind := range c.set.Grid.Features {
		t := all
		for _, node := range c.seen {
			pick := cwk.Pick{Row: c.p.Row[node]}
			if kind == Honest {
				if alone[node] {
					continue
				}
				pick.Variant = 1 + c.fold[node]
			}
			t.Train, t.TrainClass = append(t.Train, len(c.picks)), append(t.TrainClass, c.p.Class[node])
			c.picks = append(c.picks, pick)
		}
		c.trials[kind] = []trial.Trial{t}
	}
	c.tested = len(tests.Row)
	return nil
}

// slabBytes is what collected walks may take where there is no limit.
const slabBytes = 48 << 20

// folds returns the number of trials of each kind of features.
func (c *chooser) folds() int { return len(c.trials[c.set.Grid.Features[0]]) }

// run adds the right predictions of all trials with the α of number
// lo ≤ a < hi to hits, by trial and setting. As many α as memory allows are walked at once.
func (c *chooser) run(ctx context.Context, lo, hi int, hits trial.Hits) error {
	together := c.together()
	for at := lo; at < hi; at += together {
		end := min(at+together, hi)
		tell := func(done float64) {
			c.set.Progress("choose", (float64(at-lo)+done*float64(end-at))/float64(hi-lo))
		}
		if err := c.slab(ctx, at, end, hits, tell); err != nil {
			return err
		}
		tell(1)
	}
	return nil
}

// together returns how many α are walked at once: as many as stay in cache. A
// walk of one α that does not fit into memory is cut into slabs, the last of
// them narrow; then all are cut as one, as far as there is room for features.
func (c *chooser) together() int {
	g, memory := c.set.Grid, c.set.Memory
	w := c.walk(g.alphas()[:1])
	one := max(1, w.CollectBytes(g.minSteps(), len(c.picks)))
	if memory > 0 && one > memory {
		features := max(1, one-w.CollectBytes(g.minSteps(), 0))
		return int(min(max(1, memory/4/features), int64(len(g.alphas()))))
	}
	limit := int64(slabBytes)
	if memory > 0 {
		limit = min(limit, memory/2)
	}
	return int(max(1, limit/one))
}

// walk returns the walk with the given values of α, those of one after those
// of the other.
func (c *chooser) walk(alpha []float64) *cwk.Walk[float32] {
	steps := c.set.Grid.steps()
	w := walkOf[float32](c.p, c.set, steps[len(steps)-1])
	for _, a := range alpha {
		w.Variants = append(w.Variants, cwk.FoldVariants(a, c.fold)...)
	}
	return w
}

// walkOf returns the walk on the labels of p, without variants.
func walkOf[T sparse.Float](p *Problem, set *Settings, steps int) *cwk.Walk[T] {
	return &cwk.Walk[T]{
		A: p.A, Degrees: p.Degrees, Prior: set.Prior, Steps: steps, Memory: set.Memory, Workers: set.Workers,
		Seeds: cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)},
	}
}

// widest is the number of columns that walks of large graphs have at a time: a
// row of more is read no faster for each column.
const widest = 64

// narrow keeps a walk that so many rows are picked from to that width, if its
// blocks do not stay in cache.
func narrow(w *cwk.Walk[float32], from, picks int) {
	n, columns := len(w.Degrees), len(w.Variants)*w.Seeds.Classes
	if columns <= widest || 2*tall.BlockBytes[float32](n, widest) < slabBytes {
		return
	}
	limit := w.CollectBytes(from, picks) - 2*(tall.BlockBytes[float32](n, columns)-tall.BlockBytes[float32](n, widest))
	if w.Memory == 0 || limit < w.Memory {
		w.Memory = limit
	}
}

// slabWalk returns the walk with the α of number lo ≤ a < hi, and the picks of
// all their trials.
func (c *chooser) slabWalk(lo, hi int) (*cwk.Walk[float32], []cwk.Pick) {
	w := c.walk(c.set.Grid.alphas()[lo:hi])
	perAlpha := len(w.Variants) / (hi - lo)
	var picks []cwk.Pick
	for a := range hi - lo {
		for _, pick := range c.picks {
			pick.Variant += a * perAlpha
			picks = append(picks, pick)
		}
	}
	narrow(w, c.set.Grid.minSteps(), len(picks))
	return w, picks
}

// slab tries the settings with the α of number lo ≤ a < hi; tell is told what
// share of it is done.
func (c *chooser) slab(ctx context.Context, lo, hi int, hits trial.Hits, tell func(done float64)) error {
	g := c.set.Grid
	w, picks := c.slabWalk(lo, hi)
	x, err := collect(ctx, w, g.minSteps(), picks, &c.work, func(done float64) {
		tell(done / 2) // the trials that follow count for as much as the walks
	})
	if err != nil {
		return err
	}
	type job struct {
		t     *trial.Trial
		x     *sparse.Block[float32]
		first int // of hits
	}
	var jobs []job
	block := len(g.steps()) * g.settings()
	for a := lo; a < hi; a++ {
		rows := *x
		rows.Data = x.Data[(a-lo)*len(c.picks)*x.Stride:]
		rows.Rows = len(c.picks)
		for f, kind := range g.Features {
			for i := range c.trials[kind] {
				jobs = append(jobs, job{&c.trials[kind][i], &rows, i*g.Size() + (f*len(g.alphas())+a)*block})
			}
		}
	}
	tried, err := c.set.toTry(len(c.p.Names))
	if err != nil {
		return err
	}
	testers := make([]*trial.Tester, sched.Workers(c.set.Workers))
	found := make([]trial.Hits, len(jobs))
	err = sched.Run(ctx, c.set.Workers, len(jobs), func(worker, i int) error {
		if testers[worker] == nil {
			testers[worker] = trial.New(len(c.p.Names), tried)
		}
		found[i] = trial.NewHits(block)
		return testers[worker].Run(ctx, jobs[i].x, jobs[i].t, found[i])
	})
	if err != nil {
		return err
	}
	for i, j := range jobs {
		hits.Of(j.first, j.first+block).Add(found[i])
	}
	return nil
}

// collect is Walk.Collect, counted in work; tell is told what share is done.
func collect(ctx context.Context, w *cwk.Walk[float32], from int, picks []cwk.Pick, work *problem.Work, tell func(done float64)) (*sparse.Block[float32], error) {
	used := make([]bool, len(w.Variants))
	variants := 0
	for _, pick := range picks {
		if !used[pick.Variant] {
			used[pick.Variant] = true
			variants++
		}
	}
	sweeps := 0
	w.Progress = func(done, all int) {
		sweeps = done
		tell(float64(done) / float64(all))
	}
	x, err := w.Collect(ctx, from, picks)
	work.Sweeps += sweeps
	work.EntryColumns += w.A.NNZ() * int64(w.Steps) * int64(variants*w.Seeds.Classes)
	return x, err
}

// pick returns the best setting of a grid by right predictions.
func (c *chooser) pick(g *Grid, hits []int64, tested int) int {
	switch {
	case slices.Min(hits) == slices.Max(hits):
		return g.usual()
	case g.path == nil && len(g.settled) > 1:
		return largestOf(hits) // neighbours in the list are none among settings
	}
	return best(g, hits, tested)
}

// crossChoice returns the best setting by right predictions of folds.
func (c *chooser) crossChoice(byFold trial.Hits) *Choice {
	g := c.set.Grid
	choice := c.choice(summed(byFold.Right, g.Size()), c.tested)
	choice.byFold = byFold
	c.holdOut(&choice.heldOut, func(fold, others int) float64 {
		return byFold.Weight[fold*g.Size()+c.outside(g, byFold.Right, fold, others)]
	})
	return choice
}

// summed returns the sums over folds of right predictions with so many settings.
func summed(byFold []int64, settings int) []int64 {
	all := make([]int64, settings)
	for i, n := range byFold {
		all[i%settings] += n
	}
	return all
}

// outside returns the setting that right predictions outside a fold choose, of which there
// are so many others.
func (c *chooser) outside(g *Grid, byFold []int64, fold, others int) int {
	size := g.Size()
	rest := summed(byFold, size)
	for i, n := range byFold[fold*size:][:size] {
		rest[i] -= n
	}
	return c.pick(g, rest, others)
}

// holdOut counts the right predictions in each fold of what the other folds choose; right
// returns what those at reached labels weigh.
func (c *chooser) holdOut(count *heldout.Count, right func(fold, others int) float64) {
	for f, t := range c.trials[c.set.Grid.Features[0]] {
		tested := len(t.Test) + len(t.Unreached)
		if tested == c.tested {
			continue // no other fold to choose by
		}
		for _, u := range t.Unreached {
			count.Note(false, u.Class == u.Given, t.Weight[u.Class])
		}
		for _, class := range t.TestClass {
			count.Note(true, false, t.Weight[class])
		}
		count.Answered(right(f, c.tested-tested))
	}
}

// choice returns the best setting by right predictions.
func (c *chooser) choice(hits []int64, tested int) *Choice {
	g := c.set.Grid
	best := c.pick(g, hits, tested)
	return &Choice{
		Parameters: g.at(best), Accuracy: float64(hits[best]) / float64(tested), Tested: tested,
		Settings: g.Size(), Work: c.work, hits: hits,
	}
}
