package ongram

import "math"

// complete returns exp(β(A − D)) of the complete graph of n vertices, equation (17).
func complete(n int, beta float64) (diagonal, offDiagonal float64) {
	if n < 1 || !(beta >= 0) {
		panic(badArgument)
	}
	size := float64(n)
	return (1 + (size-1)*math.Exp(-size*beta)) / size,
		-math.Expm1(-size*beta) / size
}

// ClosedChain returns exp(β(A − D)) between two vertices of a ring of n vertices that are d steps apart: 1/n · Σ_ν
// e^(−ω_ν·β)·cos(2πνd/n), ω_ν = 2(1 − cos(2πν/n)). n must be at least 3 and β ≥ 0; otherwise ClosedChain panics. d may have any
// sign. Cost: n terms.
func ClosedChain(n, d int, beta float64) float64 {
	if n < 3 || !(beta >= 0) {
		panic(badArgument)
	}
	sum := 0.0
	for nu := n - 1; nu > 0; nu-- {
		sum += math.Exp(-beta*frequency(2*nu, n)) * math.Cos(math.Pi*float64((2*nu*(d%n))%(2*n))/float64(n))
	}
	return (sum + 1) / float64(n)
}

// OpenChain returns exp(β(A − D)) between vertices i and j of a path of n vertices, numbered from 0: 1/n · Σ_ν
// c_ν·e^(−ω_ν·β)·cos(πν(i+½)/n)·cos(πν(j+½)/n) with c_0 = 1, else 2, and ω_ν = 2(1 − cos(πν/n)). n must be at least 1, 0 ≤ i,
// j < n and β ≥ 0; otherwise OpenChain panics. Cost: 4n terms.
func OpenChain(n, i, j int, beta float64) float64 {
	if n < 1 || i < 0 || i >= n || j < 0 || j >= n || !(beta >= 0) {
		panic(badArgument)
	}
	if n == 1 {
		return 1
	}
	// The image of j on a ring of 2n vertices is 2n − 1 − j.
	return ClosedChain(2*n, i-j, beta) + ClosedChain(2*n, i+j+1, beta)
}

func frequency(a, n int) float64 {
	s := math.Sin(math.Pi * float64(a) / float64(2*n))
	return 4 * s * s
}

// factor returns K(x, y)/K(x, x), x ≠ y, of the complete graph of n vertices. The kernel on a product of complete graphs is
// K(x, x) times the factors of the attributes that differ.
func factor(n int, beta float64) float64 {
	equal, differs := complete(n, beta)
	return differs / equal
}
