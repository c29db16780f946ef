package classify

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// RidgePath is ridge regression on features or kernel values, for many ridges at the price of one eigendecomposition. Let A
// be the m×d features, with a column of a constant, Y the targets (one-hot classes or numbers), and ȳ the means of the
// targets. RidgePath minimises
//
//	‖AW − (Y − 1ȳᵀ)‖² + λw̄‖W‖²,  w̄ = tr(AAᵀ)/m,
//
// and gives item i the scores Wᵀa_i + ȳ. With G = (AAᵀ + λw̄I)⁻¹ and C = G(Y − 1ȳᵀ), a set F of items that are left out has
// exactly the scores
//
//	Y_F − (G_FF)⁻¹·C_F
//
// except that ȳ is the mean of all items (Golub, Heath, Wahba 1979). If only the other items r are fitted, G and C become
// G_rr − G_rF·(G_FF)⁻¹·G_Fr and C_r − G_rF·(G_FF)⁻¹·C_F.
type RidgePath struct {
	Mean  float64 // w̄, or 1 if w̄ is 0; callers may set 1, for an absolute λ
	Least float64 // least eigenvalue of AAᵀ, or of the smaller AᵀA

	a     *mat.Dense // m×(d + 1); nil: kernel values were given
	y     *mat.Dense // m×k, Y − 1ȳᵀ
	means []float64  // ȳ

	isPlain bool // ȳ is 0

	values    []float64  // eigenvalues of AAᵀ, or of the smaller AᵀA
	vectors   *mat.Dense // U of A = U·S·Vᵀ
	basis     *mat.Dense // V; nil: AAᵀ was decomposed
	projected *mat.Dense // Uᵀ(Y − 1ȳᵀ)
}

// OneHot returns a matrix with a row for each item and a column for each class. It has a 1 for each class in y[i]; an item
// may have several classes or none.
func OneHot(y [][]int, classes int) *mat.Dense {
	targets := mat.NewDense(len(y), classes, nil)
	for i, list := range y {
		for _, c := range list {
			targets.Set(i, c, 1)
		}
	}
	return targets
}

// NewRidgePath returns the path for the features f, with a further column of the value constant, and for targets. It
// overwrites targets. Cost: the inner products of all columns or of all items, whichever are fewer, and one
// eigendecomposition. The error is the error of ctx.
func NewRidgePath[T float32 | float64](ctx context.Context, f *sparse.Block[T],
	constant float64, targets *mat.Dense, workers int) (*RidgePath, error) {
	m := f.Rows
	d := f.Cols + 1
	p := &RidgePath{a: mat.NewDense(m, d, nil), y: targets}
	for i := range m {
		row := p.a.RawRowView(i)
		for j, v := range f.Row(i) {
			row[j] = float64(v)
		}
		row[d-1] = constant
	}
	squares := mat.NewDense(min(m, d), min(m, d), nil)
	add := func(x *mat.Dense) error {
		rows := sparse.BlockOfDense(x)
		return blocks.AddProducts(ctx, sparse.BlockOfDense(squares), rows, rows, workers)
	}
	var err error
	if m <= d {
		err = add(p.a)
	}
	for lo := 0; m > d && lo < m && err == nil; lo += transposed {
		err = add(mat.DenseCopyOf(p.a.Slice(lo, min(m, lo+transposed), 0, d).T()))
	}
	if err != nil {
		return nil, err
	}
	return p, p.decompose(ctx, mat.NewSymDense(min(m, d), squares.RawMatrix().Data), workers)
}

const transposed = 1024

// NewGramRidgePath is [NewRidgePath] with gram = AAᵀ, a kernel between the items that must include the constant. It
// overwrites gram and targets. Cost: one eigendecomposition. The error is the error of ctx.
func NewGramRidgePath(ctx context.Context, gram *mat.SymDense, targets *mat.Dense,
	workers int) (*RidgePath, error) {
	p := &RidgePath{y: targets}
	return p, p.decompose(ctx, gram, workers)
}

// NewPlainGramRidgePath is [NewGramRidgePath] with ȳ = 0, for kernels whose eigenvalues may be negative.
func NewPlainGramRidgePath(ctx context.Context, gram *mat.SymDense, targets *mat.Dense,
	workers int) (*RidgePath, error) {
	p := &RidgePath{y: targets, isPlain: true}
	return p, p.decompose(ctx, gram, workers)
}

