package engine

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Errors measure predictions ŷ of values y: RMSE = (mean (y − ŷ)²)^½, MAE = mean |y − ŷ|, and
// R2 = 1 − Σ(y − ŷ)²/Σ(y − ȳ)² with the mean ȳ of the values.
type Errors struct {
	RMSE float64 `json:"rmse"`
	MAE  float64 `json:"mae"`
	R2   float64 `json:"r2"`

	R2Stderr float64 `json:"r2_stderr"` // the larger of the standard errors for a known and for an estimated variance of values
}

// Compared is the cross-validated result of a method.
type Compared struct {
	Method     string     `json:"method"`
	Parameters Parameters `json:"parameters"` // parameters that all folds together choose
	Settings   int        `json:"settings"`
	Errors
}

// Unsolved is a candidate that is omitted because its equations were not solved to their tolerance.
type Unsolved struct {
	Method     string
	Parameters Parameters // omitted setting; nil: all settings
	err        error
}

// Contest describes the predictions of [BestAmong].
type Contest struct {
	Compared // the chosen method

	Shrinkage float64 `json:"shrinkage"` // factor of the differences from the mean of known values; 0: the mean, 1: unchanged

	Tested     int           `json:"tested"`        // number of measured values
	HeldOut    []TestedValue `json:"tested_values"` // measured values
	Methods    []Compared    `json:"methods"`
	Unsolved   []Unsolved    `json:"-"`
	Mean       Errors        `json:"mean"`       // errors of predicting the mean of the other folds
	Neighbours Errors        `json:"neighbours"` // errors of predicting the mean of neighbours outside the fold
}

// MeasuredNumbers are the errors of predicted numbers that a kept model repeats, because its parameters were chosen by the same
// numbers.
type MeasuredNumbers struct {
	Errors
	Tested     int           `json:"tested"`
	HeldOut    []TestedValue `json:"tested_values"`
	Mean       Errors        `json:"mean"`
	Neighbours Errors        `json:"neighbours"`
}

func (c *Contest) measured() *MeasuredNumbers {
	return &MeasuredNumbers{c.Errors, c.Tested, c.HeldOut, c.Mean, c.Neighbours}
}

// repeat puts the errors of a kept model in place of those of its fixed parameters.
func (c *Contest) repeat(m *MeasuredNumbers) {
	c.Errors = m.Errors
	c.Tested = m.Tested
	c.HeldOut = m.HeldOut
	c.Mean = m.Mean
	c.Neighbours = m.Neighbours
	for i := range c.Methods {
		c.Methods[i].Errors = m.Errors
	}
}

// TestedValue is a value that a model does not know, and its prediction.
type TestedValue struct {
	True      float64 `json:"true"`
	Predicted float64 `json:"prediction"`
}

// Interval describes prediction intervals: a value lies within Margin of its prediction with probability Coverage. The
// coverage holds if the known values are a random sample; see package choose.
type Interval struct {
	Coverage float64 `json:"coverage"`
	Margin   float64 `json:"margin"`
}

// Interval returns the prediction interval with the given coverage, from the absolute errors of held-out values. The error is
// [choose.ErrFew] or [choose.ErrRange].
func (c *Contest) Interval(coverage float64) (*Interval, error) {
	var errors []float64
	for _, h := range c.HeldOut {
		errors = append(errors, math.Abs(h.True-h.Predicted))
	}
	slices.Sort(errors)
	margin, err := choose.Threshold(errors, coverage)
	if err != nil {
		return nil, err
	}
	return &Interval{coverage, margin}, nil
}

// MeasureErrors returns the errors of predicted numbers, given the true values.
func MeasureErrors(values, predicted []float64) Errors {
	m := float64(len(values))
	e := Errors{RMSE: floats.Distance(values, predicted, 2) / math.Sqrt(m),
		MAE: floats.Distance(values, predicted, 1) / m}
	mean, variance := stat.PopMeanVariance(values, nil)
	if variance > 0 {
		unexplained := float64(e.RMSE*e.RMSE) / variance
		e.R2 = 1 - unexplained
		var squares, differences []float64
		for i, y := range values {
			x := (y - predicted[i]) / math.Sqrt(variance) // powers stay finite
			d := (y - mean) / math.Sqrt(variance)
			squares = append(squares, float64(x*x))
			differences = append(differences, float64(x*x)-float64(unexplained*d*d))
		}
		// Two more values with the error of the mean: of few values, none may be among the rare ones that are far off. Without
		// them, 22 of 25 draws of 20 numbers that change smoothly were within two errors.
		squares = append(squares, 1, 1)
		differences = append(differences, 1, 1)
		e.R2Stderr = math.Sqrt(choose.Nearness * max(stat.PopVariance(squares, nil), stat.PopVariance(differences, nil)) / m)
	}
	return e
}

