package walks

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// choose chooses the settings of the walk and of the learner with the best accuracy on held-out labels.
//
// For every α and every stratified fold there is a walk in which the nodes of the fold have no label. This walk yields the
// features of the test nodes, which are in the fold, and of training nodes with [Plain] features. [Honest] features of a
// training node come from the walk that hides the node's own fold.
//
// On large graphs long walks take most of the time. They are compared only if the longest of the short walks is chosen.
func (j *job) choose(ctx context.Context) (*engine.Choice, error) {
	c := j.newChooser()
	if err := c.crossTrials(ctx); err != nil {
		return nil, err
	}
	seen := j.Problem.At(c.seen)
	folds := choose.Labels(choose.WeightsOf(j.Problem), seen.Class,
		problem.Pick(c.task.Fold, c.seen), problem.Pick(c.task.Isolated, c.seen))
	search := func(j *job) (*engine.Choice, error) {
		choice, err := j.Choose(ctx, func(ctx context.Context, walks, values []int) (*choose.Counts, error) {
			counts := choose.NewCounts(len(walks)*len(values), folds)
			err := c.run(ctx, problem.Pick(j.Sources, walks),
				problem.Pick(j.Values, values), counts)
			counts.Share(j.Problem.Team())
			return counts, err
		})
		if err == nil {
			choice.Work = c.work
		}
		return choice, err
	}
	if short := c.short(longWork); short != nil {
		choice, err := search(short)
		if err != nil || choice.Steps() < longestOf(short) {
			return choice, err
		}
	}
	return search(j)
}

func longestOf(j *job) (steps int) {
	for _, v := range j.Sources {
		steps = max(steps, v.Int("steps"))
	}
	return steps
}

// If the walks of a grid together take more than longWork entries × columns × steps, [chooser.short] leaves out walks of
// more than shortSteps steps.
const (
	longWork   = 4_000_000_000
	shortSteps = 40
)

// short returns the job without walks of more than shortSteps steps. If all or no walks are longer, or if walks take at
// most limit entries × columns × steps, it returns nil.
func (c *chooser) short(limit float64) *job {
	alphas := map[float64]bool{}
	short := *c.job
	short.Sources = nil
	for _, v := range c.Sources {
		alphas[v.Number("alpha")] = true
		if v.Int("steps") <= shortSteps {
			short.Sources = append(short.Sources, v)
		}
	}
	columns := len(alphas) * c.task.Folds() * len(c.Problem.Names)
	work := float64(sparse.EntriesOf(c.Problem.A)) * float64(columns) * float64(longestOf(c.job))
	if work <= limit || len(short.Sources) == 0 ||
		len(short.Sources) == len(c.Sources) {
		return nil
	}
	short.SourceSpace = walkSpace(c.Settings, short.Sources)
	return &short
}

// chooseOnSplits chooses parameters by the accuracy on the test nodes of splits, as the paper on walks does.
func (j *job) chooseOnSplits(ctx context.Context,
	splits *choose.Splits) (*engine.Choice, error) {
	var work graph.Work
	if !j.Problem.Directed { // computed once for all splits
		if _, err := j.Problem.FindComponents(ctx, j.Settings.Workers, &work); err != nil {
			return nil, err
		}
	}
	first := splits.At(0)
	lanes := j.lanes(len(first.Train), len(first.Test))
	choice, err := j.Choose(ctx, func(ctx context.Context, walks, values []int) (*choose.Counts, error) {
		works := make([]graph.Work, splits.Len)
		tested := make([]*choose.Counts, splits.Len)
		var mu sync.Mutex
		finished := int64(0)
		err := sched.Run(ctx, lanes, splits.Len, func(_, i int) error {
			trainTest := splits.At(i)
			quiet := *j.Settings
			one := *j
			quiet.Progress = engine.IgnoreProgress
			one.Problem = j.Problem.At(trainTest.Train)
			one.Settings = &quiet
			if lanes > 1 {
				quiet.Workers = 1
			}
			c := one.newChooser()
			tests := j.Problem.At(trainTest.Test)
			tests = tests.At(choose.Sample(tests.Class, j.testedNodes(),
				j.Settings.RNGSeed, 1))
			counts := choose.NewCounts(len(walks)*len(values),
				[]choose.FoldLabels{{Tested: len(tests.Row)}})
			tested[i] = counts
			err := c.splitTrials(ctx, tests)
			if err == nil {
				err = c.run(ctx, problem.Pick(j.Sources, walks),
					problem.Pick(j.Values, values), counts)
			}
			works[i] = c.work
			mu.Lock()
			defer mu.Unlock()
			finished++
			j.Settings.Progress("choose", finished, int64(splits.Len))
			return err
		})
		if err != nil {
			return nil, err
		}
		counts := choose.NewCounts(len(walks)*len(values),
			make([]choose.FoldLabels, 1))
		for i, split := range tested {
			counts.Join(split)
			work.Sweeps += works[i].Sweeps
		}
		counts.Share(j.Problem.Team())
		return counts, nil
	})
	if err == nil {
		choice.Work = work
	}
	return choice, err
}

