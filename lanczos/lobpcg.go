package lanczos

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// errSlow is returned by LOBPCG if it has used several times the predicted products.
var errSlow = errors.New("lanczos: the preconditioner does not help")

// otherMethod is the error by which Lanczos hands over to LOBPCG.
type otherMethod struct {
	cost     float64 // predicted cost of LOBPCG, in products of Lanczos
	products float64 // number of products after which LOBPCG is slow
}

// Error implements error.
func (*otherMethod) Error() string {
	return "lanczos: LOBPCG is faster"
}

// predict returns the predicted work of LOBPCG for want pairs with a good preconditioner. sp is the estimated spectrum. An
// iteration reduces the error by about exp(−2√ξ), ξ = 1 − δ/δ', where δ is the distance of the last wanted pair from the
// known eigenvalue, and δ' the distance of the first pair that is not iterated.
func (r *run) predict(sp spectrum, want int) *otherMethod {
	const (
		fewest, reach = 15, 15 // iterations: the fewest observed, and the number for ξ = 1
		// An iteration with four columns takes work + rows/(entries of a row + rowEntries) products of Lanczos.
		work, rows = 1, 300
	)
	top := r.p.Which.sign() * r.deflation.value
	cols := lobpcgColumns(r.dim, r.target, r.deflation.count())
	guard := want + 2*width
	gap := top - sp.beyond(want)
	far := top - sp.beyond(guard)
	xi := 0.0
	if gap > 0 && far > gap {
		xi = 1 - math.Pow(far/gap, -float64(cols-r.target)/float64(guard-want))
	}
	iterations := max(fewest, reach/math.Sqrt(xi))
	blocks := iterations * float64(roundUp(cols)/width)
	return &otherMethod{blocks * (work + rows/(r.entries()+rowEntries)), 2 * blocks}
}

// lobpcg finds extreme eigenpairs, orthogonal to the known pairs, by the locally optimal block preconditioned conjugate
// gradient method (Knyazev 2001). It iterates the wanted and a few more columns; every iteration makes the basis [X P W]
// orthonormal. If lobpcg needs several times the predicted products, it returns errSlow and no result. Cost of an
// iteration: two sweeps with all columns and one application of the preconditioner.
func (r *run) lobpcg(ctx context.Context, predicted float64) (*Pairs, error) {
	g := &lobpcg{r: r, m: r.m,
		cols:      lobpcgColumns(r.dim, r.target, r.deflation.count()),
		predicted: predicted}
	if r.p.Precondition != nil {
		var err error
		if g.inverse, err = r.p.Precondition(ctx, budget.Subtract(r.s.Memory, r.need)); err != nil {
			return nil, err
		}
	}
	if err := g.start(ctx); err != nil {
		return nil, err
	}
	return g.iterate(ctx)
}

// lobpcg is a run on B, whose upper end is wanted. The basis holds X, then P, then W.
type lobpcg struct {
	r       *run
	m       *images
	k       *krylov // holds the basis of X, P and W
	cols    int
	inverse Preconditioner // nil: no preconditioner

	x, y     *sparse.Block[float64] // blocks of slabColumns columns
	residues *basis                 // residuals of X
	theta    []float64              // Ritz values of X, falling
	residual []float64              // norms of the residuals of X
	active   []int                  // unconverged columns of X
	held     int                    // columns of P
	inner    *mat.Dense             // PᵀBP
	blocks   int                    // products with a block

	predicted      float64 // +∞: unknown
	initial, worst float64 // largest residual of an unconverged wanted column, at first and now
}

func lobpcgColumns(n, pairs, excluded int) int {
	return max(1, min(pairs+min(8, max(4, pairs/4)), n-excluded))
}

const slabColumns = 8 * width

// leastResidual is the relative residual below which rounding errors decide.
const leastResidual = 1e-13

func (g *lobpcg) start(ctx context.Context) error {
	g.k = newKrylov(g.r, 3*g.cols-width)
	k := g.k
	g.residues = newBasis(g.r.n, g.cols)
	slab := min(g.cols, slabColumns)
	g.x, g.y = sparse.NewBlock[float64](g.r.n, slab),
		sparse.NewBlock[float64](g.r.n, slab)
	g.r.result.Method = "lobpcg"
	g.r.result.Basis = 3 * g.cols
	g.r.result.Degree = 1
	g.residual = make([]float64, g.cols)
	if err := g.r.measureNorm(ctx); err != nil {
		return err
	}
	for offset, end := range blocks.Slabs(g.cols, width) {
		x := k.v.slice(offset, end)
		k.fillRandom(x)
		c := make([]float64, max(1, offset)*width)
		r := make([]float64, width*width)
		if _, err := k.ortho.run(ctx, k.v.slice(0, offset), x, 0, c, r); err != nil {
			return err
		}
	}
	k.ortho.fill, k.ortho.project = nil, nil

	x := k.v.slice(0, g.cols)
	h, _, _, err := g.m.project(ctx, x, g.k.f.sign)
	if err != nil {
		return err
	}
	var q *mat.Dense
	if g.theta, q, err = fallingEigen(ctx, h, nil, g.m.e.Workers); err != nil {
		return err
	}
	return g.m.e.multiplyTo(ctx, x, x, q.RawMatrix().Data, g.cols)
}

