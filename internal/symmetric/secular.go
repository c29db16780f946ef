package symmetric

import "math"

const epsilon = 0x1p-52

// secular is the equation
//
//	1/ρ + Σ_i zᵢ²/(dᵢ − λ) = 0,  d increasing, all z nonzero,
//
// whose roots are the eigenvalues of diag(d) + ρ·z·zᵀ. There is one root between each two neighbours of d, and one root
// beyond the last element of d.
type secular struct {
	d, z    []float64
	inverse float64 // 1/ρ
	reach   float64 // ρ·‖z‖², a bound on the distance of root j from d[j]
	roots   []root
}

// root is the eigenvalue d[pole] + shift, where d[pole] is the nearest pole. The two terms are stored separately, so
// that all differences between eigenvalues and poles are accurate.
type root struct {
	pole  int
	shift float64
}

func (s *secular) value(j int) float64 {
	return s.d[s.roots[j].pole] + s.roots[j].shift
}

// less returns d[i] − λ[j].
func (s *secular) less(i, j int) float64 {
	r := s.roots[j]
	return s.d[i] - s.d[r.pole] - r.shift
}

// at returns, at λ = d[pole] + shift, the sum over the poles up to j and the sum over the poles after j, their
// derivatives, and a bound on the rounding error.
func (s *secular) at(j, pole int,
	shift float64) (lower, upper, slopeBelow, slopeAbove, rounding float64) {
	origin := s.d[pole]
	for i := 0; i <= j; i++ {
		t := s.z[i] / (s.d[i] - origin - shift)
		lower += s.z[i] * t
		slopeBelow += t * t
		rounding -= lower
	}
	for i := len(s.d) - 1; i > j; i-- {
		t := s.z[i] / (s.d[i] - origin - shift)
		upper += s.z[i] * t
		slopeAbove += t * t
		rounding += upper
	}
	rounding += 8*(upper-lower) + s.inverse +
		math.Abs(shift)*(slopeBelow+slopeAbove)
	return lower, upper, slopeBelow, slopeAbove, epsilon * rounding
}

// solve finds root j (Bunch, Nielsen and Sorensen 1978). It replaces the sum over the poles below the root by a
// function with one pole of the same value and slope, and likewise the sum over the poles above the root. The root of
// the resulting equation is the next approximation. If this step leaves the interval or shrinks it too little, solve
// halves the interval.
func (s *secular) solve(j int) {
	last := len(s.d) - 1
	pole := j
	lo := 0.0
	hi := s.reach
	if j < last {
		hi = (s.d[j+1] - s.d[j]) / 2
		if left, right, _, _, _ := s.at(j, j, hi); s.inverse+left+right < 0 {
			pole = j + 1
			lo = -hi
			hi = 0
		}
	}
	shift := (lo + hi) / 2
	const limit = 200 // a few are needed
	for range limit {
		lower, upper, slopeBelow, slopeAbove, rounding := s.at(j, pole, shift)
		f := s.inverse + lower + upper
		if math.Abs(f) <= rounding {
			break
		}
		width := hi - lo
		if f < 0 {
			lo = shift
		} else {
			hi = shift
		}
		left := s.d[j] - s.d[pole] - shift
		c := s.inverse + lower - left*slopeBelow
		var step float64
		if j == last {
			// c + left²·slope/(left − step) = 0
			step = left + left*left*slopeBelow/c
		} else {
			right := s.d[j+1] - s.d[pole] - shift
			c += upper - right*slopeAbove
			a := c*(left+right) + left*left*slopeBelow + right*right*slopeAbove
			b := left * right * f
			// c·step² − a·step + b = 0
			if root := math.Sqrt(max(0, a*a-4*b*c)); a <= 0 {
				step = (a - root) / (2 * c)
			} else {
				step = 2 * b / (a + root)
			}
		}
		next := shift + step
		if !(next > lo && next < hi) ||
			hi-lo > 0.9*width && math.Abs(step) > 0.5*width {
			next = (lo + hi) / 2
		}
		if next == shift {
			break // the step is below rounding
		}
		shift = next
	}
	s.roots[j] = root{pole, shift}
}

// weight returns the element z[i] of the vector for which the computed roots are the exact eigenvalues, up to a factor
// common to all i (Gu and Eisenstat 1994):
//
//	zᵢ² = (λ_k − dᵢ)·Π_{j<i} (λ_j − dᵢ)/(d_j − dᵢ)·Π_{i≤j<k} (λ_j − dᵢ)/(d_j+1 − dᵢ)
//
// Vectors computed from these z are orthogonal to rounding. Vectors from the given z are not if roots are close
// together.
func (s *secular) weight(i int) float64 {
	last := len(s.d) - 1
	square := -s.less(i, last)
	for j := range i {
		square *= s.less(i, j) / (s.d[i] - s.d[j])
	}
	for j := i; j < last; j++ {
		square *= s.less(i, j) / (s.d[i] - s.d[j+1])
	}
	return math.Copysign(math.Sqrt(math.Abs(square)), s.z[i])
}

// vectorTo stores in dst the unit eigenvector of root j. weights must have the result of weight for each i.
func (s *secular) vectorTo(dst, weights []float64, j int) {
	var square float64
	for i, w := range weights {
		v := w / s.less(i, j)
		dst[i] = v
		square += v * v
	}
	scale := 1 / math.Sqrt(square)
	for i := range dst {
		dst[i] *= scale
	}
}
