package auto

import (
	"math"

	"github.com/heatwalk/heatwalk/classify"
)

// share is what a model, or Poisson learning, has of an answer.
type share struct {
	weight float64
	trial  int                   // position among the trials, −1 of Poisson learning
	model  *classify.LinearModel // nil: not fitted, or there is nothing to fit
}

const (
	// leastShare is the least weight beside that of the likeliest model.
	leastShare = 0.01

	// leanErrors is by how many standard errors of its own Poisson learning must be right
	// more often than the largest class: neighbours agree then.
	leanErrors = 2

	// leanLabels is the number of labels at which the models and Poisson learning count
	// alike.
	leanLabels = 40
)

// weigh returns who answers, by some of the labels: of each candidate the λ under which they
// are likeliest, out of their folds, with weights in proportion to these likelihoods; where
// neighbours agree, Poisson learning too. Where there are attributes see [weigher.stack]. Few
// labels are not asked: Poisson learning answers, or label propagation where most nodes are
// far from them.
func (r *weigher) weigh(among func(label int) bool) []share {
	if r.attributed != nil {
		return r.stack(among)
	}
	if r.few() {
		if tried := r.likeliest(among); len(tried) > 0 { // label propagation alone
			return []share{{weight: 1, trial: tried[0]}}
		}
		return []share{{weight: 1, trial: -1}}
	}
	var shares []share
	for _, at := range r.likeliest(among) {
		shares = append(shares, share{weight: r.trials[at].likelihood(among, r.several), trial: at})
	}
	shares = r.admit(shares, among)
	most := math.Inf(-1)
	for _, s := range shares {
		most = max(most, s.weight)
	}
	for i := range shares {
		shares[i].weight = math.Exp(shares[i].weight - most)
	}
	kept, sum := pruned(shares)
	lean, models := r.leaning(among), 0.0
	for i := range kept {
		kept[i].weight /= sum
		if !r.harmonic(kept[i]) {
			models += kept[i].weight
			kept[i].weight *= 1 - lean
		}
	}
	if lean > 0 && models > 0 {
		kept = append(kept, share{weight: lean * models, trial: -1})
	}
	return kept
}

// pruned returns the shares that are not too small beside the largest, and their sum.
func pruned(shares []share) (kept []share, sum float64) {
	most := 0.0
	for _, s := range shares {
		most = max(most, s.weight)
	}
	kept = shares[:0]
	for _, s := range shares {
		if s.weight >= leastShare*most {
			kept = append(kept, s)
			sum += s.weight
		}
	}
	return kept, sum
}

// likeliest returns the trial of each candidate whose λ makes some of the labels likeliest.
func (r *weigher) likeliest(among func(label int) bool) (list []int) {
	for lo := 0; lo < len(r.trials); {
		hi, at, most := lo, lo, math.Inf(-1)
		for ; hi < len(r.trials) && r.trials[hi].of == r.trials[lo].of; hi++ {
			if l := r.trials[hi].likelihood(among, r.several); l > most {
				at, most = hi, l
			}
		}
		list = append(list, at)
		lo = hi
	}
	return list
}

// leastTruth is added to the probability of a label's class, so that none is impossible.
const leastTruth = 1e-12

// likelihood returns the logarithm of that of some of the labels, without those that are
// the only ones of their class.
func (a *answers) likelihood(among func(label int) bool, several []bool) (sum float64) {
	for i, q := range a.truth {
		if several[i] && among(i) && a.rows[i] != nil {
			sum += math.Log(q + leastTruth)
		}
	}
	return sum
}

// leaning returns the weight of Poisson learning by some of the labels: a/(a + m) with
// a = leanLabels of m labels where neighbours agree, 0 elsewhere. Few labels tell too
// little of the weights of a model, of which it has none.
func (r *weigher) leaning(among func(label int) bool) float64 {
	count, right, of, most := make([]float64, len(r.p.Names)), 0.0, 0.0, 0.0
	row := make([]float64, len(r.p.Names))
	for i, c := range r.p.Class {
		if !among(i) {
			continue
		}
		of++
		r.answerTo(row, []share{{weight: 1, trial: -1}}, i)
		if classify.ArgMax(row) == c {
			right++
		}
		count[c]++
		most = max(most, count[c])
	}
	p := (right + 1) / (of + 2)
	if !(right > most+leanErrors*math.Sqrt(of*p*(1-p))) {
		return 0
	}
	return leanLabels / float64(leanLabels+len(r.p.Row))
}

// answerTo stores the answer to label i, which is not told.
func (r *weigher) answerTo(dst []float64, shares []share, i int) {
	clear(dst)
	for _, s := range shares {
		for c, q := range r.said(s.trial).rows[i] {
			dst[c] += float64(s.weight * float64(q))
		}
	}
}

// answered reports whether all have answered to label i.
func (r *weigher) answered(shares []share, i int) bool {
	for _, s := range shares {
		if r.said(s.trial).rows[i] == nil {
			return false
		}
	}
	return true
}
