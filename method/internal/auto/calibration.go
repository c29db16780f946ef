package auto

import (
	"math"

	"github.com/heatwalk/heatwalk/validate"
)

// calibration turns probabilities p of k classes, with an entropy of h·log k, into those
// which labels bear out:
//
//	w·p_c^γ/Σ_c p_c^γ + (1 − w)/k  with  γ = exp(a + b·(h − ½))
//
// and b ≤ 0. It keeps the likeliest class. With b < 0 answers that are not sure become
// flatter than others: where neighbours differ, models tell more of those than labels bear
// out. What b > 0 gained elsewhere was luck of the labels as often as not.
type calibration struct {
	power float64 // a
	slope float64 // b ≤ 0
	trust float64 // log w/(1 − w)
}

// Models of few labels may be far from what labels bear out, those of many are near it on
// all graphs, and labels out of fold tell little more of it than labels did before: so what
// is expected of w counts for more the more labels there are, up to a limit.
const (
	// powerMean and powerSpread are the mean and the standard deviation that are expected
	// of a, slopeSpread is the standard deviation of the normal distribution of which b has
	// the half up to 0.
	powerMean   = 0.05
	powerSpread = 0.2
	slopeSpread = 1

	// trustMean is the w that is expected, beside one observation for each side. It counts
	// as m²/trustLabels of m labels do, and trustMost at the most.
	trustMean   = 0.97
	trustLabels = 330
	trustMost   = 50

	// calibrationLabels bounds the labels that calibration learns from, to 1 % of w.
	calibrationLabels = 4096

	// firstStep and lastStep are those by which parameters change.
	firstStep = 0.4
	lastStep  = 0.0125
)

// calibrate returns the parameters under which the labels that are not told are likeliest,
// with normal distributions of a and b, of this the half up to 0, and a beta distribution of
// w. Labels of which nothing is known, or that are the only ones of their class, say nothing
// of them. One parameter after the other changes by steps that become smaller.
func (r *weigher) calibrate() calibration {
	var rows [][]float64
	var class []int
	for _, i := range validate.Sample(r.p.Class, calibrationLabels, r.set.RNGSeed, 0) {
		if r.several[i] && r.whole.known[i] && r.answered(r.shares, i) {
			row := make([]float64, len(r.p.Names))
			r.answerTo(row, r.shares, i)
			rows, class = append(rows, row), append(class, r.p.Class[i])
		}
	}
	c := calibration{power: powerMean, trust: math.Log(trustMean / (1 - trustMean))}
	most := c.likelihood(rows, class)
	for step := firstStep; step >= lastStep; step /= 2 {
		for moved := true; moved; {
			moved = false
			for _, of := range []*float64{&c.power, &c.slope, &c.trust} {
				for _, by := range []float64{-step, step} {
					before := *of
					*of += by
					if likelihood := c.likelihood(rows, class); likelihood > most {
						most, moved = likelihood, true
					} else {
						*of = before
					}
				}
			}
		}
	}
	return c
}

// likelihood returns the logarithm of that of classes with probabilities of rows, and of
// the parameters.
func (c calibration) likelihood(rows [][]float64, class []int) float64 {
	if c.slope > 0 {
		return math.Inf(-1)
	}
	expected := min(float64(len(rows)*len(rows))/trustLabels, trustMost)
	w := 1 / (1 + math.Exp(-c.trust))
	away, slope := (c.power-powerMean)/powerSpread, c.slope/slopeSpread
	sum := float64((1+float64(trustMean*expected))*math.Log(w)) + float64((1+float64((1-trustMean)*expected))*math.Log(1-w))
	sum -= float64(away*away/2) + float64(slope*slope/2)
	var told []float64
	for i, row := range rows {
		told = append(told[:0], row...)
		c.apply(told)
		sum += math.Log(told[class[i]])
	}
	return sum
}

// apply changes the probabilities of a row.
func (c calibration) apply(row []float64) {
	entropy, k := 0.0, float64(len(row))
	for _, q := range row {
		if q > 0 {
			entropy -= float64(q * math.Log(q))
		}
	}
	power := math.Exp(c.power + float64(c.slope*(entropy/math.Log(max(2, k))-0.5)))
	sum := 0.0
	for i, q := range row {
		row[i] = math.Pow(q, power)
		sum += row[i]
	}
	w := 1 / (1 + math.Exp(-c.trust))
	for i, q := range row {
		row[i] = float64(w*q)/sum + (1-w)/k
	}
}
