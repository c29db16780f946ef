package double

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Block is a block of numbers.
type Block struct{ Hi, Lo *sparse.Block[float64] }

// NewBlock returns a block of zeros.
func NewBlock(rows, cols int) Block {
	return Block{sparse.NewBlock[float64](rows, cols), sparse.NewBlock[float64](rows, cols)}
}

// At returns an element.
func (b Block) At(i, j int) Number { return Number{b.Hi.Row(i)[j], b.Lo.Row(i)[j]} }

// Set stores one.
func (b Block) Set(i, j int, v Number) { b.Hi.Row(i)[j], b.Lo.Row(i)[j] = v.Hi, v.Lo }

// Degrees are those of rows, of which 1 stands for 0; nil are ones.
type Degrees []Number

// At returns the degree of row i.
func (d Degrees) At(i int) Number {
	if d == nil || d[i].Hi == 0 {
		return Number{Hi: 1}
	}
	return d[i]
}

// Root returns its root.
func (d Degrees) Root(i int) Number { return d.At(i).Root() }

// DegreesOf returns A·1.
func DegreesOf(ctx context.Context, a sparse.Matrix) (Degrees, error) {
	rows, _ := a.Dims()
	degrees := make(Degrees, rows)
	err := a.Sweep(ctx, 1, func(_ int, p sparse.Panel) error { // pieces of a row in order
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			if val == nil {
				degrees[i] = degrees[i].Plus(Number{Hi: float64(len(col))})
			}
			for _, w := range val {
				degrees[i] = degrees[i].Plus(Number{Hi: w})
			}
		}
		return nil
	})
	return degrees, err
}

// row is one of L·Z under way, or a piece of it.
type row struct {
	sums  []Number
	sizes []float64 // of what goes in, times the number of additions
}

// add begins with the entries of row i.
func (r *row) add(z Block, i int, col []uint32, val []float64) {
	clear(r.sums)
	clear(r.sizes)
	for e, other := range col {
		w := 1.0
		if val != nil {
			w = val[e]
		}
		if int(other) == i || w == 0 {
			continue
		}
		for j := range r.sums {
			a, b := z.At(i, j), z.At(int(other), j)
			r.sums[j] = r.sums[j].Plus(a.Minus(b).Times(Number{Hi: w}))
			r.sizes[j] += w * (math.Abs(a.Hi) + math.Abs(b.Hi))
		}
	}
	for j := range r.sizes {
		r.sizes[j] *= float64(len(col) + 4)
	}
}

// Laplacian sweeps over the rows of L·Z, L = D − A, and gives each to finish. Sums err by
// less than [Rounding] times their sizes. Loops cancel in L and are left out. A row that
// comes in pieces is added up piece by piece, in order.
func Laplacian(ctx context.Context, a sparse.Matrix, workers int, z Block, finish func(worker, i int, sums []Number, sizes []float64)) error {
	newRow := func() *row { return &row{make([]Number, z.Hi.Cols), make([]float64, z.Hi.Cols)} }
	ranges, own := a.Ranges(), make([]*row, sched.Workers(workers))
	for i := range own {
		own[i] = newRow()
	}
	pieces := make([]*row, len(ranges)) // nil of whole rows
	for i, r := range ranges {
		if r.Pieces > 1 {
			pieces[i] = newRow()
		}
	}
	err := a.Sweep(ctx, workers, func(worker int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			if piece := pieces[p.Index]; piece != nil {
				piece.add(z, i, col, val)
				continue
			}
			r := own[worker]
			r.add(z, i, col, val)
			finish(worker, i, r.sums, r.sizes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for at, whole := range pieces {
		if whole == nil || ranges[at].Piece > 0 {
			continue
		}
		for _, other := range pieces[at+1 : at+ranges[at].Pieces] {
			for j := range whole.sums {
				whole.sums[j] = whole.sums[j].Plus(other.sums[j])
				whole.sizes[j] += other.sizes[j]
			}
		}
		finish(0, ranges[at].Lo, whole.sums, whole.sizes)
	}
	return nil
}
