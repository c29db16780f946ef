package tall

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Pieces computes sums over the rows of tall matrices in parallel. Rows are cut into chunks of a
// fixed length, and chunks are grouped into at most maxPieces pieces. The cuts depend on the number
// of rows only, and sums are added in the order of chunks and pieces, so that their bits do not
// depend on the number of workers.
type Pieces struct {
	Workers int
	Chunks  int

	perPiece, pieces int
	partial          []float64 // sums of each piece
}

const maxPieces = 128

// NewPieces returns the pieces of the given number of rows, in chunks of chunk rows.
func NewPieces(rows, chunk, workers int) Pieces {
	p := Pieces{Workers: sched.Workers(workers), Chunks: (rows + chunk - 1) / chunk}
	p.perPiece = max(1, (p.Chunks+maxPieces-1)/maxPieces)
	p.pieces = (p.Chunks + p.perPiece - 1) / p.perPiece
	return p
}

// Bytes returns the memory of [Pieces.Each] for size sums.
func (p *Pieces) Bytes(size int) int64 { return 8 * int64(p.pieces) * int64(size) }

// Each calls do for every chunk. do adds to sums, the size sums of the piece, which are zero before
// its first chunk.
func (p *Pieces) Each(ctx context.Context, size int, do func(worker, chunk int, sums []float64)) error {
	p.partial = Grow(p.partial, p.pieces*size)
	clear(p.partial)
	return sched.Run(ctx, p.Workers, p.pieces, func(worker, piece int) error {
		sums := p.partial[piece*size : (piece+1)*size]
		for chunk := piece * p.perPiece; chunk < min(p.Chunks, (piece+1)*p.perPiece); chunk++ {
			do(worker, chunk, sums)
		}
		return nil
	})
}

// TotalTo stores in dst the totals of the sums offset … offset+len(dst)−1; step is the number of
// sums of a piece.
func (p *Pieces) TotalTo(dst []float64, step, offset int) {
	clear(dst)
	for piece := range p.pieces {
		for i, s := range p.partial[piece*step+offset:][:len(dst)] {
			dst[i] += s
		}
	}
}
