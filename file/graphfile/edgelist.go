package graphfile

import (
	"bufio"
	"context"
	"strconv"

	"github.com/heatwalk/heatwalk/file/table"
)

// EdgeList is text with an edge on each line. [Write] separates the fields with tabs.
var EdgeList = &Format{
	Name: "tsv", Title: "edge list",
	Endings: []string{".tsv", ".edges", ".txt", ".el"}, Text: true,
	EdgesOnly: true, Sweeps: 1, write: writeTabs,
}

// CSV is comma-separated text with an edge on each line, below a header.
var CSV = &Format{
	Name: "csv", Title: "CSV", Endings: []string{".csv"}, Text: true,
	EdgesOnly: true, Sweeps: 1, write: writeCommas,
}

func writeTabs(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	return writeLines(ctx, out, g, '\t', func(dst, text []byte) []byte {
		if table.IsComment(text) {
			return table.AppendQuoted(dst, text)
		}
		return table.AppendTabbed(dst, text)
	})
}

func writeCommas(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	header := "source,target"
	if g.weighted {
		header += ",weight"
	}
	_, _ = out.WriteString(header + "\n")
	return writeLines(ctx, out, g, ',', table.AppendField[[]byte])
}

func writeLines(ctx context.Context, out *bufio.Writer, g *graph, separator byte,
	field func(dst, text []byte) []byte) (isolated int, err error) {
	return g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		line := field(out.AvailableBuffer(), source)
		line = field(append(line, separator), target)
		return endLine(out, line, separator, g, weight)
	})
}

func endLine(out *bufio.Writer, line []byte, separator byte, g *graph,
	weight float64) error {
	if g.weighted {
		line = appendWeight(append(line, separator), weight)
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

func appendWeight(dst []byte, weight float64) []byte {
	return strconv.AppendFloat(dst, weight, 'g', -1, 64)
}
