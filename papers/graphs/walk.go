package graphs

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/param"
)

// weights returns the declarations of the parameters that weigh the walks of a kernel.
func weights() []param.Param {
	return []param.Param{
		{Name: "weights", Meaning: "λᵢ of the walks of i steps: cⁱ, or cⁱ/i!", Kind: param.Choice,
			Words:   []string{"geometric", "exponential"},
			Default: param.Of("geometric")},
		{Name: "decay", Symbol: "c", Meaning: "weight of a step", Range: param.Above(0), Default: param.Of(0.5),
			Grid: param.Grid(0.1, 0.5, 0.9),
			On: func(x float64, _ param.Values, g param.Graph) (float64, error) {
				radius, err := g.Radius(true)
				if err != nil || !(radius > 0) {
					return x, err
				}
				return x / radius, nil
			}},
	}
}

// labelOrder is a graph with vertices sorted by label: equal labels are a range.
type labelOrder struct {
	ptr, targets []int32
	edgeLabel    []int32 // nil: none; else the arcs of a vertex are sorted by label
	label        []int32 // label of each vertex
	group        []group
	degree       int // largest in-degree or out-degree
	directed     bool
}

type group struct{ label, lo, hi int32 }

func newOrdered(m *graphfile.Member, directed bool) *labelOrder {
	n := m.Len()
	order := make([]int32, n)
	place := make([]int32, n)
	for v := range order {
		order[v] = int32(v)
	}
	slices.SortStableFunc(order,
		func(a, b int32) int { return cmp.Compare(numberOf(m.Label, a), numberOf(m.Label, b)) })
	for position, v := range order {
		place[v] = int32(position)
	}
	g := &labelOrder{ptr: make([]int32, n+1), directed: directed}
	for position, v := range order {
		l := numberOf(m.Label, v)
		g.label = append(g.label, l)
		if last := len(g.group) - 1; last < 0 || g.group[last].label != l {
			g.group = append(g.group, group{l, int32(position), int32(position)})
		}
		g.group[len(g.group)-1].hi++
		arcs := make([][2]int32, 0, len(arcsOf(m, int(v)))) // label, end
		for a := m.Ptr[v]; a < m.Ptr[v+1]; a++ {
			arcs = append(arcs, [2]int32{numberOf(m.EdgeLabel, a), place[m.To[a]]})
		}
		slices.SortFunc(arcs,
			func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
		for _, arc := range arcs {
			g.targets = append(g.targets, arc[1])
			if m.EdgeLabel != nil {
				g.edgeLabel = append(g.edgeLabel, arc[0])
			}
		}
		g.ptr[position+1] = int32(len(g.targets))
		g.degree = max(g.degree, len(arcs))
	}
	in := make([]int, n)
	for _, w := range g.targets {
		in[w]++
		g.degree = max(g.degree, in[w])
	}
	return g
}

func (g *labelOrder) len() int { return len(g.label) }

// product is the direct product of two graphs. Its vertices are the pairs of equally labelled vertices; an arc leads from (u,
// v) to (u′, v′) if arcs with equal labels lead from u to u′ and from v to v′. A vector on it is a matrix whose row u holds
// the vertices of the second graph with the label of u. The matrix of the product is never stored: A×x is A_g X A_hᵀ where
// labels agree.
type product struct {
	g, h   *labelOrder
	base   []int32 // start of each row; then their total length
	lo, hi []int32
	y      []float64

	r, p, q []float64
}

func (p *product) reset(g, h *labelOrder) {
	n := g.len()
	p.g = g
	p.h = h
	p.base, p.lo, p.hi = slices.Grow(p.base[:0], n+1)[:n+1],
		slices.Grow(p.lo[:0], n)[:n], slices.Grow(p.hi[:0], n)[:n]
	p.y = slices.Grow(p.y[:0], h.len())[:h.len()]
	size := int32(0)
	b := 0
	for _, members := range g.group {
		for b < len(h.group) && h.group[b].label < members.label {
			b++
		}
		joined := group{}
		if b < len(h.group) && h.group[b].label == members.label {
			joined = h.group[b]
		}
		for u := members.lo; u < members.hi; u++ {
			p.base[u] = size
			p.lo[u] = joined.lo
			p.hi[u] = joined.hi
			size += joined.hi - joined.lo
		}
	}
	p.base[n] = size
	for _, v := range []*[]float64{&p.r, &p.p, &p.q} {
		*v = slices.Grow((*v)[:0], int(size))[:size]
	}
}

func (p *product) len() int { return int(p.base[len(p.base)-1]) }

// apply stores A×x in p.q. Cost: the arcs of each graph times the equally labelled vertices of the other graph.
func (p *product) apply(x []float64) {
	g := p.g
	h := p.h
	for u := range g.label {
		out := p.q[p.base[u]:p.base[u+1]]
		clear(out)
		if len(out) == 0 {
			continue
		}
		end := g.ptr[u+1]
		for a := g.ptr[u]; a < end; {
			clear(p.y)
			l := numberOf(g.edgeLabel, a)
			for ; a < end && numberOf(g.edgeLabel, a) == l; a++ {
				w := g.targets[a]
				y := p.y[p.lo[w]:p.hi[w]]
				for j, value := range x[p.base[w]:p.base[w+1]] {
					y[j] += value
				}
			}
			p.gather(out, u, l, h)
		}
	}
}

// gather adds to out[j] the sum of y over the heads of those arcs of vertex lo[u] + j of h that have label l.
func (p *product) gather(out []float64, u int, l int32, h *labelOrder) {
	for j := range out {
		v := int(p.lo[u]) + j
		sum := 0.0
		if h.edgeLabel == nil {
			for _, neighbour := range h.targets[h.ptr[v]:h.ptr[v+1]] {
				sum += p.y[neighbour]
			}
		} else {
			for a := h.ptr[v]; a < h.ptr[v+1]; a++ {
				if h.edgeLabel[a] == l {
					sum += p.y[h.targets[a]]
				}
			}
		}
		out[j] += sum
	}
}

// radius returns an upper bound of ρ(A×). It iterates x ← (I + A×)x from x = 1 until stop returns
// true for the bounds lo ≤ ρ(A×) ≤ hi. max (A×x)ᵢ/xᵢ is an upper bound for any x > 0 (Collatz and
// Wielandt), and on undirected graphs xᵀA×x/xᵀx is a lower bound. On directed graphs lo is 0, and
// the result is 0 if all walks end after a few steps.
func (p *product) radius(stop func(lo, hi float64, steps int) bool) float64 {
	ones(p.r)
	if p.g.directed {
		for range 64 {
			p.apply(p.r)
			p.r, p.q = p.q, p.r
			if scale(p.r) == 0 {
				return 0
			}
		}
		ones(p.r)
	}
	lo, hi := 0.0, math.Inf(1)
	for steps := 1; ; steps++ {
		p.apply(p.r)
		largest := 0.0
		xx := 0.0
		xy := 0.0
		for i, x := range p.r {
			y := p.q[i]
			largest = max(largest, y/x)
			xx += float64(x * x)
			xy += float64(x * y)
			p.r[i] = x + y
		}
		hi = min(hi, largest)
		if !p.g.directed && xx > 0 {
			lo = min(hi, max(lo, xy/xx*(1-1e-12)))
		}
		if hi == 0 || stop(lo, hi, steps) {
			return hi
		}
		scale(p.r)
		for i := range p.r {
			p.r[i] = max(p.r[i], 1e-280) // the upper bound needs x > 0
		}
	}
}

// scale divides x by its largest element, which it returns.
func scale(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, v)
	}
	if largest > 0 {
		for i := range x {
			x[i] /= largest
		}
	}
	return largest
}