func (g *lobpcg) iterate(ctx context.Context) (*Pairs, error) {
	for {
		e := g.m.e
		for lo, hi := range blocks.Slabs(g.cols, slabColumns) {
			if err := g.product(ctx, g.k.v.slice(lo, hi)); err != nil {
				return nil, err
			}
			e.eachRow(hi-lo, func(i int, sums []float64) {
				image := g.y.Row(i)
				x := g.x.Row(i)
				for j, theta := range g.theta[lo:hi] {
					image[j] -= float64(theta * x[j])
					sums[j] += float64(image[j] * image[j])
				}
			})
			e.normsTo(g.residual[lo:hi])
			e.setColumns(g.residues.slice(lo, hi), g.y)
		}
		converged := g.countConverged()
		over := g.m.products >= g.r.s.MaxProducts
		if !over && converged < g.r.target && g.isSlow() {
			return nil, errSlow
		}
		if over || converged == g.r.target {
			g.x = nil
			g.y = nil
			g.residues = nil
			g.inverse = nil
			out, err := g.r.finish(ctx, g.k.v.slice(0, g.r.target),
				g.theta[:g.r.target], nil)
			if err == nil && converged < g.r.target {
				err = limitError(converged, g.r.target, out.Products)
			}
			return out, err
		}
		count, err := g.directions(ctx)
		if err == nil {
			err = g.combine(ctx, count)
		}
		if err != nil {
			return nil, err
		}
		g.r.result.Restarts++
	}
}

// isSlow reports whether the method has used three times the predicted products. It also returns true if the predicted
// products are used and the residual has made less than half of its way to the tolerance, in orders of magnitude.
func (g *lobpcg) isSlow() bool {
	used := float64(g.blocks) / g.predicted
	return used > 3 || used > 1 && g.worst > math.Sqrt(g.initial*g.r.s.Tolerance*g.r.norm)
}

func (g *lobpcg) product(ctx context.Context, c columns) error {
	g.x = blocks.Reshape(g.x, g.r.n, c.width())
	g.y = blocks.Reshape(g.y, g.r.n, c.width())
	g.m.e.setBlock(g.x, c)
	g.m.products += roundUp(c.width()) / width
	g.blocks += roundUp(c.width()) / width
	return g.r.p.A.StepTo(ctx, g.y, g.x, sparse.Step[float64]{Alpha: g.k.f.sign})
}

// countConverged sets g.active, and returns the number of converged wanted columns.
func (g *lobpcg) countConverged() (converged int) {
	g.active = g.active[:0]
	g.worst = 0
	for j, r := range g.residual {
		goal := g.r.s.Tolerance * g.r.norm
		if relative := g.r.s.Relative * math.Abs(g.theta[j]); relative > 0 {
			goal = min(goal, max(relative, leastResidual*g.r.norm))
		}
		switch {
		case r > goal:
			g.active = append(g.active, j)
			if j < g.r.target {
				g.worst = max(g.worst, r)
			}
		case j < g.r.target:
			converged++
		}
	}
	if g.initial == 0 {
		g.initial = g.worst
	}
	g.r.report(g.m.products)
	if g.r.s.Recorder != nil {
		g.r.s.Recorder(g.r.result.Restarts,
			g.worst/max(g.r.norm, math.SmallestNonzeroFloat64))
	}
	return converged
}

