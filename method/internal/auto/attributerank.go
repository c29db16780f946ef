package auto

import (
	"math"
	"slices"
)

// rank is what values of a column of real numbers count: a rising function of them, linear
// between knots, under which the column has about a normal distribution. So neither the
// unit of a column nor its logarithm makes a difference, nor do a few values that are far
// from all others. It has the values at scores of −3, −2½, … 3, and infinity behind them.
type rank [16]float32

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
func newRank(sample []float32, least, most float32) (r rank) {
	slices.Sort(sample)
	for i := range r {
		at := math.Erfc(-rankScore(i)/math.Sqrt2) / 2 * float64(len(sample)-1)
		lo := int(at)
		below, above, share := float64(sample[lo]), float64(sample[min(lo+1, len(sample)-1)]), at-float64(lo)
		r[i] = float32(float64((1-share)*below) + float64(share*above))
	}
	r[0], r[rankKnots-1] = least, most
	for i := rankKnots; i < len(r); i++ {
		r[i] = float32(math.Inf(1))
	}
	return r
}

// of returns the score of a value: the middle of those of its knots, if it has some.
func (r *rank) of(x float32) float64 {
	k := 0 // knots below it are less than x; steps without branches take two thirds of the time
	if r[7] < x {
		k = 8
	}
	if r[k+3] < x {
		k += 4
	}
	if r[k+1] < x {
		k += 2
	}
	if r[k] < x {
		k++
	}
	switch {
	case k >= rankKnots:
		return rankScore(rankKnots - 1)
	case r[k] == x:
		last := k
		for r[last+1] == x {
			last++
		}
		return (rankScore(k) + rankScore(last)) / 2
	case k == 0:
		return rankScore(0)
	}
	below, above := float64(r[k-1]), float64(r[k])
	return rankScore(k) - float64((above-float64(x))/(above-below)/2)
}
