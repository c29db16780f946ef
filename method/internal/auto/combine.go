package auto

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
)

// component is a model of a mixture, or Poisson learning. Beliefs, which stand last, are multiplied with the sum q of
// the others: p ∝ q^(1−w)·b^w for their probabilities b and weight w.
type component struct {
	weight  float64
	setting int                   // position among the settings, −1 of Poisson learning
	model   *classify.LinearModel // nil: not fitted, or there is nothing to fit
}

// isOf reports whether the setting of a component is one of a kind of candidate.
func (c component) isOf(settings []heldOutSetting, isKind func(candidate) bool) bool {
	return c.setting >= 0 && isKind(settings[c.setting].candidate)
}

const (
	// leastWeight is the least weight of a component, relative to the largest one.
	leastWeight = 0.01

	// admissionErrors is the number of standard errors of the difference by which beliefs must make labels likelier.
	admissionErrors = 2

	// leastTruth is added to the probability of a label's class, so that its logarithm is finite.
	leastTruth = 1e-12
)

// combine returns the mixture that some of the labels choose, see [heldOut.stack], times beliefs. Few labels choose
// nothing: Poisson learning predicts, or label propagation where most nodes are far from them.
func (h *heldOut) combine(among func(label int) bool) []component {
	if h.tooFewLabels {
		if list := h.likeliest(among); len(list) > 0 { // label propagation alone
			return []component{{weight: 1, setting: list[0]}}
		}
		return []component{{weight: 1, setting: -1}}
	}
	return h.multiply(h.stack(among), among)
}

// multiply appends beliefs with the weight that makes some of the labels likeliest, if it makes them likelier than the
// mixture alone by admissionErrors standard errors. It does not change the mixture.
func (h *heldOut) multiply(mixture []component, among func(label int) bool) []component {
	position := slices.IndexFunc(h.settings, func(s heldOutSetting) bool { return s.candidate.Beliefs })
	if position < 0 {
		return mixture
	}
	believed := &h.settings[position]
	extended := append(slices.Clip(mixture), component{setting: position})
	gains := make([]float64, beliefWeights+1)
	squares := slices.Clone(gains)
	p, q := make([]float64, h.classes), make([]float64, h.classes)
	for i, hasOthers := range h.hasOthers {
		if !hasOthers || !among(i) || !h.isPredicted(extended, i) {
			continue
		}
		h.mixTo(q, mixture, i)
		for w := range gains {
			multiplyTo(p, q, believed.rows[i], float64(w)/beliefWeights)
			gain := math.Log(p[h.class[i]]+leastTruth) - math.Log(q[h.class[i]]+leastTruth)
			gains[w] += gain
			squares[w] += float64(gain * gain)
		}
	}
	best := classify.ArgMax(gains)
	if gains[best] <= admissionErrors*math.Sqrt(squares[best]) {
		return mixture
	}
	extended[len(mixture)].weight = float64(best) / beliefWeights
	return extended
}

// beliefWeights is the number of weights of beliefs that are searched.
const beliefWeights = 10

// multiplyTo stores the product of powers of probabilities and of beliefs.
func multiplyTo(dst, p []float64, beliefs []float32, weight float64) {
	for c, b := range beliefs {
		dst[c] = float64((1-weight)*math.Log(p[c]+leastTruth)) + float64(weight*math.Log(float64(b)+leastTruth))
	}
	classify.Softmax(dst, dst)
}

// pruned returns the components whose weights are not too small, and the sum of these.
func pruned(mixture []component) (components []component, sum float64) {
	highest := 0.0
	for _, c := range mixture {
		highest = max(highest, c.weight)
	}
	components = mixture[:0]
	for _, c := range mixture {
		if c.weight >= leastWeight*highest {
			components = append(components, c)
			sum += c.weight
		}
	}
	return components, sum
}

// likeliest returns the setting of each candidate whose λ makes some of the labels likeliest.
func (h *heldOut) likeliest(among func(label int) bool) (list []int) {
	for lo := 0; lo < len(h.settings); {
		if h.settings[lo].candidate.Beliefs {
			lo++
			continue
		}
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

	// stackPrior is the weight, in labels, of each component beforehand, poissonPrior that of Poisson learning, and
	// alonePrior that of attributes alone, which are the best model more often than not.
	stackPrior   = 0.1
	poissonPrior = 0.3
	alonePrior   = 2
)

// stack returns the mixture that some of the labels choose: of each
// candidate, label propagation among them, the λ with the largest held-out likelihood, and Poisson
// learning, with the weights w that maximise the held-out likelihood of the mixture. They are the
// limit of
//
//	w_j ← (s_j + Σ_i w_j·q_ij/Σ_l w_l·q_il)/(m + Σ_l s_l)
//
// for the probabilities q_ij of the m labels that all have predicted, and prior weights s_j. They are not a choice of
// one model because no test on twenty labels shows reliably which one is best.
// Yao, Vehtari, Simpson, Gelman: Using stacking to average Bayesian predictive
// distributions (2018).
func (h *heldOut) stack(among func(label int) bool) []component {
	mixture, prior := []component{{setting: -1}}, []float64{poissonPrior}
	for _, index := range h.likeliest(among) {
		s := stackPrior
		if c := h.settings[index].candidate; c.Alone && !c.Links {
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
	mixture, sum := pruned(mixture)
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
		row := h.of(s.setting).rows[i]
		if s.isOf(h.settings, candidate.isBeliefs) {
			multiplyTo(dst, dst, row, s.weight)
			continue
		}
		for c, q := range row {
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
