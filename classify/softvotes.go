package classify

import "math"

// SoftVotes turns the decisions of binary machines into class scores that sum
// to one. With machines for two classes each, every machine splits one vote,
//
//	score_c = 2/(k(k−1)) Σ_{j≠c} σ(a·d_cj),  σ(x) = 1/(1 + exp(−x)),
//
// where k classes have machines, d_cj is the decision of c against j
// (d_jc = −d_cj) and a is Slope. With machines against [Rest] the scores are
// exp(a·d_c), normalised. A class without a machine scores 0.
type SoftVotes struct {
	// Slope is a; 0 means 1. A larger slope makes votes harder.
	Slope float64
}

// Slopes that [FitSoftVotes] chooses from. Beyond them votes are either equal
// or hard for any decisions near ±1.
const minSlope, maxSlope = 1.0 / 64, 64.0

// ScoresTo stores the scores of all classes in dst, whose length is the number
// of classes. A nil dst allocates just enough.
func (s SoftVotes) ScoresTo(dst []float64, p Pairs, decisions []float64) []float64 {
	if len(decisions) != len(p) {
		panic(badLength)
	}
	if dst == nil {
		dst = make([]float64, p.classes())
	}
	slope := s.Slope
	if slope == 0 {
		slope = 1
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
	top := math.Inf(-1)
	for _, d := range decisions {
		top = max(top, d)
	}
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

// FitSoftVotes returns the soft votes whose scores have the smallest mean
// log-loss on items that the machines have not learnt from: decisions holds a
// row for each item, one after the other, and y the class of each item, of
// which −1 and classes without a machine are passed over. The slope is between
// 1/64 and 64; without items to judge by it is 1.
//
// It evaluates the loss on a grid and then by golden section, about 60 times.
func FitSoftVotes(p Pairs, decisions []float64, y []int) SoftVotes {
	if len(decisions) != len(p)*len(y) {
		panic(badLength)
	}
	scores := make([]float64, p.classes())
	known := make([]bool, len(scores))
	for _, pair := range p {
		known[pair.Positive] = true
		if pair.Negative != Rest {
			known[pair.Negative] = true
		}
	}
	items := 0
	for _, c := range y {
		if c >= 0 && c < len(known) && known[c] {
			items++
		}
	}
	if items == 0 {
		return SoftVotes{Slope: 1}
	}
	loss := func(log2 float64) float64 {
		s := SoftVotes{Slope: math.Exp2(log2)}
		sum := 0.0
		for i, c := range y {
			if c >= 0 && c < len(known) && known[c] {
				s.ScoresTo(scores, p, decisions[i*len(p):(i+1)*len(p)])
				sum -= math.Log(max(scores[c], math.SmallestNonzeroFloat64))
			}
		}
		return sum
	}
	const step = 0.5
	lo, hi := math.Log2(minSlope), math.Log2(maxSlope)
	best, least := 0.0, loss(0)
	for x := lo; x <= hi; x += step {
		if l := loss(x); l < least {
			best, least = x, l
		}
	}
	x := goldenSection(loss, max(lo, best-step), min(hi, best+step))
	if loss(x) > least {
		x = best
	}
	return SoftVotes{Slope: math.Exp2(x)}
}

// goldenSection returns a minimum of f, which falls and then rises between lo
// and hi, to 2⁻¹⁴ of the interval.
func goldenSection(f func(float64) float64, lo, hi float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for range 20 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// ArgMax returns the class with the largest score, the lowest among equals.
func ArgMax(scores []float64) int {
	best := 0
	for c, s := range scores {
		if s > scores[best] {
			best = c
		}
	}
	return best
}
