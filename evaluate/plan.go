package evaluate

import (
	"context"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
)

// Plan lists the methods that [Run] compares and the splits that it draws. Run panics if a plan has no training sets.
type Plan struct {
	Methods []engine.Entry // the majority class is always measured too; an entry without a name has the name of its method

	// The training sets of a size consist of a fraction of the labels, of a number of nodes of every class, or of all
	// folds except one; or the splits are given. Given splits of one size must be consecutive.
	Fractions []float64
	PerClass  []int
	Folds     int
	Given     []choose.Split

	Stratified bool // fractions and folds have the share of each class

	Several bool // an engine of [engine.LabelSets] predicts several labels of each node instead of a class

	Splits int // number of splits for each training size, 0: 20; with Folds the number of partitions, 0: 1

	// TuningSplits is the number of further splits on which a method chooses its parameters, once for each training
	// size. If it is 0, or if splits are given, parameters are chosen inside each training set.
	TuningSplits int

	Settings *engine.Settings

	// Progress, if not nil, is called at the start, and with the name of a method after each split that it has
	// predicted. total is the number of splits of all methods and training sizes.
	Progress func(stage string, done, total int64)
}

type entry struct {
	engine.Entry

	lanes              int              // number of predictions computed at the same time
	predictionSettings *engine.Settings // settings of each prediction
	bytes              []int64          // memory of a prediction at each training size
	space              budget.Workspace // memory of these predictions, and of choices on tuning splits

	// predict predicts the test nodes of a split. If chosen is nil, the method chooses parameters on the training
	// nodes.
	predict func(ctx context.Context, s choose.Split, chosen *engine.Parameters) (*trial, error)
}

// entries returns all methods to measure with all of their fields set.
func (plan *Plan) entries(set *engine.Settings) []entry {
	methods := plan.Methods
	if !slices.ContainsFunc(methods,
		func(e engine.Entry) bool { return e.Method == engine.Majority }) {
		methods = append(slices.Clone(methods),
			engine.Entry{Method: engine.Majority})
	}
	list := make([]entry, len(methods))
	for i := range list {
		e := &list[i]
		e.Entry = methods[i]
		if e.Name == "" {
			e.Name = e.Method.Name
		}
		settings := *set
		if e.Settings != nil {
			settings = e.Settings.WithDefaults()
		}
		e.Settings = &settings
	}
	return list
}

type size struct {
	fraction       float64
	perClass       int
	splits, tuning *choose.Splits // tuning is nil if parameters are chosen inside each training set
}

func (s *size) text() string {
	if s.perClass > 0 {
		return strconv.Itoa(s.perClass) + " a class"
	}
	return strconv.FormatFloat(100*s.fraction, 'g', 4, 64) + " %"
}

func (s *size) newResult(method string) Measured {
	return Measured{Method: method, TrainFraction: s.fraction, TrainedOn: s.text()}
}

// sizes returns the training sizes. It checks all splits before anything is computed.
func (plan *Plan) sizes(p *engine.Problem, seed uint64) ([]size, error) {
	share := func(s choose.Split) float64 { return float64(len(s.Train)) / float64(len(p.Row)) }
	var sizes []size
	count := 0
	for list := range slices.Values(plan.givenSizes()) {
		count = max(count, len(list))
		if len(list) < count {
			return nil, choose.Usage("%d given splits of one training size and %d of another; give the same number of each", count, len(list))
		}
		sizes = append(sizes,
			size{fraction: share(list[0]),
				splits: &choose.Splits{Len: count,
					At: func(i int) choose.Split { return list[i] }}})
	}
	if sizes != nil {
		return sizes, nil
	}
	for _, d := range plan.designs() {
		s := size{fraction: d.Fraction, perClass: d.PerClass}
		var err error
		if s.splits, err = choose.DrawApart(p, d, plan.count(), seed); err != nil {
			return nil, err
		}
		if s.fraction == 0 {
			s.fraction = share(s.splits.At(0))
		}
		if plan.TuningSplits > 0 && p.Group == nil && p.Time == nil { // tuning splits are drawn among all labels
			d.Tuning = true
			if s.tuning, err = choose.Draw(p.Class, d, plan.TuningSplits, seed); err != nil {
				return nil, err
			}
		}
		sizes = append(sizes, s)
	}
	return sizes, nil
}

// givenSizes returns the given splits by training size. Sizes that differ by at most 2 % count as equal, because the
// sizes of stratified draws and of folds differ by some nodes.
func (plan *Plan) givenSizes() (sizes [][]choose.Split) {
	isClose := func(a, b int) bool { return 50*max(a, b) <= 51*min(a, b) || max(a, b) == min(a, b)+1 }
	for i, s := range plan.Given {
		if i == 0 || !isClose(len(s.Train), len(plan.Given[i-1].Train)) {
			sizes = append(sizes, nil)
		}
		sizes[len(sizes)-1] = append(sizes[len(sizes)-1], s)
	}
	return sizes
}

// SplitsOf returns all splits of a plan for the labels of p.
func (plan *Plan) SplitsOf(p *engine.Problem, seed uint64) (list []choose.Split, err error) {
	sizes, err := plan.sizes(p, seed)
	for _, s := range sizes {
		for i := range s.splits.Len {
			list = append(list, s.splits.At(i))
		}
	}
	return list, err
}

func (plan *Plan) designs() (list []choose.Design) {
	switch {
	case plan.Folds != 0:
		return []choose.Design{{Folds: plan.Folds, Stratified: plan.Stratified}}
	case len(plan.PerClass) > 0:
		for _, count := range plan.PerClass {
			list = append(list, choose.Design{PerClass: count})
		}
		return list
	case len(plan.Fractions) == 0:
		panic(badPlan)
	}
	for _, f := range plan.Fractions {
		list = append(list, choose.Design{Fraction: f, Stratified: plan.Stratified})
	}
	return list
}

func (plan *Plan) count() int {
	switch {
	case plan.Folds != 0:
		return max(1, plan.Splits) * plan.Folds
	case plan.Splits == 0:
		return 20
	}
	return plan.Splits
}

const badPlan = "evaluate: a plan without training sizes"
