package method

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/split"
)

// Bytes implements [Sizer]: the largest of the choice of parameters, training, and the scores of
// all nodes, since each phase frees its blocks.
func (m walkMethod) Bytes(p, tuned *Problem, s *Settings) (int64, error) {
	set, err := s.of(m.learner, len(p.Names))
	if err != nil {
		return 0, err
	}
	set.Memory = p.Remaining(set.Memory)
	w := walkSizes{p, &set}
	var largest int64
	for _, phase := range []func() (int64, error){
		w.choice, w.prediction, func() (int64, error) { return w.tuning(tuned) },
	} {
		bytes, err := phase()
		if largest = max(largest, bytes); err != nil {
			return largest, err
		}
	}
	return largest, nil
}

// walkSizes estimates the memory of the phases of a prediction from walks.
type walkSizes struct {
	p   *Problem
	set *Settings
}

// choice returns the memory of the choice of parameters by folds.
func (w walkSizes) choice() (int64, error) {
	if w.set.Grid.Size() == 1 || split.TooFew(w.p.Class) {
		return 0, nil
	}
	c := chooserOf(w.p, w.set)
	c.foldPicks()
	folds := c.dealt()
	return w.trials(c, len(c.seen)/folds+1, folds, folds*(w.set.Grid.last()+1))
}

// tuning returns the memory of the choice of parameters on splits of all.
func (w walkSizes) tuning(union *Problem) (int64, error) {
	if union == nil {
		return 0, nil
	}
	c, g := chooserOf(w.p, w.set), w.set.Grid
	tests := min(testedNodes(w.set), len(union.Row)-len(w.p.Row)+len(union.Names))
	for i := range tests {
		c.picks = append(c.picks, cwk.Pick{Row: union.Row[i%len(union.Row)]})
	}
	for range g.Features {
		for i, node := range c.seen {
			c.picks = append(c.picks, cwk.Pick{Row: w.p.Row[node], Variant: 1 + i%c.dealt()})
		}
	}
	return w.trials(c, tests, 1, len(g.alphas()))
}

// trials returns the memory of the given number of trials for each kind of features, each with
// the given number of test rows, of which at most jobs run at the same time.
func (w walkSizes) trials(c *chooser, tests, trials, jobs int) (largest int64, err error) {
	g := c.set.Grid
	batch, alphas, group := c.together(), len(g.alphas()), c.classGroup()
	var products int64 // of the trials that are added up at a time
	if group < len(w.p.Names) {
		rows := len(c.seen)
		if trials == 1 { // the test rows of a split are not among those seen
			rows += tests
		}
		one := 8 * int64(len(g.steps())) * int64(rows) * int64(rows)
		products = max(one, min(int64(len(g.Features)*trials)*one, productsLimit(w.set.Memory)))
	}
	for lo := 0; lo < alphas; lo += batch {
		walk, picks := c.slabWalk(lo, min(lo+batch, alphas))
		walk.Memory = budget.Remaining(walk.Memory, products)
		walk = groupWalk(walk, 0, group, g.minSteps(), len(picks))
		bytes, _, err := walk.FeaturesBytes(g.minSteps(), picks, false)
		if err != nil {
			return products + bytes, err
		}
		held := products
		if group == len(w.p.Names) {
			held = chunks.Bytes[float32](len(picks), group*(walk.Steps-g.minSteps()+1))
		}
		testerBytes := w.tester(len(c.seen), tests)
		workers := min(testersAtATime(w.set, held, testerBytes), len(g.Features)*jobs)
		largest = max(largest, products+bytes, held+int64(workers)*testerBytes)
	}
	return largest, nil
}

