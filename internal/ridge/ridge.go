// Package ridge implements ridge regression on explicit features for many ridges at once, with
// leave-one-out predictions.
package ridge

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
)

// Path is ridge regression on explicit features for
// many ridges at the price of one eigendecomposition, with leave-one-out predictions. With A the m×d features and a column of a
// constant, Y the targets, one-hot classes or numbers, and ȳ their means, it minimises
//
//	‖AW − (Y − 1ȳᵀ)‖² + λw̄‖W‖²,  w̄ = tr(AAᵀ)/m,
//
// and gives item i the scores Wᵀa_i + ȳ. With G = (AAᵀ + λw̄I)⁻¹ and C = G(Y − 1ȳᵀ) an
// item that is left out has exactly the scores Y_i − C_i/G_ii, but that ȳ is that of
// all: Golub, Heath, Wahba 1979.
type Path struct {
	Mean float64 // w̄

	a       *mat.Dense // m×(d + 1)
	y       *mat.Dense // m×k, the targets
	items   int        // m
	classes int        // k

	values    []float64  // of AAᵀ, or of AᵀA where that is smaller
	vectors   *mat.Dense // U of AAᵀ, or AV with V of AᵀA
	basis     *mat.Dense // V; nil: AAᵀ was taken
	projected *mat.Dense // vectorsᵀ·[Y 1]
}

// Bytes returns the bytes of a [Path] for the given number of items, features and classes, with
// the bytes for leaving out each of parts parts of the items; 0: no part is left out.
func Bytes(items, features, classes, parts int) int64 {
	m, d, k := int64(items), int64(features)+1, int64(classes)+1
	q := min(m, d)
	bytes := 8*m*d + 8*(4*q*q+m*q) + 8*k*(3*m+d)
	if parts > 0 {
		f := (m + int64(parts) - 1) / int64(parts) * 2
		bytes += 8 * (m*m + m*f + int64(parts)*m*k)
	}
	return bytes
}

// NewPath takes the features of items, to which it appends the column of the
// constant, and the classes of each, several or none: a row of Y has a one for each of
// them. No class is repeated in a row of y. Cost: the products of all columns or all items,
// whichever are fewer, and one eigendecomposition. The error is the context's.
func NewPath[T float32 | float64](ctx context.Context, f *sparse.Block[T], constant float64, y [][]int, classes, workers int) (*Path, error) {
	return NewTargetPath(ctx, f, constant, oneHot(y, classes), workers)
}

// NewTargetPath is [NewPath] for targets.
func NewTargetPath[T float32 | float64](ctx context.Context, f *sparse.Block[T], constant float64, targets *mat.Dense, workers int) (*Path, error) {
	items, k := targets.Dims()
	if items != f.Rows {
		panic(badLength)
	}
	m, d := f.Rows, f.Cols+1
	p := &Path{a: mat.NewDense(m, d, nil), y: targets, items: items, classes: k}
	for i := range m {
		row := p.a.RawRowView(i)
		for j, v := range f.Row(i) {
			row[j] = float64(v)
		}
		row[d-1] = constant
	}
	var matrix mat.Matrix = p.a
	if m > d {
		matrix = p.a.T()
	}
	squares := mat.NewSymDense(min(m, d), nil)
	squares.SymOuterK(1, matrix)
	if err := p.decompose(ctx, squares, workers); err != nil {
		return nil, err
	}
	if m > d {
		p.basis, p.vectors = p.vectors, new(mat.Dense)
		p.vectors.Mul(p.a, p.basis)
	}
	p.project()
	return p, nil
}

// NewGramPath takes the products AAᵀ of items, the values of a kernel between them, in place of their features.
// The constant is part of the kernel. It overwrites gram. Such a path has no weights, see [Path.Coefficients].
// Cost: one eigendecomposition. The error is the context's.
func NewGramPath(ctx context.Context, gram *mat.SymDense, y [][]int, classes, workers int) (*Path, error) {
	return NewTargetGramPath(ctx, gram, oneHot(y, classes), workers)
}

// NewTargetGramPath is [NewGramPath] for targets.
func NewTargetGramPath(ctx context.Context, gram *mat.SymDense, targets *mat.Dense, workers int) (*Path, error) {
	items, k := targets.Dims()
	if items != gram.SymmetricDim() {
		panic(badLength)
	}
	p := &Path{y: targets, items: items, classes: k}
	if err := p.decompose(ctx, gram, workers); err != nil {
		return nil, err
	}
	p.project()
	return p, nil
}

