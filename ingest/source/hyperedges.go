package source

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// HyperedgePrefix is the beginning of the ids of hyperedges. The number of the hyperedge, counted from 1,
// follows it.
const HyperedgePrefix = "hyperedge:"

// HyperedgesOption is the name of the option that the manifest of a store has if it is made of hyperedges.
const HyperedgesOption = "hyperedges"

// IsIncidence reports whether the last nodes of a store represent hyperedges.
func IsIncidence(m *shard.Manifest) bool {
	return m.Options[HyperedgesOption] != "" && m.Options["coupling"] == ""
}

// Hyperedges returns the source of a hypergraph. The inputs are files with the vertices of a hyperedge on
// each line, separated as in edge lists. The graph is the incidence graph. It has a node for each vertex, in
// the usual order of ids, and then a node for each hyperedge. It has an edge between each hyperedge and each
// of its vertices.
//
// A hyperedge without vertices, and a vertex that a hyperedge names twice, are errors. A hyperedge with a
// single vertex is an error if c does not keep self loops. The error of reading is a [*nodefile.ParseError]
// or comes from the file system. Memory: 4 bytes for each vertex of each hyperedge while the files are read,
// and the ids.
//
// If shared is set, the graph has only the vertices. The weight of an edge is the number of hyperedges that
// contain both ends. Its L is the Laplacian of the hypergraph, diag(E·1) − E.
func Hyperedges(inputs []string, shared bool, c *ingest.Config) *ingest.Source {
	option := HyperedgesOption
	if shared {
		option += " coupling"
	}
	return &ingest.Source{Name: "hyperedges", Option: option, Read: func(ctx context.Context, visit graphfile.Visitor, hold graphfile.Holder) ([]ingest.FileReport, error) {
		h := &hypergraph{c: cmp.Or(c, new(ingest.Config)), hold: hold, code: map[string]uint32{}}
		for _, path := range inputs {
			if err := h.read(ctx, path); err != nil {
				return nil, err
			}
		}
		if shared {
			return h.files, h.share(ctx, visit)
		}
		return h.files, h.visit(ctx, visit)
	}}
}

// hypergraph holds the hyperedges that have been read.
type hypergraph struct {
	c     *ingest.Config
	hold  graphfile.Holder
	files []ingest.FileReport

	ids    []string // ids of the vertices, in order of appearance
	code   map[string]uint32
	bytes  int64    // memory of ids and codes
	vertex []uint32 // the concatenated vertices of all hyperedges
	end    []int    // where each hyperedge ends
	last   []int    // number of the last hyperedge with each vertex, from 1
}

// idBytes is the memory of an id without its text: a string, its entry in a map that is at least half full,
// and the last hyperedge that contains the id.
const idBytes = 16 + 2*(16+4+1) + 8

func (h *hypergraph) read(ctx context.Context, path string) error {
	in, err := textio.Open(ctx, path, &textio.Options{
		Stdin: h.c.Stdin, Warn: h.c.Warn, Text: h.c.Text,
		Window:       cmp.Or(h.c.Window, textio.DefaultWindow),
		WindowOption: textio.WindowOption,
	})
	if err != nil {
		return err
	}
	defer in.Close()
	var (
		sep    byte
		fields table.Fields
		lines  int64
		remark int64 // the first comment below the data
		late   int64 // number of comments below the data
	)
	data := int64(1)
	if head, err := in.Head(); err == nil {
		first, _ := table.FirstData(head.Data,
			func(line []byte) byte { return table.SeparatorOf(h.c.Text, in.Name(), line) }, nil)
		data = head.First + int64(first)
		if first < 0 {
			data = head.First + int64(head.Lines)
		}
	}
	for line, err := range in.Lines() {
		if err != nil {
			return err
		}
		lines = line.Number
		if table.IsComment(line.Text) && !table.IsBlank(line.Text) &&
			line.Number != data {
			if line.Number < data {
				continue
			}
			if !table.MayBeRow(line.Text) {
				if late++; late == 1 {
					remark = line.Number
				}
				continue
			}
		}
		if sep == 0 {
			sep = table.SeparatorOf(h.c.Text, in.Name(), line.Text)
		}
		if wrong := h.line(&fields, line.Text, sep); wrong != nil {
			wrong.File = in.Name()
			wrong.Line = line.Number
			return wrong
		}
		if lines%1024 == 0 {
			if err := h.report(in); err != nil {
				return err
			}
		}
	}
	if late > 0 && h.c.Warn != nil {
		h.c.Warn(table.RemarkWarning(in.Name(), remark, late))
	}
	err = h.report(in)
	in.Close()
	s, _ := in.Sum()
	h.files = append(h.files,
		ingest.FileReport{Name: in.Name(), Format: "hyperedges", Bytes: s.Bytes,
			Lines: lines, CRC: s.CRC})
	return err
}