func ones(x []float64) {
	for i := range x {
		x[i] = 1
	}
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// valueError bounds the relative truncation error of a sum.
const valueError = 1e-14

// geometric returns 1ᵀ(I − cA×)⁻¹1, given c·ρ(A×) ≤ rate < 1. On undirected graphs it uses conjugate gradients: the value is
// the sum of the terms αₖ‖rₖ‖², and the error is at most ‖r‖²/(1 − rate).
func (p *product) geometric(c, rate float64) float64 {
	if p.g.directed {
		return p.limit(c)
	}
	ones(p.r)
	copy(p.p, p.r)
	rr := float64(p.len())
	value := 0.0
	for rr > valueError*(1-rate)*value || value == 0 {
		p.apply(p.p)
		curvature := 0.0
		for i, x := range p.p {
			p.q[i] = x - float64(c*p.q[i])
			curvature += float64(x * p.q[i])
		}
		alpha := rr / curvature
		if !(alpha > 0) { // there are no vertices, or the system is solved
			break
		}
		value += float64(alpha * rr)
		next := 0.0
		for i, q := range p.q {
			p.r[i] -= float64(alpha * q)
			next += float64(p.r[i] * p.r[i])
		}
		for i, r := range p.r {
			p.p[i] = r + float64(next/rr*p.p[i])
		}
		rr = next
	}
	return value
}

// limit returns 1ᵀy for y = (I − cA×)⁻¹1, given c·ρ(A×) < 1, and stores y in p.p. It adds terms d =
// (cA×)ᵏ1. With the sum y so far, cA×y = y + d − 1 ≤ θy and d ≤ βy, so that all further terms add
// up to at most y·β/(1 − θ).
func (p *product) limit(c float64) (sum float64) {
	ones(p.r)
	ones(p.p)
	for {
		p.apply(p.r)
		beta := 0.0
		theta := 0.0
		for v, y := range p.p {
			d := c * p.q[v]
			beta = max(beta, d/y)
			theta = max(theta, 1-(1-d)/y)
			p.r[v] = d
			p.p[v] = y + d
		}
		if beta <= valueError*(1-theta) {
			break
		}
	}
	for _, y := range p.p {
		sum += y
	}
	return sum
}

// exponential returns 1ᵀexp(cA×)1 = Σ cⁱ/i!·1ᵀA×ⁱ1. A term is at most c·d/i of the previous term,
// where d is the largest degree of the product. On undirected graphs a step gives two terms, by
// 1ᵀA²ʲ1 = ‖Aʲ1‖².
func (p *product) exponential(c float64) float64 {
	ones(p.r)
	degree := float64(p.g.degree) * float64(p.h.degree)
	sum := float64(p.len())
	lambda := 1.0
	add := func(i int, walks float64) (done bool) {
		lambda *= c / float64(i)
		term := lambda * walks
		sum += term
		next := c * degree / float64(i+1)
		return term == 0 || math.IsInf(sum, 1) ||
			next < 1 && term*next <= valueError*(1-next)*sum
	}
	for i := 1; ; {
		p.apply(p.r) // p.r is scaled so that λ does not overflow before the sum does
		if p.g.directed {
			walks := 0.0
			for _, v := range p.q {
				walks += v
			}
			if add(i, walks) {
				return sum
			}
			i++
		} else {
			if add(i, dot(p.r, p.q)) || add(i+1, dot(p.q, p.q)) {
				return sum
			}
			i += 2
		}
		p.r, p.q = p.q, p.r
		largest := scale(p.r)
		if p.g.directed {
			lambda *= largest
		} else {
			lambda *= largest * largest
		}
	}
}
