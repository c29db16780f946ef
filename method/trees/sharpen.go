package trees

import (
	"slices"

	"github.com/heatwalk/heatwalk/classify"
)

// spread adds up how predictions of several models, or from several sets of columns, differ from the prediction by their mean
// scores.
type spread struct {
	single    float64 // sum of the mean of the largest probabilities of each
	mean      float64 // sum of the largest probability by the mean scores, sharpened if they are held-out scores
	diversity float64 // sum of the mean squared distances of the probabilities of each from those by the mean scores
	nodes     float64
}

// add adds a node with the scores of several predictions, and returns their mean.
func (s *spread) add(m *Model, scores [][]float64) []float64 {
	mean := make([]float64, len(scores[0]))
	for _, z := range scores {
		for o, y := range z {
			mean[o] += y / float64(len(scores))
		}
	}
	if m.Loss != classify.SoftmaxLoss {
		return mean
	}
	q := m.PredictionTo(nil, mean)
	s.nodes++
	s.mean += slices.Max(q)
	for _, z := range scores {
		p := m.PredictionTo(nil, z)
		s.single += slices.Max(p) / float64(len(scores))
		for c, y := range p {
			s.diversity += float64((y-q[c])*(y-q[c])) / float64(len(scores))
		}
	}
	return mean
}

// scale multiplies the scores z, less base, by a factor.
func scale(z, base []float64, factor float64) {
	for o := range z {
		z[o] = base[o] + float64(factor*(z[o]-base[o]))
	}
}

// sharpness are the factors of held-out scores to choose from.
var sharpness = []float64{1, 1.1, 1.2, 1.35, 1.5, 1.75, 2}

// sharpenHeld multiplies held-out scores by the factor with the smallest loss.
func (m *Model) sharpenHeld() {
	if m.spread.nodes == 0 {
		return
	}
	mean := slices.Clone(m.Held.Data)
	set := func(factor float64) {
		copy(m.Held.Data, mean)
		for i, fold := range m.sample.Fold {
			scale(m.Held.Row(i), m.Base[fold], factor)
		}
	}
	best := 1.0
	least := m.loss()
	for _, factor := range sharpness[1:] {
		set(factor)
		if loss := m.loss(); loss < least {
			best = factor
			least = loss
		}
	}
	set(best)
	m.spread.mean = 0
	for i := range m.sample.Row {
		m.spread.mean += slices.Max(m.PredictionTo(nil, m.Held.Row(i)))
	}
}

// probe is a node without a label, with the scores of each model.
type probe struct {
	node   int
	scores [][]float64
}

// mostProbes is the largest number of nodes that measure how much models differ.
const mostProbes = 2000

// probes returns nodes without a label, at equal distances. If predictions are not sharpened, it returns none.
func (m *Model) probes() (list []probe) {
	if m.labels == nil || m.Loss != classify.SoftmaxLoss {
		return nil
	}
	isKnown := make([]bool, m.fixed.Rows)
	for _, v := range m.sample.Row {
		isKnown[v] = true
	}
	others := m.fixed.Rows - len(m.sample.Row)
	step := max(1, others/mostProbes)
	count := 0
	for v, known := range isKnown {
		if known {
			continue
		}
		if count%step == 0 {
			list = append(list, probe{node: v})
		}
		count++
	}
	return list
}

// gainOfDiversity is the gain of accuracy by the mean of models in units of their diversity, which is the decrease of the
// Brier score by the mean (Krogh and Vedelsby, Neural network ensembles, cross validation, and active learning, 1995). On
// flickr-words, blogcatalog-words, crocodile, pubmed, lastfm-asia and squirrel it is 0.66 to 0.93.
const gainOfDiversity = 0.7

// mostSharpened is the largest factor of scores.
const mostSharpened = 4

// sharpen sets m.Gain and returns a function that sharpens the mean scores of a node.
//
// Mean scores of models that differ are less extreme than those of each model, and more often right. Held-out scores are of
// one model each, and so are the probabilities that calibrations fit. Scores are multiplied by the factor that makes the mean
// largest probability the one of single models, corrected by the same difference between Held and the single scores that it is
// the mean of, and by the gain.
func (m *Model) sharpen(probes []probe) func([]float64) {
	m.Gain = 0
	m.factor = 1
	held := m.spread
	if len(probes) == 0 || held.nodes == 0 {
		return func([]float64) {}
	}
	var s spread
	means := make([][]float64, len(probes))
	for i, p := range probes {
		means[i] = s.add(m, p.scores)
	}
	m.Gain = max(0, gainOfDiversity*(s.diversity/s.nodes-held.diversity/held.nodes))
	target := min(1, s.single/s.nodes+(held.mean-held.single)/held.nodes+m.Gain)
	base := make([]float64, m.Outputs())
	for _, list := range m.Base {
		for o, z := range list {
			base[o] += z / float64(m.Models())
		}
	}
	lo, hi := 1., float64(mostSharpened)
	z := make([]float64, m.Outputs())
	for range 20 {
		factor := (lo + hi) / 2
		sum := 0.0
		for _, mean := range means {
			copy(z, mean)
			scale(z, base, factor)
			sum += slices.Max(m.PredictionTo(nil, z))
		}
		if sum < target*s.nodes {
			lo = factor
		} else {
			hi = factor
		}
	}
	m.factor = lo
	return func(z []float64) { scale(z, base, lo) }
}
