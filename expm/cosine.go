package expm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// sample returns the Chebyshev series of f on [−1, 1] from the values of f at cos(πk/m). It doubles m until the last
// quarter of the coefficients consists of rounding errors. f gets y and shifted = 1 + y, which is exact near y = −1.
func sample(f func(y, shifted float64) float64) (*expansion, error) {
	const first, most = 32, 1 << 17
	for m := first; m <= most; m *= 2 {
		coef := cosine(f, m)
		var size, late, tail float64
		for j, c := range coef {
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return nil, fmt.Errorf("%w: a value is not finite", ErrSmooth)
			}
			size = max(size, math.Abs(c))
			if j > 3*m/4 {
				late = max(late, math.Abs(c))
				tail += math.Abs(c)
			}
		}
		if late > 8*epsilon*size {
			continue
		}
		coef = coef[:3*m/4+1]
		for len(coef) > 1 && math.Abs(coef[len(coef)-1]) <= epsilon/4*size {
			tail += math.Abs(coef[len(coef)-1])
			coef = coef[:len(coef)-1]
		}
		return newExpansion(coef, tail), nil
	}
	return nil, fmt.Errorf("%w: %d Chebyshev coefficients do not decay",
		ErrSmooth, most)
}

// cosine returns the m+1 Chebyshev coefficients of the polynomial with the values of f at cos(πk/m). f gets y and shifted =
// 1 + y, which is exact near y = −1.
func cosine(f func(y, shifted float64) float64, m int) []float64 {
	values := make([]float64, 2*m)
	for k := range m + 1 {
		// A sine is exact where the cosine vanishes.
		root := math.Sin(math.Pi * float64(m-k) / float64(2*m))
		values[k] = f(math.Sin(math.Pi*float64(m-2*k)/float64(2*m)), 2*root*root)
		values[(2*m-k)%(2*m)] = values[k]
	}
	transform := fourier.NewFFT(2*m).Coefficients(nil, values)
	coef := make([]float64, m+1)
	for j := range coef {
		coef[j] = real(transform[j]) / float64(m)
	}
	coef[0] /= 2
	coef[m] /= 2
	return coef
}

const epsilon = 0x1p-52
