package auto

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/internal/heldout"
	"github.com/heatwalk/heatwalk/validate"
)

// candidate is a model that may be chosen.
type candidate struct {
	constant bool    // the shares of the labels, whatever the node
	free     bool    // free columns take part
	pull     float64 // of shared weights towards agreement of neighbours, 0 or 1
	ridge    float64 // of shared weights, of the sum over items

	attributes bool // scores of attributes take part
	alone      bool // without columns of walks and kernels
}

// candidates are the models that are tried: shared weights alone, free columns beside
// them, and the same without a pull, for graphs where neighbours differ.
var candidates = []candidate{
	{pull: 1, ridge: 10},
	{free: true, pull: 1, ridge: 10},
	{free: true, pull: 0, ridge: 3},
}

// biasRidge is that of biases, of the sum over items.
const biasRidge = 3

// ridges are the λ of free columns that are tried, of the mean over items.
var ridges = []float64{10, 1, 0.1, 0.01, 0.001}

// setting is a candidate with its λ.
type setting struct {
	candidate candidate
	lambda    float64
}

// trialOf is what the labels say of a setting, each out of its fold.
type trialOf struct {
	setting
	of    int       // the candidate's position, −1 of the constant
	truth []float64 // the probability of the label's class
	right []bool
}

// priorWeights returns those of shared columns towards which they are pulled: 0.8 of
// them for Poisson learning, 0.6 for scores of a kernel, or for Poisson learning too,
// and 0.6 for the mean of shares. log π counts half.
func (c *columns) priorWeights(pull float64) []float64 {
	u := make([]float64, c.sharedCount())
	u[0] = 0.8 * pull
	for i := range sharedFilters {
		u[1+i] = 0.6 * pull / float64(len(sharedFilters))
	}
	also := 0
	if c.related != nil {
		also = 1 + len(sharedFilters)
	}
	u[also] += 0.6 * pull
	last := len(u) - 1
	u[last] = 0.5 / c.sharedScale[last]
	return u
}

// fit fits a candidate to labels with a class, for each λ; nil where all have one
// class.
func (r *weigher) fit(ctx context.Context, c candidate, l *labelRows, y []int, lambdas []float64) ([]*classify.LogisticModel, error) {
	items := 0
	for _, class := range y {
		if class >= 0 {
			items++
		}
	}
	shared := r.shared(c, l)
	shared.Ridge = c.ridge
	s := &classify.Logistic{BiasRidge: biasRidge, Tolerance: fitTolerance, Shared: shared}
	features := l.free
	if !c.free {
		features.Cols = 0
	}
	scaled := make([]float64, len(lambdas))
	for i, l := range lambdas {
		scaled[i] = l * float64(max(1, items))
	}
	models, err := classify.LogisticPath(ctx, s, features, y, len(r.p.Names), scaled)
	switch {
	case errors.Is(err, classify.ErrOneClass):
		return nil, nil
	case errors.Is(err, classify.ErrIterationLimit):
		err, r.out.Unfinished = nil, "a logistic regression ended at the limit of its steps, before its tolerance"
	}
	return models, err
}

// fitTolerance is that of the gradient, beside its norm where all logits are 0. A tenth of
// it takes a quarter more time on many labels, and moved no accuracy that was measured.
const fitTolerance = 1e-3

// choose tries all settings on the labels out of fold, takes the best, and measures
// how often a choice without a label's fold gives the label its class.
func (r *weigher) choose(ctx context.Context) error {
	if r.few() {
		r.tryPoisson()
	} else {
		if err := r.tryModels(ctx); err != nil {
			return err
		}
		r.tryConstant()
	}
	all := func(int) bool { return true }
	best := r.best(all)
	r.chosen = r.trials[best].setting
	if validate.TooFew(r.p.Class) {
		return nil
	}
	alone, err := r.p.Alone(ctx, r.sources.hiddenFolds(), r.set.Workers, &r.out.Work)
	if err != nil {
		return err
	}
	var h heldout.Count
	weight := heldout.WeightsOf(r.p.Class, len(r.p.Names))
	for f := range r.sources.parts {
		t := &r.trials[r.best(func(i int) bool { return r.sources.part[i] != f })]
		for i, right := range t.right {
			if r.sources.part[i] == f {
				h.Note(r.attributed != nil || !alone[i], right, weight[r.p.Class[i]])
			}
		}
	}
	r.out.Estimate, r.out.Blank = h.Estimates(r.p, r.out.Reached)
	return nil
}

// tryModels measures every candidate for each λ. The rows that a model without a part
// learns from do not know the labels of that part, or two labels that happen to agree
// would teach of each other what they are then asked.
func (r *weigher) tryModels(ctx context.Context) error {
	m := len(r.p.Row)
	candidates := r.candidates()
	for of, c := range candidates {
		for _, lambda := range c.lambdas() {
			r.trials = append(r.trials, trialOf{setting: setting{c, lambda}, of: of, truth: make([]float64, m), right: make([]bool, m)})
		}
	}
	row, sampled, input := make([]float64, len(r.p.Names)), r.sampled(), []float64(nil)
	for f := range r.sources.parts {
		rows := r.rows(f)
		y, missed := r.teaching(rows, f), r.missed(f)
		for i := range y {
			if !sampled[i] {
				y[i] = -1
			}
		}
		trials := r.trials
		for _, c := range candidates {
			models, err := r.fit(ctx, c, rows, y, c.lambdas())
			if err != nil {
				return err
			}
			for l := range c.lambdas() {
				for i, class := range r.p.Class {
					if r.sources.part[i] != f {
						continue
					}
					switch {
					case !r.whole.heard[i]:
						copy(row, missed)
					case models == nil:
						copy(row, r.columns.prior)
					default:
						var x []float64
						if c.free {
							x = doubled(r.whole.free.Row(i))
						}
						input = c.input(input[:0], r.whole.shared.Row(i), rows.attributesOf(i), len(row))
						classify.Softmax(row, models[l].LogitsTo(row, x, input))
					}
					trials[l].note(i, row, class)
				}
			}
			trials = trials[len(c.lambdas()):]
		}
		r.tell("choose", float64(f+1)/float64(r.sources.parts))
	}
	return nil
}

