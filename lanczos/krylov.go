package lanczos

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

// width is the number of columns of a block. Four columns cost little more than one in a sweep, and find up to four copies of
// a multiple eigenvalue, but wider blocks need a larger basis.
const width = 4

// RowBytes is the distance in bytes between rows of the blocks that Lanczos multiplies.
const RowBytes = 8 * width

// krylov is a block Lanczos decomposition of the map M of a filter,
//
//	M·V = V·H + Q·R·Eᵀ,
//
// where V has size orthonormal columns, behind the locked columns of the basis, and Eᵀ selects the last block. Thick restarts
// reduce V to the best Ritz vectors (Wu and Simon 2000; Stewart 2002).
type krylov struct {
	m         *images
	f         filter
	deflation *knownVectors
	seed      uint64
	dim       int      // rows of the map, without the rows in zero
	zero      []uint32 // rows in which columns are 0

	ortho       orthonormalizer
	v           *basis
	locked      int
	size        int // columns of V
	block, last int // columns of Q, and of the block before Q
	h           []float64
	stride      int       // stride of H
	r           []float64 // block×last
	c           []float64
	streams     uint64 // streams of random numbers used

	theta    []float64  // Ritz values, falling
	residual []float64  // residuals of the Ritz values
	ritz     *mat.Dense // coefficients of Ritz vectors, as columns
}

func newKrylov(r *run, size int) *krylov {
	m := size + width
	k := &krylov{m: r.m, deflation: r.deflation, seed: r.s.RNGSeed, dim: r.dim,
		zero: r.p.Excluded, stride: m}
	k.m.allocate()
	k.ortho = orthonormalizer{e: k.m.e, fill: k.fillRandom}
	if k.deflation.count() > 0 {
		k.ortho.project = func(w columns) { k.purify(k.m.x, w) }
	}
	k.f = filter{sign: r.p.Which.sign(), degree: 1}
	k.v = newBasis(k.m.e.rows, m+width)
	k.h = make([]float64, m*m)
	k.r = make([]float64, width*width)
	k.c = make([]float64, m*width)
	return k
}

func (k *krylov) room() int {
	return k.v.cols - k.locked - 2*width
}

func (k *krylov) columnsBefore() columns {
	return k.v.slice(0, k.locked+k.size)
}

// next returns the columns of Q.
func (k *krylov) next() columns {
	return k.v.slice(k.locked+k.size, k.locked+k.size+k.block)
}

func (k *krylov) fillRandom(w columns) {
	k.streams++
	stream := k.streams << 32
	source := func(number int) *rand.Rand { return rand.New(rand.NewPCG(k.seed, stream+uint64(number))) }
	k.m.e.draw(k.m.x, source, func(rng *rand.Rand, row []float64) {
		for j := range w.width() {
			row[j] = rng.NormFloat64()
		}
	})
	clearRows(k.m.x, k.zero)
	k.deflation.remove(k.m.x, k.m.e.Workers)
	k.m.e.setColumns(w, k.m.x)
}

func clearRows(x *sparse.Block[float64], rows []uint32) {
	for _, i := range rows {
		clear(x.Row(int(i)))
	}
}

// purify removes the known vectors from w, and stores the result in w and in x.
func (k *krylov) purify(x *sparse.Block[float64], w columns) {
	k.m.e.setBlock(x, w)
	if k.deflation.count() > 0 {
		k.deflation.remove(x, k.m.e.Workers)
		k.m.e.setColumns(w, x)
	}
}

func (k *krylov) begin(ctx context.Context, random bool) error {
	k.size = 0
	k.last = 0
	k.block = width
	if random {
		k.fillRandom(k.next())
	}
	var err error
	k.ortho.longest = 0
	k.block, err = k.ortho.run(ctx, k.columnsBefore(), k.next(), 0, k.c, k.r)
	k.ortho.longest = 0 // the following blocks are images
	return err
}

// expand adds blocks to V while V has at most m columns. It ends when V spans the whole space, or when enough, which it
// calls after each block, returns true.
func (k *krylov) expand(ctx context.Context, m int,
	enough func() (bool, error)) error {
	for k.block > 0 && k.size+k.block <= m {
		// Otherwise the part of Q in the known vectors, a rounding error, would grow.
		q := k.next()
		k.purify(k.m.x, q)
		image, err := k.image(ctx)
		if err != nil {
			return err
		}
		k.deflation.remove(image, k.m.e.Workers)
		// After a restart the image has components in all of V, later only in
		// the last two blocks.
		recent := 0
		if k.last > 0 {
			recent = k.locked + k.size - k.last
		}
		size := k.size
		b := k.block
		k.size += b
		k.block = b
		k.last = b
		w := k.next()
		k.m.e.setColumns(w, image)
		if k.block, err = k.ortho.run(ctx, k.columnsBefore(), w, recent, k.c, k.r); err != nil {
			return err
		}
		for j := range b {
			for i := range size {
				v := k.c[(k.locked+i)*b+j]
				k.h[i*k.stride+size+j] = v
				k.h[(size+j)*k.stride+i] = v
			}
			for i := range j + 1 {
				v := (k.c[(k.locked+size+i)*b+j] + k.c[(k.locked+size+j)*b+i]) / 2
				k.h[(size+i)*k.stride+size+j] = v
				k.h[(size+j)*k.stride+size+i] = v
			}
		}
		if done, err := enough(); done || err != nil {
			return err
		}
	}
	return nil
}

