package graphfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// GAP is a serialised graph of the GAP benchmark suite.
var GAP = &Format{Title: "GAP", Endings: []string{".sg", ".wsg"}, Read: reading(readGAP)}

// gap reads a serialised graph of the GAP benchmark suite, little-endian
// without gaps: a byte that is 1 for a directed graph, the number of entries,
// the number of nodes n, then n+1 offsets of 8 bytes and the entries: a node of
// 4 bytes and, in .wsg, a weight of 4 bytes. A directed graph has offsets and
// entries of the other direction behind, which are redundant.
type gap struct {
	*sink
	directed bool
	entries  uint64
	nodes    uint64
	entry    uint64 // bytes
}

const (
	gapHead   = 17
	gapOffset = 8
)

func readGAP(s *sink) (*Summary, error) {
	g := &gap{sink: s, entry: 4}
	if strings.HasSuffix(table.Extension(s.Name), ".wsg") {
		g.entry = 8
	}
	var head [gapHead]byte
	if _, err := io.ReadFull(s.Text, head[:]); err != nil {
		return nil, g.short(err, 0, "the header takes 17 bytes")
	}
	g.directed, g.entries, g.nodes = head[0] == 1, binary.LittleEndian.Uint64(head[1:]), binary.LittleEndian.Uint64(head[9:])
	switch {
	case head[0] > 1:
		return nil, g.at(0, "is this a serialised graph of the GAP benchmark suite?", "byte %d, want 0 (undirected) or 1", head[0])
	case g.nodes > MaxNodes:
		return nil, g.at(9, "", "%d nodes; limit %d", g.nodes, uint64(MaxNodes))
	case g.entries > 1<<48:
		return nil, g.at(1, "is this a serialised graph of the GAP benchmark suite?", "%d entries", g.entries)
	}
	g.numbered, g.weighted = true, g.entry == 8
	offsets := (g.nodes + 1) * gapOffset
	size := gapHead + offsets + g.entries*g.entry
	if g.directed {
		size += size - gapHead
	}
	if s.File != nil && uint64(s.Size) != size {
		return nil, g.fault(0, fetchAgain+", or correct its ending: .wsg has weights, .sg has none", "%d bytes, its header asks for %d", s.Size, size)
	}
	edges := g.entries
	if !g.directed {
		edges /= 2
	}
	if err := g.declare(&Summary{Numbered: true, Nodes: g.nodes, Edges: edges, Weighted: g.weighted}, !g.directed); err != nil {
		return nil, err
	}
	var first, entries io.Reader
	if s.File != nil {
		first = io.NewSectionReader(s.File, gapHead, int64(offsets))
		entries = io.NewSectionReader(s.File, int64(gapHead+offsets), int64(g.entries*g.entry))
	} else {
		kept, err := g.keep(s.Text, int64(offsets))
		if err != nil {
			return nil, err
		}
		if kept.size < int64(offsets) {
			return nil, g.short(io.ErrUnexpectedEOF, gapHead, table.Counted(g.nodes+1, "offset")+" are to follow")
		}
		first, entries = io.NewSectionReader(kept, 0, kept.size), s.Text
	}
	if err := g.rows(bufio.NewReaderSize(first, 64<<10), bufio.NewReaderSize(entries, 256<<10)); err != nil {
		return nil, err
	}
	direction := Undirected
	if g.directed {
		direction = Directed
	}
	return &Summary{Direction: direction, Numbered: true, Nodes: g.nodes}, nil
}

// at returns an error at a byte.
func (g *gap) at(offset uint64, fix, format string, args ...any) *textio.Error {
	e := g.fault(0, fix, format, args...)
	e.Byte, e.AtByte = int64(offset), true
	return e
}

// short turns the end of the file into an error about the piece that begins at
// offset.
func (g *gap) short(err error, offset uint64, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return g.at(offset, fetchAgain, "the file ends early; %s", what)
	}
	return err
}

// rows reads the offsets and the entries at the same time.
func (g *gap) rows(offsets, entries io.Reader) error {
	m := newMirror(g.nodes)
	var b [8]byte
	before := uint64(0)
	base := gapHead + (g.nodes+1)*gapOffset
	for u := uint64(0); u <= g.nodes; u++ {
		if _, err := io.ReadFull(offsets, b[:]); err != nil {
			return g.short(err, gapHead+u*gapOffset, table.Counted(g.nodes+1, "offset")+" are to follow")
		}
		next := binary.LittleEndian.Uint64(b[:])
		switch {
		case u == 0 && next != 0, next < before, next > g.entries, u == g.nodes && next != g.entries:
			return g.at(gapHead+u*gapOffset, fetchAgain, "offset %d is %d after %d, of %s", u, int64(next), before, table.Counted(g.entries, "entry"))
		}
		for e := before; e < next; e++ {
			if _, err := io.ReadFull(entries, b[:g.entry]); err != nil {
				return g.short(err, base+e*g.entry, "another entry is to follow")
			}
			v, w := uint64(binary.LittleEndian.Uint32(b[:])), 1.0
			if g.entry == 8 {
				w = float64(int32(binary.LittleEndian.Uint32(b[4:])))
			}
			if v >= g.nodes {
				return g.at(base+e*g.entry, fetchAgain, "neighbour %d of node %d; nodes run from 0 to %d", int32(v), u-1, g.nodes-1)
			}
			if w < 0 {
				return g.at(base+e*g.entry+4, "", "weight %g %s", w, table.WeightFault(w))
			}
			if !g.directed {
				m.add(u-1, v, w)
				if v < u-1 {
					continue
				}
			}
			if err := g.numbers(u-1, v, w); err != nil {
				return err
			}
		}
		before = next
	}
	if lo, _, _, any := m.differing(); any {
		return g.fault(0, "list every edge at both ends, with one weight", "an undirected graph, but from node %d on an edge's two ends do not list it alike", lo)
	}
	return nil
}