func (h *hypergraph) report(in *textio.Reader) error {
	if h.c.Progress != nil {
		done, total := in.Progress()
		h.c.Progress("reading "+in.Name(), done, total)
	}
	return h.hold(h.bytes + int64(cap(h.vertex))*4 + int64(cap(h.end))*8)
}

const wholeHyperedge = "give each hyperedge two vertices or more, each of them once"

func (h *hypergraph) line(fields *table.Fields, text []byte,
	sep byte) *nodefile.ParseError {
	if err := fields.Split(text, sep); err != nil {
		return &nodefile.ParseError{Msg: err.Error(), Fix: wholeHyperedge}
	}
	fields.DropEmpty(0)
	number := len(h.end) + 1
	first := len(h.vertex)
	for i, id := range fields.Text {
		if len(id) == 0 {
			return &nodefile.ParseError{Column: fields.Start[i] + 1,
				Msg: "an empty id", Fix: wholeHyperedge}
		}
		v, ok := h.code[string(id)]
		if !ok {
			if bytes.HasPrefix(id, []byte(HyperedgePrefix)) {
				return &nodefile.ParseError{Column: fields.Start[i] + 1,
					Msg: "a vertex with an id of a hyperedge, " + words.Quoted(id),
					Fix: "rename it"}
			}
			v = uint32(len(h.ids))
			h.ids = append(h.ids, string(id))
			h.last = append(h.last, 0)
			h.code[h.ids[v]] = v
			h.bytes += idBytes + int64(len(id))
		}
		if h.last[v] == number {
			return &nodefile.ParseError{Column: fields.Start[i] + 1,
				Msg: "a hyperedge that names " + words.Quoted(id) + " twice",
				Fix: wholeHyperedge}
		}
		h.last[v] = number
		h.vertex = append(h.vertex, v)
	}
	switch len(h.vertex) - first {
	case 0:
		return &nodefile.ParseError{Msg: "a hyperedge without vertices",
			Fix: wholeHyperedge}
	case 1:
		if !h.c.KeepLoops {
			return &nodefile.ParseError{Msg: "a hyperedge with the single vertex " +
				words.Quoted(fields.Text[0]), Fix: "keep it with {self-loops=keep}, or leave the line out"}
		}
	}
	h.end = append(h.end, len(h.vertex))
	return nil
}

// order returns the numbers of the vertices in the usual order of ids.
func (h *hypergraph) order() []int {
	order := sched.UpTo(len(h.ids))
	if !slices.ContainsFunc(h.ids,
		func(id string) bool { return !table.IsInteger([]byte(id)) }) {
		slices.SortFunc(order,
			func(a, b int) int { return table.CompareIntegers([]byte(h.ids[a]), []byte(h.ids[b])) })
	}
	return order
}

// share visits batches of vertices, and of the pairs of vertices that share hyperedges.
func (h *hypergraph) share(ctx context.Context, visit graphfile.Visitor) error {
	ptr := make([]int64, 1, len(h.end)+1)
	for first := range h.end {
		ptr = append(ptr, int64(h.end[first]))
		slices.Sort(h.vertex[ptr[first]:ptr[first+1]])
	}
	incidence, err := sparse.NewCSR(len(h.end), len(h.ids), ptr, h.vertex, nil)
	if err != nil {
		return err
	}
	p := &pairs{ctx: ctx, send: visit,
		id: func(dst []byte, row int) []byte { return append(dst, h.ids[row]...) }}
	if err := p.list(slices.Values(h.order())); err != nil {
		return err
	}
	if err := eachProduct(ctx, incidence.Transpose(), h.c.Workers, p.add); err != nil {
		return err
	}
	return p.flush()
}

// visit makes batches of vertices and of the edges of the incidence graph.
func (h *hypergraph) visit(ctx context.Context, visit graphfile.Visitor) error {
	p := &pairs{ctx: ctx, send: visit, id: func(dst []byte, row int) []byte {
		if row < len(h.ids) {
			return append(dst, h.ids[row]...)
		}
		return strconv.AppendInt(append(dst, HyperedgePrefix...),
			int64(row-len(h.ids))+1, 10)
	}}
	if err := p.list(slices.Values(h.order())); err != nil {
		return err
	}
	first := 0
	for e, end := range h.end {
		if err := p.add(len(h.ids)+e, h.vertex[first:end], nil); err != nil {
			return err
		}
		first = end
	}
	return p.flush()
}
