package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/regression"
)

// Run measures methods side by side. At each training size all methods learn from the same training sets and are scored
// on the same test nodes. They predict numbers if p has values, several labels of a node if plan.Several is set, and
// otherwise classes. If several processes share the rows of the graph, all processes must have the labelled nodes as
// named rows, and compute the same report, see [sparse.Team].
func Run(ctx context.Context, p *engine.Problem, plan *Plan) (*Report, error) {
	set := plan.Settings.WithDefaults()
	c := &comparison{p: p, plan: plan, report: new(Report)}
	begin := c.beginClasses
	switch {
	case p.Value != nil:
		begin = c.beginNumbers
	case plan.Several:
		begin = c.beginLabels
	}
	if err := begin(ctx, &set); err != nil {
		return nil, err
	}
	report := c.report
	for i := range c.sizes {
		var results []Result
		for j := range c.entries {
			result, err := c.measure(ctx, &c.entries[j], i)
			if err != nil {
				return nil, err
			}
			results = append(results, *result)
		}
		if report.ClassReport != nil {
			report.Significance = append(report.Significance, compare(results)...)
		} else if p.Value != nil {
			compare(results)
		}
		report.Results = append(report.Results, results...)
	}
	order := nodefile.OrderClasses(p.Names)
	report.Classes = problem.Pick(p.Names, order)
	for i := range report.Results {
		if r := &report.Results[i]; r.ClassMeasures != nil {
			r.Confusion = r.Confusion.arrange(order)
		}
	}
	report.describe()
	return report, nil
}

type comparison struct {
	p       *engine.Problem
	plan    *Plan
	sizes   []size
	entries []entry
	report  *Report
	done    int // number of finished splits
}

func (c *comparison) draw(row, class []int, seed uint64) (err error) {
	drawn := &engine.Problem{Row: row, Class: class, Names: c.p.Names}
	position := map[int]int{}
	for i, node := range c.p.Row {
		position[node] = i
	}
	for _, node := range row {
		if c.p.Group != nil {
			drawn.Group = append(drawn.Group, c.p.Group[position[node]])
		}
		if c.p.Time != nil {
			drawn.Time = append(drawn.Time, c.p.Time[position[node]])
		}
	}
	c.sizes, err = c.plan.sizes(drawn, seed)
	if err != nil {
		return err
	}
	c.report.Sampling = Sampling{Nodes: c.p.Nodes(), Labelled: len(row), RNGSeed: seed,
		Splits: c.sizes[0].splits.Len, Folds: c.plan.Folds, Stratified: c.plan.Stratified}
	c.report.Protocol = c.report.drawn()
	return nil
}

// beginClasses prepares the comparison of methods that predict classes.
func (c *comparison) beginClasses(ctx context.Context, set *engine.Settings) error {
	p := c.p
	if err := p.Validate(); err != nil {
		return err
	}
	if !p.Directed && p.A != nil { // once for all training sets
		if _, err := p.FindComponents(ctx, set.Workers, new(graph.Work)); err != nil {
			return err
		}
	}
	err := c.draw(p.Row, p.Class, set.RNGSeed)
	if err != nil {
		return err
	}
	if c.entries, err = c.plan.settle(p, set, c.sizes); err != nil {
		return err
	}
	reached, err := p.Reachable(ctx, p.Row, set.Workers, new(graph.Work))
	if err != nil {
		return err
	}
	c.report.ClassReport = new(ClassReport)
	if p.A != nil {
		c.report.Unreached = c.report.Nodes - p.CountOf(reached)
	}
	if tuning := c.sizes[0].tuning; tuning != nil {
		c.report.TuningSplits = tuning.Len
	}
	for i := range c.entries {
		m := &c.entries[i]
		m.predict = func(ctx context.Context, s choose.Split, chosen *engine.Parameters) (*trial, error) {
			return predict(ctx, m.Method, p.At(s.Train), p.At(s.Test), chosen, m.predictionSettings)
		}
	}
	return nil
}

// Workspace declares the memory of [Run]: the splits, and the largest memory of a method at a training size.
func (plan *Plan) Workspace(p *engine.Problem) (w budget.Workspace, err error) {
	set := plan.Settings.WithDefaults()
	switch {
	case p.Value != nil:
		return method.Best(plan.Methods).Declare(p, &set, budget.Workspace{})
	case plan.Several:
		return regression.Spectral.Declare(p, &set, budget.Workspace{})
	}
	sizes, err := plan.sizes(p, set.RNGSeed)
	if err != nil {
		return w, err
	}
	methods, err := plan.settle(p, &set, sizes)
	for i := range methods {
		w = w.Or(methods[i].space)
	}
	return w.AndHeld(splitBytes * int64(len(p.Row))), err
}

