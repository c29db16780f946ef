package auto

import (
	"math"
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
	if r.attributed == nil {
		return candidates
	}
	return slices.Concat(attributeCandidates, candidates)
}

// attributesOf returns the columns of attributes of label i, nil if there are none.
func (l *labelRows) attributesOf(i int) []float64 {
	if l.attributes == nil {
		return nil
	}
	return l.attributes[i]
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
	own[r.attributed.best] = attributePrior
	prior = append(own, prior...)
	cols := len(prior) * r.columns.classes
	values := &sparse.Block[float64]{Rows: l.shared.Rows, Cols: cols, Stride: cols, Data: make([]float64, 0, l.shared.Rows*cols)}
	for i := range l.shared.Rows {
		values.Data = c.input(values.Data, l.shared.Row(i), l.attributes[i], r.columns.classes)
	}
	return &classify.SharedColumns{Values: values, Prior: prior}
}

// evidenceErrors is by how many standard errors of the paired difference another model
// must be likelier than attributes alone.
const evidenceErrors = 2

// bestAttributed returns the trial to choose by some of the labels: of each candidate
// the λ with the least log-loss, of these attributes alone unless others are likelier
// by more than evidenceErrors, and then the likeliest of these.
func (r *weigher) bestAttributed(among func(label int) bool) int {
	list := r.likeliest(among)
	best, most := list[0], 0.0
	for _, at := range list[1:] {
		if gain, sure := r.gain(&r.trials[at], &r.trials[list[0]], among); sure && gain > most {
			best, most = at, gain
		}
	}
	return best
}

// gain returns how much more likely a trial is than another in the mean over labels,
// as a difference of logarithms, and whether that is more than evidenceErrors.
func (r *weigher) gain(t, than *trialOf, among func(label int) bool) (mean float64, sure bool) {
	sum, squares, of := 0.0, 0.0, 0.0
	for i, q := range t.truth {
		if r.several[i] && among(i) {
			d := math.Log(q+1e-12) - math.Log(than.truth[i]+1e-12)
			sum += d
			squares += float64(d * d)
			of++
		}
	}
	if of == 0 {
		return 0, false
	}
	mean = sum / of
	return mean, mean > evidenceErrors*math.Sqrt(max(0, squares/of-float64(mean*mean))/of)
}
