package auto

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// candidate is a model that may be part of the mixture. Its inputs are shared and free [columns], and scores of ridges, see
// [ridgeScores].
type candidate struct {
	Poisson     bool    `json:"poisson,omitempty"`
	Propagation bool    `json:"propagation,omitempty"`
	Center      bool    `json:"center,omitempty"`   // scores are centred
	Majority    bool    `json:"majority,omitempty"` // class shares
	Beliefs     bool    `json:"beliefs,omitempty"`
	Trees       bool    `json:"trees,omitempty"` // boosted trees; λ is their number of rounds
	Free        bool    `json:"free,omitempty"`
	Pull        float64 `json:"pull,omitempty"`  // factor of the prior means of shared weights, 0 to 1; with 1, neighbours are expected to agree
	Ridge       float64 `json:"ridge,omitempty"` // λ of shared weights, if the loss is the sum over labels

	Attributes bool `json:"attributes,omitempty"`
	Links      bool `json:"links,omitempty"`
	Spectral   bool `json:"spectral,omitempty"` // used even if Alone
	Kernels    bool `json:"kernels,omitempty"`  // used even if Alone
	Alone      bool `json:"alone,omitempty"`    // no columns of walks, and no kernels and eigenvectors unless Kernels and Spectral are set; beliefs are a term of the sum, not a factor
	Fixed      bool `json:"fixed,omitempty"`    // logits are the scores of a ridge times sharpness; nothing is learned
}

var (
	// baseCandidates are used on every graph: the first has shared columns, the second also free columns. The third has no
	// pull, for graphs where neighbours differ.
	baseCandidates = []candidate{
		{Pull: 1, Ridge: 10},
		{Free: true, Pull: 1, Ridge: 10},
		{Free: true, Pull: 0, Ridge: 3},
	}

	// slowCandidates replace baseCandidates if fits take long: with few labels, or many labels of many classes. Free columns
	// were likelier without a pull on each of thirteen graphs with 44 to 200 classes.
	slowCandidates = []candidate{baseCandidates[0], baseCandidates[2]}

	attributeCandidates = []candidate{
		{Attributes: true, Alone: true, Ridge: 10},
		{Attributes: true, Pull: 0.5, Ridge: 10},
		{Attributes: true, Free: true, Ridge: 3},
	}

	spectralCandidate = candidate{Spectral: true, Alone: true, Ridge: 10}
	kernelCandidate   = candidate{Kernels: true, Alone: true, Pull: 1, Ridge: 10}

	// fixedSpectral and fixedKernels replace baseCandidates for few labels, from which a logistic regression learns hardly
	// more than luck.
	fixedSpectral = candidate{Spectral: true, Alone: true, Fixed: true, Ridge: 1e6}
	fixedKernels  = candidate{Kernels: true, Alone: true, Fixed: true, Ridge: 1e6}

	linkCandidates = []candidate{
		{Links: true, Alone: true, Ridge: 10},
		{Links: true, Free: true, Ridge: 3},
	}
	attributedLinkCandidates = []candidate{
		{Attributes: true, Links: true, Alone: true, Ridge: 10},
	}
)

const (
	biasRidge = 3

	attributePrior = 1.2

	// diffusionPrior × pull is the prior mean of the weight of the diffusion kernel's scores. squarePrior is the prior mean for
	// scores of S².
	diffusionPrior = 0.6
	squarePrior    = 1

	spectralPrior = 0.3

	// fitTolerance is relative to the gradient at logits of 0. A thirtieth of it takes a quarter more time with many labels,
	// and changed no measured accuracy.
	fitTolerance = 3e-3
)

// ridges are the λ of free columns, if the loss is the mean over labels.
var ridges = []float64{10, 1, 0.1, 0.01, 0.001}

var fewRidges = []float64{10, 0.1}

func (c candidate) isFactor() bool { return c.Beliefs && !c.Alone }

func (c candidate) isModel() bool {
	return !c.Poisson && !c.Propagation && !c.Beliefs && !c.Majority && !c.Trees
}