func (k *krylov) image(ctx context.Context) (*sparse.Block[float64], error) {
	k.m.products += k.f.degree
	remove := func(x *sparse.Block[float64]) { k.deflation.remove(x, k.m.e.Workers) }
	b := k.m.balanced
	if b == nil || k.f.degree == 1 {
		return k.f.apply(ctx, k.m.a, k.m.x, k.m.y, remove)
	}
	k.m.e.scaleRows(k.m.x, b.factor)
	image, err := k.f.apply(ctx, b, k.m.x, k.m.y, func(x *sparse.Block[float64]) {
		k.m.e.scaleRows(x, b.inverse)
		remove(x)
		k.m.e.scaleRows(x, b.factor)
	})
	if err != nil {
		return nil, err
	}
	k.m.e.scaleRows(image, b.inverse)
	return image, nil
}

// decompose computes the eigenpairs of the projected matrix.
func (k *krylov) decompose(ctx context.Context) error {
	n := k.size
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, k.h[i*k.stride+j])
		}
	}
	values, vectors, err := fallingEigen(ctx, h, nil, k.m.e.Workers)
	if err != nil {
		return err
	}
	k.theta = values
	k.residual = make([]float64, n)
	k.ritz = vectors
	for i := range n {
		var square float64
		for row := range k.block {
			var sum float64
			for j := range k.last {
				sum += k.r[row*k.last+j] * vectors.At(n-k.last+j, i)
			}
			square += sum * sum
		}
		k.residual[i] = math.Sqrt(square)
	}
	return nil
}

// rotate replaces V by its first keep Ritz vectors, followed by Q.
func (k *krylov) rotate(ctx context.Context, keep int) error {
	v := k.v.slice(k.locked, k.locked+k.size)
	if err := k.m.e.multiplyTo(ctx, v, v, k.coefficients(0, keep), keep); err != nil {
		return err
	}
	start := k.next()
	k.size = keep
	k.last = 0
	for i := range keep {
		clear(k.h[i*k.stride:][:keep])
		k.h[i*k.stride+i] = k.theta[i]
	}
	k.m.e.copyTo(k.next(), start)
	return nil
}

func (k *krylov) vectors(ctx context.Context, lo, hi int) (columns, error) {
	x := k.v.slice(k.v.cols-width, k.v.cols-width+hi-lo)
	return x, k.m.e.multiplyTo(ctx, x, k.v.slice(k.locked, k.locked+k.size),
		k.coefficients(lo, hi), hi-lo)
}

func (k *krylov) coefficients(lo, hi int) []float64 {
	q := make([]float64, 0, k.size*(hi-lo))
	for i := range k.size {
		q = append(q, k.ritz.RawRowView(i)[lo:hi]...)
	}
	return q
}

// blend restarts the decomposition with a single block, for a new filter. The columns of the block are sums of the first
// count Ritz vectors.
func (k *krylov) blend(ctx context.Context, count int) error {
	q := make([]float64, k.size*width)
	for i := range k.size {
		for j := range min(max(count, width), k.size) {
			q[i*width+j%width] += k.ritz.At(i, j)
		}
	}
	v := k.v.slice(k.locked, k.locked+k.size)
	if err := k.m.e.multiplyTo(ctx, v, v, q, width); err != nil {
		return err
	}
	return k.begin(ctx, false)
}

// rank returns for each Ritz value the estimated number of eigenvalues beyond it (Lin, Saad and Yang 2016). The basis must
// have begun with random columns, which have nearly equal components in every eigenvector. The squares of these components
// in a Ritz vector therefore add up to the share of the eigenvalues that the Ritz vector represents.
func (k *krylov) rank() spectrum {
	points := make(spectrum, k.size)
	weight := 0.0
	for i, theta := range k.theta {
		share := 0.0
		for j := range width {
			share += k.ritz.At(j, i) * k.ritz.At(j, i)
		}
		share *= float64(k.dim) / width
		points[i] = quantile{theta, weight + share/2}
		weight += share
	}
	return points
}

// merge replaces values by the len(values) largest of values and further, and their vectors by the vectors of these. Both
// lists decrease. The vectors of values are the locked columns; the vectors of further must follow them.
func (k *krylov) merge(ctx context.Context, values, further []float64) error {
	keep := len(values)
	merged := slices.Concat(values, further)
	q := make([]float64, len(merged)*keep)
	i, j := 0, keep
	for target := range keep {
		source := i
		if j < len(merged) && merged[j] > merged[i] {
			source = j
			j++
		} else {
			i++
		}
		values[target] = merged[source]
		q[source*keep+target] = 1
	}
	return k.m.e.multiplyTo(ctx, k.v.slice(0, keep),
		k.v.slice(0, len(merged)), q, keep)
}