const sideBytes = 512 << 20

// lanes returns the number of tuning splits to compare concurrently, with one worker each. labels and tests are the sizes
// of a split. If several processes share the graph, lanes returns 1.
func (j *job) lanes(labels, tests int) int {
	limit := int64(sideBytes)
	if j.Settings.Memory > 0 {
		limit = min(limit, j.Settings.Memory)
	}
	if j.Problem.Team() != nil {
		return 1
	}
	return max(1, min(sched.Workers(j.Settings.Workers),
		int(limit/j.split(labels, tests).Required(j.Settings.Memory))))
}

func (j *job) split(labels, tests int) budget.Workspace {
	labels = min(labels, j.Compared)
	tests = min(tests, j.testedNodes())
	rows := tests + len(j.kinds())*labels
	return j.walk(choose.FoldCount(labels) + 1).Or(j.trial(labels, tests)).And(j.rows(rows, longestOf(j)))
}

const maxTested = 10_000

// testedNodes returns the largest number of test nodes of a split. This number is smaller if the learner scores each test
// node with every model, or learns from test nodes too.
func (j *job) testedNodes() int {
	switch {
	case j.Learner.Path != nil:
		return maxTested
	case j.Learner.Whole:
		return j.Compared
	}
	return engine.MaxTestedRows
}

// chooser compares settings of the walk and the learner on trials, see [choose.Trial].
type chooser struct {
	*job
	task *choose.Task // all labels
	seen []int        // labelled nodes that models learn from

	// picks are the pairs of a node and a [cwk.Variant] whose features trials use. trials has, by kind of features, trials
	// whose rows are positions in picks.
	picks  []cwk.Pick
	rows   map[cwk.Pick]int
	trials map[string][]choose.Trial
	work   graph.Work
}

func (j *job) newChooser() *chooser {
	return &chooser{
		job: j, task: choose.TaskOf(j.Problem, j.Settings.RNGSeed, 0),
		seen: choose.Sample(j.Problem.Class, j.Compared, j.Settings.RNGSeed, 0),
		rows: map[cwk.Pick]int{}, trials: map[string][]choose.Trial{},
	}
}

func (j *job) kinds() (list []string) {
	for _, v := range j.Sources {
		if kind := v.Word("features"); !slices.Contains(list, kind) {
			list = append(list, kind)
		}
	}
	return list
}

func (c *chooser) crossTrials(ctx context.Context) (err error) {
	t := c.task
	if err = t.FindIsolated(ctx, c.Settings.Workers, &c.work); err != nil {
		return err
	}
	for f := range t.Folds() {
		var train, tests []int
		for _, node := range c.seen {
			if t.Fold[node] == f {
				tests = append(tests, node)
			} else {
				train = append(train, node)
			}
		}
		c.addTrial(1+f, t.Largest(f), train, c.Problem.At(tests), tests, func(i int) bool { return !t.Isolated[tests[i]] })
	}
	return nil
}

func (c *chooser) splitTrials(ctx context.Context, tests *engine.Problem) (err error) {
	if err = c.task.FindIsolated(ctx, c.Settings.Workers, &c.work); err != nil {
		return err
	}
	reached, err := c.Problem.Reachable(ctx, c.Problem.Row, c.Settings.Workers, &c.work)
	if err == nil {
		c.addTrial(0, choose.Majority(c.Problem.Class), c.seen, tests, sched.UpTo(len(tests.Row)),
			func(i int) bool { return reached.Contains(uint32(tests.Row[i])) })
	}
	return err
}