func (c candidate) lambdas(d *design) []float64 {
	switch {
	case !c.Free:
		return ridges[:1]
	case d.fewLabels:
		return fewRidges
	}
	return ridges
}

func hasManyLabels(p *problem.Problem) bool {
	return len(p.Names) >= someClasses && len(p.Row) > choiceLabels
}

// candidatesOf returns the models to fit to the labels of p.
func candidatesOf(d *design, p *problem.Problem) []candidate {
	list := baseCandidates
	switch {
	case len(d.free) == 0:
		list = baseCandidates[:1]
	case d.fewLabels, hasManyLabels(p):
		list = slowCandidates
	}
	if d.links {
		list = slices.Concat(list, linkCandidates)
	}
	list = slices.Clip(list)
	ofSpectral, ofKernels := spectralCandidate, kernelCandidate
	isFew := len(p.Row) <= mostFew
	if isFew {
		ofSpectral, ofKernels = fixedSpectral, fixedKernels
	}
	if d.spectral {
		list = append(list, ofSpectral)
	}
	if d.diffusion {
		list = append(list, ofKernels)
	}
	if p.Attributes == nil {
		return list
	}
	attributed := attributeCandidates
	if len(d.free) == 0 {
		attributed = attributed[:2]
	}
	if d.links {
		attributed = slices.Concat(attributed, attributedLinkCandidates)
	}
	return slices.Concat(attributed, list)
}

// priorWeights returns the prior means of the weights of the shared columns of walks. All but the last, of log π, are
// proportional to pull.
func priorWeights(c *columns, pull float64) []float64 {
	u := make([]float64, c.design.sharedCount())
	u[0] = 0.8 * pull
	if !c.design.diffusion {
		u[0] += diffusionPrior * pull
	}
	far := min(len(c.design.shared), len(sharedFilters))
	for i := range far {
		u[1+i] = 0.6 * pull / float64(far)
	}
	last := len(u) - 1
	u[last] = 0.5 / c.sharedScale[last]
	return u
}

func (c candidate) takes(r *ridgeScores) bool {
	return [ridgeKinds]bool{ofAttributes: c.Attributes, ofLinks: c.Links,
		ofDiffusion: !c.Alone || c.Kernels, ofSquares: !c.Alone || c.Kernels,
		ofSpectral: !c.Alone || c.Spectral}[r.kind]
}

// input appends to dst the shared columns of c: the scores of its ridges, then shared, the columns of walks. If c.Alone is
// set, it appends only the last of these, log π.
func (l ridgeList) input(dst []float64, c candidate, shared, scores []float64,
	classes int) []float64 {
	for i, r := range l {
		if c.takes(r) {
			dst = append(dst, scores[i*classes:][:classes]...)
		}
	}
	if c.Alone {
		shared = shared[len(shared)-classes:]
	}
	return append(dst, shared...)
}

// sharedColumns returns the shared columns of e that a candidate uses, with their prior weights.
func (f *features) sharedColumns(c candidate, e *examples) *classify.SharedColumns {
	prior := priorWeights(f.columns, c.Pull)
	switch {
	case c.Fixed:
		prior = []float64{0}
	case c.Alone:
		prior = prior[len(prior)-1:]
	}
	var priors []float64
	for i, r := range f.ridges {
		switch {
		case !c.takes(r):
		case c.Fixed:
			priors = append(priors, sharpness*float64(boolean(r.kind != ofSquares)))
		case r.kind == ofDiffusion:
			priors = append(priors, diffusionPrior*c.Pull)
		case r.kind == ofSquares:
			priors = append(priors, squarePrior)
		case r.kind == ofSpectral && !c.Alone:
			priors = append(priors, spectralPrior)
		default:
			priors = append(priors, attributePrior*float64(boolean(i == f.ridges.best(r.kind, e.hidden))))
		}
	}
	prior = append(priors, prior...)
	cols := len(prior) * f.columns.classes
	values := &sparse.Block[float64]{Rows: e.shared.Rows, Cols: cols, Stride: cols,
		Data: make([]float64, 0, e.shared.Rows*cols)}
	for i := range e.shared.Rows {
		values.Data = f.ridges.input(values.Data, c, e.shared.Row(i), e.ridges[i],
			f.columns.classes)
	}
	return &classify.SharedColumns{Values: values, Prior: prior}
}

