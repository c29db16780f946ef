package auto

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/trees"
	"github.com/heatwalk/heatwalk/sparse"
)

// Boosted trees are a component where they may see what logistic regressions cannot: thresholds, interactions and extremes of
// a few attributes, and counts of labels. Words stay with ridges, which are as accurate on them in a tenth of the time.
const (
	mostTreeAttributes = 64

	// Trees need labels for leaves of 20 rows. With links alone and at most 1,000 labels the other stages take a second or two,
	// and trees would double the price.
	fewestTreeLabels = 100
	treeLinkLabels   = 1001
	leastClassLabels = 20

	// mostHighRounds is the largest number of rounds with high effort.
	mostHighRounds = 1000

	// mostTreeLabels is the largest number of labels that trees learn from.
	mostTreeLabels = 20_000

	// Trees may take about secondsOfLabel seconds of one processor for each label, or linkSecondsOfLabel with links alone, and at
	// most treeSeconds: what labels can teach grows with their number. With links alone they get what a model for each pair of
	// folds takes on blogcatalog-words with 20 % of the labels. If the sweeps for columns take more than treeSweepSeconds,
	// there are no trees: their rounds would be too few.
	treeSeconds        = 10
	secondsOfLabel     = 2e-3
	linkSecondsOfLabel = 5e-3
	treeSweepSeconds   = 3
	treeSweeps         = 26   // of each class and fold, to learn and to predict
	sweepSeconds       = 1e-9 // of an entry and column
)

// boosts reports whether boosted trees are a component of mixtures.
func boosts(p *problem.Problem, set *settings, folds int) bool {
	m := len(p.Row)
	if set.Effort == engine.LowEffort || p.Team() != nil || choose.TooFew(p.Class) || m < fewestTreeLabels {
		return false
	}
	if set.Effort != engine.HighEffort && (p.Attributes == nil && m < treeLinkLabels ||
		p.Attributes != nil && p.Attributes.Cols > mostTreeAttributes) {
		return false
	}
	if treeLabels(p, set, folds) == 0 {
		return false
	}
	return treeSweepTime(p, folds) <= treeSweepSeconds*set.budget()
}

// treeSweepTime returns the time of the sweeps for columns in seconds.
func treeSweepTime(p *problem.Problem, folds int) float64 {
	return treeSweeps * sweepSeconds * float64(sparse.EntriesOf(p.A)) * float64((len(p.Names)+1)*folds)
}

// treeLabels returns how many labels trees learn from: as many as their least number of rounds allows, of many classes at
// least leastClassLabels for each, or 0.
func treeLabels(p *problem.Problem, set *settings, folds int) int {
	limit := treeLimit(p, set)
	labels := min(len(p.Row), mostTreeLabels)
	for trees.LeastSeconds(p, labels, folds) > limit {
		if labels /= 2; labels < max(fewestTreeLabels, leastClassLabels*len(p.Names)) {
			return 0
		}
	}
	return labels
}

// treeLimit returns the limit of the time of trees in seconds.
func treeLimit(p *problem.Problem, set *settings) float64 {
	seconds := secondsOfLabel
	if p.Attributes == nil {
		seconds = linkSecondsOfLabel
	}
	return set.budget() * min(treeSeconds, seconds*float64(min(len(p.Row), mostTreeLabels)))
}

// boost fits boosted trees, with the given number of rounds or, if rounds is 0, with as many as held-out labels choose. The
// labels of a fold are predicted without the fold.
func (f *features) boost(ctx context.Context, rounds int) (err error) {
	p := f.in.p
	places := choose.Sample(p.Class, treeLabels(p, f.in.set, f.in.folds), f.in.set.RNGSeed, 0)
	s := &trees.Sample{Problem: p, Loss: classify.SoftmaxLoss, Folds: f.in.folds, Rounds: rounds,
		Workers: f.in.set.Workers, Work: f.in.work, MostSeconds: treeLimit(p, f.in.set)}
	if f.in.set.Effort == engine.HighEffort {
		s.MostRounds = mostHighRounds
	}
	for _, label := range places {
		s.Row = append(s.Row, p.Row[label])
		s.Class = append(s.Class, p.Class[label])
		s.Fold = append(s.Fold, f.seeds.fold[label])
	}
	f.boosted, err = trees.Learn(ctx, s)
	f.boostedLabels = places
	return err
}

