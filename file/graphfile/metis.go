package graphfile

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// METIS is the format of the graph partitioners METIS, KaHIP and others.
var METIS = &Format{
	Name: "metis", Title: "METIS", Endings: []string{".graph", ".metis"}, Text: true, Read: reading(readMETIS),
	Sweeps: 1, write: writeMETIS, size: func(g *graph) int64 {
		return g.linesBytes(g.a.NNZ(), longestNumber(g)+1) // each edge at both of its ends
	},
}

// metis reads a METIS graph: a line with the numbers of nodes and edges and
// flags for their weights, then a line for each node with its neighbours,
// numbered from 1.
type metis struct {
	out         *batchWriter
	t           *scanner
	nodes       uint64
	edges       uint64
	headLine    int64
	sizes       bool // each node has a size
	nodeWeights int  // weights that each node has
	weighted    bool // each neighbour is followed by the edge's weight
	entries     uint64
	loops       uint64
	mirror      *mirror
}

func readMETIS(s *batchWriter) (*Summary, error) {
	m := &metis{out: s, t: newScanner(s.Name, s.Text)}
	if err := m.head(); err != nil {
		return nil, err
	}
	if err := m.out.declare(&Summary{Numbered: true, Nodes: m.nodes, Edges: m.edges, Weighted: m.weighted}, true); err != nil {
		return nil, err
	}
	m.mirror = newMirror(m.nodes)
	m.out.numbered, m.out.weighted = true, m.weighted
	for u := range m.nodes {
		if err := m.node(u); err != nil {
			return nil, err
		}
	}
	if err := m.end(); err != nil {
		return nil, err
	}
	g := &Summary{Direction: Undirected, Numbered: true, Nodes: m.nodes, First: 1, Lines: m.t.line - 1}
	if m.sizes || m.nodeWeights > 0 {
		g.Notes = append(g.Notes, m.out.fault(0, "", "weights of nodes are ignored"))
	}
	return g, nil
}

// skipComments takes lines that begin with %.
func (m *metis) skipComments() {
	for {
		c, ok := m.t.peek()
		if !ok || c != '%' {
			return
		}
		m.t.skipLine()
	}
}

func (m *metis) head() error {
	var words []string
	for len(words) == 0 {
		m.skipComments()
		m.headLine = m.t.line
		for {
			word, err := m.t.word()
			if err != nil {
				return err
			}
			if len(word) == 0 {
				break
			}
			if words = append(words, string(word)); len(words) > 4 {
				return m.out.fault(m.headLine, "is this a METIS graph?", "more than 4 fields, want nodes, edges and perhaps fmt and ncon")
			}
		}
		if _, ok := m.t.peek(); !ok {
			break
		}
		m.t.next()
	}
	if len(words) < 2 {
		if len(words) == 0 {
			return m.out.fault(0, fetchAgain, "empty file")
		}
		return m.out.fault(m.headLine, "is this a METIS graph?", "1 field, want nodes, edges and perhaps fmt and ncon")
	}
	var ok [2]bool
	m.nodes, ok[0] = parseUint([]byte(words[0]))
	m.edges, ok[1] = parseUint([]byte(words[1]))
	for i, what := range []string{"nodes", "edges"} {
		if !ok[i] {
			return m.out.fault(m.headLine, "is this a METIS graph?", "%s is not a number of %s", table.Quoted(words[i]), what)
		}
	}
	if m.nodes > MaxNodes {
		return m.out.fault(m.headLine, "", "%d nodes; limit %d", m.nodes, uint64(MaxNodes))
	}
	if len(words) > 2 {
		code := fmt.Sprintf("%03s", words[2])
		for _, c := range code {
			if c != '0' && c != '1' || len(code) > 3 {
				return m.out.fault(m.headLine, "correct the header", "fmt %s, want up to three digits 0 or 1", table.Quoted(words[2]))
			}
		}
		m.sizes, m.weighted = code[0] == '1', code[2] == '1'
		if code[1] == '1' {
			m.nodeWeights = 1
		}
	}
	if len(words) > 3 {
		n, err := strconv.Atoi(words[3])
		if err != nil || n < 0 || n > 1<<10 || n > 0 && m.nodeWeights == 0 {
			return m.out.fault(m.headLine, "correct the header", "ncon %s does not go with fmt %s", table.Quoted(words[3]), words[2])
		}
		m.nodeWeights = n
	}
	return nil
}

