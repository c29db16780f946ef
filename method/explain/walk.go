package explain

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Walk is the walk by T = D⁻¹A from a few nodes of an undirected graph. Labelled nodes absorb the share α = Absorb of it
// at each step. With q_t(v, ·) the probability that the walk from v is at a node after t steps and has not been absorbed,
//
//	x_0 = D⁻¹e_v,  x_{t+1} = T·(I − α·E)·x_t,  q_t(v, i) = d_i·x_t(i)
//
// where E has ones at labelled nodes. At a node without edges x is 0.
type Walk struct {
	P       *problem.Problem
	Absorb  float64
	Steps   int
	Workers int
}

// Run walks from nodes and returns Σ_t weight(t)·x_t over the visited steps. It calls visit with x_t for t = 0 … Steps,
// until visit returns false. x has a column for each of nodes and is valid until visit returns. Cost: a sweep for each
// step.
func (w *Walk) Run(ctx context.Context, nodes []int, weight func(t int) float32,
	visit func(t int, x *sparse.Block[float32]) bool) (*sparse.Block[float32], error) {
	n := len(w.P.Degrees)
	x := sparse.NewBlock[float32](n, len(nodes))
	next := sparse.NewBlock[float32](n, len(nodes))
	total := sparse.NewBlock[float32](n, len(nodes))
	for j, v := range nodes {
		if d := w.P.Degrees[v]; d > 0 {
			x.Row(v)[j] = float32(1 / d)
			total.Row(v)[j] = weight(0) * x.Row(v)[j]
		}
	}
	op := sparse.NewOperator[float32](sparse.Transition, w.P.A, w.P.Degrees)
	op.Workers = w.Workers
	for t := 0; visit(t, x) && t < w.Steps; t++ {
		for _, row := range w.P.Row {
			for j := range x.Row(row) {
				x.Row(row)[j] *= float32(1 - w.Absorb)
			}
		}
		y := weight(t + 1)
		err := op.StepTo(ctx, next, x, sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) {
			for i := rows.Lo; i < rows.Hi; i++ {
				sums := total.Row(i)
				for j, v := range next.Row(i) {
					sums[j] += y * v
				}
			}
		}})
		if err != nil {
			return nil, err
		}
		x, next = next, x
	}
	return total, nil
}

// Absorbed describes scores that are sums over the distributions P_t of the walk of package cwk,
//
//	score_c(v) = bias_c + Σ_t Σ_b P_t(v, b)·w_t(b, c)
//
// where b are the classes of labels.
type Absorbed struct {
	Walk
	Prior  []float64                          // P_0 at nodes without a label
	Weight func(t, source, class int) float64 // w_t(source, c)
	Bias   []float64
	Scores func(node int) []float64
}

// A walk ends when all but the share settled of it has been absorbed.
const settled = 1e-7

// Form returns the form of the scores of a. P_t(v, b) has two terms: the sum of q_t(v, u) + α·Σ_{s<t} q_s(v, u) over the
// labelled nodes u of class b, and the rest of the walk times the prior of b. Therefore
//
//	share(u, v, c) = Σ_t q_t(v, u)·(w_t(b_u, c) + α·Σ_{s>t} w_s(b_u, c))
func (a *Absorbed) Form() *Form {
	p := a.P
	k := len(p.Names)
	// later returns w_t(b, c) + α·Σ_{s>t} w_s(b, c) of all b, for t = 0 … Steps.
	later := func(class int) [][]float64 {
		sums := make([][]float64, a.Steps+1)
		tail := make([]float64, k)
		for t := a.Steps; t >= 0; t-- {
			sums[t] = make([]float64, k)
			for b := range k {
				w := a.Weight(t, b, class)
				sums[t][b] = w + a.Absorb*tail[b]
				tail[b] += w
			}
		}
		return sums
	}
	f := &Form{Right: func(node, class int) float64 { return a.Scores(node)[class] - a.Bias[class] }}
	f.Terms = func(ctx context.Context, nodes, class []int) ([]Terms, *sparse.Block[float32], error) {
		terms := make([]Terms, len(nodes))
		weights := make([][][]float64, len(nodes))
		for j, v := range nodes {
			weights[j] = later(class[j])
			terms[j] = Terms{Score: a.Scores(v), Rest: a.Bias[class[j]],
				Share: make([]float64, len(p.Row))}
			for t := range a.Steps + 1 { // scores as if no walk met a label
				for b, q := range a.Prior {
					terms[j].Rest += q * a.Weight(t, b, class[j])
				}
			}
		}
		gone := make([]float64, len(nodes)) // absorbed share of the walk
		left, err := a.Run(ctx, nodes, func(int) float32 { return 1 }, func(t int, x *sparse.Block[float32]) bool {
			unsettled := false
			for j, v := range nodes {
				met := 0.0
				for u, row := range p.Row {
					q := p.Degrees[row] * float64(x.Row(row)[j])
					if row == v && p.Degrees[v] == 0 { // the walk stays
						q = math.Pow(1-a.Absorb, float64(t))
					}
					met += q
					terms[j].Share[u] += q * weights[j][t][p.Class[u]]
				}
				gone[j] += a.Absorb * met
				for b, prior := range a.Prior {
					terms[j].Rest -= met * prior * weights[j][t][b]
				}
				unsettled = unsettled || gone[j] < 1-settled && (met > 0 || p.Degrees[v] > 0)
			}
			return unsettled
		})
		return terms, left, err
	}
	return f
}