// addTrial adds a trial for each kind of features. Test nodes and [Plain] training nodes have features of the given variant
// of the walk. train and labels are positions of the training and test labels. Tests that no label reaches get the class largest.
func (c *chooser) addTrial(variant, largest int, train []int, tests *engine.Problem, labels []int,
	isReached func(i int) bool) {
	for _, kind := range c.kinds() {
		t := choose.Trial{Largest: largest}
		for i, class := range tests.Class {
			if isReached(i) {
				t.Test = append(t.Test, c.pick(tests.Row[i], variant))
				t.TestClass = append(t.TestClass, class)
				t.TestLabel = append(t.TestLabel, labels[i])
			} else {
				t.Unreached = append(t.Unreached,
					choose.Unreached{Label: labels[i], Class: class,
						Given: c.Settings.Prior.Likeliest(tests.Row[i], largest)})
			}
		}
		for _, node := range train {
			source := variant
			if kind == Honest {
				source = 1 + c.task.Fold[node]
			}
			if kind == Plain || !c.task.Isolated[node] {
				t.Train = append(t.Train, c.pick(c.Problem.Row[node], source))
				t.TrainClass = append(t.TrainClass, c.Problem.Class[node])
			}
		}
		c.trials[kind] = append(c.trials[kind], t)
	}
}

// pick returns the position in picks of a node in a variant of the walk. If it is missing, pick adds it.
func (c *chooser) pick(row, variant int) int {
	pick := cwk.Pick{Row: row, Variant: variant}
	number, isPicked := c.rows[pick]
	if !isPicked {
		number = len(c.picks)
		c.rows[pick] = number
		c.picks = append(c.picks, pick)
	}
	return number
}

// run adds to counts the right predictions of each pair of walks and values; values vary faster.
func (c *chooser) run(ctx context.Context, walks, values []param.Values,
	counts *choose.Counts) error {
	var alphas []float64
	for _, v := range walks {
		if alpha := v.Number("alpha"); !slices.Contains(alphas, alpha) {
			alphas = append(alphas, alpha)
		}
	}
	for a, alpha := range alphas {
		report := func(done, total int64) {
			c.Settings.Progress("choose", 2000*int64(a)+done*2000/total,
				2000*int64(len(alphas)))
		}
		if err := c.try(ctx, alpha, walks, values, counts, report); err != nil {
			return err
		}
		report(1, 1)
	}
	return nil
}

func (c *chooser) walk(alpha float64, steps int) *cwk.Walk[float32] {
	w := walkOf[float32](c.Problem, c.Settings, steps)
	w.Variants = cwk.FoldVariants(alpha, c.task.Fold)
	w.Columns = walkColumns(len(w.Degrees))
	return w
}

func walkOf[T sparse.Float](p *engine.Problem, set *engine.Settings, steps int) *cwk.Walk[T] {
	return &cwk.Walk[T]{
		A: p.A, Degrees: p.Degrees, Prior: set.Prior, Steps: steps,
		Memory: set.Memory, Workers: set.Workers,
		Seeds: p.Seeds(),
	}
}

// Walks of large graphs have at most widest columns, because more columns do not save time per column. Blocks of up to
// cachedBytes stay in cache.
const (
	widest      = 64
	cachedBytes = 48 << 20
)

func walkColumns(n int) int { return max(widest, cachedBytes/(8*max(1, n))) }

// try adds to counts the right predictions of walks with the given α. If several processes share the graph, each process
// runs a part of the trials.
func (c *chooser) try(ctx context.Context, alpha float64,
	walks, values []param.Values, counts *choose.Counts,
	report func(done, total int64)) error {
	type task struct {
		trial      *choose.Trial
		candidates *choose.Candidates
		fold       int
		walks      []int
	}
	var tasks []task
	minSteps := walks[0].Int("min-steps")
	longest := 0
	for _, kind := range c.kinds() {
		var numbers []int
		for i, v := range walks {
			if v.Number("alpha") == alpha && v.Word("features") == kind {
				numbers = append(numbers, i)
				longest = max(longest, v.Int("steps"))
			}
		}
		if numbers == nil {
			continue
		}
		for f := range c.trials[kind] {
			tasks = append(tasks,
				task{&c.trials[kind][f],
					c.candidates(problem.Pick(walks, numbers),
						values), f, numbers})
		}
	}
	w := c.walk(alpha, longest)
	x, err := collect(ctx, w, minSteps, c.picks, &c.work, func(done, total int64) {
		report(done, 2*total) // the trials are the other half
	})
	if err != nil {
		return err
	}
	tests := 0
	for _, t := range tasks {
		tests = max(tests, len(t.trial.Test))
	}
	trials := budget.Workspace{Fixed: 4 * int64(x.Rows*x.Cols), Column: c.trial(len(c.seen), tests).Required(0), Columns: sched.Workers(c.Settings.Workers)}
	workers := trials.Width(c.Settings.Memory)
	weight := choose.WeightsOf(c.Problem)
	team := c.Problem.Team()
	err = sched.Run(ctx, workers, len(tasks), func(_, i int) error {
		if team != nil && i%team.Size() != team.Rank() {
			return nil
		}
		t := &tasks[i]
		return t.candidates.Run(ctx, x, t.trial, func(length, value int, o *choose.Outcome) {
			counts.Note(t.walks[length]*len(values)+value, t.fold,
				o.Voted, o, weight)
		})
	})
	return team.Agree(err)
}