// decompose computes w̄, ȳ, U, S² and V from AAᵀ or AᵀA.
func (p *RidgePath) decompose(ctx context.Context, squares *mat.SymDense,
	workers int) (err error) {
	m, k := p.y.Dims()
	p.Mean = mat.Trace(squares) / float64(m)
	if p.Mean == 0 {
		p.Mean = 1 // items without features have the scores ȳ for every λ
	}
	p.means = make([]float64, k)
	for i := 0; !p.isPlain && i < m; i++ {
		floats.AddScaled(p.means, 1/float64(m), p.y.RawRowView(i))
	}
	for i := range m {
		floats.Sub(p.y.RawRowView(i), p.means)
	}
	isNarrow := squares.SymmetricDim() < m
	if p.values, p.vectors, err = symmetric.Eigen(ctx, squares, nil, workers); err != nil {
		return err
	}
	p.Least = p.values[0] // eigenvalues increase
	for q, v := range p.values {
		if !p.isPlain {
			p.values[q] = max(0, v)
		}
	}
	if isNarrow {
		p.basis, p.vectors = p.vectors, mat.NewDense(m, squares.SymmetricDim(), nil)
		columns := sparse.BlockOfDense(mat.DenseCopyOf(p.basis.T()))
		if err := blocks.AddProducts(ctx, sparse.BlockOfDense(p.vectors), sparse.BlockOfDense(p.a), columns, workers); err != nil {
			return err
		}
	}
	p.projected = new(mat.Dense)
	p.projected.Mul(p.vectors.T(), p.y)
	return nil
}

// ridgeInverse is the G of [RidgePath] for one λ. If AAᵀ was decomposed, G = U·diag(w)·Uᵀ. Otherwise G = (I −
// U·diag(w)·Uᵀ)/ridge with AV in place of U.
type ridgeInverse struct {
	*RidgePath
	ridge        float64 // λw̄
	w            []float64
	coefficients *mat.Dense // C
}

func (p *RidgePath) inverse(lambda float64) *ridgeInverse {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		panic(badLambda)
	}
	g := &ridgeInverse{RidgePath: p, ridge: lambda * p.Mean}
	for _, v := range p.values {
		g.w = append(g.w, 1/(v+g.ridge))
	}
	g.coefficients = g.times(g.vectors, p.y, p.projected)
	return g
}

// times returns rows of GX: u and x must be these rows of U and X, and projected UᵀX. With u = XᵀU and x = XᵀX, it returns
// XᵀGX.
func (g *ridgeInverse) times(u mat.Matrix, x, projected *mat.Dense) *mat.Dense {
	out := new(mat.Dense)
	out.Mul(u, g.scaleRows(projected))
	if g.basis != nil {
		out.Sub(x, out)
		out.Scale(1/g.ridge, out)
	}
	return out
}

func (g *ridgeInverse) scaleRows(x *mat.Dense) *mat.Dense {
	out := new(mat.Dense)
	out.Apply(func(q, _ int, v float64) float64 { return g.w[q] * v }, x)
	return out
}

// leastLeft is the least value of 1 − leverage, which rounding could make 0.
const leastLeft = 1e-6

func (g *ridgeInverse) diagonal() []float64 {
	diagonal := make([]float64, g.vectors.RawMatrix().Rows)
	for i := range diagonal {
		for q, u := range g.vectors.RawRowView(i) {
			diagonal[i] += float64(u*u) * g.w[q]
		}
		if g.basis != nil {
			diagonal[i] = max(1-diagonal[i], leastLeft) / g.ridge
		}
	}
	return diagonal
}

func (g *ridgeInverse) square(items []int) *mat.SymDense {
	return mat.NewSymDense(len(items), g.block(items, items).RawMatrix().Data)
}

func (g *ridgeInverse) block(rows, cols []int) *mat.Dense {
	out := new(mat.Dense)
	out.Mul(pickRows(g.vectors, rows),
		g.scaleRows(mat.DenseCopyOf(pickRows(g.vectors, cols).T())))
	if g.basis != nil {
		out.Apply(func(a, b int, v float64) float64 {
			if rows[a] == cols[b] {
				v--
			}
			return -v / g.ridge
		}, out)
	}
	return out
}

