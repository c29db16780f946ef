package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Run measures methods side by side: at each training size all of them learn
// from the same training sets and are scored on the same test nodes. If several processes share the rows of the
// graph, all of them have the labelled nodes, as named rows, and compute the same report, see [sparse.Team].
func Run(ctx context.Context, p *method.Problem, plan *Plan) (*Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := plan.Settings.WithDefaults()
	if !p.Directed && p.A != nil { // once for all training sets
		if _, err := p.FindComponents(ctx, set.Workers, new(graph.Work)); err != nil {
			return nil, err
		}
	}
	sizes, err := plan.sizes(p, set.RNGSeed)
	if err != nil {
		return nil, err
	}
	methods, _, err := plan.settle(p, &set, sizes)
	if err != nil {
		return nil, err
	}
	reached, err := p.Reachable(ctx, p.Row, set.Workers, new(graph.Work))
	if err != nil {
		return nil, err
	}
	report := &Report{Classes: p.Names, protocol: protocol{
		Nodes: p.Nodes(), Labelled: len(p.Row), RNGSeed: set.RNGSeed,
		Splits: sizes[0].splits.Len, Folds: plan.Folds, Stratified: plan.Stratified,
	}}
	report.Protocol = report.drawn()
	if p.A != nil {
		report.Unreached = report.Nodes - p.CountOf(reached)
	}
	if tuning := sizes[0].tuning; tuning != nil {
		report.TuningSplits = tuning.Len
	}
	r := &runner{p: p, plan: plan, total: len(sizes) * len(methods) * report.Splits}
	for i := range sizes {
		var results []Result
		for j := range methods {
			m := &methods[j]
			result := Result{
				measured:      sizes[i].newResult(m.Name),
				TrainPerClass: sizes[i].perClass,
				Confusion:     newConfusion(len(p.Names)), MemoryBytes: m.bytes[i],
			}
			if err := r.run(ctx, m, &sizes[i], &result); err != nil {
				return nil, err
			}
			results = append(results, result)
		}
		report.Significance = append(report.Significance,
			compare(results, (*Result).scores)...)
		report.Results = append(report.Results, results...)
	}
	report.describe()
	return report, nil
}

// Bytes returns the memory of [Run]: the splits, and the largest of its methods at one of its
// training sizes.
func (plan *Plan) Bytes(p *method.Problem) (int64, error) {
	set := plan.Settings.WithDefaults()
	sizes, err := plan.sizes(p, set.RNGSeed)
	if err != nil {
		return 0, err
	}
	methods, held, err := plan.settle(p, &set, sizes)
	var largest int64
	for i := range methods {
		m := &methods[i]
		largest = max(largest, m.tuningBytes, slices.Max(m.bytes)*int64(m.lanes))
	}
	return held + largest, err
}

// splitBytes is the memory of a label in splits: its row and class in the training or test
// set, its place in the permutation, its predicted class, and its score and place in a
// ranking.
const splitBytes = 96

// settle returns the methods with settings for the memory without splits, and the memory of these. Training sets of one size
// are taken to need the memory of the first of them.
func (plan *Plan) settle(p *method.Problem, set *method.Settings,
	sizes []size) (methods []entry, held int64, err error) {
	splits := splitBytes * int64(len(p.Row))
	training := make([]*method.Problem, len(sizes))
	largest := &method.Problem{}
	for i := range sizes {
		training[i] = p.At(sizes[i].splits.At(0).Train)
		if len(training[i].Row) > len(largest.Row) {
			largest = training[i]
		}
	}
	methods = plan.entries(set)
	for i := range methods {
		m := &methods[i]
		m.Settings.Memory = budget.Subtract(m.Settings.Memory, splits)
		m.lanes, m.predictionSettings = m.sideBySide(largest, sizes[0].splits.Len)
		for j, train := range training {
			bytes, err := m.Method.Bytes(train, nil, m.predictionSettings)
			if err != nil {
				return nil, 0, err
			}
			m.bytes = append(m.bytes, bytes)
			if sizes[j].tuning == nil {
				continue
			}
			if bytes, err = m.Method.Bytes(train, p, m.Settings); err != nil {
				return nil, 0, err
			}
			m.tuningBytes = max(m.tuningBytes, bytes)
		}
	}
	return methods, splits, nil
}

