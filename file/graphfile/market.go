package graphfile

import (
	"bufio"
	"context"
)

// MatrixMarket is the coordinate format of NIST's Matrix Market. Package ingest reads it by a [MarketReader].
var MatrixMarket = &Format{
	Name: "mtx", Title: "Matrix Market", Endings: []string{".mtx"}, Text: true,
	Sweeps: 1, write: writeMarket,
}

func writeMarket(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	g.begin(1)
	head := marketHead{Field: PatternField, Symmetry: Symmetric,
		Rows: uint64(g.nodes), Entries: uint64(g.edges())}
	if g.weighted {
		head.Field = realField
	}
	if g.directed {
		head.Symmetry = General
	}
	_, _ = out.WriteString(head.String())
	return 0, g.sweep(ctx, func(e *entries) error {
		for i, c := range e.col {
			if !g.directed && int(c) > e.row {
				break
			}
			line := appendMarketEntry(out.AvailableBuffer(), uint32(e.row), c)
			if err := endLine(out, line, ' ', g, e.weight(i)); err != nil {
				return err
			}
		}
		return nil
	})
}
