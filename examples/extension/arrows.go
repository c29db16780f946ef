package main

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/input"
)

// arrows is the format of files that end in .arrows and have an edge on each line, for example
// "ann -> bob". Edges have a direction.
var arrows = &graphfile.Format{
	Title: "arrows", Endings: []string{".arrows"}, Text: true,
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
