package graphs

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

// labelPair counts the walks from a vertex with one label to a vertex with another label, whatever the labels between them:
//
//	K(g, h) = ⟨L_g(Σ λᵢA_gⁱ)L_gᵀ, L_h(Σ λᵢA_hⁱ)L_hᵀ⟩
//
// where row a of L marks the vertices with label a (Gärtner, Flach and Wrobel 2003). λᵢ = cⁱ needs c < 1/ρ(A) for each graph.
// Cost: for each graph and label, a sweep over the arcs for each term of the sum.
var labelPair = Kernel{
	Spec: param.Spec{
		Name: "label-pair", Title: "⟨L(Σ λᵢAᵢ)Lᵀ, …⟩, walks between two labels",
		Works: param.Graphs, Params: weights(),
		Source: "Gärtner, Flach and Wrobel, On graph kernels: hardness results and efficient alternatives, COLT 2003",
	},
	New: func(ctx context.Context, c *graphfile.Collection, v param.Values, s *Settings) (Rows, error) {
		w := newPlainWalks(c, s)
		scheme, err := w.weigh(ctx, c, v, nearest, w.alone)
		if err != nil {
			return nil, err
		}
		pairs := make([][]pairSum, len(c.Graphs))
		err = sched.Run(ctx, w.workers, len(pairs), func(worker, i int) (err error) {
			pairs[i], err = w.alone(worker, i).labelPairs(&c.Graphs[i],
				scheme.decay, scheme.exponential)
			return err
		})
		if err != nil {
			return nil, err
		}
		number := interner[int64]{}
		graph := make([]entries, len(pairs))
		for i, sums := range pairs {
			byLabel := make(map[int32]float64, len(sums))
			for _, x := range sums {
				byLabel[number.of(int64(x.source)<<32|int64(x.target))] = x.sum
			}
			graph[i] = entriesOf(byLabel)
		}
		return newFeatures(graph, len(number)), nil
	},
	Radius: func(ctx context.Context, c *graphfile.Collection, s *Settings) (float64, error) {
		w := newPlainWalks(c, s)
		return w.largest(ctx, w.alone)
	},
	Memory: func(s *graphfile.Shape, _ param.Values, workers int) int64 {
		sums, vectors := s.Pairs*(featureBytes+16),
			int64(workers)*5*8*int64(s.Largest)
		return orderedBytes(s) + sums + vectors
	},
}

// nearest is the largest c·ρ for which a sum is computed term by term, with about 300,000 terms.
const nearest = 1 - 1e-4

// newPlainWalks returns walks without labels. The second graph of a product is a vertex with an arc to itself, so that the
// product is the first graph.
func newPlainWalks(c *graphfile.Collection, s *Settings) *walks {
	plain := *c
	plain.Graphs = nil
	for i := range c.Graphs {
		plain.Graphs = append(plain.Graphs,
			graphfile.Member{Ptr: c.Graphs[i].Ptr, To: c.Graphs[i].To})
	}
	plain.Graphs = append(plain.Graphs,
		graphfile.Member{Ptr: []int32{0, 1}, To: []int32{0}})
	w := newWalks(&plain, s)
	w.graph, w.point = w.graph[:len(c.Graphs)], w.graph[len(c.Graphs)]
	return w
}

func (w *walks) alone(worker, i int) *product {
	p := &w.space[worker]
	p.reset(w.graph[i], w.point)
	return p
}

// pairSum is an entry of L(Σ λᵢAⁱ)Lᵀ.
type pairSum struct {
	source, target int32
	sum            float64
}

// labelPairs returns the nonzero entries of L(Σ λᵢAⁱ)Lᵀ.
func (p *product) labelPairs(m *graphfile.Member, c float64,
	exponential bool) (list []pairSum, err error) {
	label := m.Label
	if label == nil {
		label = make([]int32, m.Len())
	}
	labels := slices.Compact(slices.Sorted(slices.Values(label)))
	sums := make([]float64, p.len())
	total := 0.0
	if !exponential {
		total = p.limit(c)
	}
	for _, b := range labels {
		for v, l := range label {
			p.r[v] = 0
			if l == b {
				p.r[v] = 1
			}
		}
		p.sumTo(sums, c, total, exponential)
		total := map[int32]float64{}
		for v, l := range label {
			total[l] += sums[v]
		}
		for _, a := range labels {
			if x, err := finite(total[a]); err != nil {
				return nil, err
			} else if x > 0 {
				list = append(list, pairSum{a, b, x})
			}
		}
	}
	return list, nil
}

// sumTo stores Σ λᵢA×ⁱx in dst for the vector x ≥ 0 in p.r. An exponential sum ends as in
// [product.exponential]. For a geometric sum p.p must hold y = (I − cA×)⁻¹1, and total must be 1ᵀy.
// Terms after d ≤ βy add up to at most Σ(cA×)ⁱβy ≤ βy·max y, since cA×y = y − 1 ≤ (1 − 1/max y)y.
func (p *product) sumTo(dst []float64, c, total float64, exponential bool) {
	copy(dst, p.r)
	sum := 0.0
	largest := 0.0
	for v, x := range dst {
		sum += x
		if !exponential {
			largest = max(largest, p.p[v])
		}
	}
	for i := 1; ; i++ {
		p.apply(p.r)
		lambda := c
		if exponential {
			lambda = c / float64(i)
		}
		term := 0.0
		beta := 0.0
		for v, q := range p.q {
			d := float64(lambda * q)
			p.r[v] = d
			dst[v] += d
			term += d
			if !exponential {
				beta = max(beta, d/p.p[v])
			}
		}
		sum += term
		left := beta * largest * total
		if exponential {
			next := c * float64(p.g.degree) / float64(i+1)
			left = math.Inf(1)
			if next < 1 {
				left = term * next / (1 - next)
			}
		}
		if term == 0 || math.IsInf(sum, 1) || left <= valueError*sum {
			return
		}
	}
}
