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

// Laplacian sweeps over the rows of L·Z, L = D − A, and gives each to finish. Sums err by
// less than [Rounding] times their sizes. Loops cancel in L and are left out.
func Laplacian(ctx context.Context, a sparse.Matrix, workers int, z Block, finish func(worker, i int, sums []Number, sizes []float64)) error {
	return eachRow(ctx, a, workers, z.Hi.Cols, func(_, i int, col []uint32, val []float64, sums []Number, sizes []float64) {
		for e, other := range col {
			w := 1.0
			if val != nil {
				w = val[e]
			}
			if int(other) == i || w == 0 {
				continue
			}
			for j := range sums {
				a, b := z.At(i, j), z.At(int(other), j)
				sums[j] = sums[j].Plus(a.Minus(b).Times(Number{Hi: w}))
				sizes[j] += w * (math.Abs(a.Hi) + math.Abs(b.Hi))
			}
		}
		for j := range sizes { // of additions, one after another
			sizes[j] *= float64(len(col) + 4)
		}
	}, finish)
}

// Degrees returns A·1.
func Degrees(ctx context.Context, a sparse.Matrix, workers int) ([]Number, error) {
	rows, _ := a.Dims()
	degrees := make([]Number, rows)
	err := eachRow(ctx, a, workers, 1, func(_, _ int, col []uint32, val []float64, sums []Number, _ []float64) {
		if val == nil {
			sums[0] = sums[0].Plus(Number{Hi: float64(len(col))})
		}
		for _, w := range val {
			sums[0] = sums[0].Plus(Number{Hi: w})
		}
	}, func(_, i int, sums []Number, _ []float64) { degrees[i] = sums[0] })
	return degrees, err
}

// eachRow sweeps over a, adds every row up in k sums and as many sizes, and finishes it.
// A row that comes in pieces is added up piece by piece, in order.
func eachRow(ctx context.Context, a sparse.Matrix, workers, k int,
	add func(worker, i int, col []uint32, val []float64, sums []Number, sizes []float64),
	finish func(worker, i int, sums []Number, sizes []float64)) error {
	type room struct {
		sums  []Number
		sizes []float64
	}
	newRoom := func() *room { return &room{make([]Number, k), make([]float64, k)} }
	ranges, rooms := a.Ranges(), make([]*room, sched.Workers(workers))
	pieces := map[int]*room{}
	for i, r := range ranges {
		if r.Pieces > 1 {
			pieces[i] = newRoom()
		}
	}
	for i := range rooms {
		rooms[i] = newRoom()
	}
	err := a.Sweep(ctx, workers, func(worker int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			r := rooms[worker]
			if p.Pieces > 1 {
				r = pieces[p.Index]
			}
			clear(r.sums)
			clear(r.sizes)
			col, val := p.Row(i - p.Lo)
			add(worker, i, col, val, r.sums, r.sizes)
			if p.Pieces == 1 {
				finish(worker, i, r.sums, r.sizes)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for at := 0; at < len(ranges); at += ranges[at].Pieces {
		if ranges[at].Pieces == 1 {
			continue
		}
		whole := pieces[at]
		for piece := 1; piece < ranges[at].Pieces; piece++ {
			other := pieces[at+piece]
			for j := range whole.sums {
				whole.sums[j] = whole.sums[j].Plus(other.sums[j])
				whole.sizes[j] += other.sizes[j]
			}
		}
		finish(0, ranges[at].Lo, whole.sums, whole.sizes)
	}
	return nil
}
