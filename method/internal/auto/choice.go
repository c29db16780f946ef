package auto

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// candidate is a model that may be chosen.
type candidate struct {
	constant bool    // the shares of the labels, whatever the node
	harmonic bool    // label propagation
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

// lengthyCandidates are those of many labels of many classes, whose models take long. So many
// labels tell how much agreement of neighbours counts: on thirteen graphs with 44 to 200 classes
// free columns were likelier without a pull than with one, on all of them.
var lengthyCandidates = []candidate{candidates[0], candidates[2]}

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
	of int // the candidate's position, −1 of the constant
	answers
}

// answers are what is said of labels that are not told.
type answers struct {
	rows  [][]float32 // probabilities
	truth []float64   // the probability of the label's class
}

// answerMemory lists what the answers of all settings to labels take, those of Poisson
// learning, of the constant and of label propagation among them.
func answerMemory(p *problem.Problem) []spec.Bytes {
	count, of := 2+len(slacks), candidates
	if p.Attributes != nil {
		of = slices.Concat(candidates, attributeCandidates)
	}
	for _, c := range of {
		count += len(c.lambdas())
	}
	return []spec.Bytes{{What: "answers to labels", Bytes: int64(count) * int64(len(p.Row)) * (24 + 9 + 4*int64(len(p.Names)))}}
}

func newAnswers(labels int) answers {
	return answers{make([][]float32, labels), make([]float64, labels)}
}

// priorWeights returns those of shared columns towards which they are pulled: 0.8 of
// them for Poisson learning, 0.6 for scores of the diffusion kernel, or for Poisson
// learning too, and 0.6 for the mean of shares. Scores of S² count 1 and log π half,
// whether neighbours agree or not.
func (c *columns) priorWeights(pull float64) []float64 {
	u := make([]float64, c.sharedCount())
	u[0] = 0.8 * pull
	for i := range sharedFilters {
		u[1+i] = 0.6 * pull / float64(len(sharedFilters))
	}
	also := 0
	if c.related != nil {
		also = 1 + len(sharedFilters)
		u[also+2] = linkPrior
	}
	u[also] += 0.6 * pull
	last := len(u) - 1
	u[last] = 0.5 / c.sharedScale[last]
	return u
}

// linkPrior is the weight towards which that of scores of S² is pulled.
const linkPrior = 1