// Trained returns the largest number of labels on which a method trains.
func (plan *Plan) Trained(p *engine.Problem) (labels int, err error) {
	set := plan.Settings.WithDefaults()
	sizes, err := plan.sizes(p, set.RNGSeed)
	for i := range sizes {
		labels = max(labels, len(sizes[i].splits.At(0).Train))
	}
	return labels, err
}

// splitBytes is the memory of a label in splits and rankings.
const splitBytes = 96

// settle returns the methods of the plan with the memory of each. It assumes that training sets of one size need the
// same memory.
func (plan *Plan) settle(p *engine.Problem, set *engine.Settings,
	sizes []size) (methods []entry, err error) {
	training := make([]*engine.Problem, len(sizes))
	largest := &engine.Problem{}
	for i := range sizes {
		training[i] = p.At(sizes[i].splits.At(0).Train)
		if len(training[i].Row) > len(largest.Row) {
			largest = training[i]
		}
	}
	methods = plan.entries(set)
	for i := range methods {
		m := &methods[i]
		m.Settings.Memory = budget.Subtract(m.Settings.Memory, splitBytes*int64(len(p.Row)))
		m.lanes, m.predictionSettings = m.sideBySide(largest, sizes[0].splits.Len)
		for j, train := range training {
			w, err := m.Method.Declare(train, m.predictionSettings, budget.Workspace{})
			if err != nil {
				return nil, err
			}
			m.bytes = append(m.bytes, w.Required(m.predictionSettings.Memory))
			m.space = m.space.Or(w.AndHeld(budget.Times(m.lanes-1, w.Enough())))
			if sizes[j].tuning == nil {
				continue
			}
			if w, err = m.Method.DeclareTuning(train, p, m.Settings); err != nil {
				return nil, err
			}
			m.space = m.space.Or(w)
		}
		if err := budget.Check(m.Settings.Memory, m.space.Required(m.Settings.Memory), "prediction by "+m.Method.Name); err != nil {
			return nil, err
		}
	}
	return methods, nil
}

// sideBytes is the largest memory of predictions that are computed at the same time.
const sideBytes = 256 << 20

// sideBySide returns the number of predictions that are computed at the same time, and their settings. Sweeps of small
// graphs are too short to be divided among processors.
func (m *entry) sideBySide(train *engine.Problem,
	splits int) (lanes int, s *engine.Settings) {
	if train.Team() != nil {
		return 1, m.Settings
	}
	for lanes = min(sched.Workers(m.Settings.Workers), splits); lanes > 1; lanes-- {
		set := *m.Settings
		set.Workers = sched.Workers(set.Workers) / lanes
		if set.Memory > 0 { // 0 is no limit
			set.Memory = max(1, set.Memory/int64(lanes))
		}
		set.Progress = nil
		w, err := m.Method.Declare(train, &set, budget.Workspace{})
		if err == nil && budget.Check(set.Memory, w.Enough(), "") == nil && budget.Times(lanes, w.Enough()) <= sideBytes {
			return lanes, &set
		}
	}
	return 1, m.Settings
}