// choiceWork bounds rows × free columns × classes of the models that are tried, but
// for choiceLabels rows; a model takes some tens of passes over them.
const (
	choiceWork   = 16 << 20
	choiceLabels = 500
)

// sampled returns the labels that teach the models that are tried: all of them, or a
// stratified sample of many. All labels test these models, and teach the chosen one.
func (r *weigher) sampled() []bool {
	taken := make([]bool, len(r.p.Class))
	most := max(choiceLabels, choiceWork/(r.columns.freeCount()*len(r.p.Names)))
	for _, i := range validate.Sample(r.p.Class, most, r.set.RNGSeed, 0) {
		taken[i] = true
	}
	return taken
}

// lambdas returns those to try.
func (c candidate) lambdas() []float64 {
	if !c.free {
		return ridges[:1] // there is nothing that it makes smaller
	}
	return ridges
}

// doubled returns x in double precision.
func doubled(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// note stores the outcome of label i.
func (t *trialOf) note(i int, probabilities []float64, class int) {
	t.truth[i], t.right[i] = probabilities[class], classify.ArgMax(probabilities) == class
}

// tryConstant measures the shares of the labels where one class has most of them.
func (r *weigher) tryConstant() {
	largest := classify.ArgMax(r.columns.prior)
	if r.columns.share[largest] <= 0.5 {
		return
	}
	t := trialOf{setting: setting{candidate: candidate{constant: true}}, of: -1, truth: make([]float64, len(r.p.Row)), right: make([]bool, len(r.p.Row))}
	for i, c := range r.p.Class {
		row := r.columns.prior
		if !r.whole.heard[i] {
			row = r.missed(r.sources.part[i])
		}
		t.note(i, row, c)
	}
	r.trials = append(r.trials, t)
}

// tryPoisson measures Poisson learning.
func (r *weigher) tryPoisson() {
	m := len(r.p.Row)
	t := trialOf{truth: make([]float64, m), right: make([]bool, m)}
	row, filtered := make([]float64, len(r.p.Names)), make([]float32, r.tally.full.Cols)
	for i, c := range r.p.Class {
		if r.whole.heard[i] {
			r.sources.honestTo(filtered, r.tally, i, -1)
			r.poisson(row, filtered)
		} else {
			copy(row, r.columns.prior)
		}
		t.note(i, row, c)
	}
	r.trials = append(r.trials, t)
}

// lossWeight is what a unit of log-loss costs beside the share of right answers.
const lossWeight = 0.02

// best returns the trial to choose by some of the labels: of each candidate the λ with
// the least log-loss, of these the one with the largest share of right answers less
// lossWeight times the log-loss, the first among equals.
func (r *weigher) best(among func(label int) bool) int {
	if r.attributed != nil {
		return r.bestAttributed(among)
	}
	best, most := -1, math.Inf(-1)
	for lo := 0; lo < len(r.trials); {
		hi, at, least, merit := lo, lo, math.Inf(1), 0.0
		for ; hi < len(r.trials) && r.trials[hi].of == r.trials[lo].of; hi++ {
			if loss, m := r.trials[hi].judge(among, r.several); loss < least {
				at, least, merit = hi, loss, m
			}
		}
		if best < 0 || merit > most {
			best, most = at, merit
		}
		lo = hi
	}
	return best
}

// judge returns the log-loss over labels that are not the only ones of their class, and the merit over all.
func (t *trialOf) judge(among func(label int) bool, several []bool) (loss, merit float64) {
	right, labels, of := 0, 0, 0
	for i, q := range t.truth {
		if !among(i) {
			continue
		}
		labels++
		if t.right[i] {
			right++
		}
		if several[i] {
			of++
			loss -= math.Log(q + 1e-12)
		}
	}
	loss /= float64(max(1, of))
	return loss, float64(right)/float64(max(1, labels)) - lossWeight*loss
}

// trusted returns the weight w of the chosen probabilities p beside the uniform
// distribution in w·p + (1 − w)/k under which the labels are likeliest, with one more
// observation for each side. Models without a fold are less sure than that of all
// labels: of more than unsureLabels labels, 1 − w is that many's share of it.
func (r *weigher) trusted() float64 {
	t := &r.trials[r.best(func(int) bool { return true })]
	w, k := 0.5, float64(len(r.p.Names))
	for range 50 {
		sum, of := 1.0, 2.0
		for i, q := range t.truth {
			if r.several[i] && r.whole.heard[i] {
				mine := float64(w * q)
				sum += mine / (mine + (1-w)/k)
				of++
			}
		}
		w = sum / of
	}
	return 1 - (1-w)*min(1, unsureLabels/float64(len(t.truth)))
}

// unsureLabels is the number of labels up to which their own doubt counts in full.
// Without the rest probabilities were 2 to 5 points too low from 50 labels on.
const unsureLabels = 40
