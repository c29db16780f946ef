package ongram

import "math"

// RegularTree returns K(x, y) = exp(β(A − kI)) of the infinite tree in which every vertex has k
// neighbours, where x and y are d edges apart:
//
//	K(d) = q^(−d/2)·e^(−kβ)/(√q·β) · Σ_{j≥0} q^(−j)·(d+2j+1)·I_{d+2j+1}(2√q·β),  q = k − 1,
//
// with modified Bessel functions I: equations (15) and (16) with a corrected prefactor, term by
// term, and I_{n−1}(z) − I_{n+1}(z) = (2n/z)·I_n(z). No terms cancel. k must be at least 2, d ≥ 0
// and β ≥ 0; otherwise RegularTree panics. Cost: about d + 10·√(2√q·β) terms.
func RegularTree(k, d int, beta float64) float64 {
	if k < 2 || d < 0 || !(beta >= 0) || math.IsInf(beta, 1) {
		panic(badArgument)
	}
	q := float64(k - 1)
	root := math.Sqrt(q)
	z := 2 * root * beta
	if z < 1e-8 { // only walks of d steps matter
		factorial, _ := math.Lgamma(float64(d) + 1)
		if d > 0 && beta == 0 {
			return 0
		}
		return math.Exp(float64(d)*math.Log(max(beta,
			math.SmallestNonzeroFloat64)) - factorial - float64(k)*beta)
	}
	bessel := scaledBessel(d, z)
	sum := 0.0
	for n := len(bessel) - 1; n > d; n-- {
		if (n-d)%2 == 1 { // the smallest terms first
			sum += math.Pow(q, -float64(n-d-1)/2) * float64(n) * bessel[n]
		}
	}
	return math.Pow(q, -float64(d)/2) * math.Exp(z-
		float64(k)*beta) / (root * beta) * sum
}

// RootedTree returns K(x, y) = exp(β(A − D)) of the infinite rooted tree in which every vertex has k − 1 children, where x and
// y are d edges apart, and a and b edges below the root. By the method of images it is the sum of two values of the k-regular
// tree: between x and y, and between x and the mirror image of y at a + b + 1 steps. It must hold that |a − b| ≤ d ≤ a + b,
// and k and β must be in the ranges of [RegularTree]; otherwise RootedTree panics. It costs two calls of [RegularTree].
func RootedTree(k, d, a, b int, beta float64) float64 {
	if a < 0 || b < 0 || d < max(a-b, b-a) || d > a+b {
		panic(badArgument)
	}
	return RegularTree(k, d, beta) + RegularTree(k, a+b+1, beta)
}

// scaledBessel returns e^−z·I_n(z) up to an n from which on terms are negligible compared with I_d. It uses Miller's backward
// recurrence I_{n−1} = (2n/z)·I_n + I_{n+1}, and I_0 + 2·Σ_{n>0} I_n = e^z.
func scaledBessel(d int, z float64) []float64 {
	const large = 1e200
	v := make([]float64, d+40+int(10*math.Sqrt(z)))
	next := 0.0
	n := len(v) - 1
	v[n] = 1 / large
	sum := v[n]
	for ; n > 0; n-- {
		v[n-1] = 2*float64(n)/z*v[n] + next
		next = v[n]
		sum += v[n-1]
		if v[n-1] > large {
			for i := n - 1; i < len(v); i++ {
				v[i] /= large
			}
			next /= large
			sum /= large
		}
	}
	sum = 2*sum - v[0]
	for i := range v {
		v[i] /= sum
	}
	return v
}

const badArgument = "ongram: argument out of range"