func collect(ctx context.Context, w *cwk.Walk[float32], minSteps int,
	picks []cwk.Pick, work *graph.Work,
	report func(done, total int64)) (*sparse.Block[float32], error) {
	sweeps := 0
	w.Progress = func(_ string, done, total int64) {
		sweeps = int(done)
		report(done, total)
	}
	x, err := w.Collect(ctx, minSteps, picks)
	work.Sweeps += sweeps
	return x, err
}

// neutral sets biases so that classifiers are undecided about a node whose features all have the value feature, because its
// walk meets no label. The fitted biases would outvote the label nearest to a distant node.
func neutral(m *classify.LinearModel, feature float64) {
	for i := range m.Pairs {
		m.Bias[i] = -feature * floats.Sum(m.Weights[i*m.Features:(i+1)*m.Features])
	}
}

// Spec is [cwk.Spec] with the features of learners.
var Spec = param.Spec{
	Name: cwk.Spec.Name, Title: cwk.Spec.Title, Source: cwk.Spec.Source,
	Works: cwk.Spec.Works,
	Params: append(slices.Clone(cwk.Spec.Params), param.Param{
		Name: "features", Meaning: "features of labelled nodes: from walks with all labels, or without those of the node's fold",
		Kind: param.Choice, Words: []string{Plain, Honest},
		Default: param.Of(Plain),
		Grid:    []param.Value{param.Of(Plain), param.Of(Honest)},
	}),
}

func init() { param.Claim("kernel", &Spec) }

// walkSettings returns the settings of walks to choose from, ordered by features, α and steps. If no walk has min-steps
// steps, the error is a [*param.ParameterError].
func walkSettings(s *engine.Settings) ([]param.Values, error) {
	walks, err := choose.Combinations(orderedWalks(s), Spec.Own(s.Given), nil)
	if err != nil {
		return nil, err
	}
	first, last := walks[0].Int("min-steps"), 0
	for _, v := range walks {
		last = max(last, v.Int("steps"))
	}
	if last < first {
		return nil, param.Refuse(Spec.Name, "min-steps",
			"%d lies beyond the last step that is tried, %d; give steps that reach it", first, last)
	}
	return slices.DeleteFunc(walks,
		func(v param.Values) bool { return v.Int("steps") < first }), nil
}

func orderedWalks(s *engine.Settings) *param.Spec {
	spec := s.WithGrids(&Spec)
	last := len(spec.Params) - 1
	spec.Params = slices.Concat(spec.Params[last:], spec.Params[:last])
	return spec
}

func walkSpace(s *engine.Settings, walks []param.Values) *choose.Space {
	usual, _ := Spec.Resolve(nil, nil)
	space := choose.SpaceOf(orderedWalks(s), walks, usual)
	const alpha = 1
	if len(space.Axes) > alpha {
		space.Axes[alpha].Last = true
	}
	return space
}

// Values of the parameter "features": which walk yields the features of a training node.
const (
	// Plain means the walk in which all training nodes are labelled. A training row then contains the label of its node; a
	// test row never does.
	Plain = "plain"

	// Honest means the walk in which the training nodes of the node's fold are unlabelled. Training rows are then like test
	// rows.
	Honest = "honest"
)

func (j *job) candidates(walks, values []param.Values) *choose.Candidates {
	c := &choose.Candidates{Classes: len(j.Problem.Names),
		MinSteps: walks[0].Int("min-steps"), Learner: j.Learner, Values: values}
	for _, v := range walks {
		c.Steps = append(c.Steps, v.Int("steps"))
	}
	if path := j.Learner.Path; path != nil {
		c.Path = cmp.Or(path.OnFeatures, path)
	}
	return c
}
