package lanczos

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type images struct {
	a        sparse.Applier[float64]
	balanced *balancedMap // nil if A is not of the form of balancedMap
	e        *engine
	x, y     *sparse.Block[float64] // a block and its image
	image    *basis                 // y as columns
	products int                    // number of products of A with a block
}

func (m *images) allocate() {
	if m.x == nil {
		m.x, m.y = sparse.NewBlock[float64](m.e.rows, width),
			sparse.NewBlock[float64](m.e.rows, width)
	}
	if m.image == nil {
		m.image = newBasis(m.e.rows, width)
	}
}

func (m *images) of(ctx context.Context, c columns, sign float64) (columns, error) {
	m.allocate()
	m.e.setBlock(m.x, c)
	m.products++
	if err := m.a.StepTo(ctx, m.y, m.x, sparse.Step[float64]{Alpha: sign}); err != nil {
		return columns{}, err
	}
	image := m.image.slice(0, c.width())
	m.e.setColumns(image, m.y)
	return image, nil
}

// project returns Xᵀ(sign·A)X, the Rayleigh quotients θ and the norms ‖sign·A·x − θx‖ of the columns x.
func (m *images) project(ctx context.Context, x columns,
	sign float64) (h *mat.SymDense, theta, residual []float64, err error) {
	n := x.width()
	h = mat.NewSymDense(n, nil)
	theta = make([]float64, n)
	residual = make([]float64, n)
	buffer := make([]float64, n*width)
	for row, end := range blocks.Slabs(n, width) {
		cols := end - row
		gram := buffer[:n*cols]
		image, err := m.of(ctx, x.slice(x.lo+row, x.lo+end), sign)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := m.e.gramTo(ctx, gram, x, image); err != nil {
			return nil, nil, nil, err
		}
		if !finite(gram) {
			return nil, nil, nil, ErrNotFinite
		}
		for j := range cols {
			theta[row+j] = gram[(row+j)*cols+j]
			for i := range row + j + 1 {
				h.SetSym(i, row+j, gram[i*cols+j])
			}
		}
		m.residualsTo(residual[row:end], theta[row:end])
	}
	return h, theta, residual, nil
}

// residualsTo stores the norms of the columns of Y − X·diag(values), where X is the last block and Y its image.
func (m *images) residualsTo(dst, values []float64) {
	m.e.eachRow(len(values), func(i int, sums []float64) {
		image := m.y.Row(i)
		v := m.x.Row(i)
		for j, lambda := range values {
			d := image[j] - float64(lambda*v[j])
			sums[j] += float64(d * d)
		}
	})
	m.e.normsTo(dst)
}

// finish returns the result: the known pairs, then the pairs with the vectors v. values must be their eigenvalues of B = ±A
// in decreasing order. If residuals is nil, finish computes the residuals.
func (r *run) finish(ctx context.Context, v columns,
	values, residuals []float64) (*Pairs, error) {
	out := r.result
	zeros := min(r.deflation.count(), len(out.Values))
	if r.p.Beyond {
		zeros = 0
	}
	for len(values) > 0 && r.omits(values[len(values)-1]) {
		values = values[:len(values)-1]
	}
	count := zeros + len(values)
	out.Known = zeros
	out.Values = out.Values[:count]
	out.Residuals = out.Residuals[:count]
	sign := r.p.Which.sign()
	if r.deflation.count() > 0 && len(values) > 0 &&
		values[0] > sign*r.deflation.value+r.s.Tolerance*r.norm {
		return nil, fmt.Errorf("%w: %.9g was found beyond %.9g",
			ErrKnown, sign*values[0], r.deflation.value)
	}
	for j, value := range values {
		out.Values[zeros+j] = sign * value
		r.norm = max(r.norm, math.Abs(value))
	}
	out.Norm = r.norm
	out.Products = r.m.products
	if count == 0 {
		return out, nil
	}
	out.Vectors = sparse.NewBlock[float64](r.n, count)
	for j := range zeros {
		out.Values[j] = r.deflation.value
		r.deflation.vectorTo(out.Vectors, j, j)
	}
	if len(values) > 0 {
		r.m.e.setBlock(out.Vectors.Columns(zeros, count), v.slice(v.lo, v.lo+len(values)))
	}
	orient(r.m.e.team, out.Vectors)
	unverified := count
	if residuals != nil {
		unverified = zeros
		copy(out.Residuals[zeros:], residuals)
	}
	for offset, end := range blocks.Slabs(unverified, width) {
		if err := r.m.residuals(ctx, out.Residuals[offset:end],
			out.Values[offset:end], out.Vectors.Columns(offset, end)); err != nil {
			return nil, err
		}
	}
	out.Products = r.m.products
	out.Converged = 0
	for _, residual := range out.Residuals {
		if residual <= r.s.Tolerance*r.norm {
			out.Converged++
		}
	}
	if r.p.Scale != nil {
		blocks.DivideRows(out.Vectors, r.p.Scale)
		orient(r.m.e.team, out.Vectors)
	}
	return out, nil
}

// omits reports whether [Problem.Positive] omits the eigenvalue value. It stores the largest omitted eigenvalue in the
// result.
func (r *run) omits(value float64) bool {
	if !r.p.Positive || value > roundingSteps*float64(r.m.e.team.TotalOf(r.n))*epsilon*r.norm {
		return false
	}
	r.result.Omitted = max(r.result.Omitted, value)
	return true
}

// roundingSteps times n·ε·‖A‖ bounds the computed value of the eigenvalue 0; the largest factor
// observed on graphs of 3 to 3000 nodes is 1.5.
const roundingSteps = 4

const epsilon = 0x1p-52

// orient changes the signs of columns so that the entry of largest size of each column is positive. If sizes are equal to
// 1e-9, the first of these entries decides.
func orient(team *sparse.Team, x *sparse.Block[float64]) {
	largest := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			largest[j] = max(largest[j], math.Abs(v))
		}
	}
	team.Max(largest)
	sign := slices.Repeat([]float64{math.Inf(-1)}, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if !team.IsPadding(i) && math.Abs(v) >= largest[j]*(1-1e-9) {
				first := -2 * float64(team.Row(i)) // even for entries > 0, odd for others
				if math.Signbit(v) {
					first--
				}
				sign[j] = max(sign[j], first)
			}
		}
	}
	team.Max(sign)
	for j, first := range sign {
		sign[j] = 1 - 2*math.Abs(math.Mod(first, 2))
	}
	for i := range x.Rows {
		row := x.Row(i)
		for j := range row {
			row[j] *= sign[j]
		}
	}
}

// residuals stores in dst the norms ‖A·v − λ·v‖ of at most width columns v of vectors, where values holds λ. It copies the
// columns to m.x and stores their images in m.y. Cost: one product.
func (m *images) residuals(ctx context.Context, dst, values []float64,
	vectors *sparse.Block[float64]) error {
	m.allocate()
	m.e.eachRow(0, func(i int, _ []float64) {
		row := m.x.Row(i)
		clear(row[copy(row, vectors.Row(i)):])
	})
	m.products++
	if err := m.a.StepTo(ctx, m.y, m.x, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	m.residualsTo(dst, values)
	return nil
}
