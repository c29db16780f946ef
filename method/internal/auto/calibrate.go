package auto

import (
	"math"

	"github.com/heatwalk/heatwalk/method/choose"
)

// Calibration maps probabilities p of k classes, with an entropy of h·log k, to
//
//	w·p_c^γ/Σ_c p_c^γ + (1 − w)/k  with  γ = exp(a + b·(h − ½))
//
// with b ≤ 0, so that probabilities agree with the frequencies of held-out labels. The likeliest class stays the same. With
// b < 0 it flattens uncertain predictions more than certain predictions: where neighbours differ, models are overconfident
// about uncertain predictions. What b > 0 gained on other graphs was luck as often as not.
type Calibration struct {
	Power float64 `json:"power"` // a
	Slope float64 `json:"slope"` // b ≤ 0
	Trust float64 `json:"trust"` // log w/(1 − w)
}

// The prior of w has more weight with more labels, up to a limit: models of many labels were nearly calibrated on all graphs, so
// that held-out labels add little information, whereas models of few labels may be far from calibrated.
const (
	// powerMean and powerSpread are the prior mean and standard deviation of a. The prior of b is the half of a normal distribution
	// with standard deviation slopeSpread below 0.
	powerMean   = 0.05
	powerSpread = 0.2
	slopeSpread = 1

	// trustMean is the mean of a beta prior of w. With m labels the prior counts as min(m²/trustLabels, trustMost) labels.
	trustMean   = 0.97
	trustLabels = 330
	trustMost   = 50

	// Calibration learns from at most calibrationLabels labels, which estimate w to 2 %, and from at most calibrationValues
	// probabilities.
	calibrationLabels = 2048
	calibrationValues = 1 << 20

	// firstStep and lastStep are the largest and the smallest step of the search.
	firstStep = 0.4
	lastStep  = 0.0125
)

// calibrate returns the parameters with the largest posterior, given the probabilities of a mixture at held-out labels. The prior
// is normal for a and for b ≤ 0, and beta for w. Labels without features and labels that are alone in their class have no
// predictions and are left out. The search changes one parameter at a time, by decreasing steps.
func (h *heldOut) calibrate(mixture []component) Calibration {
	var rows [][]float64 // logarithms of probabilities
	var class []int
	var entropies []float64
	limit := min(calibrationLabels, max(choiceLabels, calibrationValues/h.classes))
	for _, i := range choose.Sample(h.class, limit, h.seed, 0) {
		if h.hasOthers[i] && h.hasFeatures[i] && isPredicted(mixture, i) {
			row := make([]float64, h.classes)
			mixTo(row, mixture, i)
			entropies = append(entropies, takeLogs(row))
			rows = append(rows, row)
			class = append(class, h.class[i])
		}
	}
	c := Calibration{Power: powerMean, Trust: math.Log(trustMean / (1 - trustMean))}
	best := c.likelihood(rows, class, entropies)
	for step := firstStep; step >= lastStep; step /= 2 {
		for moved := true; moved; {
			moved = false
			for _, parameter := range []*float64{&c.Power, &c.Slope, &c.Trust} {
				for _, change := range []float64{-step, step} {
					previous := *parameter
					*parameter += change
					if likelihood := c.likelihood(rows, class, entropies); likelihood > best {
						best = likelihood
						moved = true
					} else {
						*parameter = previous
					}
				}
			}
		}
	}
	return c
}

// likelihood returns the logarithm of the posterior density, up to a constant. For each label, rows holds the logarithms of
// its probabilities, class its class, and entropies the entropy that takeLogs returned.
func (c Calibration) likelihood(rows [][]float64, class []int,
	entropies []float64) float64 {
	if c.Slope > 0 {
		return math.Inf(-1)
	}
	expected := min(float64(len(rows)*len(rows))/trustLabels, trustMost)
	w := 1 / (1 + math.Exp(-c.Trust))
	away := (c.Power - powerMean) / powerSpread
	slope := c.Slope / slopeSpread
	sum := float64((1+float64(trustMean*expected))*math.Log(w)) +
		float64((1+float64((1-trustMean)*expected))*math.Log(1-w))
	sum -= float64(away*away/2) + float64(slope*slope/2)
	for i, logs := range rows {
		power := c.powerOf(entropies[i])
		total := 0.0
		for _, q := range logs {
			total += math.Exp(power * q)
		}
		sum += math.Log(float64(w*math.Exp(power*logs[class[i]]))/total +
			(1-w)/float64(len(logs)))
	}
	return sum
}

// takeLogs replaces the probabilities of a row by their logarithms. It returns the entropy of the probabilities relative to
// the entropy of equal probabilities.
func takeLogs(row []float64) (entropy float64) {
	unit := math.Log(max(2, float64(len(row))))
	for i, q := range row {
		row[i] = math.Log(q)
		if q > 0 {
			entropy -= float64(q*row[i]) / unit
		}
	}
	return entropy
}

// powerOf returns γ for an entropy h of takeLogs.
func (c Calibration) powerOf(entropy float64) float64 {
	return math.Exp(c.Power + float64(c.Slope*(entropy-0.5)))
}

// apply calibrates the probabilities of a row in place.
func (c Calibration) apply(row []float64) {
	power := c.powerOf(takeLogs(row))
	sum := 0.0
	for i, q := range row {
		row[i] = math.Exp(power * q)
		sum += row[i]
	}
	w := 1 / (1 + math.Exp(-c.Trust))
	for i, q := range row {
		row[i] = float64(w*q)/sum + (1-w)/float64(len(row))
	}
}
