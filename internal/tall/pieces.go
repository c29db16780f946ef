package tall

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Pieces computes sums over the rows of tall matrices in an order that depends on the number of
// rows only, so that the bits of a sum do not depend on the number of workers. Rows are cut into chunks
// of a fixed length, and the chunks into at most maxPieces pieces. Sums are added chunk by chunk
// within a piece, and then piece by piece.
type Pieces struct {
	Workers int
	Chunks  int

	perPiece, pieces int
	partial          []float64 // the sums of each piece
}

const maxPieces = 128

// NewPieces returns the pieces of a matrix with the given number of rows in chunks of chunk rows.
func NewPieces(rows, chunk, workers int) Pieces {
	p := Pieces{Workers: sched.Workers(workers), Chunks: (rows + chunk - 1) / chunk}
	p.perPiece = max(1, (p.Chunks+maxPieces-1)/maxPieces)
	p.pieces = (p.Chunks + p.perPiece - 1) / p.perPiece
	return p
}

// Bytes returns the memory of [Pieces.Each] with sums of the given size.
func (p *Pieces) Bytes(size int) int64 { return 8 * int64(p.pieces) * int64(size) }

// Each calls do for every chunk with the sums of its piece, size numbers that are 0 at the first
// chunk of the piece.
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

// TotalTo adds up the sums of all pieces and stores those from offset on in dst. Each piece has
// step sums.
func (p *Pieces) TotalTo(dst []float64, step, offset int) {
	clear(dst)
	for piece := range p.pieces {
		for i, s := range p.partial[piece*step+offset:][:len(dst)] {
			dst[i] += s
		}
	}
}
