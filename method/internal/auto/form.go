package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/sparse"
)

// newForm returns the form of the linear scores of a mixture,
//
//	score_c = (1 − w_b)·Σ_m w_m·z_mc + w_b·log b_c,  each less its mean over the classes
//
// for the logits z_m of its components with weights w_m, and beliefs b that are multiplied with the weight w_b. The
// probabilities follow from the scores by softmax, mixing and calibration, which keep the likeliest class if the components
// agree.
//
// The logits are functions of the masses q_fc of the filters f of walks from the labels of class c. Each column x of
// these has the contributions of the straight path from no labels,
//
//	a(c) = ∫_0^1 q_fc·∂x/∂q_fc (s·q) ds,  Σ_c a(c) = x(q) − x(0)
//
// (Aumann and Shapley 1974), divided among the labels of class c in proportion to their parts in q_fc. Scores of kernels
// are sums over labels themselves. Everything else is the rest: biases, priors, eigenvectors, degrees, link rows, label
// propagation and beliefs.
func newForm(m *model) *explain.Form {
	f := m.features
	p, c := f.in.p, f.columns
	form := &explain.Form{A: p.A, Right: func(node, class int) float64 {
		return float64(c.of(f.walks.full.Row(node), decay85)[class]) / c.prior[class]
	}}
	form.Terms = func(ctx context.Context, nodes, class []int) ([]explain.Terms, *sparse.Block[float32], error) {
		terms, parts, predictor := make([]explain.Terms, len(nodes)), make([][]float64, len(nodes)), m.newPredictor()
		var kernelWeights [][]float64
		for j, v := range nodes {
			t := &mixtureTerms{predictor: predictor, node: v, class: class[j], score: make([]float64, c.classes), walks: make([]float64, filters*c.classes), kernels: make([]float64, kernels*c.classes)}
			t.compute()
			terms[j] = explain.Terms{Score: t.score, Share: make([]float64, len(p.Row)), Rest: t.score[class[j]] - t.covered}
			parts[j], kernelWeights = t.walks, append(kernelWeights, t.kernels)
		}
		w := &explain.Walk{P: p, Steps: f.seeds.steps, Workers: f.in.set.Workers}
		decay := func(step int) float32 { return stepWeights(step)[decay85] }
		left, err := w.Run(ctx, nodes, decay, func(step int, x *sparse.Block[float32]) bool {
			weight := stepWeights(step)
			sums := make([]float64, c.classes)
			for j := range nodes {
				clear(sums)
				for _, filter := range f.in.filters {
					if int(filter) < undirectedFilters && weight[filter] > leastStepWeight {
						for b := range sums {
							sums[b] += float64(weight[filter]) * parts[j][int(filter)*c.classes+b]
						}
					}
				}
				for u, row := range p.Row {
					terms[j].Share[u] += f.seeds.unit * float64(x.Row(row)[j]) * sums[p.Class[u]]
				}
			}
			return true
		})
		if err == nil && f.diffusion != nil {
			err = f.diffusion.addShares(ctx, nodes, kernelWeights, terms)
		}
		return terms, left, err
	}
	return form
}

// mixtureTerms are the parts of the score of one node: derivatives of the score of its class by masses of filters of walks
// from each class, and by scores of kernels.
type mixtureTerms struct {
	*predictor
	node, class int
	score       []float64 // of each class
	walks       []float64 // of filter f and the labels of class b in f·classes + b
	kernels     []float64 // of kernel i and class b in i·classes + b
	covered     float64   // by walks and kernels
}

// compute computes the parts.
func (t *mixtureTerms) compute() {
	f, k := t.features, len(t.score)
	row := f.walks.full.Row(t.node)
	if !f.isKnown(row) {
		return
	}
	t.read(t.node, row)
	logarithms, factor := make([]float64, k), 1.0
	for _, c := range t.mixture {
		if c.isOf(t.settings, candidate.isBeliefs) {
			factor = 1 - c.weight
		}
	}
	for i, c := range t.mixture {
		weight := factor * c.weight
		switch {
		case c.isOf(t.settings, candidate.isPropagation):
			slackenTo(logarithms, t.propagated.Row(t.node), f.columns.prior, t.settings[c.setting].lambda)
			t.add(weight, logarithms, true)
		case c.isOf(t.settings, candidate.isBeliefs):
			for class, b := range t.beliefs.Row(t.node) {
				logarithms[class] = float64(b)
			}
			t.add(c.weight, logarithms, true)
		case c.setting < 0:
			poissonLogits(t.one, f.columns, row)
			t.add(weight, t.one, false)
			t.addShared(weight*sharpness*f.columns.sharedScale[0], 0, 1)
		case c.model != nil:
			t.logits(c, t.weights[i])
			t.add(weight, t.one, false)
			t.addModel(weight, c, t.weights[i])
		}
	}
	for i := range t.walks { // contributions by classes of labels → weights of their masses
		filter, class := filter(i/k), i%k
		if int(filter) >= undirectedFilters || f.in.position(filter) < 0 {
			continue
		}
		t.covered += t.walks[i]
		if q := float64(f.columns.of(row, filter)[class]); q > 0 {
			t.walks[i] /= q
		}
	}
	for i, r := range f.columns.diffusionRow(t.scores, t.node) {
		t.covered += t.kernels[i] * r
	}
}

