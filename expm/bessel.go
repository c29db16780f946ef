package expm

import (
	"math"

	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// smallest is the size, relative to the first coefficients, below which every series omits coefficients.
	smallest = 1e-18

	maxDegree = 20_000_000
)

// decay returns h(d) of the Chernoff bound for the difference of two Poisson
// variables of mean z/2 each,
//
//	Σ_{j>d} 2e^−z·I_j(z) ≤ 2·exp(−h(d)),  h(d) = d·asinh(d/z) − d²/(√(d²+z²)+z)
func decay(steps int, z float64) float64 {
	d := float64(steps)
	return d*math.Asinh(d/z) - d*d/(math.Hypot(d, z)+z)
}

// degree returns the least d, possibly above maxDegree, with 2·exp(−h(d)) ≤ eps.
func degree(z, eps float64) int {
	if z == 0 {
		return 0
	}
	need := math.Log(2 / eps)
	lo, hi := 0, 1
	for decay(hi, z) < need {
		lo, hi = hi, 2*hi
		if lo > maxDegree {
			return lo
		}
	}
	for hi-lo > 1 {
		if m := (lo + hi) / 2; decay(m, z) < need {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}

// scaledBessel returns e^−z·I_j(z) for j = 0 … degree(z, smallest), and a bound on twice the sum of all later terms. It
// uses Miller's backward recurrence
//
//	p_{j−1} = p_{j+1} + (2j/z)·p_j
//
// normalised by p_0 + 2·Σ p_j = 1, a compensated sum (Gautschi 1967). The recurrence starts at the j where the bound of the
// later terms is 1e-19: from a smaller j, the coefficients for z = 1e7 would be wrong by 2e-7, which no bound would show.
func scaledBessel(z float64) (coef []float64, tail float64) {
	if z == 0 {
		return []float64{1}, 0
	}
	if z < smallest {
		return []float64{1, z / 2}, z * z
	}
	keep := degree(z, smallest)
	start := degree(z, 1e-19) + 1
	coef = make([]float64, start+1)
	const tiny, large, shrink = 1e-250, 1e200, 1e-200
	var sum blocks.ExactSum
	next := 0.0
	p := tiny
	for j := start; ; j-- {
		coef[j] = p
		if j == 0 {
			sum.Add(p)
			break
		}
		sum.Add(2 * p)
		next, p = p, next+float64(2*float64(j)/z*p)
		if p > large {
			p *= shrink
			next *= shrink
			sum.Sum *= shrink
			sum.Rest *= shrink
			for i := j; i <= start && coef[i] != 0; i++ {
				coef[i] *= shrink
			}
		}
	}
	for j := range coef {
		coef[j] /= sum.Value()
	}
	return coef[:keep+1], 2 * math.Exp(-decay(keep, z))
}
