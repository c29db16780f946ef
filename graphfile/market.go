package graphfile

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
)

// Matrix Market files are read by package ingest, whose parallel parser of lines takes
// their entries.

// MatrixMarket is the coordinate format of NIST's Matrix Market.
var MatrixMarket = &Format{
	Name: "mtx", Title: "Matrix Market", Endings: []string{".mtx"}, Text: true,
	Sweeps: 1, write: writeMarket, size: func(g *graph) int64 { return g.linesBytes(g.edges(), 2*(g.longestNumber()+1)) },
}

// writeMarket writes a coordinate matrix: general if g is directed, else the lower
// triangle of a symmetric one; a pattern if it has no weights.
func writeMarket(ctx context.Context, out *bufio.Writer, g *graph) (without int, err error) {
	g.begin(1)
	field, symmetry := "pattern", "symmetric"
	if g.weighted {
		field = "real"
	}
	if g.directed {
		symmetry = "general"
	}
	n, _ := g.a.Dims()
	fmt.Fprintf(out, "%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", field, symmetry, n, n, g.edges())
	return 0, g.sweep(ctx, func(e *entries) error {
		for i, c := range e.col {
			if !g.directed && int(c) > e.row {
				break
			}
			line := strconv.AppendUint(out.AvailableBuffer(), uint64(e.row)+1, 10)
			line = strconv.AppendUint(append(line, ' '), uint64(c)+1, 10)
			if err := endLine(out, line, ' ', g, e.weight(i)); err != nil {
				return err
			}
		}
		return nil
	})
}
