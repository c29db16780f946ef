package trees

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// termNodes is the number of nodes whose walks are stored together.
const termNodes = 64

// Terms returns the terms of the score
//
//	Σ_o weight_o·(score_o − base_o)
//
// of each of nodes, and the responses for the importance of links, see [explain.Form]. weigh returns the weights of the scores
// of nodes[j]; base holds the scores before the first round. Terms.Share has a share for each node of Sample.Row.
//
// A column contributes the differences between the values of a child and its parent along the paths through all trees
// (Saabas 2014). Columns of an attribute contribute to the attribute. A column of labels of a class contributes to the labels
// that it is a mean of, in proportion to their weights in it: to labels of the class if the share of the class is above its
// share among all labels, and otherwise to labels of other classes. The largest and the smallest share of a neighbour
// contribute to labels two steps away. Degrees and triangles contribute to the rest.
//
// Terms must follow [Model.Predict]. Cost: the sweeps of Predict, and 10 sweeps of a column for each node.
func (m *Model) Terms(ctx context.Context, nodes []int, weigh func(j int, base, scores []float64) []float64) ([]explain.Terms, *sparse.Block[float32], error) {
	terms := make([]explain.Terms, len(nodes))
	left := blocks.NewDense[float32](m.fixed.Rows, len(nodes))
	var columns []*block // rows of nodes, by predicting model
	var models []int
	err := m.eachModel(ctx, func(model int, labels *block) error {
		x := newBlock(len(nodes), len(m.List))
		for j, v := range nodes {
			m.rowTo(x.Row(j), labels, v)
		}
		columns = append(columns, x)
		models = append(models, model)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	base := make([]float64, m.Outputs())
	for _, model := range models {
		for o, z := range m.Base[model] {
			base[o] += z / float64(len(models))
		}
	}
	factor := m.factor / float64(len(models))
	for lo := 0; lo < len(nodes); lo += termNodes {
		list := nodes[lo:min(len(nodes), lo+termNodes)]
		w, response, err := m.walkFrom(ctx, list)
		if err != nil {
			return nil, nil, err
		}
		for v := range left.Rows {
			copy(left.Row(v)[lo:], response.Row(v))
		}
		for j := range list {
			t := &terms[lo+j]
			t.Share = make([]float64, len(m.sample.Row))
			scores := make([]float64, len(base))
			for i, model := range models {
				m.AddModelTo(scores, columns[i].Row(lo+j), model, 1/float64(len(models)))
			}
			scale(scores, base, m.factor)
			weights := weigh(lo+j, base, scores)
			attributes := map[int]float64{}
			for o, y := range weights {
				t.Rest -= float64(m.factor * y * base[o])
			}
			for i, model := range models {
				x := columns[i].Row(lo + j)
				contribution := make([]float64, len(x))
				for o, y := range weights {
					t.Rest += m.AddContributionsTo(contribution, x, model, o, factor*y)
				}
				for k, c := range m.List {
					switch {
					case c.Attribute >= 0:
						attributes[c.Attribute] += contribution[k]
					case k < m.fixed.Cols:
						t.Rest += contribution[k]
					}
				}
				if m.labels != nil {
					m.addShares(t, model, x[m.fixed.Cols:], contribution[m.fixed.Cols:], &w[j])
				}
			}
			for _, column := range slices.Sorted(maps.Keys(attributes)) {
				if y := attributes[column]; y != 0 {
					t.Attributes = append(t.Attributes, explain.Attribute{Column: column, Share: y})
				}
			}
		}
	}
	return terms, left, nil
}

// reach has the weights of known nodes in the columns of labels of a node.
type reach struct {
	walk    [3][]float64 // probabilities that walks of 1, 2, 3 steps end at each known node
	decayed []float64
	paths   []float64
}

// of returns the weights of known nodes in a view of labels.
func (r *reach) of(v View) []float64 {
	switch v {
	case Mean1, Count:
		return r.walk[0]
	case Mean2, Most, Least:
		return r.walk[1]
	case Mean3:
		return r.walk[2]
	case Decayed:
		return r.decayed
	}
	return r.paths
}

// walkFrom returns the weights of known nodes for each of nodes, and the responses for the importance of links.
func (m *Model) walkFrom(ctx context.Context, nodes []int) ([]reach, *sparse.Block[float32], error) {
	if m.labels == nil { // nothing around a node has a part in its score
		return make([]reach, len(nodes)), blocks.NewDense[float32](m.fixed.Rows, len(nodes)), nil
	}
	s := m.sample
	p := s.Problem
	list := make([]reach, len(nodes))
	for j := range list {
		r := &list[j]
		for t := range r.walk {
			r.walk[t] = make([]float64, len(s.Row))
		}
		r.decayed = make([]float64, len(s.Row))
		r.paths = make([]float64, len(s.Row))
	}
	w := &explain.Walk{P: p, Steps: decaySteps, Workers: s.Workers}
	decay := func(step int) float32 { return float32(decayOf(step)) }
	left, err := w.Run(ctx, nodes, decay, func(step int, x *sparse.Block[float32]) bool {
		for i, u := range s.Row {
			for j, y := range x.Row(u) {
				q := p.Degrees[u] * float64(y)
				if step > 0 {
					list[j].decayed[i] += float64(decayOf(step) * q)
				}
				if step > 0 && step <= len(list[j].walk) {
					list[j].walk[step-1][i] = q
				}
			}
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	x := newBlock(m.fixed.Rows, len(nodes))
	next := newBlock(m.fixed.Rows, len(nodes))
	for j, v := range nodes {
		x.Row(v)[j] = 1
	}
	for range 2 {
		if err := m.labels.g.stepTo(ctx, m.labels.g.sums, next, x); err != nil {
			return nil, nil, err
		}
		x, next = next, x
	}
	for i, u := range s.Row {
		for j, y := range x.Row(u) {
			list[j].paths[i] = float64(y)
		}
	}
	return list, left, nil
}

// addShares divides the contributions of the columns x of labels among the labels that a model sees.
func (m *Model) addShares(t *explain.Terms, model int, x []float32, contribution []float64, r *reach) {
	s := m.sample
	c := m.labels
	k := c.target.Cols
	unseen := append(slices.Clone(m.hidden[model]), m.unseenFold(model, -1))
	mass := make([]float64, k)
	factor := make([]float64, k) // of the weights of labels, by column of targets
	for first := 0; first < len(x); {
		view := c.list[first].View
		last := first
		for last < len(x) && c.list[last].View == view {
			last++
		}
		clear(mass)
		clear(factor)
		total := 0.0
		each := func(visit func(i, column int, weight float64)) {
			weights := r.of(view)
			for i, u := range s.Row {
				w := weights[i]
				if w == 0 || slices.Contains(unseen, s.Fold[i]) {
					continue
				}
				if view == Rare {
					w /= s.Problem.Degrees[u]
				}
				visit(i, c.columnOf[i], w)
			}
		}
		each(func(_, column int, w float64) {
			mass[column] += w
			total += w
		})
		for l := first; l < last; l++ {
			y := contribution[l]
			o := c.place[l]
			switch {
			case y == 0:
			case o < 0 && total > 0: // all labels
				for column := range factor {
					factor[column] += y / total
				}
			case o >= 0 && mass[o] > 0 && (x[l] > c.threshold(view, o) || mass[o] == total):
				factor[o] += y / mass[o]
			case o >= 0 && total > mass[o]:
				for column := range factor {
					if column != o {
						factor[column] += y / (total - mass[o])
					}
				}
			default:
				t.Rest += y
			}
		}
		each(func(i, column int, w float64) { t.Share[i] += w * factor[column] })
		first = last
	}
}

// threshold returns the value of a column of labels above which the labels of its class, and not the labels of other
// classes, are responsible for its contribution.
func (c *labelColumns) threshold(view View, column int) float32 {
	if view == Count {
		return 0
	}
	return c.prior[column]
}

// newForm returns the form of scores of classes: the logarithms of their probabilities by trees, less the mean over the
// classes of known nodes. probabilities must have a row for each node.
func newForm(m *Model, probabilities *block) *explain.Form {
	f := &explain.Form{A: m.sample.Problem.A, Right: func(node, class int) float64 { return float64(probabilities.Row(node)[class]) }}
	f.Terms = func(ctx context.Context, nodes, class []int) ([]explain.Terms, *block, error) {
		score := make([][]float64, len(nodes))
		start := make([]float64, len(nodes)) // scores before the first round
		terms, left, err := m.Terms(ctx, nodes, func(j int, base, scores []float64) []float64 {
			score[j] = m.centred(scores)
			start[j] = m.centred(base)[class[j]]
			return m.centredWeights(class[j])
		})
		for j := range terms {
			terms[j].Score = score[j]
			terms[j].Rest += start[j]
		}
		return terms, left, err
	}
	return f
}

// centred returns the logarithms of the probabilities of the classes less their mean over the classes of known nodes. Other
// classes have −∞.
func (m *Model) centred(scores []float64) []float64 {
	list := make([]float64, m.Classes)
	for c := range list {
		list[c] = math.Inf(-1)
	}
	for _, c := range m.Class {
		list[c] = 0
		for o, w := range m.centredWeights(c) {
			list[c] += float64(w * scores[o])
		}
	}
	return list
}

// centredWeights returns the weights of the scores in the centred score of a class.
func (m *Model) centredWeights(class int) []float64 {
	weights := make([]float64, m.Outputs())
	if len(m.Class) <= 2 { // the score is the log odds of the second class
		if len(m.Class) == 2 {
			weights[0] = -0.5
			if class == m.Class[1] {
				weights[0] = 0.5
			}
		}
		return weights
	}
	for o, c := range m.Class {
		weights[o] = -1 / float64(len(m.Class))
		if c == class {
			weights[o]++
		}
	}
	return weights
}
