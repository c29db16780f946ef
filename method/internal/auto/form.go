package auto

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/explain"
)

// newForm returns the form of the scores of a mixture,
//
//	score_c = (1 − w_b)·Σ_m w_m·z_mc + w_b·log b_c,  each less its mean over the classes,
//
// where z_m are the logits of the component with weight w_m (log-probabilities for label propagation), and b are beliefs
// that multiply the mixture with weight w_b.
//
// The logits z of logistic regressions and of Poisson learning are functions of inputs x: filters of walks from labels, and
// the scores of kernels and attributes. Input i contributes its derivative along the straight path from no labels and no
// attributes,
//
//	a_i = ∫_0^1 x_i·∂z/∂x_i (s·x) ds,  Σ_i a_i = z(x) − z(0)
//
// (Aumann and Shapley 1974). The error of the quadrature is divided among the a_i in proportion to their sizes, and a_i
// among the labels or attributes in proportion to their summands in x_i. Boosted trees contribute as [trees.Model.Terms] says.
// Everything else is in the rest.
func newForm(m *model) *explain.Form {
	f := m.features
	p := f.in.p
	c := f.columns
	form := &explain.Form{A: p.A, Right: func(node, class int) float64 {
		return float64(c.of(f.walks.row(node), decay85)[class]) / c.prior[class]
	}}
	form.Terms = func(ctx context.Context, nodes, class []int) ([]explain.Terms, *featureBlock, error) {
		terms := make([]explain.Terms, len(nodes))
		weights := make([]*inputs, len(nodes))
		predictor := m.newPredictor()
		for j, v := range nodes {
			t := &mixtureTerms{predictor: predictor, node: v, class: class[j],
				score: make([]float64, c.classes)}
			start := 0.0
			weights[j], start = t.integrate()
			// addShares and addContributions subtract the shares of ridges from Rest.
			remainder := start + floats.Dot(weights[j].ridges,
				f.ridges.scoresOf(v, c.classes))
			terms[j] = explain.Terms{Share: make([]float64, len(p.Row)),
				Score: t.score, Rest: remainder}
		}
		w := &explain.Walk{P: p, Steps: f.seeds.steps, Workers: f.in.set.Workers}
		decay := func(step int) float32 { return stepWeights(step)[decay85] }
		sums := make([]float64, c.classes)
		left, err := w.Run(ctx, nodes, decay, func(step int, x *featureBlock) bool {
			weight := stepWeights(step)
			for j := range nodes {
				clear(sums)
				for i, filter := range f.in.filters {
					for b := range sums {
						if weight[filter] > leastStepWeight {
							sums[b] += float64(weight[filter]) * weights[j].walks[i*c.classes+b]
						}
					}
				}
				for u, row := range p.Row {
					terms[j].Share[u] += f.seeds.unit * float64(x.Row(row)[j]) * sums[p.Class[u]]
				}
			}
			return true
		})
		for _, kernel := range f.kernels {
			if err == nil {
				err = kernel.addShares(ctx, nodes, weights, terms)
			}
		}
		if err == nil && f.attributes != nil {
			err = f.attributes.addContributions(ctx, nodes, weights, terms)
		}
		if err == nil && m.trees != nil {
			err = m.addTreeTerms(ctx, nodes, class, terms)
		}
		return terms, left, err
	}
	return form
}

// inputs holds the inputs of the score of a node, or a number for each input: filters of walks, then scores of ridges.
type inputs struct {
	values, walks []float64 // walks is the first part of values, ridges the second
	ridges        []float64 // score of ridge i for class c at i·classes + c
}

func newInputs(walks, ridges []float64) *inputs {
	values := slices.Concat(walks, ridges)
	return &inputs{values, values[:len(walks)], values[len(walks):]}
}

