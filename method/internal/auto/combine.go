package auto

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// component is a component with the probabilities that it predicts for labels, each without its fold. Beliefs, which
// stand last in a mixture, are multiplied with the sum q of the others: p ∝ q^(1−w)·b^w for their probabilities b and
// weight w.
type component struct {
	Component
	rows  [][]float32           // of each label, for all classes; nil: not predicted
	model *classify.LinearModel // nil: not fitted, or there is nothing to fit
}

// newComponent returns a candidate that has predicted nothing.
func newComponent(c candidate, lambda float64, labels int) component {
	return component{Component: Component{candidate: c, Lambda: lambda}, rows: make([][]float32, labels)}
}

// set stores the probabilities of label i.
func (c *component) set(i int, row []float64) {
	c.rows[i] = make([]float32, len(row))
	simd.ConvertTo(c.rows[i], row)
}

// byCandidate returns the components of each candidate, one for each λ.
func byCandidate(components []component) (lists [][]component) {
	for lo := 0; lo < len(components); {
		hi := lo + 1
		for hi < len(components) && components[hi].candidate == components[lo].candidate {
			hi++
		}
		lists = append(lists, components[lo:hi])
		lo = hi
	}
	return lists
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
		chosen := h.poisson
		if list := h.likeliest(among); len(list) > 0 { // label propagation
			chosen = list[0]
		}
		chosen.Weight = 1
		return []component{chosen}
	}
	return h.multiply(h.stack(among), among)
}

// multiply appends beliefs with the weight that makes some of the labels likeliest, if it makes them likelier than the
// mixture alone by admissionErrors standard errors. It does not change the mixture.
func (h *heldOut) multiply(mixture []component, among func(label int) bool) []component {
	position := slices.IndexFunc(h.components, func(c component) bool { return c.Beliefs })
	if position < 0 {
		return mixture
	}
	believed := h.components[position]
	extended := append(slices.Clip(mixture), believed)
	gains := make([]float64, beliefWeights+1)
	squares := slices.Clone(gains)
	p, q := make([]float64, h.classes), make([]float64, h.classes)
	for i, hasOthers := range h.hasOthers {
		if !hasOthers || !among(i) || !isPredicted(extended, i) {
			continue
		}
		mixTo(q, mixture, i)
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
	extended[len(mixture)].Weight = float64(best) / beliefWeights
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
		highest = max(highest, c.Weight)
	}
	components = mixture[:0]
	for _, c := range mixture {
		if c.Weight >= leastWeight*highest {
			components = append(components, c)
			sum += c.Weight
		}
	}
	return components, sum
}

// likeliest returns each candidate but beliefs with the λ that makes some of the labels likeliest, without those that
// are the only ones of their class.
func (h *heldOut) likeliest(among func(label int) bool) (list []component) {
	var labels []int
	for i, hasOthers := range h.hasOthers {
		if hasOthers && among(i) {
			labels = append(labels, i)
		}
	}
	for _, components := range byCandidate(h.components) {
		if components[0].Beliefs {
			continue
		}
		best, highest := 0, math.Inf(-1)
		for i := range components {
			if l := h.likelihood(&components[i], labels); l > highest {
				best, highest = i, l
			}
		}
		list = append(list, components[best])
	}
	return list
}

// truth returns the probability of the class of a label that is predicted.
func (h *heldOut) truth(c *component, label int) float64 {
	return float64(c.rows[label][h.class[label]])
}

// likelihood returns the logarithm of the likelihood of some of the labels.
func (h *heldOut) likelihood(c *component, labels []int) (sum float64) {
	for _, i := range labels {
		if c.rows[i] != nil {
			sum += math.Log(h.truth(c, i) + leastTruth)
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
	mixture, prior := []component{h.poisson}, []float64{poissonPrior}
	for _, c := range h.likeliest(among) {
		s := stackPrior
		if c.Alone && !c.Links {
			s = alonePrior
		}
		mixture, prior = append(mixture, c), append(prior, s)
	}
	for j := range mixture {
		mixture[j].Weight = 1 / float64(len(mixture))
	}
	next := make([]float64, len(mixture))
	for range stackRounds {
		copy(next, prior)
		for i, hasOthers := range h.hasOthers {
			if !hasOthers || !among(i) || !isPredicted(mixture, i) {
				continue
			}
			sum := leastTruth
			for j := range mixture {
				sum += float64(mixture[j].Weight * h.truth(&mixture[j], i))
			}
			for j := range mixture {
				next[j] += float64(mixture[j].Weight*h.truth(&mixture[j], i)) / sum
			}
		}
		total := 0.0
		for _, x := range next {
			total += x
		}
		for j := range mixture {
			mixture[j].Weight = next[j] / total
		}
	}
	mixture, sum := pruned(mixture)
	for j := range mixture {
		mixture[j].Weight /= sum
	}
	return mixture
}

// mixTo stores the held-out probabilities of label i by a mixture.
func mixTo(dst []float64, mixture []component, i int) {
	clear(dst)
	for _, s := range mixture {
		if s.Beliefs {
			multiplyTo(dst, dst, s.rows[i], s.Weight)
			continue
		}
		for c, q := range s.rows[i] {
			dst[c] += float64(s.Weight * float64(q))
		}
	}
}

// isPredicted reports whether all components have predicted label i.
func isPredicted(mixture []component, i int) bool {
	return !slices.ContainsFunc(mixture, func(c component) bool { return c.rows[i] == nil })
}