// fit fits a candidate to labels with a class, for each λ until enough, if it is not nil,
// returns true of a model; nil where all have one class.
func (r *weigher) fit(ctx context.Context, c candidate, l *labelRows, y []int, lambdas []float64, enough func(*classify.LinearModel) bool) ([]*classify.LinearModel, error) {
	items := 0
	for _, class := range y {
		if class >= 0 {
			items++
		}
	}
	shared := r.shared(c, l)
	shared.Ridge = c.ridge
	s := &classify.Logistic{BiasRidge: biasRidge, Tolerance: fitTolerance, Shared: shared, Enough: enough}
	features := *l.free
	if !c.free {
		features.Cols = 0
	}
	scaled := make([]float64, len(lambdas))
	for i, l := range lambdas {
		scaled[i] = l * float64(max(1, items))
	}
	models, err := classify.LogisticPath(ctx, s, &features, y, len(r.p.Names), scaled)
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

// choose tries all settings on the labels out of fold, weighs them by these, and measures
// how often weights without a label's fold give the label its class.
func (r *weigher) choose(ctx context.Context) error {
	r.poissons = r.tryPoisson()
	if !r.few() {
		if err := r.tryModels(ctx); err != nil {
			return err
		}
		r.tryConstant()
	}
	if err := r.tryHarmonic(ctx); err != nil {
		return err
	}
	r.shares = r.weigh(func(int) bool { return true })
	r.calibrated = r.calibrate()
	if validate.TooFew(r.p.Class) {
		return nil
	}
	r.estimate()
	return nil
}

// indirect is how much larger the accuracy of weights without a label's fold is than that
// of weights that do not depend on the label, beside how much larger that of weights by all
// labels is than it: models of other folds, which have learned from the label, weigh too.
// Compare Tibshirani and Tibshirani, A bias correction for the minimum error rate in
// cross-validation (2009). On co-work of lawyers 21 labels told 4.4 ± 0.8 points too much
// without it.
const indirect = 0.5

// estimate measures how often the answer to a label that is not told is right.
func (r *weigher) estimate() {
	var without, with choose.Estimator // the label's fold among those that weigh
	weight := choose.WeightsOf(r.p)
	row := make([]float64, len(r.p.Names))
	for f := range r.sources.parts {
		shares := r.weigh(func(i int) bool { return r.sources.part[i] != f })
		for i, class := range r.p.Class {
			if r.sources.part[i] == f && r.answered(shares, i) && r.answered(r.shares, i) {
				reached := r.attributed != nil || !r.alone[i]
				r.answerTo(row, shares, i)
				without.Note(reached, classify.ArgMax(row) == class, weight[class])
				r.answerTo(row, r.shares, i)
				with.Note(reached, classify.ArgMax(row) == class, weight[class])
			}
		}
	}
	e := &r.out.Estimate
	*e = without.Estimate(r.p, r.out.Reached)
	e.Accuracy = max(0, e.Accuracy-float64(indirect*max(0, with.Estimate(r.p, r.out.Reached).Accuracy-e.Accuracy)))
}

// tryModels computes the held-out probabilities of every candidate with each λ.
func (r *weigher) tryModels(ctx context.Context) error {
	for of, c := range r.candidates() {
		for _, lambda := range c.lambdas() {
			r.trials = append(r.trials, trialOf{setting{c, lambda}, of, newAnswers(len(r.p.Row))})
		}
	}
	k, sampled := len(r.p.Names), r.sampled()
	for f := range r.sources.parts {
		fold, err := r.tryFold(ctx, f, sampled)
		if err != nil {
			return err
		}
		r.tell("choose", float64(f+1)/float64(r.sources.parts))
		labels := r.labelsOf(f)
		r.out.Unfinished = cmp.Or(r.out.Unfinished, fold.Unfinished)
		for t := range r.trials {
			for at, i := range labels {
				r.trials[t].rows[i], r.trials[t].truth[i] = fold.Rows[t][at*k:][:k], fold.Truth[t][at]
			}
		}
	}
	return nil
}

// labelsOf returns the labels of a fold.
func (r *weigher) labelsOf(fold int) (list []int) {
	for i, f := range r.sources.part {
		if f == fold {
			list = append(list, i)
		}
	}
	return list
}

// heldOutFold holds the probabilities that the models of all settings predict for the labels
// of one fold, from which they have not learned. Both lists have one slice for each setting,
// in the order of the labels.
type heldOutFold struct {
	Rows       [][]float32 // the probabilities of all classes, label after label
	Truth      [][]float64 // the probability of each label's own class
	Unfinished string      // the iteration that ended at its limit; "": none
}

// tryFold asks models of all settings for the labels of a fold. The rows that they learn from
// do not know these labels, or two labels that happen to agree would teach of each other what
// they are then asked.
func (r *weigher) tryFold(ctx context.Context, f int, sampled []bool) (*heldOutFold, error) {
	fold, rows, labels := &heldOutFold{}, r.rows(f), r.labelsOf(f)
	y, missed := r.teaching(rows, f), r.missed(f)
	for i := range y {
		if !sampled[i] {
			y[i] = -1
		}
	}
	row, input := make([]float64, len(r.p.Names)), []float64(nil)
	try := func(c candidate, model *classify.LinearModel) {
		said, truth := make([]float32, 0, len(labels)*len(row)), make([]float64, 0, len(labels))
		for _, i := range labels {
			switch {
			case !r.whole.known[i]:
				copy(row, missed)
			case model == nil:
				copy(row, r.columns.prior)
			default:
				var x []float64
				if c.free {
					x = doubled(r.whole.free.Row(i))
				}
				input = c.input(input[:0], r.whole.shared.Row(i), rows.attributes[i], len(row))
				classify.Softmax(row, model.ScoresTo(row, x, input))
			}
			for _, q := range row {
				said = append(said, float32(q))
			}
			truth = append(truth, row[r.p.Class[i]])
		}
		fold.Rows, fold.Truth = append(fold.Rows, said), append(fold.Truth, truth)
	}
	for _, c := range r.candidates() {
		first := len(fold.Truth)
		_, err := r.fit(ctx, c, rows, y, c.lambdas(), func(m *classify.LinearModel) bool {
			try(c, m)
			return r.falls(fold.Truth[first:])
		})
		if err != nil {
			return nil, err
		}
		if len(fold.Truth) == first {
			try(c, nil)
		}
		// A λ that is not tried is taken to do as badly as the one before.
		for last := len(fold.Truth) - 1; len(fold.Truth) < first+len(c.lambdas()); {
			fold.Rows, fold.Truth = append(fold.Rows, fold.Rows[last]), append(fold.Truth, fold.Truth[last])
		}
	}
	fold.Unfinished = r.out.Unfinished
	return fold, nil
}

// Of manyClasses and more, whose models take long, a fold tries falling λ until the logarithm of
// the likelihood of its labels is by fall for each label below that of a larger λ.
const (
	manyClasses = 16
	fall        = 0.02
)

// falls reports whether the last of the probabilities of labels are so much below others.
func (r *weigher) falls(truth [][]float64) bool {
	if len(r.p.Names) < manyClasses {
		return false
	}
	most, last := math.Inf(-1), 0.0
	for _, of := range truth {
		last = 0
		for _, q := range of {
			last += math.Log(q + 1e-12)
		}
		most = max(most, last)
	}
	return last < most-fall*float64(len(truth[0]))
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
	simd.ConvertTo(y, x)
	return y
}

// note stores the answer to label i.
func (a *answers) note(i int, probabilities []float64, class int) {
	a.rows[i] = make([]float32, len(probabilities))
	simd.ConvertTo(a.rows[i], probabilities)
	a.truth[i] = probabilities[class]
}

// mostErrors is by how many standard errors a class must have more than half of the labels
// for most nodes to be of it. Where two classes have about as many nodes each, the one that
// happens to have more of a few labels took 3 points of co-work of lawyers.
const mostErrors = 2

// tryConstant measures the shares of the labels where one class has most of them for sure.
// Those for a label are of the labels outside its part.
func (r *weigher) tryConstant() {
	largest := classify.ArgMax(r.columns.prior)
	if r.columns.share[largest] <= 0.5+mostErrors/math.Sqrt(float64(4*len(r.p.Row))) {
		return
	}
	t := trialOf{setting{candidate: candidate{constant: true}}, -1, newAnswers(len(r.p.Row))}
	priors := make([][]float64, r.sources.parts)
	for f := range priors {
		priors[f] = r.priorWithout(f)
	}
	for i, c := range r.p.Class {
		row := priors[r.sources.part[i]]
		if !r.whole.known[i] {
			row = r.missed(r.sources.part[i])
		}
		t.note(i, row, c)
	}
	r.trials = append(r.trials, t)
}

// priorWithout returns the prior of the labels outside a part.
func (r *weigher) priorWithout(part int) []float64 {
	k := len(r.p.Names)
	prior, of := make([]float64, k), 0
	for c := range prior {
		prior[c] = 1
	}
	for i, c := range r.p.Class {
		if r.sources.part[i] != part {
			prior[c]++
			of++
		}
	}
	for c := range prior {
		prior[c] /= float64(of + k)
	}
	return prior
}

// tryPoisson returns what Poisson learning says of labels.
func (r *weigher) tryPoisson() answers {
	t := newAnswers(len(r.p.Row))
	row, filtered := make([]float64, len(r.p.Names)), make([]float32, r.tally.full.Cols)
	for i, c := range r.p.Class {
		if r.whole.known[i] {
			r.sources.honestTo(filtered, r.tally, i, -1)
			r.poisson(row, filtered)
		} else {
			copy(row, r.columns.prior)
		}
		t.note(i, row, c)
	}
	return t
}
