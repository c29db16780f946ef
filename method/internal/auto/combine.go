package auto

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// component is a model of the mixture with its probabilities at held-out labels. Beliefs may be a factor, the last
// component. A factor with probabilities b and weight w multiplies the weighted sum q of the other components: p ∝
// q^(1−w)·b^w.
type component struct {
	Component
	rows  [][]float32           // probabilities of each label; nil: not predicted
	model *classify.LinearModel // nil: nothing to fit, or not fitted
}

func newComponent(c candidate, lambda float64, labels int) component {
	return component{Component: Component{candidate: c, Lambda: lambda},
		rows: make([][]float32, labels)}
}

func (c *component) set(i int, row []float64) {
	c.rows[i] = make([]float32, len(row))
	simd.ConvertTo(c.rows[i], row)
}

func byCandidate(components []component) (lists [][]component) {
	for lo := 0; lo < len(components); {
		hi := lo + 1
		for hi < len(components) &&
			components[hi].candidate == components[lo].candidate {
			hi++
		}
		lists = append(lists, components[lo:hi])
		lo = hi
	}
	return lists
}

const (
	leastWeight = 0.01

	// Beliefs become a factor if held-out labels are then likelier by at least admissionErrors standard
	// errors.
	admissionErrors = 2

	// Attributes are used if held-out labels are likelier by attributeErrors standard errors than with links alone. The
	// weights of the mixture are fitted to the same labels, so that columns of noise make them a little likelier too. With at
	// most mostFew labels attributes are always used: they help most there.
	attributeErrors = 1.5

	// leastTruth is added to probabilities, so that their logarithm is finite.
	leastTruth = 1e-12
)

// combine returns the mixture that is best for the held-out labels that among selects. If the mixture is no better than the
// shares of the classes, the shares are added. With few labels, they are added with the likeliest weight. If classes are
// balanced, they are not added.
func (h *heldOut) combine(among func(label int) bool) []component {
	mixture := mix(h, among)
	switch {
	case majorityOf(h) < 0 || h.balanced:
		return mixture
	case h.fewLabels:
		return blendShares(h, mixture, among)
	case isShrunk(h, mixture, among):
		return addShares(h, mixture, majorityWeight)
	}
	return mixture
}

// mix returns the mixture that [heldOut.stack] and then [heldOut.multiply] choose. With too few labels, mix returns one
// component: label propagation if most nodes are far from labels, else Poisson learning.
func mix(h *heldOut, among func(label int) bool) []component {
	if h.tooFewLabels {
		chosen := h.poisson
		if list := h.likeliest(among); len(list) > 0 { // label propagation
			chosen = list[0]
		}
		chosen.Weight = 1
		return []component{chosen}
	}
	list := h.likeliest(among)
	mixture := h.multiply(h.stack(list, among), among)
	if !h.attributed || len(h.p.Row) <= mostFew {
		return mixture
	}
	list = slices.DeleteFunc(list, func(c component) bool { return c.Attributes || c.Trees })
	alone := h.multiply(h.stack(list, among), among)
	if sum, deviation := gain(h, mixture, alone, among); sum > attributeErrors*deviation {
		return mixture
	}
	return alone
}

// gain returns the log-likelihood of the selected labels with mixture less their log-likelihood with rival. deviation is the
// standard error of this difference if both mixtures are equally good.
func gain(h *heldOut, mixture, rival []component,
	among func(label int) bool) (sum, deviation float64) {
	p, q := make([]float64, h.classes), make([]float64, h.classes)
	for i, hasOthers := range h.hasOthers {
		if hasOthers && among(i) && isPredicted(mixture, i) &&
			isPredicted(rival, i) {
			mixTo(p, mixture, i)
			mixTo(q, rival, i)
			difference := math.Log(p[h.class[i]]+leastTruth) -
				math.Log(q[h.class[i]]+leastTruth)
			sum += difference
			deviation += float64(difference * difference)
		}
	}
	return sum, math.Sqrt(deviation)
}

// isShrunk reports whether mixture beats the shares of the classes by at most one standard error, both in right predictions
// and in log-likelihood.
func isShrunk(h *heldOut, mixture []component, among func(label int) bool) bool {
	position := majorityOf(h)
	shares := h.components[position : position+1]
	better, worse := compare(rightBy(h, mixture, among), rightBy(h, shares, among))
	sum, deviation := gain(h, mixture, shares, among)
	return better-worse <= math.Sqrt(better+worse) && sum <= deviation
}

// blendShares returns mixture with the shares of the classes added at the likeliest weight. If no weight raises the
// likelihood, it returns mixture.
func blendShares(h *heldOut, mixture []component, among func(label int) bool) []component {
	best := mixture
	highest := 0.0
	for weight := 0.1; weight <= majorityWeight; weight += 0.1 {
		blend := addShares(h, mixture, weight)
		if sum, _ := gain(h, blend, mixture, among); sum > highest {
			best = blend
			highest = sum
		}
	}
	return best
}

// addShares returns the mixture with the shares of the classes added, with the given weight, and without
// beliefs.
func addShares(h *heldOut, mixture []component, weight float64) []component {
	shares := h.components[majorityOf(h)]
	shares.Weight = weight
	shrunk := []component{shares}
	for _, c := range mixture {
		if !c.Majority && !c.isFactor() {
			c.Weight *= 1 - weight
			shrunk = append(shrunk, c)
		}
	}
	return shrunk
}

func majorityOf(h *heldOut) int {
	return slices.IndexFunc(h.components,
		func(c component) bool { return c.Majority })
}

