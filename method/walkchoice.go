package method

import (
	"context"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// Choice is the result of choosing parameters.
type Choice struct {
	Parameters
	Accuracy float64 // of the parameters on the labels that they were chosen by
	Tested   int     // predictions behind it for each setting; 0: there were too few labels
	Settings int     // number of settings to choose from
	Work     problem.Work

	choice *choose.Found // nil of other methods, and with too few labels
}

// crossValidate chooses the parameters of a walk and of the learner on it by the accuracy on
// held-out labels. See package choose for the rule.
//
// The labelled nodes are dealt into stratified folds, and for every α and
// every fold there is a walk in which that fold is unlabelled. Test rows of a
// fold come from the walk that hides it. Plain training rows come from the
// same walk, honest ones from the walk that hides their own fold.
//
// A node from which no visible label can be reached is given the largest
// class and not used to train on honest features. On large graphs long walks are compared only
// if the longest short one is chosen, because they take most of the time.
//
// Unless two classes have two labels each, nothing can be learned from hiding
// one. The choice is then the candidate of the grid that is nearest to the defaults, with
// as many steps as walks need to reach most nodes from a label, and Tested is 0.
func crossValidate(ctx context.Context, p *Problem, set *Settings) (*Choice, error) {
	if split.TooFew(p.Class) {
		return withoutTrial(ctx, p, set)
	}
	c := chooserOf(p, set)
	if err := c.crossTrials(ctx); err != nil {
		return nil, err
	}
	folds := choose.Labels(choose.WeightsOf(p), p.Class, c.fold, c.seen, c.isolated)
	measure := func(ctx context.Context, g *grid) (*choose.Counts, error) {
		counts := choose.NewCounts(g.size(), folds)
		return counts, c.run(ctx, g, counts.Hits)
	}
	grid := set.grid
	if short := c.shortGrid(longWork); short != nil {
		choice, err := c.search(ctx, short, measure)
		if err != nil || choice.steps() < short.last() {
			return choice, err
		}
	}
	return c.search(ctx, grid, measure)
}

// search chooses from a grid; measure returns the counts of all settings of a part of it.
func (c *chooser) search(ctx context.Context, g *grid, measure func(context.Context, *grid) (*choose.Counts, error)) (*Choice, error) {
	s := &choose.Search{Kernel: g.walks(), Learner: g.space, Together: c.set.learner.Path != nil}
	s.Measure = func(ctx context.Context, kernels, settings []int) (*choose.Counts, error) {
		subgrid := *g
		if len(kernels) == 1 {
			walk := g.at(kernels[0] * len(g.settings))
			subgrid = *g.ofWalk(&walk)
		}
		subgrid.settings = nil
		for _, i := range settings {
			subgrid.settings = append(subgrid.settings, g.settings[i])
		}
		return measure(ctx, &subgrid)
	}
	result, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: g.at(result.Kernel*len(g.settings) + result.Setting), Accuracy: result.Accuracy, Tested: result.Tested,
		Settings: g.size(), Work: c.work, choice: result,
	}, nil
}

// On graphs where all walks of a grid take more than longWork entries × columns
// × steps, walks of more than shortSteps are compared only if the longest of the
// others is chosen.
const (
	longWork   = 4_000_000_000
	shortSteps = 40
)

// shortGrid returns the grid without its long walks, nil if there are none or
// they take no more than limit.
func (c *chooser) shortGrid(limit float64) *grid {
	steps := c.set.grid.steps
	columns := len(c.set.grid.alphas) * c.dealt() * len(c.p.Names)
	work := float64(sparse.EntriesOf(c.p.A)) * float64(columns) * float64(steps[len(steps)-1])
	i := sort.SearchInts(steps, shortSteps+1)
	if work <= limit || i == 0 || i == len(steps) {
		return nil
	}
	short := *c.set.grid
	short.steps = steps[:i]
	return &short
}

