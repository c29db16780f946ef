package auto

import (
	"math"
	"slices"
)

// rank is what values of a column of real numbers count: a rising function of them, linear
// between knots, under which the column has about a normal distribution. So neither the
// unit of a column nor its logarithm makes a difference, nor do a few values that are far
// from all others. It has the values at scores of −3, −2½, … 3; nil is that of a word.
type rank []float32

const (
	rankKnots = 13

	// rankSample bounds the nodes whose values tell the quantiles: six of them are beyond
	// the last knot but one, and the outermost are the extremes of all nodes.
	rankSample = 1024
)

// rankScore returns the score of a knot.
func rankScore(knot int) float64 { return float64(knot)/2 - 3 }

// newRank returns the function of a column with a sample of its values, which it sorts, and
// the least and the largest value of all.
func newRank(sample []float32, least, most float32) rank {
	slices.Sort(sample)
	r := make(rank, rankKnots)
	for i := range r {
		at := math.Erfc(-rankScore(i)/math.Sqrt2) / 2 * float64(len(sample)-1)
		lo := int(at)
		r[i] = float32(between(at-float64(lo), float64(sample[lo]), float64(sample[min(lo+1, len(sample)-1)])))
	}
	r[0], r[rankKnots-1] = least, most
	return r
}

// of returns the score of a value: the middle of those of its knots, if it has some.
func (r rank) of(x float32) float64 {
	lo, hi := 0, rankKnots // knots below lo are less than x, those from hi on are not
	for lo < hi {
		if mid := (lo + hi) / 2; r[mid] < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	switch {
	case lo == rankKnots:
		return rankScore(lo - 1)
	case r[lo] == x:
		for hi < rankKnots-1 && r[hi+1] == x {
			hi++
		}
		return (rankScore(lo) + rankScore(hi)) / 2
	case lo == 0:
		return rankScore(0)
	}
	below, above := float64(r[lo-1]), float64(r[lo])
	return between((float64(x)-below)/(above-below), rankScore(lo-1), rankScore(lo))
}

// between returns what is a share of the way from a to b.
func between(share, a, b float64) float64 { return float64((1-share)*a) + float64(share*b) }