const majorityWeight = 0.9

func isMajority(mixture []component) bool {
	return mixture[0].Majority && mixture[0].Weight > 0.5
}

// rightBy returns for each label 1 if mixture predicts the label rightly and 0 if wrongly. It returns −1 for labels that are
// not selected, not predicted, or alone in their class.
func rightBy(h *heldOut, mixture []component, among func(label int) bool) []int {
	right := make([]int, len(h.class))
	row := make([]float64, h.classes)
	for i, class := range h.class {
		if !h.hasOthers[i] || !among(i) || !isPredicted(mixture, i) {
			right[i] = -1
			continue
		}
		mixTo(row, mixture, i)
		if classify.ArgMax(row) == class {
			right[i] = 1
		}
	}
	return right
}

// compare returns the numbers of labels that only first and that only second predicts rightly, both results of [rightBy].
func compare(first, second []int) (better, worse float64) {
	for i, a := range first {
		switch b := second[i]; {
		case a == 1 && b == 0:
			better++
		case a == 0 && b == 1:
			worse++
		}
	}
	return better, worse
}

// multiply returns mixture with beliefs as a factor, at the likeliest weight, if their gain exceeds admissionErrors standard
// errors. Otherwise it returns mixture.
func (h *heldOut) multiply(mixture []component,
	among func(label int) bool) []component {
	position := slices.IndexFunc(h.components,
		func(c component) bool { return c.isFactor() })
	if position < 0 {
		return mixture
	}
	best := mixture
	highest := 0.0
	limit := 0.0
	for w := range beliefWeights {
		extended := append(slices.Clip(mixture), h.components[position])
		extended[len(mixture)].Weight = float64(w+1) / beliefWeights
		if sum, deviation := gain(h, extended, mixture, among); sum > highest {
			best = extended
			highest = sum
			limit = admissionErrors * deviation
		}
	}
	if highest <= limit {
		return mixture
	}
	return best
}

const beliefWeights = 10

func multiplyTo(p []float64, beliefs []float32, weight float64) {
	for c, b := range beliefs {
		p[c] = float64((1-weight)*math.Log(p[c]+leastTruth)) +
			float64(weight*math.Log(float64(b)+leastTruth))
	}
	classify.Softmax(p, p)
}

// dropSmallWeights returns the components with at least leastWeight of the largest weight, and the sum of their weights. It
// overwrites mixture.
func dropSmallWeights(mixture []component) (components []component, sum float64) {
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

// likeliest returns for each candidate, except factors, the component with the λ that makes the selected
// labels likeliest.
func (h *heldOut) likeliest(among func(label int) bool) (list []component) {
	labels := h.selectLabels(among)
	for _, components := range byCandidate(h.components) {
		if components[0].isFactor() || components[0].Majority && h.fewLabels {
			continue // its weight is learned afterwards
		}
		list = append(list, likeliestOf(h, components, labels))
	}
	return list
}

func likeliestOf(h *heldOut, components []component, labels []int) component {
	return slices.MaxFunc(components, func(a, b component) int {
		return cmp.Compare(h.likelihood(&a, labels), h.likelihood(&b, labels))
	})
}

func (h *heldOut) selectLabels(among func(label int) bool) (labels []int) {
	for i, hasOthers := range h.hasOthers {
		if hasOthers && among(i) {
			labels = append(labels, i)
		}
	}
	return labels
}

func (h *heldOut) truth(c *component, label int) float64 {
	return float64(c.rows[label][h.class[label]])
}

func (h *heldOut) likelihood(c *component, labels []int) (sum float64) {
	for _, i := range labels {
		if c.rows[i] != nil {
			sum += math.Log(h.truth(c, i) + leastTruth)
		}
	}
	return sum
}

const (
	stackRounds = 200

	// stackPrior is the prior weight s_j of a component, in labels. Components with few learned weights, and so little risk of
	// overfitting, have alonePrior. Beliefs have stackPrior, because their temperature was fitted to the same labels.
	stackPrior = 0.1
	alonePrior = 1
)

// stack returns the likeliest mixture of Poisson learning and the components of list. Its weights are the limit of
//
//	w_j ← (s_j + Σ_i w_j·q_ij/Σ_l w_l·q_il)/(m + Σ_l s_l)
//
// for the probabilities q_ij of the m labels that all components have predicted, and prior weights s_j. Source: Yao,
// Vehtari, Simpson, Gelman: Using stacking to average Bayesian predictive distributions (2018).
func (h *heldOut) stack(list []component, among func(label int) bool) []component {
	mixture := []component{h.poisson}
	prior := []float64{alonePrior}
	for _, c := range list {
		s := stackPrior
		if c.Alone && !c.Links && !c.Beliefs {
			s = alonePrior
		}
		mixture = append(mixture, c)
		prior = append(prior, s)
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
		total := floats.Sum(next)
		for j := range mixture {
			mixture[j].Weight = next[j] / total
		}
	}
	mixture, sum := dropSmallWeights(mixture)
	for j := range mixture {
		mixture[j].Weight /= sum
	}
	return mixture
}

func mixTo(dst []float64, mixture []component, i int) {
	clear(dst)
	for _, s := range mixture {
		if s.isFactor() {
			multiplyTo(dst, s.rows[i], s.Weight)
			continue
		}
		for c, q := range s.rows[i] {
			dst[c] += float64(s.Weight * float64(q))
		}
	}
}

func isPredicted(mixture []component, i int) bool {
	return !slices.ContainsFunc(mixture,
		func(c component) bool { return c.rows[i] == nil })
}