// addTrees adds the held-out probabilities of boosted trees to the components.
func (h *heldOut) addTrees(ctx context.Context, f *features) error {
	if !f.in.trees {
		return nil
	}
	if err := f.boost(ctx, 0); err != nil {
		return err
	}
	t := newComponent(candidate{Trees: true}, float64(f.boosted.Rounds), len(h.class))
	row := make([]float64, h.classes)
	position := make(map[int]int, len(f.boostedLabels))
	for j, label := range f.boostedLabels {
		position[label] = j
	}
	for i, label := range h.places {
		if j, isBoosted := position[label]; isBoosted {
			if !h.hasFeatures[i] {
				copy(row, f.priorOfMissed(h.fold[i]))
			} else {
				f.boosted.PredictionTo(row, f.boosted.Held.Row(j))
				soften(row)
			}
			t.set(i, row)
		}
	}
	h.components = append(h.components, t)
	return nil
}

// softness is the weight of equal probabilities in predictions of trees, which know nothing of classes without labels.
const softness = 1e-3

func soften(row []float64) {
	for c, q := range row {
		row[c] = float64((1-softness)*q) + softness/float64(len(row))
	}
}

// predictTrees computes m.trees, the probabilities of all nodes by boosted trees.
func (m *model) predictTrees(ctx context.Context) error {
	f := m.features
	m.trees = newBlock(len(f.in.p.Degrees), len(f.in.p.Names))
	return f.boosted.Predict(ctx, func(node int, scores []float64) {
		row := f.boosted.PredictionTo(nil, scores)
		soften(row)
		simd.ConvertTo(m.trees.Row(node), row)
	})
}

// addTreeTerms adds what labels and attributes contribute to the score of nodes[j] through boosted trees. The scores of trees
// count by the derivative of the score of the mixture along the straight path from the scores before the first round, as the
// inputs of [newForm] do.
func (m *model) addTreeTerms(ctx context.Context, nodes, class []int, terms []explain.Terms) error {
	f := m.features
	weight := 0.0
	for _, c := range m.mixture {
		switch {
		case c.Trees:
			weight += c.Weight
		case c.isFactor():
			weight *= 1 - c.Weight
		}
	}
	list, _, err := f.boosted.Terms(ctx, nodes, func(j int, base, scores []float64) []float64 {
		derivative := make([]float64, len(scores))
		if f.isKnown(f.walks.row(nodes[j])) {
			f.addDerivative(derivative, base, scores, class[j])
			floats.Scale(weight, derivative)
		}
		return derivative
	})
	for j, t := range list {
		for i, share := range t.Share {
			terms[j].Share[f.boostedLabels[i]] += share
			terms[j].Rest -= share
		}
		for _, a := range t.Attributes {
			terms[j].AddAttribute(a)
			terms[j].Rest -= a.Share
		}
	}
	return err
}

// addDerivative adds to dst the mean derivative of log p_c, less its mean over the classes, by each score of trees, where p are
// softened probabilities, on the straight path from base to scores.
func (f *features) addDerivative(dst, base, scores []float64, class int) {
	t := f.boosted
	points := make([]float64, pathPoints)
	masses := make([]float64, pathPoints)
	quad.Legendre{}.FixedLocations(points, masses, 0, 1)
	z := make([]float64, len(scores))
	p := make([]float64, f.columns.classes)
	slope := make([]float64, f.columns.classes) // derivative by each probability
	for i, s := range points {
		for o := range z {
			z[o] = base[o] + float64(s*(scores[o]-base[o]))
		}
		t.PredictionTo(p, z)
		mean := 0.0
		for c, q := range p {
			slope[c] = -1 / float64(len(p))
			if c == class {
				slope[c]++
			}
			soft := float64((1-softness)*q) + softness/float64(len(p))
			slope[c] *= (1 - softness) / (soft + leastTruth)
			mean += float64(slope[c] * q)
		}
		if len(dst) == 1 { // the score of the second of two classes, with the score 0 of the first
			if len(t.Class) == 2 {
				c := t.Class[1]
				dst[0] += masses[i] * p[c] * (slope[c] - mean)
			}
			continue
		}
		for o, c := range t.Class {
			dst[o] += masses[i] * p[c] * (slope[c] - mean)
		}
	}
}
