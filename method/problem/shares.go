package problem

// Reweigher returns a function that multiplies the probabilities of the classes at a node by
//
//	known share of the class among all nodes / its share among the labels
//
// and divides them by their sum, because models learn the shares of the labels: Saerens, Latinne,
// Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities (2002), equation 4.
// It returns nil if the shares are not known.
func (p *Problem) Reweigher() func(probabilities []float64) {
	if p.Shares == nil {
		return nil
	}
	count := make([]float64, len(p.Names))
	for _, c := range p.Class {
		count[c]++
	}
	factor := make([]float64, len(p.Names))
	for c, share := range p.Shares {
		factor[c] = share * float64(len(p.Class)) / max(1, count[c])
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
