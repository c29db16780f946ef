package method

import (
	"math"

	"github.com/heatwalk/heatwalk/classify"
)

// voteSlope is the slope of the votes. Softer ones let many near ties outvote
// a clear decision; harder ones differ from it where votes are equal.
const voteSlope = 4

// votes turns the decisions of machines into scores that sum to one: the soft
// votes s of [classify.SoftVotes] raised to a power,
//
//	score_c = s_c^power / Σ_j s_j^power
//
// so that the power says how sure the scores are, and never which is highest.
type votes struct {
	soft  classify.SoftVotes
	power float64
}

// scoresTo stores in dst the scores that the soft votes in dst amount to.
func (v votes) scoresTo(dst []float64) {
	top := 0.0
	for _, s := range dst {
		top = max(top, s)
	}
	sum := 0.0
	for c, s := range dst {
		dst[c] = math.Pow(s/top, v.power)
		sum += dst[c]
	}
	for c := range dst {
		dst[c] /= sum
	}
}

// Powers that fitVotes chooses from, as powers of two: from all classes alike
// to any majority being certain.
const minPower, maxPower = -6.0, 8.0

// fitVotes returns the votes whose power gives the outcomes the smallest
// log-loss. Outcomes without machines do not count; without any the power is 1.
func fitVotes(classes int, list []outcome) votes {
	v := votes{soft: classify.SoftVotes{Slope: voteSlope}, power: 1}
	var shares [][]float64
	var class []int
	for _, o := range list {
		if len(o.pairs) == 0 {
			continue
		}
		s := v.soft.ScoresTo(make([]float64, classes), o.pairs, o.decisions)
		if s[o.class] > 0 {
			shares, class = append(shares, s), append(class, o.class)
		}
	}
	if len(shares) == 0 {
		return v
	}
	loss := func(log2 float64) float64 {
		power, sum := math.Exp2(log2), 0.0
		for i, s := range shares {
			total := 0.0
			for _, x := range s {
				total += math.Pow(x/s[class[i]], power)
			}
			sum += math.Log(total)
		}
		return sum
	}
	// The loss is convex in the power, so it falls and then rises.
	lo, hi := minPower, maxPower
	for hi-lo > 0.01 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if loss(a) <= loss(b) {
			hi = b
		} else {
			lo = a
		}
	}
	v.power = math.Exp2((lo + hi) / 2)
	return v
}