// oneHot returns a row for each item, with a one for each of its classes.
func oneHot(y [][]int, classes int) *mat.Dense {
	targets := mat.NewDense(len(y), classes, nil)
	for i, list := range y {
		for _, c := range list {
			targets.Set(i, c, 1)
		}
	}
	return targets
}

// decompose computes the eigenpairs of AAᵀ or AᵀA, and w̄.
func (p *Path) decompose(ctx context.Context, squares *mat.SymDense, workers int) (err error) {
	for i := range squares.SymmetricDim() {
		p.Mean += squares.At(i, i) / float64(p.items)
	}
	if p.values, p.vectors, err = symmetric.Eigen(ctx, squares, nil, workers); err != nil {
		return err
	}
	for q, v := range p.values {
		p.values[q] = max(0, v)
	}
	return nil
}

// project computes vectorsᵀ·[Y 1].
func (p *Path) project() {
	targets := mat.NewDense(p.items, p.classes+1, nil)
	for i := range p.items {
		copy(targets.RawRowView(i), p.y.RawRowView(i))
		targets.Set(i, p.classes, 1)
	}
	p.projected = new(mat.Dense)
	p.projected.Mul(p.vectors.T(), targets)
}

// sharesOf returns ȳ of the items that take part.
func sharesOf(y *mat.Dense, takes func(item int) bool) []float64 {
	items, classes := y.Dims()
	share, total := make([]float64, classes), 0.0
	for i := range items {
		if takes(i) {
			floats.Add(share, y.RawRowView(i))
			total++
		}
	}
	for c := range share {
		share[c] /= max(1, total)
	}
	return share
}

func everyItem(int) bool { return true }

// weighted returns (w + λw̄)⁻¹·projected.
func (p *Path) weighted(ridge float64) *mat.Dense {
	var scaled mat.Dense
	scaled.Apply(func(q, _ int, v float64) float64 { return v / (p.values[q] + ridge) }, p.projected)
	return &scaled
}

// inverse returns G·[Y 1] and the diagonal of G.
func (p *Path) inverse(ridge float64) (coef *mat.Dense, diagonal []float64) {
	coef, diagonal = new(mat.Dense), make([]float64, p.items)
	coef.Mul(p.vectors, p.weighted(ridge))
	for i := range diagonal {
		sum := 0.0
		for q, u := range p.vectors.RawRowView(i) {
			sum += float64(u*u) / (p.values[q] + ridge)
		}
		diagonal[i] = sum
	}
	if p.basis == nil {
		return coef, diagonal
	}
	// G = (I − A(AᵀA + λw̄I)⁻¹Aᵀ)/λw̄
	for i := range diagonal {
		row := coef.RawRowView(i)
		for j := range row {
			row[j] = -row[j]
		}
		floats.Add(row[:p.classes], p.y.RawRowView(i))
		row[p.classes]++
		for j := range row {
			row[j] /= ridge
		}
		diagonal[i] = max(1-diagonal[i], leastLeft) / ridge
	}
	return coef, diagonal
}

// leastLeft bounds 1 less the leverage of an item, which rounding may take to 0.
const leastLeft = 1e-6

// LeaveOneOut returns the scores of each item without itself for λ > 0.
func (p *Path) LeaveOneOut(lambda float64) *mat.Dense {
	checkLambda(lambda)
	coef, diagonal := p.inverse(lambda * p.Mean)
	share := sharesOf(p.y, everyItem)
	out := mat.NewDense(p.items, p.classes, nil)
	for i := range diagonal {
		p.leftOut(out.RawRowView(i), i, coef.RawRowView(i), diagonal[i], share)
	}
	return out
}

// leftOut stores Y_i − (C_i − ȳ·G1_i)/G_ii, to which ȳ has been added and from which it
// has been taken.
func (p *Path) leftOut(dst []float64, item int, coef []float64, diagonal float64, share []float64) {
	for c, y := range p.y.RawRowView(item) {
		dst[c] = y - (coef[c]-float64(share[c]*coef[p.classes]))/diagonal
	}
}

func checkLambda(lambda float64) {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		panic(badLambda)
	}
}

