package evaluate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/validate"
)

// Plan says what [Run] measures.
type Plan struct {
	Methods []method.Method // the majority class is always measured too

	// Training sets: at each of the fractions, or PerClass nodes of every
	// class, or one given split.
	Fractions []float64
	PerClass  int
	Given     *validate.Split

	Splits int // for each training size; 0: 20

	// TuningSplits are drawn beside the reported ones, to choose one set of
	// parameters for each training size. 0: parameters are chosen inside each
	// training set, as with a given split.
	TuningSplits int

	Settings *method.Settings

	// Progress, if not nil, is called when a method has done a split.
	Progress func(done, total int)
}

// Run measures methods side by side: at each training size all of them learn
// from the same training sets and are scored on the same test nodes.
func Run(ctx context.Context, p *method.Problem, plan *Plan) (*Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := plan.Settings.WithDefaults()
	if err := set.Grid.Validate(); err != nil {
		return nil, err
	}
	start := time.Now()
	if !p.Directed { // they are found here for all training sets
		if _, err := p.Components(ctx, set.Workers, new(method.Work)); err != nil {
			return nil, err
		}
	}
	sizes, err := plan.sizes(p, set.RNGSeed)
	if err != nil {
		return nil, err
	}
	methods := slices.Clone(plan.Methods)
	if !slices.Contains(methods, method.Majority) {
		methods = append(methods, method.Majority)
	}
	n, _ := p.A.Dims()
	report := &Report{
		Nodes: n, Labelled: len(p.Row), Classes: p.Names, Settings: set.Grid.Size(), RNGSeed: set.RNGSeed,
		Splits: sizes[0].splits.Len(), TuningSplits: sizes[0].tuningSplits(),
	}
	done, total := 0, len(sizes)*len(methods)*report.Splits
	step := func() {
		done++
		if plan.Progress != nil {
			plan.Progress(done, total)
		}
	}
	for _, size := range sizes {
		var results []Result
		for _, m := range methods {
			res, err := run(ctx, p, m, &size, &set, step)
			if err != nil {
				return nil, err
			}
			results = append(results, *res)
		}
		report.compare(results)
		report.Results = append(report.Results, results...)
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// size is one size of training sets with its splits.
type size struct {
	fraction       float64
	perClass       int
	splits, tuning *validate.Splits // tuning is nil where parameters are chosen inside each training set
}

func (s *size) tuningSplits() int {
	if s.tuning == nil {
		return 0
	}
	return s.tuning.Len()
}

// sizes checks all splits before anything is computed.
func (plan *Plan) sizes(p *method.Problem, seed uint64) ([]size, error) {
	count := plan.Splits
	if count == 0 {
		count = 20
	}
	share := func(s validate.Split) float64 { return float64(len(s.Train)) / float64(len(p.Row)) }
	if plan.Given != nil {
		return []size{{fraction: share(*plan.Given), splits: validate.One(*plan.Given)}}, nil
	}
	draw := func(s *size, random func(count int, use validate.Use) (*validate.Splits, error)) (err error) {
		if s.splits, err = random(count, validate.ForTest); err == nil && plan.TuningSplits > 0 {
			s.tuning, err = random(plan.TuningSplits, validate.ForTuning)
		}
		return err
	}
	if plan.PerClass != 0 {
		s := size{perClass: plan.PerClass}
		err := draw(&s, func(count int, use validate.Use) (*validate.Splits, error) {
			return validate.PerClassSplits(p.Class, plan.PerClass, count, seed, use)
		})
		if err != nil {
			return nil, err
		}
		s.fraction = share(s.splits.At(0))
		return []size{s}, nil
	}
	if len(plan.Fractions) == 0 {
		panic(badPlan)
	}
	var sizes []size
	for _, f := range plan.Fractions {
		s := size{fraction: f}
		err := draw(&s, func(count int, use validate.Use) (*validate.Splits, error) {
			return validate.RandomSplits(p.Class, f, count, seed, use)
		})
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, s)
	}
	return sizes, nil
}

// run runs one method at one training size.
func run(ctx context.Context, p *method.Problem, m method.Method, s *size, set *method.Settings, step func()) (*Result, error) {
	start := time.Now()
	res := &Result{
		Method: m.Name(), TrainFraction: s.fraction, TrainPerClass: s.perClass,
		Confusion: validate.NewConfusion(len(p.Names)),
	}
	if s.tuning != nil {
		choice, err := m.Tune(ctx, p, s.tuning, set)
		if err != nil {
			return nil, err
		}
		if choice != nil {
			res.Parameters, res.TuningAccuracy = &choice.Parameters, choice.Accuracy
		}
	}
	var outcomes []outcome
	for i := range s.splits.Len() {
		split := s.splits.At(i)
		o, err := res.score(ctx, m, p.At(split.Train), p.At(split.Test), set)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, *o)
		step()
	}
	res.summarise(outcomes)
	res.Seconds = time.Since(start).Seconds()
	return res, nil
}

// outcome is what one split says of a method.
type outcome struct {
	Accuracy, MacroF1 float64
	Quality           validate.Quality
}

// score predicts the test nodes of a split from its training nodes.
func (r *Result) score(ctx context.Context, m method.Method, train, test *method.Problem, set *method.Settings) (*outcome, error) {
	out, err := m.Predict(ctx, train, r.Parameters, set)
	if err != nil {
		return nil, err
	}
	if out.Unfinished != "" {
		r.Unfinished = cmp.Or(r.Unfinished, out.Unfinished)
		r.UnfinishedSplits++
	}
	if r.Parameters == nil && out.Settings > 0 {
		r.ParametersBySplit = append(r.ParametersBySplit, out.Parameters)
	}
	predicted := make([]int, len(test.Row))
	for i, row := range test.Row {
		predicted[i] = out.Class[row]
	}
	one := validate.NewConfusion(len(test.Names))
	one.Count(test.Class, predicted)
	r.Confusion.Count(test.Class, predicted)
	quality := validate.MeasureQuality(test.Class, predicted, len(test.Names), func(i int) []float32 { return out.Scores.Row(test.Row[i]) })
	return &outcome{one.Accuracy(), one.MacroF1(), quality}, nil
}

// summarise stores what the outcomes of all splits say together.
func (r *Result) summarise(outcomes []outcome) {
	for _, o := range outcomes {
		r.Accuracies = append(r.Accuracies, o.Accuracy)
		r.MacroF1 += o.MacroF1 / float64(len(outcomes))
	}
	r.AccuracyMean, r.AccuracyStderr = validate.MeanStderr(r.Accuracies)
	mean := func(of func(*validate.Quality) *float64) *float64 {
		sum := 0.0
		for i := range outcomes {
			x := of(&outcomes[i].Quality)
			if x == nil {
				return nil
			}
			sum += *x / float64(len(outcomes))
		}
		return &sum
	}
	r.Quality = validate.Quality{
		AveragePrecision: mean(func(q *validate.Quality) *float64 { return q.AveragePrecision }),
		AUC:              mean(func(q *validate.Quality) *float64 { return q.AUC }),
		LogLoss:          mean(func(q *validate.Quality) *float64 { return q.LogLoss }),
		Brier:            mean(func(q *validate.Quality) *float64 { return q.Brier }),
		CalibrationError: mean(func(q *validate.Quality) *float64 { return q.CalibrationError }),
	}
}

const badPlan = "evaluate: a plan without training sizes"