// fit returns a model of c for each λ, fitted to labels with columns e and classes y. It ignores labels of class −1. If
// enough returns true, fit leaves out the remaining λ. If all classes are equal, it returns no models.
func (f *features) fit(ctx context.Context, c candidate, e *examples, y []int,
	lambdas []float64, enough func(*classify.LinearModel) bool) ([]*classify.LinearModel, error) {
	items := 0
	for _, class := range y {
		if class >= 0 {
			items++
		}
	}
	shared := f.sharedColumns(c, e)
	shared.Ridge = c.Ridge
	s := &classify.Logistic{BiasRidge: biasRidge, Tolerance: fitTolerance,
		Shared: shared, Enough: enough}
	if c.Fixed {
		s.BiasRidge = c.Ridge
	}
	free := *e.free
	if !c.Free {
		free.Cols = 0
	}
	scaled := make([]float64, len(lambdas))
	for i, l := range lambdas {
		scaled[i] = l * float64(max(1, items))
	}
	models, err := classify.LogisticPath(ctx, s, &free, y,
		f.columns.classes, scaled)
	switch {
	case errors.Is(err, classify.ErrOneClass):
		return nil, nil
	case errors.Is(err, classify.ErrIterationLimit):
		err = nil
		f.in.unfinished = "a logistic regression ended at the limit of its steps, before its tolerance"
	}
	return models, err
}

// In a fold of at least raceLabels labels, ever smaller λ are tried until the mean log-likelihood of a label is mostFall
// below the best so far.
const (
	someClasses  = 16 // with at least someClasses classes and more than choiceLabels labels there are fewer candidates
	choiceLabels = 500
	mostFall     = 0.02
)

// predictFold fits all components to the labels outside a fold, and stores their predictions for the labels of the
// fold. Training rows too are computed without these labels: otherwise two labels that agree by chance would each raise the
// likelihood of the other label.
func (h *heldOut) predictFold(ctx context.Context, f *features, fold int) error {
	rows := f.examples(fold)
	y := f.targets(rows, fold)
	missed := f.priorOfMissed(fold)
	var labels []int
	for i, labelFold := range f.fold {
		if labelFold == fold {
			labels = append(labels, i)
		}
	}
	row := make([]float64, f.columns.classes)
	input := []float64(nil)
	predict := func(c *component, model *classify.LinearModel) {
		for _, i := range labels {
			switch {
			case !f.full.hasFeatures[i]:
				copy(row, missed)
			case model == nil:
				copy(row, f.inFold[fold].prior)
			default:
				var x []float64
				if c.Free {
					x = toFloat64(f.full.free.Row(i))
				}
				input = f.ridges.input(input[:0], c.candidate, f.full.shared.Row(i),
					rows.ridges[i], len(row))
				classify.Softmax(row, model.ScoresTo(row, x, input))
			}
			c.set(i, row)
		}
	}
	for _, list := range byCandidate(h.components) {
		lambdas := make([]float64, len(list))
		next := 0
		highest := math.Inf(-1)
		for i, c := range list {
			lambdas[i] = c.Lambda
		}
		_, err := f.fit(ctx, list[0].candidate, rows, y, lambdas, func(m *classify.LinearModel) bool {
			predict(&list[next], m)
			next++
			likelihood := h.likelihood(&list[next-1], labels)
			highest = max(highest, likelihood)
			return len(labels) >= raceLabels &&
				likelihood < highest-mostFall*float64(len(labels))
		})
		if err != nil {
			return err
		}
		if next == 0 {
			predict(&list[0], nil)
			next++
		}
		for ; next < len(list); next++ { // a λ that was not tried counts as the λ before
			for _, i := range labels {
				list[next].rows[i] = list[next-1].rows[i]
			}
		}
	}
	return nil
}