// tester bounds the memory of one [choose.Tester] for trials of the given numbers of training
// and test rows.
func (w walkSizes) tester(train, tests int) int64 {
	g := w.set.Grid
	steps, previous, gap := g.steps(), g.minSteps()-1, 0
	for _, t := range steps {
		gap = max(gap, t-previous)
		previous = t
	}
	width := min(choose.MaxWidth, gap*len(w.p.Names))
	m, n := int64(train), int64(tests+4)
	if l := w.set.learner; l.path == nil {
		if l.Whole {
			m += n
		}
		return 8*((m+n)*int64(width)+2*m*m+m*n) + fitBytes(l.Learner, int(m), len(w.p.Names))
	}
	return 8 * ((m+n)*int64(width) + 2*m*m + m*n + 4*m*int64(g.settings()*len(w.p.Names)))
}

// prediction returns the memory of training and of the scores of all nodes, with the kind of
// features and the length of walks that need most.
func (w walkSizes) prediction() (largest int64, err error) {
	g := w.set.Grid
	for _, kind := range g.Features {
		for _, steps := range g.steps() {
			options, c := *w.set, chooserOf(w.p, w.set)
			par := Parameters{Alpha: g.alphas()[0], Steps: steps, MinSteps: g.minSteps(), Features: kind}
			options.Grid = g.ofWalk(par)
			c.set = &options
			c.foldPicks()
			r := &predictor{nodeVotes: nodeVotes{p: w.p, set: c.set, learner: c.set.learner}, par: par, trials: c}
			walk, picks, err := r.trainingWalk(func(_ int, fold []int) ([]bool, error) { return make([]bool, len(fold)), nil })
			if err != nil {
				return largest, err
			}
			for _, phase := range []func() (int64, error){
				func() (int64, error) { return w.training(r, walk, picks) }, func() (int64, error) { return w.scores(r) },
			} {
				bytes, err := phase()
				if largest = max(largest, bytes); err != nil {
					return largest, err
				}
			}
		}
	}
	return largest, nil
}

// training returns the memory of the features of training rows, or of the kernel between them,
// and of the fit to these.
func (w walkSizes) training(r *predictor, walk *cwk.Walk[float32], picks []cwk.Pick) (int64, error) {
	minSteps, train, classes := r.par.MinSteps, len(r.train), len(w.p.Names)
	steps := walk.Steps - minSteps + 1
	if r.groups == nil {
		narrow(walk, minSteps, len(picks))
		bytes, _, err := walk.FeaturesBytes(minSteps, picks, false)
		if err != nil {
			return bytes, err
		}
		return max(bytes, chunks.Bytes[float32](len(picks), classes*steps)+w.fit(int64(train), int64(classes*steps))), nil
	}
	labels, folds := len(r.trials.seen), r.trials.dealt()
	tests := labels/folds + 1
	gram := 8 * int64(train) * int64(train)
	held := gram + int64(folds+1)*8*int64(labels)*int64(labels)
	walk = groupWalk(walk, 0, classGroup(len(picks), steps, classes), minSteps, len(picks))
	if w.set.Memory > 0 {
		walk.Memory = max(1, min(walk.Memory, w.set.Memory-held))
	}
	bytes, _, err := walk.FeaturesBytes(minSteps, picks, false)
	if err != nil {
		return held + bytes, err
	}
	fit := fitBytes(w.set.learner.Learner, train, classes)
	if path := w.set.learner.path; path != nil && path.Memory != nil {
		fit = max(fit, path.Memory(w.set.load(w.p, int64(train), 0)))
	}
	workers := int64(min(sched.Workers(w.set.Workers), folds))
	return max(held+max(bytes, workers*w.tester(labels, tests)), gram+fit), nil
}

// fit bounds the memory of a fit to the given number of rows, in addition to these: the learner's
// own, its coefficients, and the weights of all classifiers twice, as the learner returns them and
// as the walk needs them.
func (w walkSizes) fit(rows, features int64) int64 {
	machines, _ := w.set.machines(len(w.p.Names))
	bytes := 4*8*rows + 2*8*int64(machines)*features // rows, classes, squares and lists of each class; weights
	l := w.set.learner
	if replacement := l.replacement(int(rows), int(features)); replacement.alike(l) {
		l = replacement
	}
	if l.LinearMemory != nil {
		return bytes + l.LinearMemory(w.set.load(w.p, rows, features))
	}
	if l.Whole { // a row of kernel values for each worker, and vectors
		bytes += 8 * int64(len(w.p.Degrees)-len(w.p.Row)) * int64(sched.Workers(0)+4)
	}
	return bytes + fitBytes(l.Learner, int(rows), len(w.p.Names))
}

