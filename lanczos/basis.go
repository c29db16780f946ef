package lanczos

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// basis is a dense rows×cols matrix. It is stored in panels of [segment] rows, so that the columns of a panel stay in the
// cache. Rows of the last panel beyond rows are zero.
type basis struct {
	cols int
	data []float64
}

// newBasis returns a basis of zeros. It advises large pages, because passes read the whole basis.
func newBasis(rows, cols int) *basis {
	size := (rows + segment - 1) / segment * cols * segment
	system.Expect(8 * int64(size))
	v := &basis{cols: cols, data: make([]float64, size)}
	system.Advise(v.data)
	return v
}

func (v *basis) panel(chunk, j int) []float64 {
	offset := chunk * v.cols
	return v.data[(offset+j)*segment : (offset+v.cols)*segment]
}

type columns struct {
	*basis
	lo, hi int
}

func (v *basis) slice(lo, hi int) columns {
	return columns{v, lo, hi}
}

func (c columns) width() int { return c.hi - c.lo }

func (c columns) panel(chunk int) []float64 {
	return c.basis.panel(chunk, c.lo)
}

// engine computes products of tall matrices, with sums over rows in the order of [blocks.Pieces].
type engine struct {
	blocks.Pieces
	team    *sparse.Team
	rows    int // rows of this process
	scratch [][]float64
}

// fewRows is the number of rows up to which a second worker does not pay.
const fewRows = 8192

func newEngine(team *sparse.Team, rows, workers int) *engine {
	if workers <= 0 && rows < fewRows {
		workers = 1
	}
	e := &engine{Pieces: blocks.NewPieces(team, rows, segment, workers), team: team,
		rows: rows}
	e.scratch = make([][]float64, e.Workers)
	return e
}

// eachRow calls do for every row i. sums are the size sums of the piece of rows that has row i; do may add to them.
// eachRow cannot be interrupted, because it takes less time than a product.
func (e *engine) eachRow(size int, do func(i int, sums []float64)) {
	_ = e.Each(context.Background(), size, func(_, chunk int, sums []float64) {
		for i := chunk * segment; i < min(e.rows, (chunk+1)*segment); i++ {
			do(i, sums)
		}
	})
}

// draw fills the rows of x with random numbers by fill, and padding with zeros. fill takes numbers from source(s) for the
// rows of segment s of the matrix. A process skips the numbers of rows of other processes, so that the numbers of a row
// do not depend on the number of processes.
func (e *engine) draw(x *sparse.Block[float64], source func(segment int) *rand.Rand,
	fill func(rng *rand.Rand, row []float64)) {
	blocks.EachChunk(e.Workers, e.rows, func(_, _, lo, hi int) {
		var rng *rand.Rand
		current := -1
		next := 0
		skipped := make([]float64, x.Cols)
		for i := lo; i < hi; i++ {
			if e.team.IsPadding(i) {
				clear(x.Row(i))
				continue
			}
			row := e.team.Row(i)
			if row/segment != current {
				current = row / segment
				rng = source(current)
				next = current * segment
			}
			for ; next < row; next++ {
				fill(rng, skipped)
			}
			fill(rng, x.Row(i))
			next++
		}
	})
}

func (e *engine) normsTo(dst []float64) {
	e.TotalTo(dst, len(dst), 0)
	for j, square := range dst {
		dst[j] = math.Sqrt(square)
	}
}

// gramTo stores VᵀW in dst, a matrix by rows.
func (e *engine) gramTo(ctx context.Context, dst []float64, v, w columns) error {
	nv := v.width()
	nw := w.width()
	err := e.Each(ctx, nv*nw, func(_, chunk int, sums []float64) {
		addDots(sums, v.panel(chunk), nv, w.panel(chunk), nw)
	})
	e.TotalTo(dst[:nv*nw], nv*nw, 0)
	return err
}

// multiplyTo stores V·Q in the first cols columns of W, which may be V. Q has cols columns.
func (e *engine) multiplyTo(ctx context.Context, w, v columns, q []float64,
	cols int) error {
	nv := v.width()
	for i := range e.scratch {
		e.scratch[i] = blocks.Grow(e.scratch[i], cols*segment)
	}
	return e.Each(ctx, 0, func(worker, chunk int, _ []float64) {
		out := e.scratch[worker][:cols*segment]
		clear(out)
		addColumns(out, cols, v.panel(chunk), nv, q)
		copy(w.panel(chunk), out)
	})
}

func (e *engine) scaleRows(x *sparse.Block[float64], factor []float64) {
	zero := simd.Rows[float64]{Data: make([]float64, x.Cols)}
	blocks.EachChunk(e.Workers, e.rows, func(_, _, lo, hi int) {
		rows := simd.RowsOf(x.Data, x.Stride, lo)
		simd.AddRows(rows, hi-lo, x.Cols, zero, factor[lo:hi], rows)
	})
}

func (e *engine) copyTo(w, v columns) {
	blocks.EachChunk(e.Workers, e.rows, func(_, chunk, _, _ int) {
		copy(w.panel(chunk), v.panel(chunk)[:v.width()*segment])
	})
}

func (e *engine) setColumns(dst columns, x *sparse.Block[float64]) {
	blocks.EachChunk(e.Workers, e.rows, func(_, chunk, lo, hi int) {
		p := dst.panel(chunk)
		for j := range dst.width() {
			col := column(p, j, dst.width())
			for i := lo; i < hi; i++ {
				col[i-lo] = x.Data[i*x.Stride+j]
			}
		}
	})
}

func (e *engine) setBlock(x *sparse.Block[float64], src columns) {
	blocks.EachChunk(e.Workers, e.rows, func(_, chunk, lo, hi int) {
		p := src.panel(chunk)
		for j := range src.width() {
			col := column(p, j, src.width())
			for i := lo; i < hi; i++ {
				x.Data[i*x.Stride+j] = col[i-lo]
			}
		}
		for j := src.width(); j < x.Cols; j++ {
			for i := lo; i < hi; i++ {
				x.Data[i*x.Stride+j] = 0
			}
		}
	})
}