func pickRows(x *mat.Dense, rows []int) *mat.Dense {
	out := mat.NewDense(len(rows), x.RawMatrix().Cols, nil)
	for a, i := range rows {
		out.SetRow(a, x.RawRowView(i))
	}
	return out
}

// SolveDefinite overwrites right with B⁻¹·right. If B is not positive definite, it returns [ErrIndefinite].
func SolveDefinite(b *mat.SymDense, right *mat.Dense) error {
	var factor mat.Cholesky
	if !factor.Factorize(b) {
		return ErrIndefinite
	}
	if err := factor.SolveTo(right, right); err != nil && !errors.As(err, new(mat.Condition)) {
		return err
	}
	return nil
}

// LeaveOneOut returns the scores of each item, in rows, by a model of all other items. λ must be positive.
func (p *RidgePath) LeaveOneOut(lambda float64) *mat.Dense {
	g := p.inverse(lambda)
	out := mat.DenseCopyOf(p.y)
	for i, d := range g.diagonal() {
		floats.AddScaled(out.RawRowView(i), -1/d, g.coefficients.RawRowView(i))
	}
	return p.scores(out)
}

// LeaveFoldsOut returns the scores of each item, in rows, by a model of the items of other folds. Item i is in fold fold[i]. An
// item that is left out alone changes the model by as much as its own target, which columns of scores then tell; a fold with as
// many items of each class as other folds changes it by chance. λ must be positive. If the equations of a fold have no
// solution, the error is [ErrIndefinite]. Cost: for each fold the products of its rows of U and a factorisation of its size, or of
// the number of features if that is less.
func (p *RidgePath) LeaveFoldsOut(lambda float64, fold []int) (*mat.Dense, error) {
	g := p.inverse(lambda)
	out := mat.DenseCopyOf(p.y)
	for f := range 1 + slices.Max(fold) {
		members, _ := splitFold(fold, f)
		if len(members) == 0 {
			continue
		}
		residuals, err := g.residuals(members)
		if err != nil {
			return nil, err
		}
		for a, i := range members {
			floats.Sub(out.RawRowView(i), residuals.RawRowView(a))
		}
	}
	return p.scores(out), nil
}

// residuals returns (G_FF)⁻¹·C_F for the items F. With a basis and B = AV, (G_FF)⁻¹ = ridge·(I + B_F·(diag(1/w) − B_FᵀB_F)⁻¹·B_Fᵀ),
// which needs no square of the items.
func (g *ridgeInverse) residuals(items []int) (*mat.Dense, error) {
	out := pickRows(g.coefficients, items)
	if g.basis == nil || len(items) <= len(g.w) {
		return out, SolveDefinite(g.square(items), out)
	}
	rows := pickRows(g.vectors, items)
	inner, right, change := new(mat.Dense), new(mat.Dense), new(mat.Dense)
	inner.Mul(rows.T(), rows)
	inner.Scale(-1, inner)
	for q, w := range g.w {
		inner.Set(q, q, inner.At(q, q)+1/w)
	}
	right.Mul(rows.T(), out)
	if err := SolveDefinite(mat.NewSymDense(len(g.w), inner.RawMatrix().Data), right); err != nil {
		return nil, err
	}
	change.Mul(rows, right)
	out.Add(out, change)
	out.Scale(g.ridge, out)
	return out, nil
}

func (p *RidgePath) scores(rows *mat.Dense) *mat.Dense {
	rows.Apply(func(_, c int, v float64) float64 { return v + p.means[c] }, rows)
	return rows
}

