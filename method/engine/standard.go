package engine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// standard maps known numbers y to z = (y − median)/unit. unit is a power of 2, so that z has a standard deviation from 1 to
// 2 and is rounded by the difference alone, times the sign of the skewness Σ (y − median)³, so that y and −y give the same z:
// trees, whose bins and ties have an order, would not predict −y by the negative. Engines learn z, so that their choices and predictions follow the numbers: y + c
// gives the same z to the bit if y + c is exact. Sums and squares of the numbers themselves, such as times in seconds, about
// 10⁹, would have no digits left for minutes. A nil standard changes nothing.
type standard struct {
	median, unit float64
	known        map[float64]float64 // known number of each z
}

// standardize returns the standard of the numbers of p, or nil if p has classes or nothing to learn from.
func standardize(p *Problem) *standard {
	if p.Value == nil || p.Validate() != nil {
		return nil
	}
	differences := slices.Sorted(slices.Values(p.Value)) // sums must not depend on the order of the rows
	n := len(differences)
	low, high := differences[(n-1)/2], differences[n/2]
	z := &standard{median: low + (high-low)/2, known: make(map[float64]float64, n)}
	floats.AddConst(-z.median, differences)
	widest := max(-differences[0], differences[n-1])
	floats.Scale(1/widest, differences) // cubes stay finite
	_, exponent := math.Frexp(widest * stat.PopStdDev(differences, nil))
	skewness := 0.0
	for i, d := range differences[:n/2] { // in pairs, so that rounding is the same for −y
		e := differences[n-1-i]
		skewness += float64(d*d*d) + float64(e*e*e)
	}
	z.unit = math.Copysign(math.Ldexp(1, exponent-1), skewness)
	for _, y := range p.Value {
		z.known[z.of(y)] = y
	}
	return z
}

func (z *standard) of(y float64) float64 { return (y - z.median) / z.unit }

// number returns the number y with z.of(y) = x.
func (z *standard) number(x float64) float64 {
	if y, isKnown := z.known[x]; isKnown {
		return y
	}
	return z.median + float64(z.unit*x)
}

// problem returns p with z in place of its numbers.
func (z *standard) problem(p *Problem) *Problem {
	if z == nil {
		return p
	}
	q := *p
	q.Value = make([]float64, len(p.Value))
	for i, y := range p.Value {
		q.Value[i] = z.of(y)
	}
	return &q
}

// restore puts numbers and their errors in place of z in a prediction.
func (z *standard) restore(out *Prediction) {
	if z == nil {
		return
	}
	for i, x := range out.Value {
		out.Value[i] = z.number(x)
	}
	c := out.Contest
	if c == nil {
		return
	}
	all := []*Errors{&c.Errors, &c.Mean, &c.Neighbours}
	for i := range c.Methods {
		all = append(all, &c.Methods[i].Errors)
	}
	for _, e := range all {
		e.RMSE *= math.Abs(z.unit)
		e.MAE *= math.Abs(z.unit)
	}
	for i, h := range c.HeldOut {
		c.HeldOut[i] = TestedValue{z.number(h.True), z.number(h.Predicted)}
	}
}
