package lanczos

import (
	"context"
	"math"
	"sort"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
)

// Known are orthonormal eigenvectors of one eigenvalue that have no rows in
// common: for the Laplacian L the constants on each component, for L̃ and S
// the square roots of the degrees.
type Known struct {
	value float64
	unit  []float64 // one number for each row: of the vector it belongs to
	order []uint32  // the rows of the first vector, of the second, …; nil: all rows, one vector
	start []int     // where each vector begins in order, and the end
}

// NewKnown returns the restrictions of a vector to the components, normalised,
// as eigenvectors of value. Nil weights stand for ones. A component on which
// all weights are 0 gives no vector.
func NewKnown(c *sparse.Components, weights []float64, value float64) *Known {
	n := len(c.Of)
	if weights != nil && len(weights) != n {
		panic(badShape)
	}
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	square := make([]float64, len(c.Sizes))
	for i, g := range c.Of {
		square[g] += float64(weight(i) * weight(i))
	}
	k := &Known{value: value, unit: make([]float64, n), start: []int{0}}
	next := make([]int, len(c.Sizes))
	for g, size := range c.Sizes {
		next[g] = -1
		if square[g] > 0 {
			last := k.start[len(k.start)-1]
			next[g] = last
			k.start = append(k.start, last+size)
		}
	}
	whole := len(c.Sizes) == 1
	if !whole {
		k.order = make([]uint32, k.start[len(k.start)-1])
	}
	for i, g := range c.Of {
		if next[g] < 0 {
			continue
		}
		k.unit[i] = weight(i) / math.Sqrt(square[g])
		if !whole {
			k.order[next[g]] = uint32(i)
			next[g]++
		}
	}
	return k
}

// Count returns the number of vectors.
func (k *Known) Count() int {
	if k == nil {
		return 0
	}
	return len(k.start) - 1
}

// row returns the row at a place of the order.
func (k *Known) row(place int) int {
	if k.order == nil {
		return place
	}
	return int(k.order[place])
}

// vectorTo stores vector g in column j of dst.
func (k *Known) vectorTo(dst *sparse.Block[float64], j, g int) {
	for i := range dst.Rows {
		dst.Data[i*dst.Stride+j] = 0
	}
	for at := k.start[g]; at < k.start[g+1]; at++ {
		i := k.row(at)
		dst.Data[i*dst.Stride+j] = k.unit[i]
	}
}

// projection makes blocks orthogonal to known vectors.
type projection struct {
	*Known
	workers int
	border  []float64 // sums of vectors that lie in several chunks: two for each chunk
}

// projectChunk is the number of places whose sums are added before those of
// chunks are added in order.
const projectChunk = 4096

// remove subtracts from each column of x what it has of the known vectors, as
// it is stored: rounding leaves about ε of its norm.
func (p *projection) remove(ctx context.Context, x *sparse.Block[float64]) error {
	if p.Count() == 0 {
		return nil
	}
	places := p.start[p.Count()]
	chunks := (places + projectChunk - 1) / projectChunk
	cols := x.Cols
	p.border = tall.Grow(p.border, 2*chunks*cols)
	clear(p.border)
	err := sched.Run(ctx, p.workers, chunks, func(_, c int) error {
		p.eachVector(c, places, func(lo, hi int, whole bool, slot int) {
			sum := p.border[(2*c+slot)*cols:][:cols]
			p.sumRows(sum, x, lo, hi)
			if whole {
				p.subtractRows(x, sum, lo, hi)
				clear(sum)
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	p.joinBorders(chunks, places, cols)
	return sched.Run(ctx, p.workers, chunks, func(_, c int) error {
		p.eachVector(c, places, func(lo, hi int, whole bool, slot int) {
			if !whole {
				p.subtractRows(x, p.border[(2*c+slot)*cols:][:cols], lo, hi)
			}
		})
		return nil
	})
}

// eachVector visits the vectors that have places in chunk c: which places,
// whether they are all it has, and where its sums are kept.
func (p *projection) eachVector(c, places int, visit func(lo, hi int, whole bool, slot int)) {
	from, to := c*projectChunk, min(places, (c+1)*projectChunk)
	g := sort.SearchInts(p.start, from+1) - 1
	for slot := 0; g < p.Count() && p.start[g] < to; g, slot = g+1, 1 {
		lo, hi := max(from, p.start[g]), min(to, p.start[g+1])
		visit(lo, hi, hi-lo == p.start[g+1]-p.start[g], slot)
	}
}

// joinBorders adds the sums of each vector that lies in several chunks, in
// their order, and hands the total to all of them.
func (p *projection) joinBorders(chunks, places, cols int) {
	for c := range chunks {
		p.eachVector(c, places, func(lo, hi int, whole bool, slot int) {
			if whole || lo%projectChunk == 0 && lo != p.start[sort.SearchInts(p.start, lo+1)-1] {
				return // complete, or joined with the chunk it began in
			}
			g := sort.SearchInts(p.start, lo+1) - 1
			total := p.border[(2*c+slot)*cols:][:cols]
			last := (p.start[g+1] - 1) / projectChunk
			for next := c + 1; next <= last; next++ {
				for j, s := range p.border[2*next*cols:][:cols] {
					total[j] += s
				}
			}
			for next := c + 1; next <= last; next++ {
				copy(p.border[2*next*cols:][:cols], total)
			}
		})
	}
}

func (p *projection) sumRows(sum []float64, x *sparse.Block[float64], lo, hi int) {
	for at := lo; at < hi; at++ {
		i := p.row(at)
		u := p.unit[i]
		for j, v := range x.Data[i*x.Stride:][:len(sum)] {
			sum[j] += float64(u * v)
		}
	}
}

func (p *projection) subtractRows(x *sparse.Block[float64], sum []float64, lo, hi int) {
	for at := lo; at < hi; at++ {
		i := p.row(at)
		u := p.unit[i]
		row := x.Data[i*x.Stride:][:len(sum)]
		for j, s := range sum {
			row[j] -= float64(u * s)
		}
	}
}
