package auto

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
)

// component is a model of a mixture, or Poisson learning.
type component struct {
	weight  float64
	setting int                   // position among the settings, −1 of Poisson learning
	model   *classify.LinearModel // nil: not fitted, or there is nothing to fit
}

const (
	// leastWeight is the least weight of a component, relative to the largest one.
	leastWeight = 0.01

	// agreementLabels is the number of labels at which Poisson learning and the mixture have equal weights
	// where neighbours agree. Its share decreases with more labels because models need labels.
	agreementLabels = 40

	// leastTruth is added to the probability of a label's class, so that its logarithm is finite.
	leastTruth = 1e-12
)

// combine returns the mixture that some of the labels choose, see [heldOut.stack], with a share for Poisson
// learning where neighbours agree. Where a single component
// may predict it is the one with the largest weight. Few labels choose nothing: Poisson learning predicts, or
// label propagation where most nodes are far from them.
func (h *heldOut) combine(among func(label int) bool) []component {
	if h.tooFewLabels && !h.attributed {
		if list := h.likeliest(among); len(list) > 0 { // label propagation alone
			return []component{{weight: 1, setting: list[0]}}
		}
		return []component{{weight: 1, setting: -1}}
	}
	mixture := h.stack(among)
	if !h.attributed && neighboursAgree(h.poisson.rows, h.class, h.classes, among) {
		share, stacked := agreementLabels/float64(agreementLabels+len(h.p.Row)), 0.0
		mixture = slices.DeleteFunc(mixture, func(c component) bool {
			if c.setting < 0 {
				stacked = c.weight
			}
			return c.setting < 0
		})
		for i := range mixture {
			mixture[i].weight *= 1 - share
		}
		mixture = append(mixture, component{weight: share + (1-share)*stacked, setting: -1})
	}
	if h.single {
		best := slices.MaxFunc(mixture, func(a, b component) int { return cmp.Compare(a.weight, b.weight) })
		best.weight = 1
		return []component{best}
	}
	return mixture
}

// likeliest returns the setting of each candidate whose λ makes some of the labels likeliest.
func (h *heldOut) likeliest(among func(label int) bool) (list []int) {
	for lo := 0; lo < len(h.settings); {
		hi, best, highest := lo, lo, math.Inf(-1)
		for ; hi < len(h.settings) && h.settings[hi].position == h.settings[lo].position; hi++ {
			if l := h.settings[hi].likelihood(among, h.hasOthers); l > highest {
				best, highest = hi, l
			}
		}
		list = append(list, best)
		lo = hi
	}
	return list
}

// likelihood returns the logarithm of the likelihood of some of the labels, without those that
// are the only ones of their class.
func (a *probabilities) likelihood(among func(label int) bool, hasOthers []bool) (sum float64) {
	for i, q := range a.truth {
		if hasOthers[i] && among(i) && a.rows[i] != nil {
			sum += math.Log(q + leastTruth)
		}
	}
	return sum
}

const (
	stackRounds = 200 // limit of the iterations that find the weights of a mixture

	// stackPrior is the weight, in labels, of each component beforehand, alonePrior that of
	// attributes alone, which are the best model more often than not.
	stackPrior = 0.1
	alonePrior = 2
)

// stack returns the mixture that some of the labels choose: of each candidate, label propagation among them, the λ with the largest held-out likelihood, and Poisson
// learning, with the weights w that maximise the held-out likelihood of the mixture. They are the
// limit of
//
//	w_j ← (s_j + Σ_i w_j·q_ij/Σ_l w_l·q_il)/(m + Σ_l s_l)
//
// for the probabilities q_ij of the m labels that all have predicted, and prior weights s_j. They
// are not a choice of one model because no test on twenty labels shows reliably that a model is useless.
// Yao, Vehtari, Simpson, Gelman: Using stacking to average Bayesian predictive
// distributions (2018).
func (h *heldOut) stack(among func(label int) bool) []component {
	mixture, prior := []component{{setting: -1}}, []float64{stackPrior}
	for _, index := range h.likeliest(among) {
		s := stackPrior
		if c := h.settings[index].candidate; c.isAlone && !c.links {
			s = alonePrior
		}
		mixture, prior = append(mixture, component{setting: index}), append(prior, s)
	}
	for j := range mixture {
		mixture[j].weight = 1 / float64(len(mixture))
	}
	next := make([]float64, len(mixture))
	for range stackRounds {
		copy(next, prior)
		for i, hasOthers := range h.hasOthers {
			if !hasOthers || !among(i) || !h.isPredicted(mixture, i) {
				continue
			}
			sum := leastTruth
			for _, c := range mixture {
				sum += float64(c.weight * h.of(c.setting).truth[i])
			}
			for j, c := range mixture {
				next[j] += float64(c.weight*h.of(c.setting).truth[i]) / sum
			}
		}
		total := 0.0
		for _, x := range next {
			total += x
		}
		for j := range mixture {
			mixture[j].weight = next[j] / total
		}
	}
	highest, sum := slices.MaxFunc(mixture, func(a, b component) int { return cmp.Compare(a.weight, b.weight) }).weight, 0.0
	mixture = slices.DeleteFunc(mixture, func(c component) bool { return c.weight < leastWeight*highest })
	for _, c := range mixture {
		sum += c.weight
	}
	for j := range mixture {
		mixture[j].weight /= sum
	}
	return mixture
}

// of returns the held-out probabilities of a setting, or of Poisson learning, −1.
func (h *heldOut) of(setting int) *probabilities {
	if setting < 0 {
		return &h.poisson
	}
	return &h.settings[setting].probabilities
}

// mixTo stores the held-out probabilities of label i by a mixture.
func (h *heldOut) mixTo(dst []float64, mixture []component, i int) {
	clear(dst)
	for _, s := range mixture {
		for c, q := range h.of(s.setting).rows[i] {
			dst[c] += float64(s.weight * float64(q))
		}
	}
}

// isPredicted reports whether all components have predicted label i.
func (h *heldOut) isPredicted(mixture []component, i int) bool {
	for _, c := range mixture {
		if h.of(c.setting).rows[i] == nil {
			return false
		}
	}
	return true
}
