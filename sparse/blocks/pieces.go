package blocks

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Pieces computes sums over the rows of tall matrices: chunk by chunk within at most MaxPieces pieces, then over the
// pieces, then over the processes. Their bits do not depend on the number of workers.
type Pieces struct {
	Workers int
	Chunks  int // number of chunks

	team             *sparse.Team
	rows             int       // rows of a chunk
	perPiece, pieces int       // chunks of a piece, and number of pieces
	partial          []float64 // the sums of each piece
}

// MaxPieces is the largest number of pieces. It bounds the memory of their sums.
const MaxPieces = 128

// NewPieces returns the pieces of a matrix with the given number of rows. chunk is the number of rows in a chunk, and
// must divide 4096.
func NewPieces(team *sparse.Team, rows, chunk, workers int) Pieces {
	p := Pieces{team: team, rows: chunk, Workers: sched.Workers(workers),
		Chunks: (rows + chunk - 1) / chunk}
	p.perPiece = max(1, (p.Chunks+MaxPieces-1)/MaxPieces)
	p.pieces = (p.Chunks + p.perPiece - 1) / p.perPiece
	return p
}

// Each calls do for every chunk. do must add the contributions of the rows of the chunk to sums, the size sums of its
// piece. Sums of named rows that do not count in this process are dropped, see [sparse.Team]. Padding must be zero.
func (p *Pieces) Each(ctx context.Context, size int,
	do func(worker, chunk int, sums []float64)) error {
	p.partial = Grow(p.partial, p.pieces*size)
	clear(p.partial)
	return sched.Run(ctx, p.Workers, p.pieces, func(worker, piece int) error {
		sums := p.partial[piece*size : (piece+1)*size]
		for chunk := piece * p.perPiece; chunk < min(p.Chunks, (piece+1)*p.perPiece); chunk++ {
			if p.team != nil && chunk*p.rows >= p.team.First &&
				!p.team.Counts(chunk*p.rows) {
				do(worker, chunk, make([]float64, size))
				continue
			}
			do(worker, chunk, sums)
		}
		return nil
	})
}

// TotalTo stores in dst the totals of the sums offset ≤ i < offset+len(dst) of all pieces and processes. step must be
// the size that Each got.
func (p *Pieces) TotalTo(dst []float64, step, offset int) {
	clear(dst)
	for piece := range p.pieces {
		for i, s := range p.partial[piece*step+offset:][:len(dst)] {
			dst[i] += s
		}
	}
	p.team.Sum(dst)
}
