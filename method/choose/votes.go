package choose

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
)

// VoteSlope is the slope of soft votes, see [classify.SoftVotes]. With a smaller slope many near ties outvote a clear
// decision; a larger slope matters only if votes are equal.
const VoteSlope = 4

// Votes turns the decisions of binary classifiers into scores that sum to one: the soft votes s of [classify.SoftVotes]
// raised to a power,
//
//	score_c = s_c^power / Σ_j s_j^power
//
// so that the power does not change which score is highest.
type Votes struct{ Power float64 }

// Favour exchanges two scores, so that the class with most votes has the highest score. If several classes have most votes,
// the likeliest of these wins. On a kernel of a graph's spectrum, a few large decisions dominate soft votes; with Favour the
// counts decide, as in LIBSVM.
func Favour[N uint8 | int](scores []float64, counts []N) {
	winner := 0
	likeliest := 0
	for c, n := range counts {
		if n > counts[winner] || n == counts[winner] && scores[c] > scores[winner] {
			winner = c
		}
		if scores[c] > scores[likeliest] {
			likeliest = c
		}
	}
	scores[winner], scores[likeliest] = scores[likeliest], scores[winner]
}

// FavourVotes applies [Favour] to scores, counting the votes of one-vs-one classifiers for their decisions on a node. It
// does not change the scores of one-vs-rest classifiers.
func FavourVotes(scores []float64, pairs classify.Pairs, decisions []float64) {
	if pairs[0].Negative == classify.Rest {
		return
	}
	counts := make([]int, len(scores))
	CountVotes(counts, pairs, decisions)
	Favour(scores, counts)
}

// CountVotes adds the votes of one-vs-one classifiers to counts: a decision above 0 is a vote for the first class of a pair,
// any other decision for the second. With up to 256 classes the counts fit into bytes.
func CountVotes[N uint8 | int](counts []N, pairs classify.Pairs,
	decisions []float64) {
	for m, pair := range pairs {
		if decisions[m] > 0 {
			counts[pair.Positive]++
		} else {
			counts[pair.Negative]++
		}
	}
}

// ScoresTo replaces the soft votes in dst by their scores.
func (v Votes) ScoresTo(dst []float64) {
	top := slices.Max(dst)
	sum := 0.0
	for c, s := range dst {
		dst[c] = math.Pow(s/top, v.Power)
		sum += dst[c]
	}
	for c := range dst {
		dst[c] /= sum
	}
}

// minPower and maxPower bound the power p of [FitVotes]: 2^minPower makes all scores nearly equal, 2^maxPower one score
// nearly 1.
const minPower, maxPower = -6.0, 8.0

// FitVotes returns the [Votes] whose power gives the outcomes in list the smallest log-loss. Outcomes without classifiers do
// not count. If no outcome counts, the power is 1.
func FitVotes(classes int, list []Outcome) Votes {
	v := Votes{Power: 1}
	var shares [][]float64
	var class []int
	for _, o := range list {
		if len(o.Pairs) == 0 {
			continue
		}
		s := classify.SoftVotes(make([]float64, classes), o.Pairs,
			o.Decisions, VoteSlope)
		if s[o.Class] > 0 {
			shares = append(shares, s)
			class = append(class, o.Class)
		}
	}
	if len(shares) == 0 {
		return v
	}
	loss := func(log2 float64) float64 {
		power := math.Exp2(log2)
		sum := 0.0
		for i, s := range shares {
			total := 0.0
			for _, x := range s {
				total += math.Pow(x/s[class[i]], power)
			}
			sum += math.Log(total)
		}
		return sum
	}
	// The loss is convex in the power.
	lo, hi := minPower, maxPower
	for hi-lo > 0.01 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if loss(a) <= loss(b) {
			hi = b
		} else {
			lo = a
		}
	}
	v.Power = math.Exp2((lo + hi) / 2)
	return v
}