// sideBytes bounds the memory of predictions that are computed at the same time.
const sideBytes = 256 << 20

// sideBySide returns the number of predictions from a training set that are computed at the same time,
// and the settings of each. It is above 1 for small graphs, because their sweeps are too short to be
// divided among processors. Several processes that share the rows compute one after the other, because all of
// them must take each step at the same time.
func (m *entry) sideBySide(train *method.Problem,
	splits int) (lanes int, s *method.Settings) {
	if train.Team() != nil {
		return 1, m.Settings
	}
	for lanes = min(sched.Workers(m.Settings.Workers), splits); lanes > 1; lanes-- {
		set := *m.Settings
		set.Workers = sched.Workers(set.Workers) / lanes
		if set.Memory > 0 { // 0 is no limit
			set.Memory = max(1, set.Memory/int64(lanes))
		}
		set.Progress = nil // of one prediction among several
		bytes, err := m.Method.Bytes(train, nil, &set)
		if err == nil && int64(lanes)*bytes <= sideBytes {
			return lanes, &set
		}
	}
	return 1, m.Settings
}

// runner runs methods, one after the other.
type runner struct {
	p           *method.Problem
	plan        *Plan
	done, total int // splits
}

// run measures one method at one training size.
func (r *runner) run(ctx context.Context, m *entry, s *size, result *Result) error {
	start := time.Now()
	r.reportProgress(m.Name, 0)
	var chosen *method.Parameters
	if s.tuning != nil {
		choice, err := m.Method.Tune(ctx, r.p, s.tuning, m.Settings)
		if err != nil {
			return err
		}
		if choice != nil {
			chosen = &choice.Parameters
			result.TuningAccuracy = choice.Accuracy
			if choice.Settings > 1 {
				result.Tuned = onSplits
			}
			if result.Parameters, err = json.Marshal(chosen); err != nil {
				return err
			}
			result.Text = chosen.String()
		}
	}
	results := make([]*splitResult, s.splits.Len)
	var outcomes []outcome
	var mu sync.Mutex // of the result, to which splits are added in their order
	err := sched.Run(ctx, m.lanes, len(results), func(_, i int) error {
		split := s.splits.At(i)
		one, err := predict(ctx, m.Method, r.p.At(split.Train), r.p.At(split.Test),
			chosen, m.predictionSettings)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for results[i] = one; i < len(results) && i == len(outcomes) && results[i] != nil; i++ {
			result.add(results[i])
			outcomes = append(outcomes, results[i].outcome)
			results[i].predicted = nil
			results[i].truth = nil
			r.reportProgress(m.Name, 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	result.Seconds = time.Since(start).Seconds()
	result.summarise(outcomes)
	return nil
}

// reportProgress reports further splits of a method.
func (r *runner) reportProgress(method string, splits int) {
	if r.plan.Progress != nil {
		r.done += splits
		r.plan.Progress(method, int64(r.done), int64(r.total))
	}
}

// outcome holds the measures of a method on one split.
type outcome struct {
	Truth
	Quality Quality
	Trained int
}

// splitResult holds the predictions of a method for the test nodes of one split.
type splitResult struct {
	outcome
	truth, predicted []int // classes of the test nodes
	unfinished       string
	phases           problem.PhaseSeconds
	parameters       json.RawMessage // of the method on the split; nil: none
	text             string          // the parameters in words
	isTunedInside    bool            // the parameters were chosen inside the training set
}

// predict predicts the test nodes of a split from its training nodes, with the chosen
// parameters or, if they are nil, with those that the method chooses there.
func predict(ctx context.Context, m *method.Engine, train, test *method.Problem,
	chosen *method.Parameters, s *method.Settings) (*splitResult, error) {
	present := sched.UpTo(len(train.Names))
	if s.Prior.Given == nil { // which has a column for each class
		train, present = keepLabelledClasses(train)
	}
	quick := *s
	quick.Unmeasured = true
	out, err := m.Predict(ctx, train, chosen, &quick)
	if err != nil {
		return nil, err
	}
	if err := method.Reweigh(ctx, train, out, s.Workers); err != nil {
		return nil, err
	}
	a := &splitResult{truth: test.Class, predicted: make([]int, len(test.Row)),
		unfinished: out.Unfinished, phases: out.Seconds}
	if chosen == nil {
		// auto has no settings; a method without parameters has nothing to choose
		a.isTunedInside = out.Settings > 1 ||
			out.Settings == 0 && out.Tested > 0 && len(m.Takes) > 0
		if out.Settings > 0 {
			if a.parameters, err = json.Marshal(&out.Parameters); err != nil {
				return nil, err
			}
			a.text = out.Parameters.String()
		}
	}
	for i, row := range test.Row {
		a.predicted[i] = present[out.Class[row]]
	}
	scores := make([]float32, len(test.Names)) // 0 of a class without a label
	quality := measureQuality(test.Class, a.predicted, len(test.Names), func(i int) []float32 {
		for a, p := range out.Scores.Row(test.Row[i]) {
			scores[present[a]] = p
		}
		return scores
	})
	a.outcome = outcome{Quality: quality, Trained: len(train.Row)}
	a.Truth = truthOf(a.truth, a.predicted, len(test.Names), len(test.Names),
		func(i int) bool { return out.Reached.Contains(uint32(test.Row[i])) })
	return a, nil
}

// keepLabelledClasses returns the problem with the classes that have a label alone, in the order of their first labels, so that ties are
// decided as in a prediction from these labels, and their positions among the names of p. With known shares of the classes it
// is p itself.
func keepLabelledClasses(p *method.Problem) (*method.Problem, []int) {
	if p.Shares != nil {
		return p, sched.UpTo(len(p.Names))
	}
	position := slices.Repeat([]int{-1}, len(p.Names))
	present := []int(nil)
	for _, c := range p.Class {
		if position[c] < 0 {
			position[c] = len(present)
			present = append(present, c)
		}
	}
	sub := *p
	sub.Class = make([]int, len(p.Class))
	sub.Names = make([]string, len(present))
	for i, c := range present {
		sub.Names[i] = p.Names[c]
	}
	for i, c := range p.Class {
		sub.Class[i] = position[c]
	}
	return &sub, present
}

// add adds the predictions of one split, the splits in their order.
func (r *Result) add(a *splitResult) {
	if a.unfinished != "" {
		r.Unfinished = cmp.Or(r.Unfinished, a.unfinished)
		r.UnfinishedSplits++
	}
	if a.parameters != nil {
		r.ParametersBySplit = append(r.ParametersBySplit, a.parameters)
		r.Text = cmp.Or(r.Text, a.text)
	}
	if a.isTunedInside {
		r.Tuned = inside
	}
	r.Confusion.Count(a.truth, a.predicted)
	r.Phases.Add(a.phases)
}

// summarise stores the means over all splits.
func (r *Result) summarise(outcomes []outcome) {
	for _, o := range outcomes {
		r.Accuracies = append(r.Accuracies, o.All)
		r.AccuracyReached += o.Reached / float64(len(outcomes))
		r.NodesTested += float64(o.Nodes) / float64(len(outcomes))
		r.NodesTrained += float64(o.Trained) / float64(len(outcomes))
		r.NodesReached += float64(o.NodesReached) / float64(len(outcomes))
		r.MacroF1 += o.MacroF1 / float64(len(outcomes))
	}
	r.AccuracyMean, r.AccuracyStderr = meanStderr(r.Accuracies)
	if r.Tuned == "" {
		r.unite()
	}
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
