package beliefs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// homophily returns the ratios R for edges whose second end has the class of the first end with probability strength.
// Otherwise the class of the second end is drawn from shares.
func homophily(shares []float64, strength float64) *mat.Dense {
	r := mat.NewDense(len(shares), len(shares), nil)
	for i := range shares {
		for j := range shares {
			r.Set(i, j, 1-strength)
		}
		r.Set(i, i, 1-strength+strength/shares[i])
	}
	return r
}

// prior returns the joint distribution of the classes at the ends of an edge with a homophily of one half. As a prior it
// keeps estimates from a few pairs above 0.
func prior(shares []float64) *mat.Dense {
	j := homophily(shares, 0.5)
	for c, p := range shares {
		for k, q := range shares {
			j.Set(c, k, p*q*j.At(c, k))
		}
	}
	return j
}

// ratios returns R_ij = J_ij / (p_i p_j), clipped to 1e-3 … 1e3, where p are the row sums of a symmetric J. Before clipping,
// pᵀR = 1.
func ratios(j *mat.Dense) *mat.Dense {
	n, _ := j.Dims()
	sums := make([]float64, n)
	for c := range n {
		sums[c] = floats.Sum(j.RawRowView(c))
	}
	total := floats.Sum(sums)
	r := mat.NewDense(n, n, nil)
	for c := range n {
		for k := range n {
			r.Set(c, k, min(max(j.At(c, k)*total/(sums[c]*sums[k]), 1e-3), 1e3))
		}
	}
	return r
}

// fromWalks returns the ratios of the joint distribution J of the classes of an edge that best explains pairs of labels at the
// ends of walks. With p the row sums of J and P = diag(p)⁻¹J, it maximizes
//
//	Σ_l ⟨N_l, log(diag(p) P^l)⟩ + C ⟨J₀, log J⟩
//
// by L-BFGS from three starts, where N_l counts pairs at distance l, scaled to a sum of at most labels, and J₀ is
// the result of prior.
func fromWalks(pairs []*mat.Dense, labels float64, shares []float64) *mat.Dense {
	n := len(shares)
	counts := make([]*mat.Dense, len(pairs))
	for l, p := range pairs {
		counts[l] = mat.NewDense(n, n, nil)
		counts[l].Scale(0.5*min(1, labels/max(mat.Sum(p)/2, 1e-12)), p)
	}
	f := walkLikelihood{counts: counts, prior: prior(shares), classes: n}
	f.prior.Scale(float64(n), f.prior)

	independent := mat.NewDense(n, n, nil)
	independent.Outer(1, mat.NewVecDense(n, shares), mat.NewVecDense(n, shares))
	observed := mat.NewDense(n, n, nil)
	unlike := mat.DenseCopyOf(independent)
	observed.Scale(1/max(mat.Sum(counts[0]), 1e-12), counts[0])
	observed.Add(observed, independent)
	for c := range n {
		unlike.Set(c, c, 0.3*unlike.At(c, c))
	}
	var best *optimize.Result
	for _, start := range []*mat.Dense{f.prior, observed, unlike} {
		theta := make([]float64, 0, n*(n+1)/2)
		for c := range n {
			for k := c; k < n; k++ {
				theta = append(theta, math.Log(max(start.At(c, k), 1e-6)))
			}
		}
		problem := optimize.Problem{
			Func: func(x []float64) float64 { return f.lossAndGradient(x, nil) },
			Grad: func(grad, x []float64) { f.lossAndGradient(x, grad) },
		}
		// A line search that stops early still returns the best point seen.
		r, _ := optimize.Minimize(problem, theta,
			&optimize.Settings{MajorIterations: 50}, &optimize.LBFGS{})
		if r != nil && (best == nil || r.F < best.F) {
			best = r
		}
	}
	return ratios(f.joint(best.X))
}

// walkLikelihood is the objective of fromWalks, in the logarithms θ of the upper triangle of J up to a common factor.
type walkLikelihood struct {
	counts  []*mat.Dense
	prior   *mat.Dense
	classes int
}

// joint returns the symmetric J of θ, whose elements add up to 1.
func (f *walkLikelihood) joint(theta []float64) *mat.Dense {
	n := f.classes
	j := mat.NewDense(n, n, nil)
	highest := slices.Max(theta)
	index := 0
	for c := range n {
		for k := c; k < n; k++ {
			v := math.Exp(theta[index] - highest)
			j.Set(c, k, v)
			j.Set(k, c, v)
			index++
		}
	}
	j.Scale(1/mat.Sum(j), j)
	return j
}

// lossAndGradient returns the negative objective. If grad is not nil, it stores the gradient.
func (f *walkLikelihood) lossAndGradient(theta, grad []float64) float64 {
	n := f.classes
	j := f.joint(theta)
	p := make([]float64, n)
	step := mat.NewDense(n, n, nil)
	for c := range n {
		for _, v := range j.RawRowView(c) {
			p[c] += v
		}
		for k, v := range j.RawRowView(c) {
			step.Set(c, k, v/p[c])
		}
	}
	powers := []*mat.Dense{mat.NewDense(n, n, nil)}
	for c := range n {
		powers[0].Set(c, c, 1)
	}
	for range f.counts {
		next := mat.NewDense(n, n, nil)
		next.Mul(powers[len(powers)-1], step)
		powers = append(powers, next)
	}
	loss := 0.0
	gradJ := mat.NewDense(n, n, nil)
	gradStep := mat.NewDense(n, n, nil)
	gradP := make([]float64, n)
	for c := range n {
		for k, v := range j.RawRowView(c) {
			loss -= f.prior.At(c, k) * math.Log(max(v, 1e-300))
			gradJ.Set(c, k, -f.prior.At(c, k)/max(v, 1e-300))
		}
	}
	for l, counts := range f.counts {
		weighted := mat.NewDense(n, n, nil) // derivative by Q = diag(p) P^(l+1), times p
		for c := range n {
			for k, count := range counts.RawRowView(c) {
				q := max(p[c]*powers[l+1].At(c, k), 1e-12)
				loss -= count * math.Log(q)
				g := -count / q
				gradP[c] += g * powers[l+1].At(c, k)
				weighted.Set(c, k, g*p[c])
			}
		}
		if grad == nil {
			continue
		}
		for k := range l + 1 { // ∂P^(l+1)/∂P = Σ_k P^k · P^(l−k)
			var left, both mat.Dense
			left.Mul(powers[k].T(), weighted)
			both.Mul(&left, powers[l-k].T())
			gradStep.Add(gradStep, &both)
		}
	}
	if grad == nil {
		return loss
	}
	f.gradientTo(grad, j, p, gradJ, gradStep, gradP)
	return loss
}

// gradientTo stores the gradient with respect to θ, given the gradients with respect to J, the step P and the
// row sums p.
func (f *walkLikelihood) gradientTo(grad []float64, j *mat.Dense, p []float64,
	gradJ, gradStep *mat.Dense, gradP []float64) {
	n := f.classes
	inner := 0.0
	for c := range n {
		bend := 0.0
		for k, v := range gradStep.RawRowView(c) {
			bend += v * j.At(c, k)
		}
		row := gradJ.RawRowView(c)
		for k := range row {
			row[k] += gradStep.At(c, k)/p[c] + gradP[c] - bend/(p[c]*p[c])
			inner += row[k] * j.At(c, k)
		}
	}
	index := 0
	for c := range n {
		for k := c; k < n; k++ {
			grad[index] = (gradJ.At(c, k) - inner) * j.At(c, k)
			if k > c {
				grad[index] += (gradJ.At(k, c) - inner) * j.At(k, c)
			}
			index++
		}
	}
}
