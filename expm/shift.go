package expm

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// expandFalling returns the Chebyshev series of exp(−βλ) = exp(−ratio·(1/μ − 1)) in y = 2μ − 1 with μ = 1/(1+γλ) and ratio
// = β/γ. It samples the function at samples + 1 points.
func expandFalling(ratio float64, samples int) *expansion {
	coef := cosine(func(_, shifted float64) float64 {
		mu := shifted / 2
		if mu <= 0 {
			return 0
		}
		return math.Exp(-ratio * (1/mu - 1))
	}, samples)
	var tail float64
	for len(coef) > 1 && math.Abs(coef[len(coef)-1]) <= epsilon/2 { // the rest are rounding errors
		tail += math.Abs(coef[len(coef)-1])
		coef = coef[:len(coef)-1]
	}
	return newExpansion(coef, tail)
}

func (s *expansion) terms(eps float64) int {
	for j, tail := range s.tail {
		if tail <= eps {
			return j + 1
		}
	}
	return len(s.tail)
}

// sensitivities returns for each solve j ≤ end the factor from an error of the solve to an error of the sum up to term end:
// 4·Σ_{i>j} |c_i|·(i − j), and half of this for j = 0.
func (s *expansion) sensitivities(end int) []float64 {
	reach := make([]float64, end+1)
	sizes := 0.0 // Σ_{i>j} |c_i|
	for j := end - 1; j >= 0; j-- {
		sizes += math.Abs(s.coef[j+1])
		reach[j] = reach[j+1] + 4*sizes
	}
	reach[0] /= 2
	return reach
}

func (p *part) sensitivity(j, end int) float64 {
	if len(p.lastReach) != end+1 {
		p.lastReach = p.expansion.sensitivities(end)
	}
	if j > end {
		return 0
	}
	return p.lastReach[j]
}

// tailShare is the share of the allowed error for the tail of a series of solves. It is small because the last solves are
// coarse, and so cost little.
const tailShare = 0.125

// planFalling returns expandFalling of ratio, which it caches for all slabs of columns. Without the cache this took half of
// the time of Gram matrices on small graphs.
func (m *Map) planFalling(ratio float64) *expansion {
	const samples = 256
	if x, ok := m.planned.Load(ratio); ok {
		return x.(*expansion)
	}
	x := expandFalling(ratio, samples)
	m.planned.Store(ratio, x)
	return x
}

// chooseShift returns the γ for which a group's solves take the fewest expected steps, and their number.
func (c *costs) chooseShift(group []*part) (gamma, steps float64) {
	const tries, mostCrowding = 32, 2
	ends := []*part{group[0], group[len(group)-1]}
	steepest := -group[len(group)-1].f.rate
	lowest := infinity
	for i := range tries {
		g := steepest * math.Pow(10, -0.6-2.6*float64(i)/(tries-1))
		count, crowding := c.stepsOf(ends, g)
		if cost := count * min(crowding, mostCrowding); cost < lowest {
			lowest = cost
			gamma = g
			steps = count
		}
	}
	return gamma, steps
}

// stepsOf predicts the steps of a group's solves with I + γH. Each solve may contribute an equal share of the error that
// tail and rounding leave. crowding is 1, or more if rounding errors exceed their allowance; a larger γ then reduces the
// effect of rounding.
func (c *costs) stepsOf(group []*part, gamma float64) (steps, crowding float64) {
	const crowded = 0.6
	var residual []float64 // residual that each solve may leave, relative to the block
	crowding = 1
	for _, p := range group {
		x := c.m.planFalling(-p.f.rate / gamma)
		eps := c.allowError(p)
		end := x.terms(tailShare*eps) - 1
		reach := x.sensitivities(end)[:end]
		rounding := float64(end+1) * epsilon * x.size
		for _, r := range reach {
			rounding += c.rough * r
		}
		share := rounding / (crowded * eps)
		crowding = max(crowding, share)
		left := max((1-tailShare)*eps-rounding, rounding/beneathRounding)
		for j, r := range reach {
			if j == len(residual) {
				residual = append(residual, infinity)
			}
			residual[j] = min(residual[j],
				max(left/(float64(end)*r), c.rough/beneathRounding))
		}
	}
	var digits float64
	for _, r := range residual {
		digits += digitsOf(r)
	}
	return c.m.pace(gamma) * digits, crowding
}

// beneathRounding is the factor by which the requested residual of a solve may be below its rounding errors.
const beneathRounding = 16

// digitsOf returns the natural logarithm of the factor by which a solve must reduce its residual to reach residual,
// relative to the right-hand side. It returns at least 1, because every solve takes a step or two.
func digitsOf(residual float64) float64 {
	return max(1, math.Log(2/residual))
}

// pace predicts the number of steps with Jacobi in which the residual of a solve with I + γH falls by a factor e.
func (m *Map) pace(gamma float64) float64 {
	shift := gamma * m.laplacian.Mean
	condition := 2 * (1 + shift) / (1 + expansionRate*shift)
	return 0.35 * math.Sqrt(condition)
}

// measureRough sets e.rough to the expected rounding errors of a solve with I + γH, relative to w[0]. It assumes that row i
// of the solution is row i of w[0] divided by 1 + γd_i.
func (e *evaluation) measureRough(ctx context.Context) error {
	if e.norm == 0 {
		return nil
	}
	if err := e.meetNeighbours(ctx); err != nil {
		return err
	}
	e.sums.begin(e.m.team, e.b.Cols)
	e.m.chunks(func(_, lo, hi int) {
		sums := e.sums.of(lo/blocks.ChunkRows, lo)
		for i := lo; i < hi; i++ {
			weight := 1.0
			if d, beside := e.weights.of(i); d > 0 {
				weight = math.Hypot(1, beside/d)
			}
			addSquares(sums, weight, e.w[0].Row(i))
		}
	})
	size := e.sums.rootsTo(make([]float64, e.b.Cols))
	e.rough = epsilon * (residualRounding*size/e.norm + stepRounding)
	return nil
}