// directions stores in W the preconditioned residuals of the active columns, orthonormal and orthogonal to X and P. It
// returns the number of columns of W.
func (g *lobpcg) directions(ctx context.Context) (int, error) {
	k := g.k
	count := len(g.active)
	start := g.cols + g.held
	target := k.v.slice(start, start+count)
	for lo, hi := range blocks.Slabs(count, slabColumns) {
		g.x = blocks.Reshape(g.x, g.r.n, hi-lo)
		for offset := lo; offset < hi; {
			end := offset + 1
			for end < hi && g.active[end] == g.active[end-1]+1 {
				end++
			}
			k.m.e.setBlock(g.x.Columns(offset-lo, end-lo),
				g.residues.slice(g.active[offset], g.active[end-1]+1))
			offset = end
		}
		w := g.x
		if g.inverse != nil {
			g.y = blocks.Reshape(g.y, g.r.n, hi-lo)
			if err := g.inverse(ctx, g.y, g.x); err != nil {
				return 0, err
			}
			w = g.y
		}
		k.deflation.remove(w, k.m.e.Workers)
		k.m.e.setColumns(k.v.slice(start+lo, start+hi), w)
	}
	c := make([]float64, start*count)
	r := make([]float64, count*count)
	// Orthogonalisation may reintroduce parts of the known vectors.
	rank, err := k.ortho.run(ctx, k.v.slice(0, start), target, 0, c, r)
	if err != nil || rank == 0 {
		return rank, err
	}
	for lo, hi := range blocks.Slabs(rank, slabColumns) {
		g.x = blocks.Reshape(g.x, g.r.n, hi-lo)
		k.purify(g.x, k.v.slice(start+lo, start+hi))
	}
	return rank, nil
}

// combine replaces X by the best Ritz vectors of the basis [X P W], and P by the parts of these Ritz vectors in the span of
// P and W (Hetmaniuk and Lehoucq 2006). count is the number of columns of W.
func (g *lobpcg) combine(ctx context.Context, count int) error {
	k := g.k
	start := g.cols + g.held
	size := start + count
	h := mat.NewSymDense(size, nil)
	for i, theta := range g.theta {
		h.SetSym(i, i, theta)
	}
	for i := range g.held {
		for j := range i + 1 {
			h.SetSym(g.cols+i, g.cols+j, g.inner.At(i, j))
		}
	}
	if count > 0 {
		for lo, hi := range blocks.Slabs(count, slabColumns) {
			if err := g.product(ctx, k.v.slice(start+lo, start+hi)); err != nil {
				return err
			}
			k.m.e.setColumns(g.residues.slice(lo, hi), g.y)
		}
		gram := make([]float64, size*count)
		if err := k.m.e.gramTo(ctx, gram, k.v.slice(0, size), g.residues.slice(0, count)); err != nil {
			return err
		}
		if !finite(gram) {
			return ErrNotFinite
		}
		for j := range count {
			for i := range start + j + 1 {
				h.SetSym(i, start+j, gram[i*count+j])
			}
		}
	}
	theta, vectors, err := fallingEigen(ctx, h, nil, g.m.e.Workers)
	if err != nil {
		return err
	}
	g.theta = theta[:g.cols]
	q := g.split(vectors, size)
	if err := k.m.e.multiplyTo(ctx, k.v.slice(0, size), k.v.slice(0, size),
		q.RawMatrix().Data, g.cols+g.held); err != nil {
		return err
	}
	g.inner = &mat.Dense{}
	if g.held > 0 {
		p := q.Slice(0, size, g.cols, g.cols+g.held)
		var hp mat.Dense
		hp.Mul(h, p)
		g.inner.Mul(p.T(), &hp)
	}
	return nil
}

// split returns orthonormal coefficients of the new X, then of the new P, in the basis [X P W] of size columns. The new X
// are the first eigenvectors. The new P are the independent parts of the active eigenvectors outside of the old X.
func (g *lobpcg) split(vectors *mat.Dense, size int) *mat.Dense {
	limit := min(2*g.cols, size)
	q := mat.NewDense(size, limit, nil)
	q.Slice(0, size, 0, g.cols).(*mat.Dense).Copy(vectors.Slice(0, size, 0, g.cols))
	next := g.cols
	column := make([]float64, size)
	for _, j := range g.active {
		if next == limit {
			break
		}
		clear(column)
		for i := g.cols; i < size; i++ {
			column[i] = vectors.At(i, j)
		}
		if !orthogonal(column, q, next) {
			continue
		}
		q.SetCol(next, column)
		next++
	}
	g.held = next - g.cols
	return mat.DenseCopyOf(q.Slice(0, size, 0, next))
}

func orthogonal(v []float64, q *mat.Dense, cols int) bool {
	const independent = 1e-6
	length := mat.Norm(mat.NewVecDense(len(v), v), 2)
	if length == 0 {
		return false
	}
	vector := mat.NewVecDense(len(v), v)
	for range 2 {
		for j := range cols {
			c := q.ColView(j)
			vector.AddScaledVec(vector, -mat.Dot(c, vector), c)
		}
	}
	left := mat.Norm(vector, 2)
	vector.ScaleVec(1/left, vector)
	return left > independent*length
}
