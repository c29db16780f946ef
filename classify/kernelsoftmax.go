package classify

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// kernelSoftmax is a [softmaxMap] of m items with a kernel: θ holds a column α_c of m
// coefficients for each class and perhaps a bias b_c for each, and z = Kα + b. The
// inner product of coefficients is that of the functions Σ α_i·K(·, i) that they stand
// for, in which the adjoint of α ↦ Kα is the identity. The ridge is on these
// functions alone.
type kernelSoftmax struct {
	gram  *DenseGram[float64] // between the m items
	k     int
	ridge float64
	bias  bool
}

// params returns the number of parameters.
func (p *kernelSoftmax) params() int {
	n := p.gram.N * p.k
	if p.bias {
		n += p.k
	}
	return n
}

// logitsTo implements [softmaxMap].
func (p *kernelSoftmax) logitsTo(ctx context.Context, z, theta []float64) error {
	const batch = 64 // items
	m := p.gram.N
	bias := theta[m*p.k:]
	return sched.Run(ctx, 0, (m+batch-1)/batch, func(_, piece int) error {
		for i := piece * batch; i < min(m, (piece+1)*batch); i++ {
			row := p.gram.row(i)
			for c := range p.k {
				z[i*p.k+c] = inner(row, theta[c*m:(c+1)*m])
			}
			if p.bias {
				addScaled(z[i*p.k:], 1, bias)
			}
		}
		return nil
	})
}

// adjointTo implements [softmaxMap].
func (p *kernelSoftmax) adjointTo(_ context.Context, g, r []float64) error {
	m := p.gram.N
	for i := range m {
		for c := range p.k {
			g[c*m+i] = r[i*p.k+c]
		}
	}
	if p.bias {
		sums := g[m*p.k:]
		clear(sums)
		for i := range m {
			addScaled(sums, 1, r[i*p.k:(i+1)*p.k])
		}
	}
	return nil
}

// addRidge implements [softmaxMap].
func (p *kernelSoftmax) addRidge(g, theta []float64) {
	addScaled(g, p.ridge, theta[:p.gram.N*p.k])
}

// inner implements [softmaxMap].
func (p *kernelSoftmax) inner(u, v, z []float64) float64 {
	m := p.gram.N
	bias := v[m*p.k:]
	sum := inner(u[m*p.k:], bias)
	for c := range p.k {
		var part float64
		for i := range m {
			w := z[i*p.k+c]
			if p.bias {
				w -= bias[c]
			}
			part += u[c*m+i] * w
		}
		sum += part
	}
	return sum
}

// fitKernelSoftmax fits multinomial logistic regression with the given ridge, and
// with or without a bias for each class, to the items of g.
func fitKernelSoftmax(ctx context.Context, k Gram, g *groups, classes int, ridge float64, bias bool, tolerance float64) (*KernelModel, error) {
	items := used(g.y)
	gram, err := between(ctx, k, items)
	if err != nil {
		return nil, err
	}
	raw := gram.RawSymmetric()
	for a := range items { // which has the upper half
		for b := range a {
			raw.Data[a*raw.Stride+b] = raw.Data[b*raw.Stride+a]
		}
	}
	p := &kernelSoftmax{
		gram: &DenseGram[float64]{N: len(items), Stride: raw.Stride, Data: raw.Data},
		k:    len(g.present), ridge: ridge, bias: bias,
	}
	s := &softmaxFit{of: p, y: g.positions(items), k: p.k, theta: make([]float64, p.params()), tolerance: tolerance, limit: 200}
	if err := s.solve(ctx); err != nil {
		return nil, err
	}
	m := len(items)
	model := &KernelModel{Classes: classes, Items: k.Len(), Pairs: g.againstRest(), Machines: make([]Machine, p.k)}
	for c := range model.Machines {
		model.Machines[c] = Machine{Index: items, Coef: s.theta[c*m : (c+1)*m : (c+1)*m]}
		if bias {
			model.Machines[c].Rho = -s.theta[m*p.k+c]
		}
	}
	return model, nil
}

// positions returns the class of each of the items as a position in present.
func (g *groups) positions(items []int) []int {
	at := make([]int, len(g.start))
	for p, c := range g.present {
		at[c] = p
	}
	y := make([]int, len(items))
	for a, i := range items {
		y[a] = at[g.y[i]]
	}
	return y
}

// kernelSoftmaxBytes returns about what fitKernelSoftmax takes.
func kernelSoftmaxBytes(items, classes int) int64 {
	const blocks = 16 // of a number for each item and class
	return 8 * (int64(items)*int64(items) + blocks*int64(items)*int64(classes))
}
