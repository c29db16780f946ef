package auto

import (
	"math"

	"github.com/heatwalk/heatwalk/method/choose"
)

// Calibration maps probabilities p of k classes, with an entropy of h·log k, to
//
//	w·p_c^γ/Σ_c p_c^γ + (1 − w)/k  with  γ = exp(a + b·(h − ½))
//
// with b ≤ 0, so that probabilities agree with the frequencies of held-out labels. The likeliest class stays the same. b < 0
// flattens uncertain predictions more, because models are overconfident about them where neighbours differ. What b > 0
// gained was luck.
type Calibration struct {
	Power float64 `json:"power"` // a
	Slope float64 `json:"slope"` // b ≤ 0
	Trust float64 `json:"trust"` // log w/(1 − w)
}

// The prior of w has more weight with more labels, up to a limit, because models of many labels were nearly calibrated.
const (
	// Prior mean and standard deviation of a. The prior of b is a normal distribution with deviation slopeSpread, cut at b ≤
	// 0.
	powerMean   = 0.05
	powerSpread = 0.2
	slopeSpread = 1

	// The prior of w is a beta distribution with mean trustMean. With m labels the prior counts as min(m²/trustLabels,
	// trustMost) labels.
	trustMean   = 0.97
	trustLabels = 330
	trustMost   = 50

	// calibrationLabels labels estimate w to 2 %.
	calibrationLabels = 2048
	calibrationValues = 1 << 20

	firstStep = 0.4
	lastStep  = 0.0125
)

// calibrate returns the parameters with the largest posterior density, given the probabilities of mixture at held-out
// labels. It leaves out labels without features and labels that are alone in their class.
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

// likelihood returns the logarithm of the posterior density of c, up to a constant. Label i has the class class[i]; rows[i]
// has the logarithms of its probabilities and entropies[i] their entropy, see [takeLogs].
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

// takeLogs replaces probabilities by their logarithms, and returns the entropy of the probabilities relative to log k.
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

func (c Calibration) powerOf(entropy float64) float64 {
	return math.Exp(c.Power + float64(c.Slope*(entropy-0.5)))
}

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