// measure measures a method at one training size.
func (c *comparison) measure(ctx context.Context, m *entry, number int) (*Result, error) {
	s := &c.sizes[number]
	result := &Result{Measured: s.newResult(m.Name)}
	start := time.Now()
	c.reportProgress(m.Name, 0)
	if c.report.ClassReport != nil {
		result.F1 = new(F1)
		result.ClassMeasures = &ClassMeasures{TrainPerClass: s.perClass,
			Confusion: newConfusion(len(c.p.Names)), MemoryBytes: m.bytes[number]}
	}
	var chosen *engine.Parameters
	if s.tuning != nil {
		choice, err := m.Method.Tune(ctx, c.p, s.tuning, m.Settings)
		if err != nil {
			return nil, err
		}
		if choice != nil {
			chosen = &choice.Parameters
			result.TuningAccuracy = choice.Accuracy
			if choice.Settings > 1 {
				result.Tuned = onSplits
			}
			if result.Parameters, err = json.Marshal(chosen); err != nil {
				return nil, err
			}
			result.Text = chosen.String()
		}
	}
	trials := make([]*trial, s.splits.Len)
	added := 0
	var mu sync.Mutex // protects the result, to which splits are added in order
	err := sched.Run(ctx, max(1, m.lanes), len(trials), func(_, i int) error {
		one, err := m.predict(ctx, s.splits.At(i), chosen)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for trials[i] = one; added < len(trials) && trials[added] != nil; added++ {
			if err := result.note(trials[added], s.splits, added); err != nil {
				return err
			}
			trials[added].add(result)
			trials[added].add = nil // add holds predictions
			c.reportProgress(m.Name, 1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if result.ClassMeasures != nil {
		result.Seconds = time.Since(start).Seconds()
		result.summarise()
	}
	for k, f := range result.fields() {
		*f.mean, *f.stderr = meanStderr(result.columns[k])
	}
	if result.ClassMeasures == nil || result.Tuned == "" {
		result.unite()
	}
	return result, nil
}

func (c *comparison) reportProgress(method string, splits int) {
	if c.plan.Progress != nil {
		c.done += splits
		c.plan.Progress(method, int64(c.done), int64(len(c.sizes)*len(c.entries)*c.report.Splits))
	}
}

type trial struct {
	parameters any             // parameters of the method on the split; nil: none
	text       string          // the parameters in words
	add        func(r *Result) // adds the measures to the measures of earlier splits
}

type outcome struct {
	Truth
	Quality Quality
}

// predict predicts the test nodes of a split. If chosen is nil, the method chooses parameters on the training nodes.
func predict(ctx context.Context, m *engine.Engine, train, test *engine.Problem,
	chosen *engine.Parameters, s *engine.Settings) (*trial, error) {
	present := sched.UpTo(len(train.Names))
	if s.Prior.Given == nil { // the prior has a column for each class
		train, present = keepLabelledClasses(train)
	}
	quick := *s
	quick.Unmeasured = true
	out, err := m.Predict(ctx, train, chosen, &quick)
	if err != nil {
		return nil, err
	}
	if err := engine.Reweigh(ctx, train, out, s.Workers); err != nil {
		return nil, err
	}
	a := new(trial)
	isTunedInside := false
	if chosen == nil {
		// auto has no settings, and a method without parameters has nothing to choose.
		isTunedInside = out.Settings > 1 ||
			out.Settings == 0 && out.Tested > 0 && len(m.Takes) > 0
		if out.Settings > 0 {
			a.parameters = &out.Parameters
			a.text = out.Parameters.String()
		}
	}
	predicted := problem.Pick(present, problem.Pick(out.Class, test.Row))
	scores := make([]float32, len(test.Names)) // 0 of a class without a label
	o := outcome{Quality: measureQuality(test.Class, predicted, len(test.Names), func(i int) []float32 {
		for a, p := range out.Scores.Row(test.Row[i]) {
			scores[present[a]] = p
		}
		return scores
	})}
	o.Truth = truthOf(test.Class, predicted, len(test.Names), len(test.Names),
		func(i int) bool { return out.Reached.Contains(uint32(test.Row[i])) })
	unfinished, seconds := out.Unfinished, out.Seconds
	a.add = func(r *Result) {
		r.outcomes = append(r.outcomes, o)
		if unfinished != "" {
			r.Unfinished = cmp.Or(r.Unfinished, unfinished)
			r.UnfinishedSplits++
		}
		if isTunedInside {
			r.Tuned = inside
		}
		r.Confusion.Count(test.Class, predicted)
		r.Phases.Add(seconds)
	}
	return a, nil
}

// keepLabelledClasses returns p with only the classes that have a label, and the positions of these classes in p.Names.
// The classes are in the order of their first labels, so that ties are decided as in a prediction from these labels. If
// p.Shares is given, p keeps all classes.
func keepLabelledClasses(p *engine.Problem) (*engine.Problem, []int) {
	if p.Shares != nil {
		return p, sched.UpTo(len(p.Names))
	}
	position := slices.Repeat([]int{-1}, len(p.Names))
	var present []int
	for _, c := range p.Class {
		if position[c] < 0 {
			position[c] = len(present)
			present = append(present, c)
		}
	}
	sub := *p
	sub.Class = problem.Pick(position, p.Class)
	sub.Names = problem.Pick(p.Names, present)
	return &sub, present
}

func (r *Result) summarise() {
	outcomes := r.outcomes
	for _, o := range outcomes {
		r.Accuracies = append(r.Accuracies, o.All)
		r.AccuracyReached += o.Reached / float64(len(outcomes))
		r.NodesReached += float64(o.NodesReached) / float64(len(outcomes))
		r.MacroF1 += o.MacroF1 / float64(len(outcomes))
	}
	r.AccuracyMean, r.AccuracyStderr = meanStderr(r.Accuracies)
	bins := new(Calibration)
	for i := range outcomes {
		bins = bins.plus(outcomes[i].Quality.Calibration)
		if bins == nil {
			break
		}
	}
	r.Calibration = bins
	for metric, mean := range r.measures() {
		sum := 0.0
		for i := range outcomes {
			x := *outcomes[i].Quality.measures()[metric]
			*mean = &sum
			if x == nil {
				*mean = nil
				break
			}
			sum += *x / float64(len(outcomes))
		}
	}
}
