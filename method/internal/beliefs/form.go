package beliefs

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	adjointRounds    = 300
	adjointTolerance = 1e-6 // change of the adjoint in a round, relative
)

// Form returns the linearisation at the beliefs of the last round, after [Model.Predict] with Explain. With the messages
// m_u = log(F_u R) and the logits
//
//	z_v = b + t Σ_u A_vu m_u − t d_v log(f R)
//
// the score of a class is its logit less that of the class with the next one. The derivatives λ_v of the score by z_v are the
// fixed point of λ ← e + Kᵀλ, where K are the derivatives of a round, which is reached by the same damped rounds; if the beliefs
// have not settled, as many as they had. A labelled
// node has the share t Σ_v A_uv λ_v·m_u: ε of it is the loss of the score if its message is weakened by ε, to first order.
// Rest is everything else: the prior, the field, and evidence from nodes whose beliefs are saturated, so that no single label
// changes them. Cost: a sweep for each round.
func (m *Model) Form() *explain.Form {
	q := m.explained
	if q == nil {
		return nil
	}
	f := &explain.Form{Width: q.seeds.Classes, Message: func(dst []float32, node int) {
		messageTo(dst, q, node)
		for c := range dst {
			dst[c] -= q.field[c]
		}
	}}
	f.Terms = func(ctx context.Context, nodes, class []int) ([]explain.Terms, *sparse.Block[float32], error) {
		if err := q.sweep(ctx, nil); err != nil {
			return nil, nil, err
		}
		terms := make([]explain.Terms, len(nodes))
		k, t := q.seeds.Classes, q.t
		left, sums := chunks.Block[float32](len(q.seedOf), k*len(nodes)), chunks.Block[float32](len(q.seedOf), k*len(nodes))
		source := make([]float32, left.Cols)
		for j, v := range nodes {
			row := slices.Clone(q.evidence.Row(v))
			q.takeLogits(v, row)
			terms[j].Score = make([]float64, k)
			simd.ConvertTo(terms[j].Score, row)
			rival := -1
			for c, z := range terms[j].Score {
				if c != class[j] && (rival < 0 || z > terms[j].Score[rival]) {
					rival = c
				}
			}
			lowest := terms[j].Score[rival]
			for c := range terms[j].Score {
				terms[j].Score[c] -= lowest
			}
			if q.seedOf[v] < 0 {
				source[j*k+class[j]], source[j*k+rival] = 1, -1
			}
		}
		if err := adjointTo(ctx, q, left, sums, nodes, source); err != nil {
			return nil, nil, err
		}
		message := make([]float32, k)
		for j, v := range nodes {
			terms[j].Share = make([]float64, len(q.seeds.Row))
			terms[j].Rest = terms[j].Score[class[j]]
			for u, row := range q.seeds.Row {
				messageTo(message, q, row)
				for c, y := range sums.Row(row)[j*k : (j+1)*k] {
					terms[j].Share[u] += float64(t) * float64(y) * float64(message[c])
				}
				if row == v {
					terms[j].Share[u] = terms[j].Rest
				}
				terms[j].Rest -= terms[j].Share[u]
			}
		}
		for i := range left.Rows { // of weights that are not divided by their mean
			for j := range left.Cols {
				left.Row(i)[j] *= t / float32(q.unit)
			}
		}
		return terms, left, nil
	}
	return f
}

// messageTo stores log(F R) of a node.
func messageTo(dst []float32, q *run, node int) {
	q.endsTo(dst, q.beliefs.Row(node), 0)
	for c, e := range dst {
		dst[c] = log32(e)
	}
}

// adjointTo stores λ in left and A λ in sums, of the sources at some nodes.
func adjointTo(ctx context.Context, q *run, left, sums *sparse.Block[float32], nodes []int, source []float32) error {
	k, t := q.seeds.Classes, q.t
	limit := adjointRounds
	if q.active { // labels had an effect on nodes of this distance only
		limit = q.rounds
	}
	for round := range limit {
		if err := q.op.StepTo(ctx, sums, left, sparse.Step[float32]{Alpha: 1}); err != nil {
			return err
		}
		field := make([]float64, left.Cols) // −t Σ_v d_v λ_v / (f R), divided by Σd
		for i, d := range q.g.Degrees {
			for j, x := range left.Row(i) {
				field[j] -= float64(t) * d / q.unit / q.total * float64(x) * math.Exp(-float64(q.field[j%k]))
			}
		}
		partial := make([][2]float64, (left.Rows+chunks.Length-1)/chunks.Length) // of changes and of λ
		err := chunks.Run(ctx, q.g.Workers, left.Rows, func(piece, lo, hi int) {
			ends, x, y := make([]float32, k), make([]float32, k), make([]float32, k)
			for i := lo; i < hi; i++ {
				if q.seedOf[i] >= 0 {
					continue
				}
				f, d := q.beliefs.Row(i), q.g.Degrees[i]/q.unit
				q.endsTo(ends, f, 0)
				for j := 0; j < left.Cols; j += k {
					for c := range x {
						x[c] = float32(t*sums.Row(i)[j+c])/ends[c] + float32(d*field[j+c])
					}
					ratiosTimes(y, q, x)
					mean := float32(0)
					for c, p := range f {
						mean += float32(p * y[c])
					}
					for c, p := range f {
						old, v := left.Row(i)[j+c], p*float32(y[c]-mean)
						if nodes[j/k] == i {
							v += source[j+c]
						}
						v = float32(damping*old) + float32((1-damping)*v)
						left.Row(i)[j+c] = v
						partial[piece][0] += math.Abs(float64(v - old))
						partial[piece][1] += math.Abs(float64(v))
					}
				}
			}
		})
		change, size := 0.0, 0.0
		for _, p := range partial {
			change, size = change+p[0], size+p[1]
		}
		if err != nil || round > 0 && change <= adjointTolerance*size {
			return err
		}
	}
	return nil
}

// ratiosTimes stores R x, of homophily but for a constant, which softmax ignores.
func ratiosTimes(dst []float32, q *run, x []float32) {
	clear(dst)
	for c, v := range x {
		if q.ratios == nil {
			dst[c] = q.factors[c] * v
			continue
		}
		for i, r := range q.factors[c*len(x) : (c+1)*len(x)] {
			dst[i] += float32(r * v)
		}
	}
}