// addContributions adds to terms[j] what each attribute contributes to the score of nodes[j]. weights[j] has the derivative
// of the score by each ridge. Intercepts, and ridges other than a.ridges, stay in the rest.
func (a *attributeForm) addContributions(ctx context.Context, nodes []int,
	weights []*inputs, terms []explain.Terms) error {
	plain, propagated, err := a.rows(ctx, nodes)
	if err != nil {
		return err
	}
	for j := range nodes {
		for column := range plain.Cols {
			sum := 0.0
			for i, values := range []*featureBlock{plain, propagated} {
				if x := values.Row(j)[column]; x != 0 {
					for c, w := range a.weights[i].Row(column) {
						sum += float64(x*w) * weights[j].ridges[a.ridges[i]*a.weights[i].Cols+c]
					}
				}
			}
			if sum != 0 {
				terms[j].Attributes = append(terms[j].Attributes,
					explain.Attribute{Column: column, Share: sum})
				terms[j].Rest -= sum
			}
		}
	}
	return nil
}

type mixtureTerms struct {
	*predictor
	node, class int
	score       []float64
}

const (
	pathPoints     = 16
	differenceStep = 0.01 // relative to the inputs
)

// integrate returns as weights the derivative of the score by each input, averaged over the path of [newForm]. start is the
// score at the beginning of the path. If no walk reaches the node, weights and start are 0.
func (t *mixtureTerms) integrate() (weights *inputs, start float64) {
	f := t.features
	x := newInputs(toFloat64(f.walks.row(t.node)),
		f.ridges.scoresOf(t.node, f.columns.classes))
	point := newInputs(x.walks, x.ridges)
	weights = newInputs(make([]float64, len(x.walks)),
		make([]float64, len(x.ridges)))
	if !f.isKnown(f.walks.row(t.node)) {
		return weights, 0
	}
	// Walks along arcs, link rows and eigenvectors do not take part: they are in the rest.
	path := newInputs(x.walks, x.ridges)
	clear(path.walks[min(len(x.walks), undirectedFilters*f.columns.classes):])
	for i, r := range f.ridges {
		if r.kind == ofLinks || r.kind == ofSpectral {
			clear(path.ridges[i*f.columns.classes:][:f.columns.classes])
		}
	}
	points := make([]float64, pathPoints)
	masses := make([]float64, pathPoints)
	quad.Legendre{}.FixedLocations(points, masses, 0, 1)
	for i, root := range points { // s = root², because logarithms change most near 0
		s := root * root
		ds := 2 * root * masses[i]
		for j, end := range path.values {
			if end != 0 {
				point.values[j] = s * end
			}
		}
		for j, end := range path.values {
			if end == 0 {
				continue
			}
			h := differenceStep * s * end
			point.values[j] = s*end + h
			difference := t.scoreAt(point)
			point.values[j] = s*end - h
			difference -= t.scoreAt(point)
			point.values[j] = s * end
			weights.values[j] += ds * difference / (2 * h)
		}
	}
	for j, end := range path.values {
		if end != 0 {
			point.values[j] = 0
		}
	}
	start = t.scoreAt(point)
	missing := t.scoreAt(x) - start
	size := 0.0
	for j, w := range weights.values {
		missing -= w * x.values[j]
		size += math.Abs(w * x.values[j])
	}
	if size > 0 {
		for j, w := range weights.values {
			weights.values[j] += missing / size * math.Copysign(w, x.values[j])
		}
	}
	return weights, start
}

func (t *mixtureTerms) scoreAt(x *inputs) float64 {
	walks := make([]float32, len(x.walks))
	propagated := []float32(nil)
	simd.ConvertTo(walks, x.walks)
	t.read(t.node, walks)
	copy(t.ridges, x.ridges)
	t.features.ridges.scale(t.ridges)
	if t.propagated != nil {
		propagated = t.propagated.Row(t.node)
	}
	clear(t.score)
	for i, c := range t.mixture {
		weight := c.Weight
		if last := t.mixture[len(t.mixture)-1]; last.isFactor() && !c.isFactor() {
			weight *= 1 - last.Weight
		}
		t.predictBy(i, t.node, walks, propagated)
		for class, q := range t.one {
			t.one[class] = math.Log(q + leastTruth)
		}
		mean := floats.Sum(t.one) / float64(len(t.one))
		for class, z := range t.one {
			t.score[class] += weight * (z - mean)
		}
	}
	return t.score[t.class]
}