// node reads the line of node u, counted from 0.
func (m *metis) node(u uint64) error {
	m.skipComments()
	t := m.t
	if _, ok := t.peek(); !ok {
		if err := t.fail(); err != nil {
			return err
		}
		return m.out.fault(0, fetchAgain, "lines for %d of the %s that line %d declares", u, table.Counted(m.nodes, "node"), m.headLine)
	}
	m.mirror.begin(u, t.line)
	skip := m.nodeWeights
	if m.sizes {
		skip++
	}
	for i := range skip {
		word, err := t.word()
		if err != nil {
			return err
		}
		if _, wrong := table.ParseWeight(word); wrong != "" {
			return m.out.fault(t.line, "correct fmt on line "+strconv.FormatInt(m.headLine, 10), "%s of %s of node %d, which comes before its neighbours, is %s", table.Counted(i+1, "weight"), strconv.Itoa(skip), u+1, table.Quoted(word))
		}
	}
	for {
		word, err := t.word()
		if err != nil {
			return err
		}
		if len(word) == 0 {
			break
		}
		v, ok := parseUint(word)
		if !ok {
			return m.out.fault(t.line, "is this a METIS graph?", "neighbour %s of node %d is not a number", table.Quoted(word), u+1)
		}
		if v < 1 || v > m.nodes {
			return m.out.fault(t.line, "correct the line", "neighbour %d of node %d; nodes run from 1 to %d", v, u+1, m.nodes)
		}
		w := 1.0
		if m.weighted {
			if word, err = t.word(); err != nil {
				return err
			}
			if len(word) == 0 {
				return m.out.fault(t.line, "correct the line", "neighbour %d of node %d has no weight", v, u+1)
			}
			var wrong string
			if w, wrong = m.out.word(t.line, word); wrong != "" {
				return m.out.fault(t.line, "correct the line", "weight %s of the edge from node %d to %d %s", table.Quoted(word), u+1, v, wrong)
			}
		}
		m.entries++
		m.mirror.add(u, v-1, w)
		switch {
		case v-1 == u:
			m.loops++
		case v-1 < u:
			continue
		}
		if err := m.out.numbers(u, v-1, w); err != nil {
			return err
		}
	}
	if _, ok := t.peek(); ok {
		t.next()
	} else if u+1 == m.nodes {
		t.line++ // the last line has no end
	}
	return nil
}

// end checks the text after the last node, and the counts of the header.
func (m *metis) end() error {
	t := m.t
	for {
		m.skipComments()
		word, err := t.word()
		if err != nil {
			return err
		}
		if len(word) > 0 {
			return m.out.fault(t.line, "correct line "+strconv.FormatInt(m.headLine, 10), "a line beyond the %s that line %d declares", table.Counted(m.nodes, "node"), m.headLine)
		}
		if _, ok := t.peek(); !ok {
			break
		}
		t.next()
	}
	if lo, hi, line, any := m.mirror.differing(); any {
		who := fmt.Sprintf("node %d has", lo+1)
		if hi > lo+1 {
			who = fmt.Sprintf("one of the nodes %d to %d has", lo+1, min(hi, m.nodes))
		}
		return m.out.fault(line, "list every edge at both ends, with one weight", "%s an edge that its two ends do not list alike", who)
	}
	if listed := m.entries; listed != 2*m.edges && listed+m.loops != 2*m.edges {
		return m.out.fault(m.headLine, "correct the line, or "+fetchAgain, "%s declared, %s listed at both ends", table.Counted(m.edges, "edge"), table.Counted((listed+m.loops)/2, "edge"))
	}
	return nil
}

// writeMETIS writes a METIS graph, with weights of edges if g has some. The error
// wraps [ErrFormat] for directed graphs, self loops and weights that are no whole
// numbers from 1 on.
func writeMETIS(ctx context.Context, out *bufio.Writer, g *graph) (isolated int, err error) {
	g.begin(1)
	switch {
	case g.directed:
		return 0, &textio.Error{Msg: "a METIS file holds undirected graphs", Fix: "write .mtx or .npz, or ingest with {undirected}", Err: ErrFormat}
	case g.selfLoops > 0:
		return 0, &textio.Error{Msg: "a METIS file holds no self loops", Fix: "write .mtx or .npz, or ingest without {self-loops=keep}", Err: ErrFormat}
	}
	n, _ := g.a.Dims()
	head := fmt.Sprintf("%d %d", n, g.edges())
	if g.weighted {
		head += " 001"
	}
	_, _ = out.WriteString(head + "\n")
	return 0, g.sweep(ctx, func(e *entries) error {
		for i, c := range e.col {
			text := out.AvailableBuffer()
			if !e.first || i > 0 {
				text = append(text, ' ')
			}
			text = strconv.AppendUint(text, uint64(c)+1, 10)
			if g.weighted {
				v := e.weight(i)
				if v < 1 || v >= 1<<53 || v != math.Trunc(v) {
					return unfitf("weight %g: a METIS file holds whole numbers from 1 on; write .mtx or .npz", v)
				}
				text = strconv.AppendUint(append(text, ' '), uint64(v), 10)
			}
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
		if e.last {
			return out.WriteByte('\n')
		}
		return nil
	})
}
