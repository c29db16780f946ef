package graphfile

import (
	"bufio"
	"context"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/table"
)

// Package ingest reads edge lists, many lines at a time, and finds out itself how each is built.
// They are written with tabs between the fields, or with commas under a header line.

// EdgeList is text with an edge on each line, of any kind; it is written with tabs.
var EdgeList = &Format{
	Name: "tsv", Title: "edge list", Endings: []string{".tsv", ".edges", ".txt", ".el"}, Text: true,
	EdgesOnly: true, Sweeps: 1, write: writeTabs, size: edgesBytes,
}

// CSV is edges under a header, with commas.
var CSV = &Format{
	Name: "csv", Title: "CSV", Endings: []string{".csv"}, Text: true,
	EdgesOnly: true, Sweeps: 1, write: writeCommas, size: edgesBytes,
}

func edgesBytes(g *graph) int64 { return g.linesBytes(g.edges(), 2*(g.longestID()+1)) }

// writeTabs writes a line for each edge with tabs. A line that begins with #, % or // is a row
// only below the first line of data, so such a line comes behind a header if it is the first.
// The error wraps [ErrFormat] if a line would be taken for a comment everywhere.
func writeTabs(ctx context.Context, out *bufio.Writer, g *graph) (isolated int, err error) {
	first := true
	return g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		if table.IsComment(source) && !g.directed && !table.IsComment(target) {
			source, target = target, source
		}
		switch {
		case !table.IsComment(source):
		case !table.MayBeRow(source):
			return unfitf("node %q: a line that begins with it would be a comment; write .csv or .parquet", source)
		case first:
			header := "source\ttarget"
			if g.weighted {
				header += "\tweight"
			}
			_, _ = out.WriteString(header + "\n")
		}
		first = false
		line := table.AppendTabbed(out.AvailableBuffer(), source)
		line = table.AppendTabbed(append(line, '\t'), target)
		return endLine(out, line, '\t', g, weight)
	})
}

// writeCommas writes a header and a line for each edge with commas. Ids that hold
// commas, quotes or blanks are quoted.
func writeCommas(ctx context.Context, out *bufio.Writer, g *graph) (isolated int, err error) {
	header := "source,target"
	if g.weighted {
		header += ",weight"
	}
	_, _ = out.WriteString(header + "\n")
	return g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		line := table.AppendField(out.AvailableBuffer(), source)
		line = table.AppendField(append(line, ','), target)
		return endLine(out, line, ',', g, weight)
	})
}

// endLine writes a line, to which it adds the weight.
func endLine(out *bufio.Writer, line []byte, separator byte, g *graph, weight float64) error {
	if g.weighted {
		line = appendWeight(append(line, separator), weight)
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

// appendWeight appends as many digits as it takes to read the same bits back.
func appendWeight(dst []byte, weight float64) []byte {
	return strconv.AppendFloat(dst, weight, 'g', -1, 64)
}