// cosine returns the cosine between scores − ȳ and targets − ȳ, over all columns of the items in takes. If one of them is
// 0, cosine returns 0.
func (p *RidgePath) cosine(scores *mat.Dense, takes []bool) float64 {
	var product, a, b float64
	for i := range takes {
		if !takes[i] {
			continue
		}
		for c, s := range scores.RawRowView(i) {
			s -= p.means[c]
			target := p.y.At(i, c)
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

// Choose returns, for each set takes[i] of items, the λ whose leave-one-out scores have the largest cosine with the targets
// on the set, and this cosine. In a tie it chooses the first λ.
func (p *RidgePath) Choose(lambdas []float64, takes [][]bool) (best, cosines []float64) {
	best = make([]float64, len(takes))
	cosines = slices.Repeat([]float64{math.Inf(-1)}, len(takes))
	for _, l := range lambdas {
		scores := p.LeaveOneOut(l)
		for f, column := range takes {
			if c := p.cosine(scores, column); c > cosines[f] {
				best[f] = l
				cosines[f] = c
			}
		}
	}
	return best, cosines
}

// Weights returns W and ȳ for λ > 0. The last row of W belongs to the constant. For a kernel, W is C: an item has the scores
// Cᵀk + ȳ for its kernel values k with all items of the path.
func (p *RidgePath) Weights(lambda float64) (w *mat.Dense, means []float64) {
	g := p.inverse(lambda)
	if p.a == nil {
		return g.coefficients, slices.Clone(p.means)
	}
	w = new(mat.Dense)
	if p.basis != nil {
		w.Mul(p.basis, g.scaleRows(p.projected))
	} else {
		w.Mul(p.a.T(), g.coefficients)
	}
	return w, slices.Clone(p.means)
}

// LeavePartsOut returns, for each λ > 0, the predictions for the items of each part by a model of all other items. Item i
// is in part fold[i]; items with a negative fold are in no part. The model has an unpenalized constant, so that the path
// must have no column of a constant. If others is not nil, the model for part f also has the features others[f] of all
// items, with the ridge of the path. If the equations for a λ have no solution, its predictions are nil.
//
// With the columns Z = [Y 1 others] and C = GZ, a part F has the residuals R = (G_FF)⁻¹·C_F. N = ZᵀGZ − C_FᵀR are the
// products ZᵀGZ of the other items. The weights w of the columns after Y solve the equations of N + diag(0, 1, …) in these
// columns, and the predictions are Y_F − R·[I; −w].
//
// Cost: for each part the products with U, and for each λ a factorisation of the part's size.
func (p *RidgePath) LeavePartsOut(lambdas []float64, fold []int, parts int, others []*mat.Dense) ([]*mat.Dense, error) {
	out := make([]*mat.Dense, len(lambdas))
	inverses := make([]*ridgeInverse, len(lambdas))
	for l, lambda := range lambdas {
		out[l] = mat.DenseCopyOf(p.y)
		inverses[l] = p.inverse(lambda)
	}
	columns := p.columnsBeside(nil)
	for f := range parts {
		members, _ := splitFold(fold, f)
		if len(members) == 0 {
			continue
		}
		if others != nil {
			columns = p.columnsBeside(others[f])
		}
		u, z := pickRows(p.vectors, members), pickRows(columns.z, members)
		for l, g := range inverses {
			if out[l] == nil {
				continue
			}
			c := g.times(u, z, columns.projected)
			residuals := mat.DenseCopyOf(c)
			err := SolveDefinite(g.square(members), residuals)
			if err == nil {
				products := new(mat.Dense)
				products.Mul(c.T(), residuals)
				inner := g.inner(columns)
				inner.Sub(inner, products)
				var weights *mat.Dense
				if weights, err = g.weightsBeside(inner); err == nil {
					residuals = g.subtract(residuals, weights)
				}
			}
			switch {
			case errors.Is(err, ErrIndefinite):
				out[l] = nil
				continue
			case err != nil:
				return nil, err
			}
			for a, i := range members {
				floats.Sub(out[l].RawRowView(i), residuals.RawRowView(a))
			}
		}
	}
	for _, predicted := range out {
		if predicted != nil {
			p.scores(predicted)
		}
	}
	return out, nil
}

// WeightsBeside fits the model of [RidgePath.LeavePartsOut] to all items and returns its weights. w is as in
// [RidgePath.Weights]. The first row of beside is the constant, and the next rows are the weights of the features in
// others. If the system is not positive definite, the error is [ErrIndefinite].
func (p *RidgePath) WeightsBeside(lambda float64, others *mat.Dense) (w, beside *mat.Dense, err error) {
	g := p.inverse(lambda)
	columns := p.columnsBeside(others)
	if beside, err = g.weightsBeside(g.inner(columns)); err != nil {
		return nil, nil, err
	}
	w = g.subtract(g.times(p.vectors, columns.z, columns.projected), beside)
	if p.a != nil {
		dual := w
		w = new(mat.Dense)
		w.Mul(p.a.T(), dual)
	}
	floats.Add(beside.RawRowView(0), p.means)
	return w, beside, nil
}

// ridgeColumns holds Z = [Y 1 others], projected = UᵀZ and products = ZᵀZ.
type ridgeColumns struct{ z, projected, products *mat.Dense }

func (p *RidgePath) columnsBeside(others *mat.Dense) *ridgeColumns {
	items, _ := p.y.Dims()
	c := &ridgeColumns{new(mat.Dense), new(mat.Dense), new(mat.Dense)}
	c.z.Augment(p.y, mat.NewDense(items, 1, slices.Repeat([]float64{1}, items)))
	if others != nil {
		targets := c.z
		c.z = new(mat.Dense)
		c.z.Augment(targets, others)
	}
	c.projected.Mul(p.vectors.T(), c.z)
	c.products.Mul(c.z.T(), c.z)
	return c
}

func (g *ridgeInverse) inner(c *ridgeColumns) *mat.Dense {
	return g.times(c.projected.T(), c.products, c.projected)
}

// weightsBeside returns the weights of the columns of Z that follow Y, given ZᵀGZ.
func (g *ridgeInverse) weightsBeside(products *mat.Dense) (*mat.Dense, error) {
	k := len(g.means)
	columns, _ := products.Dims()
	system := mat.NewSymDense(columns-k, nil)
	for i := range columns - k {
		for j := i; j < columns-k; j++ {
			system.SetSym(i, j, products.At(k+i, k+j))
		}
		if i > 0 {
			system.SetSym(i, i, system.At(i, i)+1)
		}
	}
	weights := mat.DenseCopyOf(products.Slice(k, columns, 0, k))
	return weights, SolveDefinite(system, weights)
}

func (g *ridgeInverse) subtract(columns, weights *mat.Dense) *mat.Dense {
	k := len(g.means)
	rows, width := columns.Dims()
	out := new(mat.Dense)
	out.Mul(columns.Slice(0, rows, k, width), weights)
	out.Sub(columns.Slice(0, rows, 0, k), out)
	return out
}

func splitFold(fold []int, f int) (members, complement []int) {
	for i, g := range fold {
		if g == f {
			members = append(members, i)
		} else {
			complement = append(complement, i)
		}
	}
	return members, complement
}

// WithoutParts returns, for each part f, the scores of all items by models fitted with lambdas[f] without the items of part
// f. The model that scores an item outside part f is also fitted without this item. cosines[f] is the cosine of these
// scores with the targets over the items in takes[f]; a choice by it does not depend on part f. The error is
// [ErrIndefinite]. Cost: a product of all items with all items, and for each part a factorisation of its size.
func (p *RidgePath) WithoutParts(lambdas []float64, fold []int,
	takes [][]bool) (out []*mat.Dense, cosines []float64, err error) {
	k := len(p.means)
	for f, lambda := range lambdas {
		g := p.inverse(lambda)
		rows := mat.DenseCopyOf(p.y)
		diagonal := g.diagonal()
		members, complement := splitFold(fold, f)
		if len(members) > 0 {
			block := g.block(members, complement)
			right := new(mat.Dense)
			change := new(mat.Dense)
			right.Augment(pickRows(g.coefficients, members), block)
			if err := SolveDefinite(g.square(members), right); err != nil {
				return nil, nil, err
			}
			change.Mul(block.T(), right.Slice(0, len(members), 0, k))
			for b, j := range complement {
				floats.Sub(g.coefficients.RawRowView(j), change.RawRowView(b))
				diagonal[j] -= mat.Dot(block.ColView(b), right.ColView(k+b))
			}
			for a, i := range members {
				floats.Sub(rows.RawRowView(i), right.RawRowView(a)[:k])
			}
		}
		for _, j := range complement {
			floats.AddScaled(rows.RawRowView(j), -1/diagonal[j],
				g.coefficients.RawRowView(j))
		}
		out = append(out, p.scores(rows))
		cosines = append(cosines, p.cosine(rows, takes[f]))
	}
	return out, cosines, nil
}
