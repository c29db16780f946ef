package choose

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Held has predictions of labels by models that have not learned from them. Accuracies, prediction sets and operating points
// are computed from it. Memory: labels × classes numbers.
type Held struct{ Rows []HeldRow }

// HeldRow is the prediction of a held-out label.
type HeldRow struct {
	Label   int       // position in the labels of the problem
	Class   int       // predicted class
	Reached bool      // a label that the model has learned from reaches the node
	Scores  []float32 // probability of each class; nil: not computed
}

// Add adds the prediction of a label. It copies scores, which may be nil.
func (h *Held) Add(label, class int, isReached bool, scores []float64) {
	row := HeldRow{Label: label, Class: class, Reached: isReached}
	if scores != nil {
		row.Scores = make([]float32, len(scores))
		simd.ConvertTo(row.Scores, scores)
	}
	h.Rows = append(h.Rows, row)
}

// HasScores reports whether every label that is reached has probabilities.
func (h *Held) HasScores() bool {
	for _, row := range h.Rows {
		if row.Reached && row.Scores == nil {
			return false
		}
	}
	return len(h.Rows) > 0
}

// Estimate returns the accuracy on the nodes of reached that have no label, see [Estimator]. If the labels have groups, the
// error is at least the error of independent groups.
func (h *Held) Estimate(p *problem.Problem, reached *roaring.Bitmap) problem.Estimate {
	var e Estimator
	weight := WeightsOf(p)
	for _, row := range h.Rows {
		class := p.Class[row.Label]
		e.Note(row.Reached, row.Class == class, weight[class])
	}
	out := e.Estimate(p, reached)
	out.Stderr = max(out.Stderr, h.ErrorOfGroups(p, out.Accuracy))
	return out
}

// Reweigh returns h with probabilities and classes that are adapted to the known shares of classes, see
// [problem.Problem.Reweigher]. Labels that no label reaches get the shares. If the shares are not known, it returns h.
func (h *Held) Reweigh(p *problem.Problem) *Held {
	reweigh := p.Reweigher(false)
	if reweigh == nil || !h.HasScores() {
		return h
	}
	out := new(Held)
	for _, row := range h.Rows {
		scores := p.Shares
		if row.Reached {
			scores = make([]float64, len(row.Scores))
			simd.ConvertTo(scores, row.Scores)
			reweigh(scores)
		}
		out.Add(row.Label, classify.ArgMax(scores), row.Reached, scores)
	}
	return out
}

// ErrorOfGroups returns the standard error of an accuracy over groups that are drawn at random: with the weight W_g of the
// labels of group g and the weight R_g of the right predictions,
//
//	√(G/(G − 1)·Σ_g (R_g − accuracy·W_g)²) / Σ_g W_g
//
// Without groups it returns 0. Source: Cochran, Sampling techniques (1977), chapter 6.
func (h *Held) ErrorOfGroups(p *problem.Problem, accuracy float64) float64 {
	if p.Group == nil {
		return 0
	}
	weight := WeightsOf(p)
	position := map[int]int{}
	var residuals []float64
	total := 0.0
	for _, row := range h.Rows {
		if !row.Reached {
			continue
		}
		g, isListed := position[p.Group[row.Label]]
		if !isListed {
			g = len(residuals)
			position[p.Group[row.Label]] = g
			residuals = append(residuals, 0)
		}
		class := p.Class[row.Label]
		right := 0.0
		if row.Class == class {
			right = 1
		}
		residuals[g] += float64(weight[class] * (right - accuracy))
		total += weight[class]
	}
	groups := float64(len(residuals))
	if groups < 2 || total == 0 {
		return 0
	}
	squares := 0.0
	for _, r := range residuals {
		squares += float64(r * r)
	}
	return math.Sqrt(groups/(groups-1)*squares) / total
}

// Places returns the [Place] of the class of each label that is reached, for prediction sets. The only label of a class has
// the place of [Other].
func (h *Held) Places(p *problem.Problem) (places []Place) {
	count := CountsOf(p)
	unseen := UnseenShare(p)
	probabilities := make([]float64, len(p.Names))
	for _, row := range h.Rows {
		if !row.Reached || row.Scores == nil {
			continue
		}
		class := p.Class[row.Label]
		if count[class] == 1 {
			class = Other
		}
		simd.ConvertTo(probabilities, row.Scores)
		places = append(places, PlaceOf(row.Label, probabilities, class, unseen))
	}
	return places
}