// cosine returns the cosine of scores, of which shares of the classes are taken off,
// and targets, over the items that take part: how far scores point at the classes,
// whatever their size.
func cosine(y, scores *mat.Dense, share []float64, takes []bool) float64 {
	var product, a, b float64
	for i := range takes {
		if !takes[i] {
			continue
		}
		for c, s := range scores.RawRowView(i) {
			s -= share[c]
			target := y.At(i, c) - share[c]
			product += float64(s * target)
			a += float64(s * s)
			b += float64(target * target)
		}
	}
	if a == 0 || b == 0 {
		return 0
	}
	return product / math.Sqrt(float64(a*b))
}

// Choose returns, for each list of items that take part, the λ whose scores of left out
// items have the largest cosine over these, the first of equals, and that cosine.
func (p *Path) Choose(lambdas []float64, takes [][]bool) (best, cosines []float64) {
	best, cosines = make([]float64, len(takes)), make([]float64, len(takes))
	for f := range cosines {
		cosines[f] = math.Inf(-1)
	}
	share := sharesOf(p.y, everyItem)
	for _, l := range lambdas {
		scores := p.LeaveOneOut(l)
		for f, column := range takes {
			if c := cosine(p.y, scores, share, column); c > cosines[f] {
				best[f], cosines[f] = l, c
			}
		}
	}
	return best, cosines
}

// Weights returns W for λ > 0, whose last row is that of the constant, and ȳ.
func (p *Path) Weights(lambda float64) (w *mat.Dense, shares []float64) {
	targets, shares := p.targets(lambda)
	w = new(mat.Dense)
	if p.basis != nil {
		w.Mul(p.basis, targets)
		return w, shares
	}
	var coef mat.Dense
	coef.Mul(p.vectors, targets)
	w.Mul(p.a.T(), &coef)
	return w, shares
}

// Coefficients returns C for λ > 0 of a path from [NewGramPath], and ȳ: an item has the scores Cᵀk + ȳ for
// the values k of the kernel between it and all items of the path.
func (p *Path) Coefficients(lambda float64) (c *mat.Dense, shares []float64) {
	targets, shares := p.targets(lambda)
	c = new(mat.Dense)
	c.Mul(p.vectors, targets)
	return c, shares
}

// targets returns (w + λw̄)⁻¹·vectorsᵀ·(Y − 1ȳᵀ), and ȳ.
func (p *Path) targets(lambda float64) (targets *mat.Dense, shares []float64) {
	checkLambda(lambda)
	shares = sharesOf(p.y, everyItem)
	scaled := p.weighted(lambda * p.Mean)
	rows, _ := scaled.Dims()
	targets = mat.NewDense(rows, p.classes, nil)
	for q := range rows {
		row := scaled.RawRowView(q)
		for c := range p.classes {
			targets.Set(q, c, row[c]-float64(shares[c]*row[p.classes]))
		}
	}
	return targets, shares
}

// LeavePartsOut returns the predictions for the items of each part by a model of all other items, for λ > 0, of a path
// from [NewTargetGramPath]. Its constant has no penalty: with P = G − G11ᵀG/(1ᵀG1) a part F has the predictions
// Y_F − (P_FF)⁻¹·(PY)_F. Cost: for each part the products and a factorisation of its size. The error is [ErrIndefinite].
func (p *Path) LeavePartsOut(lambda float64, part []int, parts int) (*mat.Dense, error) {
	checkLambda(lambda)
	ridge := lambda * p.Mean
	coef, _ := p.inverse(ridge) // G[Y 1]
	total := make([]float64, p.classes+1)
	members := make([][]int, parts)
	for i, f := range part {
		floats.Add(total, coef.RawRowView(i))
		members[f] = append(members[f], i)
	}
	out := mat.NewDense(p.items, p.classes, nil)
	for _, list := range members {
		if len(list) == 0 {
			continue
		}
		rows, right := mat.NewDense(len(list), len(p.values), nil), mat.NewDense(len(list), p.classes, nil)
		for a, i := range list {
			for q, u := range p.vectors.RawRowView(i) {
				rows.Set(a, q, u/math.Sqrt(p.values[q]+ridge))
			}
			for c := range p.classes {
				right.Set(a, c, coef.At(i, c)-float64(coef.At(i, p.classes)*total[c]/total[p.classes]))
			}
		}
		block := mat.NewSymDense(len(list), nil)
		block.SymOuterK(1, rows)
		for a, i := range list {
			for b := a; b < len(list); b++ {
				block.SetSym(a, b, block.At(a, b)-float64(coef.At(i, p.classes)*coef.At(list[b], p.classes))/total[p.classes])
			}
		}
		var factor mat.Cholesky
		if !factor.Factorize(block) {
			return nil, ErrIndefinite
		}
		if err := factor.SolveTo(right, right); err != nil && !errors.As(err, new(mat.Condition)) {
			return nil, err
		}
		for a, i := range list {
			floats.SubTo(out.RawRowView(i), p.y.RawRowView(i), right.RawRowView(a))
		}
	}
	return out, nil
}