// chooseOnSplits chooses the parameters by the accuracy on the
// test nodes of the given splits, as the paper does: the training nodes of
// each split are labelled in its walks; folds serve honest features only.
func chooseOnSplits(ctx context.Context, p *Problem, splits *split.Splits, set *Settings) (*Choice, error) {
	search := &chooser{p: p, set: set}
	if !p.Directed { // they are found here for all splits
		if _, err := p.FindComponents(ctx, set.Workers, &search.work); err != nil {
			return nil, err
		}
	}
	choice, err := search.search(ctx, set.grid, func(ctx context.Context, g *grid) (*choose.Counts, error) {
		counts := choose.NewCounts(g.size(), make([]choose.FoldLabels, 1))
		for i := range splits.Len {
			trainTest := splits.At(i)
			quiet := *set // within a split
			quiet.Progress, quiet.grid = ignoreProgress, g
			c := chooserOf(p.At(trainTest.Train), &quiet)
			c.work = search.work
			tests := p.At(trainTest.Test)
			if err := c.splitTrials(ctx, tests.At(split.Sample(tests.Class, testedNodes(set), set.RNGSeed, 1))); err != nil {
				return nil, err
			}
			if err := c.run(ctx, g, counts.Hits); err != nil {
				return nil, err
			}
			search.work = c.work
			counts.Folds[0].Tested += c.tested
			set.Progress("choose", int64(i+1), int64(splits.Len))
		}
		return counts, nil
	})
	if err == nil {
		choice.Constant = constantsOn(set.learner, set.constant)
	}
	return choice, err
}

// maxTested bounds the test nodes of a tuning split.
const maxTested = 10_000

