package classify

import (
	"math"
	"slices"
)

// SoftVotes stores in dst, whose length is the number of classes, the scores that the
// decisions of binary classifiers amount to, which sum to one. With classifiers for two
// classes each, every classifier splits one vote,
//
//	score_c = 2/(k(k−1)) Σ_{j≠c} σ(a·d_cj),  σ(x) = 1/(1 + exp(−x)),
//
// where k classes have classifiers, d_cj is the decision of c against j (d_jc = −d_cj) and
// a is the slope: a larger one makes votes harder. With classifiers against [Rest] the scores
// are exp(a·d_c), normalised. A class without a classifier scores 0. A nil dst allocates just
// enough.
func SoftVotes(dst []float64, p Pairs, decisions []float64, slope float64) []float64 {
	if len(decisions) != len(p) {
		panic(badLength)
	}
	if dst == nil {
		dst = make([]float64, p.classes())
	}
	clear(dst)
	if p.byVotes() {
		share := 1 / float64(len(p))
		for m, pair := range p {
			vote := 1 / (1 + math.Exp(-slope*decisions[m]))
			dst[pair.Positive] += share * vote
			dst[pair.Negative] += share * (1 - vote)
		}
		return dst
	}
	top := slices.Max(decisions)
	sum := 0.0
	for m, pair := range p {
		e := math.Exp(slope * (decisions[m] - top))
		dst[pair.Positive] = e
		sum += e
	}
	for c := range dst {
		dst[c] /= sum
	}
	return dst
}

// ArgMax returns the class with the largest score, the lowest among equals.
func ArgMax[T float32 | float64](scores []T) int {
	best := 0
	for c, s := range scores {
		if s > scores[best] {
			best = c
		}
	}
	return best
}
