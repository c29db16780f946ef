package auto

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
)

// attributeCandidates are the models that are tried beside candidates where there are
// attributes: scores of these alone, and beside columns of walks with a weaker pull
// and without.
var attributeCandidates = []candidate{
	{attributes: true, alone: true, ridge: 10},
	{attributes: true, pull: 0.5, ridge: 10},
	{attributes: true, free: true, ridge: 3},
}

// attributePrior is the weight towards which that of the best block is pulled.
const attributePrior = 1.2

// candidates returns the models that are tried.
func (r *weigher) candidates() []candidate {
	list := candidates
	if len(r.p.Names) >= manyClasses && len(r.p.Row) > choiceLabels {
		list = lengthyCandidates
	}
	if r.attributed == nil {
		return list
	}
	return slices.Concat(attributeCandidates, list)
}

// input appends the shared columns that a candidate takes to dst: those of attributes,
// and those of walks and kernels, of which one alone takes the last, the prior.
func (c candidate) input(dst, shared, attributes []float64, classes int) []float64 {
	if c.attributes {
		dst = append(dst, attributes...)
	}
	if c.alone {
		shared = shared[len(shared)-classes:]
	}
	return append(dst, shared...)
}

// shared returns the shared columns of labels that a candidate takes, and the weights
// towards which theirs are pulled.
func (r *weigher) shared(c candidate, l *labelRows) *classify.SharedColumns {
	prior := r.columns.priorWeights(c.pull)
	if !c.attributes {
		return &classify.SharedColumns{Values: l.shared, Prior: prior}
	}
	if c.alone {
		prior = prior[len(prior)-1:]
	}
	own := make([]float64, r.attributed.blocks)
	own[l.best] = attributePrior
	prior = append(own, prior...)
	cols := len(prior) * r.columns.classes
	values := &sparse.Block[float64]{Rows: l.shared.Rows, Cols: cols, Stride: cols, Data: make([]float64, 0, l.shared.Rows*cols)}
	for i := range l.shared.Rows {
		values.Data = c.input(values.Data, l.shared.Row(i), l.attributes[i], r.columns.classes)
	}
	return &classify.SharedColumns{Values: values, Prior: prior}
}

const (
	stackRounds = 200 // rounds of the iteration that finds how models are mixed, at the most

	// stackPrior is how many labels an answer counts for beforehand, alonePrior that of
	// attributes alone: they say most of the nodes more often than not.
	stackPrior = 0.1
	alonePrior = 2
)

// stack returns who answers where there are attributes, by some of the labels: of each
// candidate, label propagation among them, the λ under which they are likeliest, and Poisson
// learning, with the weights w under which the mixture of all answers makes the labels
// likeliest, each out of its fold. That is the limit of
//
//	w_j ← (s_j + Σ_i w_j·q_ij/Σ_l w_l·q_il)/(m + Σ_l s_l)
//
// for the probabilities q_ij of the m labels that all have answered and the labels s_j that an
// answer counts for beforehand. No test on twenty labels is sure that attributes say nothing, but walks then
// have a large part of the mixture.
// Yao, Vehtari, Simpson, Gelman: Using stacking to average Bayesian predictive
// distributions (2018).
func (r *weigher) stack(among func(label int) bool) []share {
	shares, prior := []share{{trial: -1}}, []float64{stackPrior}
	for _, at := range r.likeliest(among) {
		s := stackPrior
		if r.trials[at].candidate.alone {
			s = alonePrior
		}
		shares, prior = append(shares, share{trial: at}), append(prior, s)
	}
	for j := range shares {
		shares[j].weight = 1 / float64(len(shares))
	}
	next := make([]float64, len(shares))
	for range stackRounds {
		copy(next, prior)
		for i, several := range r.several {
			if !several || !among(i) || !r.answered(shares, i) {
				continue
			}
			sum := 1e-12
			for _, s := range shares {
				sum += float64(s.weight * r.said(s.trial).truth[i])
			}
			for j, s := range shares {
				next[j] += float64(s.weight*r.said(s.trial).truth[i]) / sum
			}
		}
		total := 0.0
		for _, x := range next {
			total += x
		}
		for j := range shares {
			shares[j].weight = next[j] / total
		}
	}
	shares, sum := pruned(shares)
	for j := range shares {
		shares[j].weight /= sum
	}
	return shares
}

// said returns the answers to labels of a trial, or of Poisson learning, −1.
func (r *weigher) said(trial int) *answers {
	if trial < 0 {
		return &r.poissons
	}
	return &r.trials[trial].answers
}