// scores returns the memory of the scores of all nodes.
func (w walkSizes) scores(r *predictor) (int64, error) {
	minSteps, train := r.par.MinSteps, len(r.train)
	if w.set.learner.perNode() {
		if r.groups == nil {
			return scoreBytes(w.p), nil // rows of all nodes are among those for training
		}
		bytes, _ := groupWeightsBytes(r.groups.walk, minSteps, train)
		return w.within(scoreBytes(w.p)+bytes, nodeBytes(&r.par, len(w.p.Names), train), len(w.p.Degrees)), nil
	}
	machines, isRest := w.set.machines(len(w.p.Names))
	if isRest && !w.set.Raw && chunks.Bytes[float64](len(w.p.Degrees), machines) > rawBytes {
		isRest = false // scores are kept in single precision
	}
	walk := scoreWalk(w.p, w.set, r.par, isRest)
	var weights int64
	if r.groups != nil {
		bytes, perMachine := groupWeightsBytes(r.groups.walk, minSteps, train)
		weights = bytes + perMachine*int64(machines)
		if w.set.Memory > 0 {
			limit := walk.Memory
			limitScores(walk, r.groups.walk, minSteps, train)
			weights = limit - walk.Memory
		}
	}
	votes := chunks.Bytes[float32](len(w.p.Degrees), len(w.p.Names))
	if isRest {
		weights += 8 * int64(min(cwk.ScoreClasses, len(w.p.Names))*(r.par.Steps+1)*machines)
		machines = 0 // all decisions are in a block of their own
		votes += sumsBytes(w.p, isRest)
	}
	bytes, _, err := walk.ScoresBytes(machines)
	return max(bytes+weights+sumsBytes(w.p, isRest), votes), err
}

// within returns the memory of work on nodes that takes fixed bytes, and the given bytes for each
// node of a slab, which is as large as the memory allows.
func (w walkSizes) within(fixed, perNode int64, nodes int) int64 {
	total := fixed + perNode*int64(nodes)
	if w.set.Memory == 0 {
		return total
	}
	return max(fixed+perNode, min(total, w.set.Memory))
}

// last returns the longest walk.
func (g *Grid) last() int { return slices.Max(g.steps()) }

// fitBytes is the memory of a fit to kernel values of the given number of items with a class,
// without the values.
func fitBytes(l *classify.Learner, items, classes int) int64 {
	if l.Memory == nil {
		return 0
	}
	return l.Memory(items, classes)
}

// load returns the size of a fit of the settings' learner to rows with features.
func (s *Settings) load(p *Problem, rows, features int64) *classify.Load {
	machines, isRest := s.machines(len(p.Names))
	load := &classify.Load{
		Items: rows, Classes: int64(len(p.Names)), Features: features,
		Largest: rows, Workers: int64(min(sched.Workers(s.Workers), machines)),
	}
	if labels := int64(len(p.Class)); !isRest && labels > 0 { // the two largest classes
		count := choose.CountsOf(p)
		slices.Sort(count)
		two := int64(count[len(count)-1] + count[max(0, len(count)-2)])
		load.Largest = (min(two, labels)*rows + labels - 1) / labels
	}
	return load
}

// machines returns the number of binary classifiers, and whether each separates one class
// from the rest.
func (s *Settings) machines(classes int) (machines int, isRest bool) {
	if s.learner.pairwise(s.constant) {
		return classes * (classes - 1) / 2, false
	}
	return classes, true
}