// testedNodes returns the bound on the test nodes of a tuning split for the learner. One without
// a path scores each by every model, or learns with them among its items.
func testedNodes(s *Settings) int {
	switch {
	case s.learner.Path != nil:
		return maxTested
	case s.learner.Whole:
		return s.comparedLabels()
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
	picks    []cwk.Pick
	trials   map[string][]choose.Trial
	isolated []bool // see Problem.alone
	tested   int
	work     problem.Work
}

// chooserOf returns what tries the settings of set on the labels of p, dealt into folds.
func chooserOf(p *Problem, set *Settings) *chooser {
	return &chooser{
		p: p, set: set, fold: split.Folds(p.Class, set.folds(len(p.Row)), set.RNGSeed, 0),
		seen: split.Sample(p.Class, set.comparedLabels(), set.RNGSeed, 0),
	}
}

// dealt returns the number of folds that the labels are dealt into.
func (c *chooser) dealt() int { return c.set.folds(len(c.p.Row)) }

// crossTrials sets up a trial for each fold.
func (c *chooser) crossTrials(ctx context.Context) error {
	isolated, err := choose.Unreachable(ctx, c.p, c.fold, c.set.Workers, &c.work)
	if err != nil {
		return err
	}
	c.isolated = isolated
	pick := c.foldPicks()
	c.trials = make(map[string][]choose.Trial)
	weight := choose.WeightsOf(c.p)
	for _, kind := range c.set.grid.features {
		for f := range pick {
			t := choose.Trial{Largest: choose.LargestWithout(c.p.Class, c.fold, f), Weight: weight}
			for i, node := range c.seen {
				home, class := c.fold[node], c.p.Class[node]
				switch {
				case home == f && isolated[node]:
					t.Unreached = append(t.Unreached, choose.Unreached{Class: class, Given: c.set.Prior.Likeliest(c.p.Row[node], t.Largest)})
				case home == f:
					t.Test, t.TestClass = append(t.Test, pick[f][i]), append(t.TestClass, class)
				case kind == Plain:
					t.Train, t.TrainClass = append(t.Train, pick[f][i]), append(t.TrainClass, class)
				case !isolated[node]:
					t.Train, t.TrainClass = append(t.Train, pick[home][i]), append(t.TrainClass, class)
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
	plain := slices.Contains(c.set.grid.features, Plain)
	pick := make([][]int, c.dealt())
	for f := range pick {
		pick[f] = make([]int, len(c.seen))
		for i, node := range c.seen {
			if plain || c.fold[node] == f {
				pick[f][i] = len(c.picks)
				c.picks = append(c.picks, cwk.Pick{Row: c.p.Row[node], Variant: 1 + f})
			}
		}
	}
	return pick
}

// splitTrials sets up the trial of a split whose test nodes are those of tests.
func (c *chooser) splitTrials(ctx context.Context, tests *Problem) error {
	isolated, err := choose.Unreachable(ctx, c.p, c.fold, c.set.Workers, &c.work)
	if err != nil {
		return err
	}
	reached, err := c.p.Reached(ctx, c.p.Row, c.set.Workers, &c.work)
	if err != nil {
		return err
	}
	base := choose.Trial{Largest: split.Majority(c.p.Class), Weight: choose.WeightsOf(c.p)}
	for i, row := range tests.Row {
		if !reached.Contains(uint32(row)) {
			base.Unreached = append(base.Unreached, choose.Unreached{Class: tests.Class[i], Given: c.set.Prior.Likeliest(row, base.Largest)})
			continue
		}
		base.Test, base.TestClass = append(base.Test, len(c.picks)), append(base.TestClass, tests.Class[i])
		c.picks = append(c.picks, cwk.Pick{Row: row})
	}
	c.trials = make(map[string][]choose.Trial)
	for _, kind := range c.set.grid.features {
		t := base
		for _, node := range c.seen {
			pick := cwk.Pick{Row: c.p.Row[node]}
			if kind == Honest {
				if isolated[node] {
					continue
				}
				pick.Variant = 1 + c.fold[node]
			}
			t.Train, t.TrainClass = append(t.Train, len(c.picks)), append(t.TrainClass, c.p.Class[node])
			c.picks = append(c.picks, pick)
		}
		c.trials[kind] = []choose.Trial{t}
	}
	c.tested = len(tests.Row)
	return nil
}

// run adds the right predictions of all trials with the settings of g, a part of the
// settings' grid, to hits, by trial and setting.
func (c *chooser) run(ctx context.Context, g *grid, hits choose.Hits) error {
	sub, set := *c, *c.set
	set.grid, sub.set = g, &set
	for a := range g.alphas {
		if err := sub.try(ctx, a, hits); err != nil {
			return err
		}
		c.set.Progress("choose", 2000*int64(a+1), 2000*int64(len(g.alphas)))
	}
	c.work = sub.work
	return nil
}

// walk returns the walks with a value of α.
func (c *chooser) walk(alpha float64) *cwk.Walk[float32] {
	w := walkOf[float32](c.p, c.set, c.set.grid.last())
	w.Variants = cwk.FoldVariants(alpha, c.fold)
	return w
}

// walkOf returns the walk on the labels of p, without variants.
func walkOf[T sparse.Float](p *Problem, set *Settings, steps int) *cwk.Walk[T] {
	return &cwk.Walk[T]{
		A: p.A, Degrees: p.Degrees, Prior: set.Prior, Steps: steps, Memory: set.Memory, Workers: set.Workers,
		Seeds: cwk.Seeds{Row: p.Row, Class: p.Class, Classes: len(p.Names)},
	}
}

// Walks of large graphs have at most widest columns at a time, because a row of more is read no faster for each column.
// Blocks of up to cachedBytes stay in cache.
const (
	widest      = 64
	cachedBytes = 48 << 20
)

// narrow limits the columns of a walk from which the given number of rows is picked, if its
// blocks do not stay in cache.
func narrow(w *cwk.Walk[float32], minSteps, picks int) {
	n, columns := len(w.Degrees), len(w.Variants)*w.Seeds.Classes
	if columns <= widest || 2*blocks.BlockBytes[float32](n, widest) < cachedBytes {
		return
	}
	limit := w.CollectBytes(minSteps, picks) - 2*(blocks.BlockBytes[float32](n, columns)-blocks.BlockBytes[float32](n, widest))
	if w.Memory == 0 || limit < w.Memory {
		w.Memory = limit
	}
}

// try adds the hits of the settings with α of number a. Each trial has all lengths and settings of the learner;
// several processes share the trials.
func (c *chooser) try(ctx context.Context, a int, hits choose.Hits) error {
	g, w, candidates := c.set.grid, c.walk(c.set.grid.alphas[a]), c.set.candidates()
	narrow(w, g.minSteps, len(c.picks))
	x, err := collect(ctx, w, g.minSteps, c.picks, &c.work, func(done, total int64) {
		c.set.Progress("choose", 2000*int64(a)+1000*done/total, 2000*int64(len(g.alphas))) // the trials count for as much as the walks
	})
	if err != nil {
		return err
	}
	block, perKind := len(g.steps)*len(g.settings), len(c.trials[g.features[0]])
	workers, bytes := sched.Workers(c.set.Workers), testerBytes(c.set, len(c.p.Names), len(c.seen), c.tested/max(1, c.dealt()))
	for c.set.Memory > 0 && workers > 1 && int64(x.Rows*x.Cols*4)+int64(workers)*bytes > c.set.Memory {
		workers--
	}
	testers := make([]*choose.Tester, workers)
	team, counts := sparse.TeamOf(c.p.A), make([]choose.Hits, len(g.features)*perKind)
	err = sched.Run(ctx, workers, len(counts), func(worker, i int) error {
		if counts[i] = choose.NewHits(block); team != nil && i%team.Size() != team.Rank() {
			return nil
		}
		if testers[worker] == nil {
			testers[worker] = choose.New(len(c.p.Names), candidates)
		}
		return testers[worker].Run(ctx, x, &c.trials[g.features[i/perKind]][i%perKind], counts[i])
	})
	if err := team.Agree(err); err != nil {
		return err
	}
	for i := range counts {
		first := i%perKind*g.size() + (i/perKind*len(g.alphas)+a)*block
		counts[i].Share(team)
		hits.Of(first, first+block).Add(counts[i])
	}
	return nil
}

// collect returns the result of [cwk.Walk.Collect], and adds its cost to work.
func collect(ctx context.Context, w *cwk.Walk[float32], minSteps int, picks []cwk.Pick, work *problem.Work, report func(done, total int64)) (*sparse.Block[float32], error) {
	sweeps := 0
	w.Progress = func(_ string, done, total int64) {
		sweeps = int(done)
		report(done, total)
	}
	x, err := w.Collect(ctx, minSteps, picks)
	work.Sweeps += sweeps
	work.EntryColumns += sparse.EntriesOf(w.A) * int64(w.Steps) * int64(len(w.Variants)*w.Seeds.Classes)
	return x, err
}

// withoutTrial returns the choice where nothing can be tried.
func withoutTrial(ctx context.Context, p *Problem, set *Settings) (*Choice, error) {
	g := set.grid
	c := &Choice{Parameters: g.at(g.usual()), Settings: 1}
	if len(g.steps) == 1 {
		return c, nil
	}
	c.setSteps(g.last())
	reached, err := p.Reached(ctx, p.Row, set.Workers, &c.Work)
	if err != nil {
		return nil, err
	}
	for {
		missed, err := c.missed(ctx, p, set, reached)
		if err != nil || missed <= problem.MostMissed || c.Work.EntryColumns > problem.MissedWork || 2*c.steps() > cwk.MaxSteps {
			return c, err
		}
		c.setSteps(2 * c.steps())
	}
}

// missed returns the share of the reached nodes from which a walk with the steps
// of the choice hardly ever meets a label. On a path a walk needs about the square
// of the distance in steps.
func (c *Choice) missed(ctx context.Context, p *Problem, set *Settings, reached *roaring.Bitmap) (float64, error) {
	const label, none = 0, 1
	n := len(p.Degrees)
	start := sparse.NewBlock[float64](n, 2)
	for i := range n {
		start.Row(i)[none] = 1
	}
	w := walkOf[float32](p, set, c.steps())
	w.Prior = cwk.Prior{Given: start}
	w.Seeds.Class, w.Seeds.Classes = make([]int, len(p.Row)), 2
	w.Variants = []cwk.Variant{{Absorb: c.alpha()}}
	misses := make([]bool, n)
	err := w.Run(ctx, 0, 2, func(_ int, rows sparse.Rows, x *sparse.Block[float32]) {
		for i := rows.Lo; i < rows.Hi; i++ {
			misses[i] = x.Row(i)[label] < leastShown
		}
	}, nil)
	c.Work.Add(problem.Work{Sweeps: c.steps(), EntryColumns: sparse.EntriesOf(p.A) * int64(c.steps()) * 2})
	missed := roaring.New()
	for i := range roaring.Values(reached) {
		if misses[i] {
			missed.Add(i)
		}
	}
	return float64(p.CountOf(missed)) / float64(max(1, p.CountOf(reached))), err
}

// leastShown is the smallest probability of meeting a label that float32 walks
// distinguish from zero.
const leastShown = 1e-5

// neutral sets the bias of every classifier so that it is undecided about a node whose walk
// meets no label, that is, whose features all have the given value. The fitted bias between
// single labels depends on how long walks stay at them, and would outvote the label that is
// nearest to a distant node.
func neutral(m *classify.LinearModel, feature float64) {
	for i := range m.Pairs {
		sum := 0.0
		for _, w := range m.Weights[i*m.Features : (i+1)*m.Features] {
			sum += w
		}
		m.Bias[i] = -feature * sum
	}
}