// add adds logits, or logarithms of probabilities, less their mean.
func (t *mixtureTerms) add(weight float64, values []float64, areProbabilities bool) {
	mean := 0.0
	for c, v := range values {
		if areProbabilities {
			values[c] = math.Log(v + leastTruth)
		}
		mean += values[c] / float64(len(values))
	}
	for c, v := range values {
		t.score[c] += weight * (v - mean)
	}
}

// towards returns the weight of the logit of a class in the score less its mean.
func (t *mixtureTerms) towards(class int) float64 {
	weight := -1 / float64(len(t.score))
	if class == t.class {
		weight++
	}
	return weight
}

// addModel adds the parts of a logistic regression.
func (t *mixtureTerms) addModel(weight float64, term component, weights []float32) {
	f, k := t.features, len(t.score)
	c := t.settings[term.setting].candidate
	if !c.Alone {
		first := len(term.model.Shared) - f.in.sharedCount() // behind those of attributes and links
		for s := range 1 + len(f.in.shared) {
			t.addShared(weight*term.model.Shared[first+s]*f.columns.sharedScale[s], s, ratioOf)
		}
		for s := 1 + len(f.in.shared); s < f.in.sharedCount()-1; s += 2 {
			t.addKernel(weight, term.model.Shared[first+s:], s)
		}
	}
	if !c.Free {
		return
	}
	raw := make([]float64, len(t.free))
	f.columns.rawFree(raw, f.walks.full.Row(t.node), t.node)
	for i, filter := range f.in.free {
		if int(filter) >= undirectedFilters {
			continue
		}
		for b := range k {
			column := i*k + b
			sum := 0.0
			for class := range k {
				sum += t.towards(class) * float64(weights[column*k+class])
			}
			x := (raw[column] - f.columns.mean[column]) * f.columns.scale[column]
			t.addShare(weight*sum*f.columns.scale[column]*ratio(t.free[column], x), filter, b)
		}
	}
}

// ratio returns clipped/x, 1 for 0.
func ratio(clipped, x float64) float64 {
	if x == 0 {
		return 1
	}
	return clipped / x
}

// ratioOf asks addShared for the ratio of the clipped column.
const ratioOf = 0

// addShared adds the contributions of a shared column of walks with a weight in its own units; unclipped is 1 for a column
// that is not clipped.
func (t *mixtureTerms) addShared(weight float64, s int, unclipped float64) {
	f, k := t.features, len(t.score)
	columns, filter := f.columns, source
	if s > 0 {
		filter = f.in.shared[s-1]
	}
	q := columns.of(f.walks.full.Row(t.node), filter)
	mass, epsilon := massOf(q), columns.epsilon[filter]
	whole := math.Log1p(mass / epsilon)
	log, square := pathOf(mass, epsilon)
	for class := range k {
		value := float64(q[class])
		x := math.Log((value + epsilon*columns.prior[class]) / ((mass + epsilon) * columns.prior[class]))
		if s == 0 {
			x = (value - columns.share[class]*mass) / (mass + epsilon)
		}
		y := weight * t.towards(class)
		if unclipped == ratioOf {
			y *= ratio(t.shared[s*k+class], x*columns.sharedScale[s])
		}
		for b := range k {
			part := float64(q[b])
			var a float64
			if s == 0 {
				a = -part * (columns.share[class]*log + (value-columns.share[class]*mass)*square)
				if b == class {
					a += part * log
				}
			} else {
				if mass > 0 {
					a = -part / mass * whole
				}
				if b == class {
					a += math.Log1p(part / (epsilon * columns.prior[class]))
				}
			}
			t.walks[int(filter)*k+b] += y * a
		}
	}
}

// pathOf returns ∫_0^1 ds/(s·Q + ε) and ∫_0^1 s/(s·Q + ε)² ds of a mass Q.
func pathOf(mass, epsilon float64) (log, square float64) {
	if mass < 1e-6*epsilon {
		return 1 / epsilon, 1 / (2 * epsilon * epsilon)
	}
	log = math.Log1p(mass/epsilon) / mass
	return log, (log - 1/(mass+epsilon)) / mass
}

// addShare adds the contributions of the share of class c in a filter, with a weight.
func (t *mixtureTerms) addShare(weight float64, f filter, class int) {
	columns, k := t.features.columns, len(t.score)
	q := columns.of(t.features.walks.full.Row(t.node), f)
	mass, epsilon := massOf(q), columns.epsilon[f]
	log, square := pathOf(mass, epsilon)
	for b := range k {
		a := -(float64(q[class])*square + columns.prior[class]/(mass+epsilon))
		if b == class {
			a += log
		}
		t.walks[int(f)*k+b] += weight * float64(q[b]) * a
	}
}

// addKernel adds the weights of the scores of a kernel, whose shared columns are s and s + 1.
func (t *mixtureTerms) addKernel(weight float64, shared []float64, s int) {
	columns, k := t.features.columns, len(t.score)
	index := (s - 1 - len(t.features.in.shared)) / 2
	r := columns.diffusionRow(t.scores, t.node)[index*k:][:k]
	sum := 0.0
	for _, x := range r {
		sum += x
	}
	for class := range k {
		y := weight * t.towards(class)
		scales := columns.sharedScale[s:]
		t.kernels[index*k+class] += y * shared[0] * scales[0] * ratio(t.shared[s*k+class], r[class]*scales[0])
		second := -columns.prior[class] * sum * scales[1]
		z := -y * shared[1] * scales[1] * columns.prior[class] * ratio(t.shared[(s+1)*k+class], second)
		for b := range k {
			t.kernels[index*k+b] += z
		}
	}
}
