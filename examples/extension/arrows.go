package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// arrows is the format of files that end in .arrows and have an edge on each line, for example
// "ann -> bob". Edges have a direction.
var arrows = &graphfile.Format{
	Name: "arrows", Title: "arrows", Endings: []string{".arrows"}, Text: true, EdgesOnly: true, Sweeps: 1,
	Write: func(ctx context.Context, out *bufio.Writer, s *shard.Store) (isolated int, err error) {
		hasEdge := make([]bool, s.Nodes.Len())
		err = sparse.EachRow(ctx, s, 1, func(_, row int, col []uint32, _ []float64) error {
			for _, j := range col {
				hasEdge[row], hasEdge[j] = true, true
				fmt.Fprintf(out, "%s -> %s\n", s.Nodes.ID(row), s.Nodes.ID(int(j)))
			}
			return nil
		})
		for _, has := range hasEdge {
			if !has {
				isolated++
			}
		}
		return isolated, err
	},
	Size: func(s *shard.Store) int64 { return 64 * s.NNZ() },
	Read: func(in *graphfile.Input, visit func(b *graphfile.Batch) error) (*graphfile.Summary, error) {
		s := &graphfile.Summary{Direction: graphfile.Directed}
		for text := bufio.NewScanner(in.Text); ; {
			b := &graphfile.Batch{Edges: true}
			for len(b.End) < 1000 && text.Scan() {
				s.Lines++
				source, target, found := strings.Cut(text.Text(), "->")
				if !found {
					return nil, &input.Error{File: in.Name, Line: s.Lines, Msg: "no arrow", Fix: "write SOURCE -> TARGET"}
				}
				b.AddText(bytes.TrimSpace([]byte(source)))
				b.AddText(bytes.TrimSpace([]byte(target)))
			}
			if len(b.End) == 0 {
				return s, text.Err()
			}
			if err := visit(b); err != nil {
				return nil, err
			}
		}
	},
}