// BestAmong returns an engine that predicts the value of every node with the best engine in entries, which must predict
// numbers. means must be the engines of the mean of all known values and of the mean of neighbours. The returned engine
// compares all settings of all engines by cross-validation on the same folds, see [Prediction].Contest. Among equal engines
// the first wins. The predictions of the best of several engines are moved towards the mean. The error of each fold is the
// error of the engine, the setting and the shrinkage that the other folds choose.
//
// The error of a prediction may be [problem.ErrConstant], a [*param.ParameterError], a [*problem.Error] about a directed
// graph or an iteration that does not converge, [sparse.ErrMemory], or an error of the context or a sweep.
//
// If several processes share the rows of the graph, each process predicts its own rows. All nodes with a value must be named,
// that is in every process, see [sparse.Division].
//
// Cost: for each kernel the columns of its Gram matrix, and an eigendecomposition for each of its settings.
func BestAmong(means, entries []Entry) *Engine {
	return &Engine{Name: "regress", Target: Numbers,
		Fit: func(ctx context.Context, p *Problem, _ *Parameters, s *Settings) (*Prediction, error) {
			return predictBest(ctx, p, means, entries, s)
		},
		Workspace: func(p *Problem, s *Settings) (w budget.Workspace, err error) {
			for _, e := range slices.Concat(means, entries) {
				if e.Method.Workspace == nil {
					continue
				}
				set := s.WithDefaults()
				set.Given = e.Own
				space, err := e.Method.Workspace(p, &set)
				if err != nil {
					return w, err
				}
				w = w.Or(space)
			}
			return w.AndHeld((2+SamplesAtOnce)*8*int64(len(p.Degrees)), 400*int64(min(len(p.Row), MostCompared)*len(entries))), nil
		},
	}
}

