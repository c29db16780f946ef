package method

import (
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/internal/ledger"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Needs is what a prediction takes, known before it is made.
type Needs struct {
	Bytes  int64  // in memory at a time beside the problem, the prediction included
	Sure   int64  // of these, without what is found on the way not to be needed
	Phase  string // that takes them
	Sweeps int    // over all entries at the most, if long walks do not pay; −1: what is found on the way decides

	RowBytes int  // between the rows of the widest block that is swept, at the most
	Scaled   bool // a copy of that block, multiplied by a vector, is among Bytes
}

// UnknownSweeps stands where what is found on the way decides how many sweeps there
// are.
const UnknownSweeps = ledger.UnknownSweeps

// PredictNeeds returns what Predict of a method takes on a problem, of whose
// matrix the dimensions are looked at alone. Without parameters it is that of
// the largest setting that may be chosen. The error tells that the memory of
// the settings is too little.
func PredictNeeds(m Method, p *Problem, par *Parameters, s *Settings) (Needs, error) {
	if within := Within(m); within != nil {
		base, err := PredictNeeds(within, p, par, s)
		if err != nil {
			return base, err
		}
		return smoothNeeds(base, p, s)
	}
	set := s.WithDefaults()
	a, err := newAccount(p, &set)
	if err == nil {
		switch m := m.(type) {
		case walkMethod:
			if set, err = m.settings(&set); err == nil {
				err = a.walk(par)
			}
		case kernelMethod:
			set.Learner = m.learner
			err = a.kernel(m.kernel, par)
		case learnerMethod:
			set.Learner = m.kernelMethod.learner
			err = a.learner(m, par)
		case spreading:
			err = a.spreading(m.Learner)
		case spectralLogistic:
			err = a.embedding(p)
		case evidence:
			err = auto.Reckon(a.Ledger, evidenceSettings(set))
		case labelPropagation:
			err = a.propagation()
		default:
			err = a.Scores()
		}
	}
	return a.needs(), err
}

// TryNeeds returns what [Try] takes, as PredictNeeds does.
func TryNeeds(m Method, p *Problem, s *Settings, lo, hi int) (Needs, error) {
	set := s.WithDefaults()
	if walks, ok := m.(walkMethod); ok {
		set.Learner = walks.learner
	}
	set.Grid = set.Grid.of(set.Learner)
	a, err := newAccount(p, &set)
	if err == nil && !validate.TooFew(p.Class) {
		folds := set.folds(len(p.Row))
		if short := (&chooser{p: p, set: &set}).shortGrid(folds, longWork); short != nil {
			set.Grid = short
		}
		err = a.choice(folds, lo, hi)
	}
	return a.needs(), err
}

// account adds up what a prediction takes.
type account struct {
	*ledger.Ledger
	set *Settings
}

// newAccount returns an account of a problem in which the nodes that a label
// reaches have been found.
func newAccount(p *Problem, set *Settings) (*account, error) {
	l, err := ledger.New(p, set.Memory)
	return &account{l, set}, err
}

// needs returns the peak of what has been accounted for.
func (a *account) needs() Needs {
	bytes, items := a.Plan.Peak()
	return Needs{Bytes: bytes, Sure: a.Plan.Sure(), Sweeps: a.Sweeps, Phase: items[len(items)-1].What, RowBytes: a.Row, Scaled: a.Scaled}
}

// left returns the settings with the memory that is left.
func (a *account) left() *Settings {
	set := *a.set
	if bytes, limited := a.Plan.Left(); limited {
		set.Memory = max(1, bytes)
	}
	return &set
}

// votes accounts for what the votes become.
func (a *account) votes(rest bool) error {
	bytes := piece.Bytes[float32](len(a.P.Degrees), len(a.P.Names))
	if rest {
		bytes += sumsBytes(a.P, rest)
	}
	return a.Phase(bytes, "votes on all nodes")
}

// propagation accounts for label propagation.
func (a *account) propagation() error {
	k := len(a.P.Names)
	width, room := propagated(a.P, a.left())
	a.AddSweeps(2 + (propagationSteps+1)*((k+width-1)/width))
	a.Row, a.Scaled = 8*sparse.Stride[float64](width), !walks(a.P, a.set)
	const blocks = "scores and propagation of all nodes"
	if err := a.Reserve(propagatedBytes(a.P, a.set, width), blocks); err != nil {
		return err
	}
	if factor := factorBytes(a.P, a.set, width); factor > 0 && (room == 0 || factor <= room) {
		a.Perhaps = true
		err := a.Phase(factor, "propagation, perhaps with a factor")
		a.Perhaps = false
		if err != nil {
			return err
		}
	}
	a.Plan.Release(blocks)
	return a.Scores()
}

// walk accounts for a learner on walks. That long walks turn out to pay after
// the short ones of a grid is what may be.
func (a *account) walk(par *Parameters) error {
	g := a.set.Grid
	choose := par == nil && g.Size() > 1 && !validate.TooFew(a.P.Class)
	switch {
	case par != nil:
		one := *g
		one.Alpha, one.Steps, one.MinSteps = []float64{par.Alpha}, []int{par.Steps}, par.MinSteps
		one.Features = []Features{par.Features}
		if par.Declared != nil {
			one.Declared = []*Setting{par.Declared}
		}
		a.set.Grid = &one
	case choose:
		if short := (&chooser{p: a.P, set: a.set}).shortGrid(a.set.folds(len(a.P.Row)), longWork); short != nil {
			a.set.Grid = short
		}
	case g.Size() > 1 && len(g.steps()) > 1:
		a.Sweeps = UnknownSweeps
	}
	if choose && a.set.Trials != nil {
		a.AddSweeps(a.set.Trials.Work.Sweeps)
	} else if choose {
		if err := a.choice(a.set.folds(len(a.P.Row)), 0, len(a.set.Grid.Alpha)); err != nil {
			return err
		}
	}
	err := a.chosen()
	if err != nil || !choose || a.set.Grid == g {
		return err
	}
	sweeps := a.Sweeps
	a.Perhaps, a.set.Grid = true, g
	if err := a.choice(a.set.folds(len(a.P.Row)), 0, len(g.Alpha)); err != nil {
		return err
	}
	err = a.chosen()
	a.Perhaps, a.Sweeps = false, sweeps
	return err
}

// chosen accounts for a prediction with the longest walks of the grid.
func (a *account) chosen() error {
	if err := a.training(); err != nil {
		return err
	}
	grid := a.set.Grid
	steps := grid.steps()
	last := Parameters{Alpha: grid.Alpha[0], Steps: steps[len(steps)-1], MinSteps: grid.MinSteps}
	if by := a.set.Learner.declared(); by != nil && (by.Whole || !by.Dual) {
		return a.Scores() // rows of all nodes are among those for training
	}
	machines, rest := a.machines()
	sums := sumsBytes(a.P, rest)
	w := scoreWalk(a.P, a.left(), last, machines, rest)
	var need cwk.Needs
	var err error
	if rest {
		need, err = w.ScoresToNeeds()
	} else {
		need, err = w.ScoresNeeds(machines)
	}
	if err != nil {
		return err
	}
	a.Walked(need)
	if err := a.Phase(sums+need.Bytes, "walk for the scores of all nodes"); err != nil {
		return err
	}
	if err := a.votes(rest); err != nil {
		return err
	}
	return a.Scores()
}

// choice accounts for trials with the α of number lo ≤ a < hi of the grid.
func (a *account) choice(folds, lo, hi int) error {
	set := a.left()
	c := &chooser{p: a.P, set: set, fold: validate.Folds(a.P.Class, folds, set.RNGSeed), seen: validate.Sample(a.P.Class, set.tried(), set.RNGSeed, 0)}
	c.foldPicks(folds)
	g := set.Grid
	together := c.together()
	for ; lo < hi; lo += together {
		w, picks := c.slabWalk(lo, min(lo+together, hi))
		need, err := w.CollectNeeds(g.MinSteps, picks)
		if err != nil {
			return err
		}
		a.Walked(need)
		if err := a.Phase(need.Bytes, fmt.Sprintf("walks of %d folds and %d absorptions to choose by", folds, len(w.Variants)/(folds+1))); err != nil {
			return err
		}
		features := w.PickedBytes(g.MinSteps, len(picks))
		workers := int64(min(sched.Workers(set.Workers), len(g.Features)*folds*(w.Steps+1)))
		if err := a.Phase(features+workers*a.tester(len(c.seen), len(c.seen)/folds+1), "machines to choose by"); err != nil {
			return err
		}
	}
	return nil
}

// tester bounds what one tester takes for trials of so many training and test
// rows.
func (a *account) tester(train, tests int) int64 {
	g := a.set.Grid
	steps, from, gap := g.steps(), g.MinSteps-1, 0
	for _, t := range steps {
		gap = max(gap, t-from)
		from = t
	}
	width := min(trial.MaxWidth, gap*len(a.P.Names))
	m, n := int64(train), int64(tests+4)
	if by := a.set.Learner.declared(); by != nil {
		if by.Whole {
			m += n
		}
		return 8*((m+n)*int64(width)+2*m*m+m*n) + fitBytes(by, int(m), len(a.P.Names))
	}
	return 8 * ((m+n)*int64(width) + 2*m*m + m*n + 4*m*int64(g.settings()*len(a.P.Names)))
}

// training accounts for the features of training rows and the machine that
// learns from them. Of several settings it is the one with most sweeps. The shortest
// walk with plain features, which takes least, is what is sure.
func (a *account) training() error {
	grid, perhaps := a.set.Grid, a.Perhaps
	steps, sweeps := grid.steps(), 0
	for _, kind := range grid.Features {
		for _, last := range slices.Compact([]int{steps[0], steps[len(steps)-1]}) {
			a.Perhaps = perhaps || last > steps[0] || kind != Plain && slices.Contains(grid.Features, Plain)
			need, err := a.trainingOn(kind, last)
			a.Perhaps = perhaps
			if err != nil {
				return err
			}
			sweeps = max(sweeps, need)
		}
	}
	a.AddSweeps(sweeps)
	return nil
}

// trainingOn accounts for training on one kind of features of so many steps, but for
// its sweeps.
func (a *account) trainingOn(kind Features, last int) (sweeps int, err error) {
	set := a.left()
	folds, g := set.folds(len(a.P.Row)), set.Grid
	set.Grid = &Grid{
		Alpha: g.Alpha[:1], Steps: []int{last}, MinSteps: g.MinSteps,
		Cost: g.Cost, Lambda: g.Lambda, Declared: g.Declared, Features: []Features{kind},
	}
	r := &predictor{p: a.P, set: set, by: set.Learner.declared(), par: Parameters{Alpha: g.Alpha[0], Steps: last, MinSteps: g.MinSteps, Features: kind}}
	r.trials = &chooser{p: a.P, set: set, fold: validate.Folds(a.P.Class, folds, set.RNGSeed), seen: validate.Sample(a.P.Class, set.tried(), set.RNGSeed, 0)}
	r.trials.foldPicks(folds)
	w, picks, err := r.trainingWalk(folds, func(_ int, fold []int) ([]bool, error) { return make([]bool, len(fold)), nil })
	if err != nil {
		return 0, err
	}
	need, err := w.CollectNeeds(g.MinSteps, picks)
	if err != nil {
		return 0, err
	}
	if err := a.Phase(need.Bytes, "walks for training rows"); err != nil {
		return 0, err
	}
	a.Row = max(a.Row, need.RowBytes)
	features := w.Seeds.Classes * (w.Steps - g.MinSteps + 1)
	most, sure := a.machine(int64(len(r.train)), int64(features))
	picked := w.PickedBytes(g.MinSteps, len(picks))
	return need.Sweeps, a.PhaseUpTo(picked+most, picked+sure, "training")
}

// machine is what training takes at the most and for sure beside so many rows
// of features: what the learner works in, its coefficients, and the weights of
// all machines twice, as it gives them and as the walk takes them.
func (a *account) machine(rows, features int64) (most, sure int64) {
	k := int64(len(a.P.Names))
	machines, _ := a.machines()
	lists := 4 * 8 * rows // rows, their classes and squares, and the rows of each class
	weights := 2 * 8 * int64(machines) * features
	if by := a.set.Learner.declared(); by != nil {
		bytes := lists + weights
		if by.Linear != nil {
			bytes += 8*rows*features + classify.LogisticBytes(int(rows), int(features), len(a.P.Names))
		} else {
			if by.Whole {
				rows += int64(len(a.P.Degrees) - len(a.P.Row))
			}
			bytes += fitBytes(by, int(rows), len(a.P.Names))
		}
		return bytes, bytes
	}
	if a.set.Learner == RLS {
		m := min(rows, features)
		bytes := lists + 3*8*m*m + 2*8*rows*k + weights
		return bytes, bytes
	}
	members, workers := a.members(rows)
	if a.set.Learner == LinearSVM || rows > maxKernel {
		const coordinate = 8 * 8
		bytes := lists + workers*coordinate*members + weights
		return bytes, bytes
	}
	const position = 16 * 8
	sure = lists + workers*position*members + 2*8*rows*k + weights + wholeBytes(rows)
	return sure + cached(members, workers), sure
}

// members returns how many of so many rows the largest support vector machine
// has, and how many machines are trained at a time.
func (a *account) members(rows int64) (members, workers int64) {
	machines, rest := a.machines()
	workers = int64(min(sched.Workers(a.set.Workers), machines))
	if rest || len(a.P.Class) == 0 {
		return rows, workers
	}
	count := make([]int64, len(a.P.Names))
	for _, c := range a.P.Class {
		count[c]++
	}
	slices.Sort(count)
	labels := int64(len(a.P.Class))
	two := count[len(count)-1] + count[max(0, len(count)-2)]
	return (min(two, labels)*rows + labels - 1) / labels, workers
}

// cached is what the rows of the kernel take that machines with so many members
// keep, if they ask for all of them.
func cached(members, workers int64) int64 {
	return min(cacheBytes, workers*8*members*members)
}

// grams accounts for the blocks of kernels to choose from, and returns the values
// of these and the number of labels among which they are.
func (a *account) grams(f *kernel.Family, par *Parameters) (grid []spec.Values, labels int, err error) {
	if par != nil {
		grid = []spec.Values{par.Kernel.Values}
	} else if grid, err = kernelGrid(f, a.set, kernel.OnDegrees(a.P.Degrees)); err != nil {
		return nil, 0, err
	}
	a.Sweeps = UnknownSweeps
	seen := validate.Sample(a.P.Class, a.set.Sample, a.set.RNGSeed, 0)
	rows := make([]int, len(seen))
	for i, l := range seen {
		rows[i] = a.P.Row[l]
	}
	grams := f.GramsMemory(grid, a.P.Degrees, a.P.A.NNZ(), rows, a.left().Memory)
	return grid, len(rows), a.List(grams, "blocks of kernels to choose from")
}

// kernel accounts for a machine on a kernel of package kernel.
func (a *account) kernel(f *kernel.Family, par *Parameters) error {
	grid, seen, err := a.grams(f, par)
	if err != nil {
		return err
	}
	n, m := len(a.P.Degrees), int64(seen)
	workers := int64(min(sched.Workers(a.set.Workers), len(grid)))
	block := solved(m)
	if a.set.Learner != RLS {
		members, _ := a.members(m)
		block = cached(members, 1)
	}
	if err := a.Phase(8*m*m*int64(len(grid))+workers*block, "machines to choose by"); err != nil {
		return err
	}
	all := int64(len(a.P.Row))
	if byParts := a.set.Learner == RLS && all > maxSolved; all > m && !byParts {
		if err := a.List(a.oneOf(f, grid, a.P.Row), "block of the kernel between labels"); err != nil {
			return err
		}
		most, sure := solved(all), solved(all)
		if a.set.Learner != RLS {
			most, sure = cached(a.members(all)), 0
		}
		if err := a.PhaseUpTo(8*all*all+most, 8*all*all+sure, "training"); err != nil {
			return err
		}
	}
	width, rest := a.machines()
	if !rest {
		width = min(width, machinesAtATime)
	}
	a.Row = max(a.Row, 8*sparse.Stride[float64](max(1, width)))
	counts := int64(n) * int64(len(a.P.Names)) // a byte for the votes of a node for a class
	if rest {
		counts = 0
	}
	apply := spec.Sum(f.ApplyMemory(grid[0], a.P.Degrees, max(1, width)))
	if err := a.Phase(sumsBytes(a.P, false)+counts+apply, "the kernel applied to machines"); err != nil {
		return err
	}
	return a.Scores()
}

// solved is what least squares on a block of so many labels takes beside it.
func solved(labels int64) int64 { return 3 * 8 * labels * labels }

// oneOf lists what the block between rows of one of several kernels takes, whichever
// is chosen.
func (a *account) oneOf(f *kernel.Family, grid []spec.Values, rows []int) (most []spec.Bytes) {
	for i := range grid {
		most = spec.Larger(most, f.GramsMemory(grid[i:i+1], a.P.Degrees, a.P.A.NNZ(), rows, a.left().Memory))
	}
	return most
}

// machines returns how many are trained, and whether each sets a class against
// the rest.
func (a *account) machines() (machines int, rest bool) {
	k := len(a.P.Names)
	if a.set.Learner == RLS || a.set.Learner.declared() != nil || a.set.strategy(k) == classify.OneVsRest {
		return k, true
	}
	return k * (k - 1) / 2, false
}

// TuneNeeds returns what Tune of a method takes on splits whose training sets are
// like that of train: nothing if it chooses for each training set anew.
func TuneNeeds(m Method, train, all *Problem, s *Settings) (Needs, error) {
	if within := Within(m); within != nil {
		m = within
	}
	walks, ok := m.(walkMethod)
	if !ok {
		return tuneNeeds(m, train, all, s)
	}
	learning, err := walks.settings(s)
	if err != nil {
		return Needs{}, err
	}
	a, err := newAccount(train, &learning)
	if err != nil {
		return Needs{}, err
	}
	set := a.left()
	folds, g := set.folds(len(train.Row)), set.Grid
	c := &chooser{p: train, set: set, fold: validate.Folds(train.Class, folds, set.RNGSeed), seen: validate.Sample(train.Class, set.tried(), set.RNGSeed, 0)}
	tests := min(set.tested(), len(all.Row)-len(train.Row)+len(all.Names))
	for i := range tests {
		c.picks = append(c.picks, cwk.Pick{Row: all.Row[i%len(all.Row)]})
	}
	for range g.Features {
		for i, node := range c.seen {
			c.picks = append(c.picks, cwk.Pick{Row: train.Row[node], Variant: 1 + i%folds})
		}
	}
	together := c.together()
	for lo := 0; lo < len(g.Alpha); lo += together {
		w, picks := c.slabWalk(lo, min(lo+together, len(g.Alpha)))
		need, err := w.CollectNeeds(g.MinSteps, picks)
		a.Row = max(a.Row, need.RowBytes)
		if err == nil {
			err = a.Phase(need.Bytes, "walks to tune by")
		}
		if err == nil {
			features := w.PickedBytes(g.MinSteps, len(picks))
			workers := int64(min(sched.Workers(set.Workers), len(g.Features)*len(g.Alpha)))
			err = a.Phase(features+workers*a.tester(len(c.seen), tests), "machines to tune by")
		}
		if err != nil {
			return Needs{}, err
		}
	}
	needs := a.needs()
	needs.Sweeps = UnknownSweeps
	return needs, nil
}
