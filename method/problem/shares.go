package problem

// Reweigher returns a function that multiplies the probabilities of the classes at a node by
//
//	known share of the class among all nodes / its share among the labels
//
// and divides them by their sum: Saerens, Latinne, Decaestecker, Adjusting the outputs of a classifier to new a priori
// probabilities (2002), equation 4. If balanced is set, the function also multiplies the probability of a class by the
// number of labels / the number of labels of the class. This gives the probabilities of a model with balanced weights.
//
// If the shares are not known and balanced is not set, Reweigher returns nil.
func (p *Problem) Reweigher(balanced bool) func(probabilities []float64) {
	if p.Shares == nil && !balanced {
		return nil
	}
	count := make([]float64, len(p.Names))
	for _, c := range p.Class {
		count[c]++
	}
	factor := make([]float64, len(p.Names))
	for c := range factor {
		weight := float64(len(p.Class)) / max(1, count[c])
		factor[c] = 1
		if p.Shares != nil {
			factor[c] = p.Shares[c] * weight
		}
		if balanced {
			factor[c] *= weight
		}
	}
	return func(probabilities []float64) {
		sum := 0.0
		for c := range probabilities {
			probabilities[c] *= factor[c]
			sum += probabilities[c]
		}
		if sum > 0 {
			for c := range probabilities {
				probabilities[c] /= sum
			}
		}
	}
}