func predictBest(ctx context.Context, p *Problem, means, entries []Entry, s *Settings) (*Prediction, error) {
	set := s.WithDefaults()
	if p.Directed || p.In != nil {
		return nil, &problem.Error{Method: "regress", Err: problem.ErrDirected}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p, err := withStructure(ctx, p, &set)
	if err != nil {
		return nil, err
	}
	contest := new(Contest)
	list, err := contest.compareAll(ctx, p, slices.Concat(means, entries), &set)
	if err != nil {
		return nil, err
	}
	others := list[2:]
	if len(others) == 0 {
		return nil, contest.Unsolved[0].err
	}
	best, err := learnBest(ctx, others)
	if err != nil {
		return nil, err
	}
	h := newHeldNumbers(p, set.RNGSeed)
	for _, c := range list {
		if set.Model != nil { // it keeps the errors
			break
		}
		if err := c.measureFurther(ctx, h); err != nil {
			return nil, err
		}
	}
	given := 1.0
	if m := set.Model; m != nil && m.Shrinkage > 0 {
		given = m.Shrinkage
	} else if len(entries) > 1 {
		given = 0
	}
	errors := contest.measure(h, list, given)
	out := best.job.Out
	contest.Shrinkage = given
	center := stat.Mean(p.Value, nil)
	if given == 0 {
		spread := meanSquareElsewhere(p, out.Value, center)
		contest.Shrinkage = h.shrinkage(best.miss[best.Found.Setting], -1, spread)
	}
	blend(out.Value, contest.Shrinkage, center)
	for i, row := range p.Row {
		out.Value[row] = p.Value[i]
	}
	if contest.Shrinkage == 0 {
		best = list[0]
	}
	contest.Compared = best.compared(errors)
	out.Parameters = best.Parameters
	out.Contest = contest
	return out, nil
}

// compareAll returns the choice of each engine in entries. It lists engines whose equations cannot be solved in c.Unsolved,
// except the first two, whose error it returns.
func (c *Contest) compareAll(ctx context.Context, p *Problem, entries []Entry, s *Settings) (list []*Choice, err error) {
	for _, e := range entries {
		set := *s
		set.Given = e.Own
		choice, err := e.Method.Choose(ctx, p, nil, &set)
		switch {
		case err == nil:
			list = append(list, choice)
		case isUnsolved(err) && len(list) > 1:
			c.Unsolved = append(c.Unsolved, Unsolved{Method: e.Method.Name, err: err})
		default:
			return nil, err
		}
	}
	return list, nil
}

// measure stores in c the errors of each choice in list, of which the first two are means, and the predictions of held-out
// values by the best of the others with a shrinkage, see [heldNumbers.measure]. It returns the errors of these predictions.
func (c *Contest) measure(h *heldNumbers, list []*Choice, shrinkage float64) Errors {
	c.Mean, _, _ = h.measure(list[:1], 1)
	c.Neighbours, _, _ = h.measure(list[1:2], 1)
	others := list[2:]
	for i, choice := range others {
		e, _, _ := h.measure(others[i:i+1], 1)
		c.Methods = append(c.Methods, choice.compared(e))
		c.Unsolved = append(c.Unsolved, choice.job.unsolved...)
	}
	errors, values, predicted := h.measure(others, shrinkage)
	c.Tested = len(values)
	for i, value := range values {
		c.HeldOut = append(c.HeldOut, TestedValue{value, predicted[i]})
	}
	return errors
}

// blend moves values towards center: it multiplies their differences from center by shrinkage.
func blend(values []float64, shrinkage, center float64) {
	for i, v := range values {
		values[i] = float64(shrinkage*v) + float64((1-shrinkage)*center)
	}
}

// meanSquareElsewhere returns the mean of (prediction − center)² over the nodes without a value.
func meanSquareElsewhere(p *Problem, predicted []float64, center float64) float64 {
	isKnown := problem.MarkLabels(p)
	squares := []float64{0}
	for lo, hi := range p.Team().CountingRows(0, p.Rows()) {
		for i := lo; i < hi; i++ {
			if !isKnown[i] {
				squares[0] += float64((predicted[i] - center) * (predicted[i] - center))
			}
		}
	}
	p.Team().Sum(squares)
	return squares[0] / float64(max(1, p.Nodes()-len(p.Row)))
}

func (c *Choice) compared(e Errors) Compared {
	return Compared{Method: c.job.Declared.Name, Parameters: c.Parameters, Settings: c.Settings, Errors: e}
}

// bestOf returns the choice and the position of its setting with the highest merit outside fold hidden, see
// [choose.Counts.Best]. Among equal choices the first wins.
func bestOf(list []*Choice, hidden int) (best *Choice, setting int, merit float64) {
	for _, c := range list {
		s, m := c.Found.Counts.Best(c.space, hidden)
		if best == nil || m > merit {
			best = c
			setting = s
			merit = m
		}
	}
	return best, setting, merit
}

// shrinkage returns the factor s by which to multiply the differences a of predictions from the mean. It is fitted to the
// differences b of the values outside fold hidden from the mean; miss = b − a. spread is the mean of a² at nodes without a
// value, 0 if unknown. With the correlation r of a and b and the residuals q = b − s₀·a
//
//	s = min(1, Σab/(Σa² + (1 − r²)²·e))·max(0, 1 − 3·Σa²q²/(Σab)²)
//
// where s₀ is s computed with q = b, so that (Σab)²/Σa²b² tests whether predictions say anything. e = max(0, Σ(spread − a²))
// reduces s if differences at other nodes are larger, as around an outlier: nothing is known about their errors. Source:
// Breiman, Better subset regression using the nonnegative garrote (1995).
func (h *heldNumbers) shrinkage(miss []float64, hidden int, spread float64) (factor float64) {
	for range 2 {
		squares, values, product, variance := 0.0, 0.0, 0.0, 0.0
		excess := 0.0
		for i, b := range h.deviation {
			if h.group[i] != hidden && miss[i] == miss[i] {
				b /= h.width // powers stay finite
				a := b - miss[i]/h.width
				weighted := a * (b - float64(factor*a))
				squares += float64(a * a)
				values += float64(b * b)
				product += float64(a * b)
				variance += float64(weighted * weighted)
				excess += spread/h.width/h.width - float64(a*a)
			}
		}
		if !(product > 0) { // no agreement, or no solution
			return 0
		}
		unexplained := 1 - float64(product*product)/(squares*values)
		slope := product / (squares + float64(unexplained*unexplained*max(0, excess)))
		factor = min(1, slope) * max(0, 1-3*variance/(product*product))
	}
	return factor
}

// measure returns the errors of predictions of held-out values, these values and the predictions. For each fold, the other
// folds by which settings were compared choose the engine of list and its setting. given is the shrinkage; if it is 0, the other
// folds choose it too. Values that the chosen setting has not predicted are left out.
func (h *heldNumbers) measure(list []*Choice, given float64) (e Errors, values, predicted []float64) {
	for f := range h.groups {
		hidden := f
		if f >= h.compared {
			hidden = -1
		}
		best, setting, _ := bestOf(list, hidden)
		misses := best.miss[setting]
		factor := given
		if factor == 0 {
			factor = h.shrinkage(misses, f, 0)
		}
		for i, miss := range misses {
			if h.group[i] == f && miss == miss {
				values = append(values, h.value[i])
				predicted = append(predicted, h.value[i]-float64(factor*miss)-float64((1-factor)*h.deviation[i]))
			}
		}
	}
	e = MeasureErrors(values, predicted)
	unbiased := 1 - 1/float64(len(values)) // the sample variance is biased
	e.R2 = 1 - (1-e.R2)*unbiased
	e.R2Stderr *= unbiased
	return e, values, predicted
}

// withStructure returns p with a graph that has everything [graph.New] finds.
func withStructure(ctx context.Context, p *Problem, s *Settings) (*Problem, error) {
	if p.Radius != nil {
		return p, nil
	}
	q := *p
	var err error
	if q.Graph, err = p.Whole(ctx, s.Workers, new(graph.Work)); err == nil {
		q.Memory = p.Memory
	}
	return &q, err
}
