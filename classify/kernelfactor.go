package classify

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// factor returns features G of the given items with K = GGᵀ up to 1e-15·max K_ii on
// the diagonal, as many as K has rank: Cholesky's factor with pivots. Cost: m·r²/2
// products for m items and rank r. The error is [ErrIndefinite] if K is seen not to be
// positive semidefinite.
func factor(ctx context.Context, k Gram, items []int) (Features[float64], error) {
	gram, err := gather(ctx, k, items)
	if err != nil {
		return Features[float64]{}, err
	}
	m := len(items)
	left := make([]float64, m) // of the diagonal
	var largest float64
	for i := range left {
		left[i] = gram.row(i)[i]
		largest = max(largest, left[i])
	}
	for i := range m {
		for j, v := range gram.row(i)[:i] {
			if math.Abs(v) > math.Sqrt(max(0, left[i]*left[j]))+1e-6*largest {
				return Features[float64]{}, ErrIndefinite
			}
		}
	}
	g := Features[float64]{Rows: m, Stride: m, Data: make([]float64, m*m)}
	for range m {
		pivot := 0
		for i, d := range left {
			if d < -1e-6*largest {
				return g, ErrIndefinite
			}
			if d > left[pivot] {
				pivot = i
			}
		}
		if left[pivot] <= 1e-15*largest {
			break
		}
		if err := eliminate(ctx, &g, gram.row(pivot), pivot, left); err != nil {
			return g, err
		}
	}
	return g, nil
}

// eliminate adds the feature of a pivot to g, whose row of the kernel is values, and
// takes it from what is left of the diagonal.
func eliminate(ctx context.Context, g *Features[float64], values []float64, pivot int, left []float64) error {
	const piece = 256 // items
	root := math.Sqrt(left[pivot])
	own := g.Row(pivot)
	err := sched.Run(ctx, 0, (g.Rows+piece-1)/piece, func(_, p int) error {
		for i := p * piece; i < min(g.Rows, (p+1)*piece); i++ {
			v := (values[i] - inner(g.Row(i), own)) / root
			g.Data[i*g.Stride+g.Cols] = v
			left[i] -= v * v
		}
		return nil
	})
	g.Cols++
	left[pivot] = 0
	return err
}

// fitKernelSoftmax fits multinomial logistic regression with a ridge λ on the functions
// Σ_i α_ic·K(·, i) of the classes, and with or without free biases. At the minimum α is
// (Y − π)/λ, where Y are the one-hot classes and π their probabilities.
func fitKernelSoftmax(ctx context.Context, k Gram, y []int, classes int, lambda float64, biases bool) (*KernelModel, error) {
	g, err := newGroupsOfTwo(k, y, classes)
	if err != nil {
		return nil, err
	}
	items := used(y)
	features, err := factor(ctx, k, items)
	if err != nil {
		return nil, err
	}
	own := make([]int, len(items))
	for a := range own {
		own[a] = a
	}
	s := &softmaxFit[float64]{
		features: features, items: own, y: g.positions(items), class: g.present,
		ridge: [3]float64{lambda}, tolerance: 1e-12, limit: 200,
	}
	if biases {
		s.biases = len(g.present)
	}
	s.begin()
	if err := s.solve(ctx); err != nil {
		return nil, err
	}
	s.predict()
	_, b, _ := s.split(s.theta)
	model := &KernelModel{Classes: classes, Items: k.Len(), Pairs: g.againstRest(), Machines: make([]Machine, len(g.present))}
	for c := range model.Machines {
		machine := Machine{Index: items, Coef: make([]float64, len(items))}
		for a := range items {
			machine.Coef[a] = -s.share[a*len(g.present)+c] / lambda
			if s.y[a] == c {
				machine.Coef[a] += 1 / lambda
			}
		}
		if biases {
			machine.Rho = -b[c]
		}
		model.Machines[c] = machine
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

// kernelSoftmaxBytes returns what fitKernelSoftmax takes: values, factor and the rest.
func kernelSoftmaxBytes(items, classes int) int64 {
	return 16*int64(items)*int64(items) + softmaxBytes(items, items, classes)
}