// WithoutParts returns for each part, which has a λ of its own, the scores of all items by
// models that were fitted without the items of that part: those of its items, and those of
// the others, each without itself too, and the cosines of these with the targets over lists of
// items. A choice by these cosines does not depend on the part. Cost: for each λ a product of all
// items with all, and for each part a factorisation of the size of the part. The error is
// [ErrIndefinite].
func (p *Path) WithoutParts(lambdas []float64, group []int, takes [][]bool) (out []*mat.Dense, cosines []float64, err error) {
	out, cosines = make([]*mat.Dense, len(lambdas)), make([]float64, len(lambdas))
	for f, lambda := range lambdas {
		if out[f] != nil {
			continue
		}
		checkLambda(lambda)
		ridge := lambda * p.Mean
		coef, diagonal := p.inverse(ridge)
		g := p.full(ridge)
		for next := f; next < len(lambdas); next++ {
			if lambdas[next] != lambda {
				continue
			}
			share := sharesOf(p.y, func(i int) bool { return group[i] != next })
			if out[next], err = p.without(g, coef, diagonal, share, group, next); err != nil {
				return nil, nil, err
			}
			cosines[next] = cosine(p.y, out[next], share, takes[next])
		}
	}
	return out, cosines, nil
}

// full returns G.
func (p *Path) full(ridge float64) *mat.Dense {
	var scaled, g mat.Dense
	scaled.Apply(func(_, q int, v float64) float64 { return v / (p.values[q] + ridge) }, p.vectors)
	g.Mul(&scaled, p.vectors.T())
	if p.basis != nil {
		g.Apply(func(i, j int, v float64) float64 {
			if i == j {
				return (1 - v) / ridge
			}
			return -v / ridge
		}, &g)
	}
	return &g
}

// without returns the scores of all items without part f, given the shares of the classes
// among the others. With r the other items,
//
//	(K_rr + λw̄I)⁻¹ = G_rr − G_rf·G_ff⁻¹·G_fr
func (p *Path) without(g, coef *mat.Dense, diagonal, share []float64, group []int, f int) (*mat.Dense, error) {
	var members, complement []int
	for i := range p.items {
		if group[i] == f {
			members = append(members, i)
		} else {
			complement = append(complement, i)
		}
	}
	m, k := p.items, p.classes
	out := mat.NewDense(m, k, nil)
	x := new(mat.Dense) // G_ff⁻¹·[C_f G_fr]
	if len(members) > 0 {
		block, right := mat.NewSymDense(len(members), nil), mat.NewDense(len(members), k+1+len(complement), nil)
		for a, i := range members {
			row, target := g.RawRowView(i), right.RawRowView(a)
			for b, j := range members[a:] {
				block.SetSym(a, a+b, row[j])
			}
			copy(target, coef.RawRowView(i))
			for b, j := range complement {
				target[k+1+b] = row[j]
			}
		}
		var factor mat.Cholesky
		if !factor.Factorize(block) {
			return nil, ErrIndefinite
		}
		if err := factor.SolveTo(x, right); err != nil {
			if _, ok := err.(mat.Condition); !ok {
				return nil, err
			}
		}
	}
	for a, i := range members {
		p.leftOut(out.RawRowView(i), i, x.RawRowView(a), 1, share)
	}
	c := make([]float64, k+1)
	for b, j := range complement {
		copy(c, coef.RawRowView(j))
		d, row := diagonal[j], g.RawRowView(j)
		for a, i := range members {
			solved := x.RawRowView(a)
			for t := range c {
				c[t] -= float64(row[i] * solved[t])
			}
			d -= float64(row[i] * solved[k+1+b])
		}
		p.leftOut(out.RawRowView(j), j, c, d, share)
	}
	return out, nil
}

// ErrIndefinite says that rounding is larger than the ridge.
var ErrIndefinite = errors.New("ridge: the matrix is not positive definite")

const (
	badLength = "ridge: slice of the wrong length"
	badLambda = "ridge: lambda is not a positive number"
)
