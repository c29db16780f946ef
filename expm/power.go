package expm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// stieltjes is a rational function with real poles and positive weights,
//
//	r(x) = constant + Σ weight_i/(x + pole_i),  pole_i > 0
//
// that approximates x^−s, 0 < s < 1, on [1, top]: |r(x)·x^s − 1| ≤ err there. Because x^−s is a Stieltjes function, nothing
// cancels in r.
type stieltjes struct {
	constant     float64
	pole, weight []float64
	err          float64
}

const (
	fitPoints = 400 // points in equal steps of log x
	mostPoles = 40
)

// fitPower returns the function with the fewest poles and an error of at most tolerance. If no function has such an error,
// it returns the best found. The AAA algorithm (Nakatsukasa, Sète and Trefethen 2018) gives the poles, and least squares
// the weights. The error is measured on a grid four times finer than the fitted points.
func fitPower(s, top, tolerance float64) *stieltjes {
	a := newAAA(s, top)
	best := &stieltjes{err: math.Inf(1)}
	for len(a.support) < mostPoles && best.err > tolerance && a.add() {
		if r := a.rational(); r != nil && r.err < best.err {
			best = r
		}
	}
	return best
}

// aaa is a barycentric rational function through the support points with a small relative error elsewhere.
type aaa struct {
	s, top  float64
	x, f    []float64
	used    []bool
	support []int
	weight  []float64
	value   []float64 // values of the rational function at all points
}

func newAAA(s, top float64) *aaa {
	a := &aaa{s: s, top: top, x: grid(top, fitPoints),
		used: make([]bool, fitPoints)}
	var mean float64
	for _, x := range a.x {
		f := math.Pow(x, -s)
		a.f = append(a.f, f)
		mean += f / fitPoints
	}
	a.value = make([]float64, fitPoints)
	for k := range a.value {
		a.value[k] = mean
	}
	return a
}

func grid(top float64, points int) []float64 {
	x := make([]float64, points)
	for k := range x {
		x[k] = math.Pow(top, float64(k)/float64(points-1))
	}
	return x
}

// add adds the point with the largest relative error to the support, and fits the weights again. It returns false if no
// point has an error.
func (a *aaa) add() bool {
	index := -1
	worst := 0.0
	for k, v := range a.value {
		if e := math.Abs(v/a.f[k] - 1); !a.used[k] && e > worst {
			index = k
			worst = e
		}
	}
	if index < 0 {
		return false
	}
	a.used[index] = true
	a.support = append(a.support, index)

	m := len(a.support)
	loewner := mat.NewDense(fitPoints-m, m, nil)
	row := 0
	for k := range a.x {
		if a.used[k] {
			continue
		}
		for c, z := range a.support {
			loewner.Set(row, c, (a.f[k]-a.f[z])/((a.x[k]-a.x[z])*a.f[k]))
		}
		row++
	}
	var svd mat.SVD
	if !svd.Factorize(loewner, mat.SVDThinV) {
		return false
	}
	var v mat.Dense
	svd.VTo(&v)
	a.weight = mat.Col(nil, m-1, &v)
	for k := range a.x {
		if a.used[k] {
			a.value[k] = a.f[k]
			continue
		}
		var numerator, denominator float64
		for c, z := range a.support {
			d := a.weight[c] / (a.x[k] - a.x[z])
			numerator += d * a.f[z]
			denominator += d
		}
		a.value[k] = numerator / denominator
	}
	return true
}

// below returns the denominator of the barycentric function at −x. Its zeros are the poles.
func (a *aaa) below(x float64) (sum float64) {
	for c, z := range a.support {
		sum += a.weight[c] / (-x - a.x[z])
	}
	return sum
}

// rational returns the partial fractions with the poles of a on the negative axis. If a weight is not positive, it returns
// nil.
func (a *aaa) rational() *stieltjes {
	const steps, beyond = 4000, 1e6
	var poles []float64
	point := func(i int) float64 {
		return math.Pow(beyond*beyond*a.top, float64(i)/steps) / beyond
	}
	for i, last := 1, a.below(point(0)); i <= steps; i++ {
		now := a.below(point(i))
		if (now > 0) != (last > 0) {
			lo, hi := point(i-1), point(i)
			for range 60 {
				if mid := math.Sqrt(lo * hi); (a.below(mid) > 0) == (last > 0) {
					lo = mid
				} else {
					hi = mid
				}
			}
			poles = append(poles, math.Sqrt(lo*hi))
		}
		last = now
	}
	return fitWeights(a.s, a.top, a.x, poles)
}

// fitWeights returns w₀ + Σ w_i/(x + q_i) ≈ x^-s with the least sum of squared relative errors at the points x. If a weight
// is negative, it returns nil.
func fitWeights(s, top float64, x, poles []float64) *stieltjes {
	m := len(poles) + 1
	columns := mat.NewDense(len(x), m, nil)
	one := mat.NewVecDense(len(x), nil)
	size := make([]float64, m)
	for k, v := range x {
		p := math.Pow(v, s)
		one.SetVec(k, 1)
		columns.Set(k, 0, p)
		for i, q := range poles {
			columns.Set(k, i+1, p/(v+q))
		}
		for c := range m {
			size[c] = math.Hypot(size[c], columns.At(k, c))
		}
	}
	columns.Apply(func(_, c int, v float64) float64 { return v / size[c] }, columns)
	var qr mat.QR
	var w mat.VecDense
	qr.Factorize(columns)
	// Even with a large condition, only the error found below counts.
	if err := qr.SolveVecTo(&w, false, one); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return nil
		}
	}
	r := &stieltjes{constant: w.AtVec(0) / size[0], pole: poles,
		weight: make([]float64, len(poles))}
	for i := range poles {
		r.weight[i] = w.AtVec(i+1) / size[i+1]
		if !(r.weight[i] > 0) {
			return nil
		}
	}
	if !(r.constant >= 0) {
		return nil
	}
	for _, v := range grid(top, 4*len(x)) {
		r.err = max(r.err, math.Abs(r.at(v)*math.Pow(v, s)-1))
	}
	return r
}

func (r *stieltjes) at(x float64) float64 {
	y := r.constant
	for i, q := range r.pole {
		y += r.weight[i] / (x + q)
	}
	return y
}
