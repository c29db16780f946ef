package method

import (
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/heldout"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Extend implements [Extended].
func (m walkMethod) Extend() Extension {
	return Extension{reckon: m.reckon, reckonTuning: m.reckonTuning}
}

func (m walkMethod) reckon(a *account) (err error) {
	if *a.set, err = a.set.of(m.by, len(a.P.Names)); err != nil {
		return err
	}
	g := a.set.Grid
	switch choose := g.Size() > 1 && !validate.TooFew(a.P.Class); {
	case choose:
		if err := a.choice(0, len(g.alphas())); err != nil {
			return err
		}
	case g.Size() > 1 && len(g.steps()) > 1:
		a.Sweeps = spec.UnknownSweeps
	}
	sweeps := 0
	for _, kind := range a.set.Grid.Features {
		need, err := a.training(kind)
		if err != nil {
			return err
		}
		sweeps = max(sweeps, need)
	}
	a.AddSweeps(sweeps)
	return a.walkedScores()
}

// walkedScores accounts for the scores of all nodes by the longest walks of the grid.
func (a *account) walkedScores() error {
	if a.set.learner.perNode() {
		a.Scores() // rows of all nodes are among those for training
		return nil
	}
	grid := a.set.Grid
	machines, rest := a.machines()
	w := scoreWalk(a.P, a.left(), Parameters{Alpha: grid.alphas()[0], Steps: grid.last(), MinSteps: grid.minSteps()}, rest)
	functions := machines
	if rest {
		functions = 0 // the scores of all stand elsewhere
	}
	list, sweeps, err := w.ScoresMemory(functions)
	if err != nil {
		return err
	}
	a.AddSweeps(sweeps)
	sums := spec.Bytes{What: "sums of votes", Bytes: sumsBytes(a.P, rest)}
	a.PhaseOf(append(list, sums), "walk for the scores of all nodes")
	votes := piece.Bytes[float32](len(a.P.Degrees), len(a.P.Names))
	if rest {
		votes += sums.Bytes
	}
	a.Phase(votes, "votes on all nodes")
	a.Scores()
	return nil
}

// last returns the longest walk.
func (g *Grid) last() int { return slices.Max(g.steps()) }

// choice accounts for trials with the α of number lo ≤ a < hi of the grid.
func (a *account) choice(lo, hi int) error {
	c := chooserOf(a.P, a.left())
	c.foldPicks()
	folds := c.dealt()
	return a.trials(c, lo, hi, len(c.seen)/folds+1, folds*(c.set.Grid.last()+1))
}

// trials accounts for the trials of a chooser, each of so many rows, and so many of them for
// each kind of features at a time.
func (a *account) trials(c *chooser, lo, hi, tests, jobs int) error {
	g := c.set.Grid
	together := c.together()
	for ; lo < hi; lo += together {
		w, picks := c.slabWalk(lo, min(lo+together, hi))
		list, sweeps, err := w.FeaturesMemory(g.minSteps(), picks, false)
		if err != nil {
			return err
		}
		a.AddSweeps(sweeps)
		a.PhaseOf(list, fmt.Sprintf("walks of %d variants to choose by", len(w.Variants)))
		workers := int64(min(sched.Workers(c.set.Workers), len(g.Features)*jobs))
		a.Phase(list[0].Bytes+workers*a.tester(len(c.seen), tests), "machines to choose by")
	}
	return nil
}

func (m walkMethod) reckonTuning(a *account, all *Problem) (err error) {
	if *a.set, err = a.set.of(m.by, len(a.P.Names)); err != nil {
		return err
	}
	c, g := chooserOf(a.P, a.left()), a.set.Grid
	tests := min(c.set.tested(), len(all.Row)-len(a.P.Row)+len(all.Names))
	for i := range tests {
		c.picks = append(c.picks, cwk.Pick{Row: all.Row[i%len(all.Row)]})
	}
	for range g.Features {
		for i, node := range c.seen {
			c.picks = append(c.picks, cwk.Pick{Row: a.P.Row[node], Variant: 1 + i%c.dealt()})
		}
	}
	return a.trials(c, 0, len(g.alphas()), tests, len(g.alphas()))
}

// tester bounds what one tester takes for trials of so many training and test
// rows.
func (a *account) tester(train, tests int) int64 {
	g := a.set.Grid
	steps, from, gap := g.steps(), g.minSteps()-1, 0
	for _, t := range steps {
		gap = max(gap, t-from)
		from = t
	}
	width := min(trial.MaxWidth, gap*len(a.P.Names))
	m, n := int64(train), int64(tests+4)
	if by := a.set.learner; by.path == nil {
		if by.Whole {
			m += n
		}
		return 8*((m+n)*int64(width)+2*m*m+m*n) + fitBytes(by.Learner, int(m), len(a.P.Names))
	}
	return 8 * ((m+n)*int64(width) + 2*m*m + m*n + 4*m*int64(g.settings()*len(a.P.Names)))
}

// training accounts for the features of training rows, of one kind and of the longest
// walks, and the machine that learns from them, and returns the sweeps.
func (a *account) training(kind Features) (sweeps int, err error) {
	c, g := chooserOf(a.P, a.left()), a.set.Grid
	last := Parameters{Alpha: g.alphas()[0], Steps: g.last(), MinSteps: g.minSteps(), Features: kind}
	c.set.Grid = g.ofWalk(last)
	c.foldPicks()
	r := &predictor{p: a.P, set: c.set, by: c.set.learner, par: last, trials: c}
	w, picks, err := r.trainingWalk(func(_ int, fold []int) ([]bool, error) { return make([]bool, len(fold)), nil })
	if err != nil {
		return 0, err
	}
	list, sweeps, err := w.FeaturesMemory(g.minSteps(), picks, false)
	if err != nil {
		return 0, err
	}
	features := w.Seeds.Classes * (w.Steps - g.minSteps() + 1)
	bytes := list[0].Bytes + a.machine(int64(len(r.train)), int64(features))
	sure := bytes
	if kind != g.Features[0] { // the other kind may be chosen, which takes less
		sure = 0
		for i := range list {
			list[i].Optional = true
		}
	}
	a.PhaseOf(list, "walks for training rows")
	a.PhaseUpTo(bytes, sure, "training")
	return sweeps, nil
}

// machine bounds what training takes beside so many rows of features: what the learner
// works in, its coefficients, and the weights of all machines twice, as it gives them and
// as the walk takes them.
func (a *account) machine(rows, features int64) int64 {
	machines, _ := a.machines()
	bytes := 4*8*rows + 2*8*int64(machines)*features // rows, classes, squares and lists of each class; weights
	by := a.set.learner
	if other := by.outgrown(int(rows), int(features)); other.alike(by) {
		by = other
	}
	if by.LinearMemory != nil {
		return bytes + by.LinearMemory(a.load(rows, features))
	}
	if by.Whole { // a row of kernel values for each worker, and vectors
		bytes += 8 * int64(len(a.P.Degrees)-len(a.P.Row)) * int64(sched.Workers(0)+4)
	}
	return bytes + fitBytes(by.Learner, int(rows), len(a.P.Names))
}

// load returns what a fit to so many rows of so many features is.
func (a *account) load(rows, features int64) *classify.Load {
	largest, workers := a.members(rows)
	return &classify.Load{Items: rows, Classes: int64(len(a.P.Names)), Features: features, Largest: largest, Workers: workers}
}

// members returns how many of so many rows the largest support vector machine
// has, and how many machines are trained at a time.
func (a *account) members(rows int64) (members, workers int64) {
	machines, rest := a.machines()
	workers = int64(min(sched.Workers(a.set.Workers), machines))
	if rest || len(a.P.Class) == 0 {
		return rows, workers
	}
	count := heldout.CountsOf(a.P)
	slices.Sort(count)
	labels := int64(len(a.P.Class))
	two := int64(count[len(count)-1] + count[max(0, len(count)-2)])
	return (min(two, labels)*rows + labels - 1) / labels, workers
}

// machines returns how many are trained, and whether each sets a class against
// the rest.
func (a *account) machines() (machines int, rest bool) {
	k := len(a.P.Names)
	if a.set.learner.pairwise(a.set.beside) {
		return k * (k - 1) / 2, false
	}
	return k, true
}
