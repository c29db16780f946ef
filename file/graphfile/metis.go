package graphfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// METIS is the format of the graph partitioners METIS, KaHIP and others.
var METIS = &Format{
	Name: "metis", Title: "METIS", Endings: []string{".graph", ".metis"},
	Text: true, Read: readBatches(readMETIS),
	Sweeps: 1, write: writeMETIS,
}

// metis reads a METIS graph: a line with the numbers of nodes and edges and flags for weights, then a line for each
// node with its neighbours, numbered from 1.
type metis struct {
	out      *batchWriter
	in       *bufio.Reader
	line     int64
	word     []byte
	nodes    uint64
	edges    uint64
	headLine int64
	ignored  int  // sizes and weights of a node before its neighbours
	weighted bool // each neighbour is followed by the edge's weight
	entries  uint64
	loops    uint64

	// sum detects edges that are not listed at both ends with the same weight: the smaller end adds a hash of the edge,
	// and the larger end subtracts it. If an edge is missing, sum is 0 with probability 2⁻⁶⁴.
	seed maphash.Seed
	sum  uint64
}

func readMETIS(s *batchWriter) (*Summary, error) {
	m := &metis{out: s, in: bufio.NewReaderSize(s.Text, 64<<10), seed: maphash.MakeSeed()}
	if err := m.head(); err != nil {
		return nil, err
	}
	s.numbered = true
	s.weighted = m.weighted
	for u := range m.nodes {
		if err := m.node(u); err != nil {
			return nil, err
		}
	}
	if err := m.end(); err != nil {
		return nil, err
	}
	g := &Summary{Direction: Undirected, Numbered: true, Nodes: m.nodes, First: 1,
		Lines: m.line}
	if m.ignored > 0 {
		g.Notes = append(g.Notes, s.fault(0, "", "weights of nodes are ignored"))
	}
	return g, nil
}

// words calls visit with each word, valid during the call, of the next line that is not a comment. isLine is false at
// the end of the file.
func (m *metis) words(visit func(word []byte) error) (isLine bool, err error) {
	isComment := false
	for {
		c, err := m.in.ReadByte()
		isEnd := errors.Is(err, io.EOF)
		if err != nil && !(isEnd && isLine) {
			if isEnd {
				err = nil
			}
			return false, err
		}
		if !isLine {
			isLine = true
			isComment = c == '%'
			m.line++
		}
		switch {
		case isComment:
		case c > ' ':
			if m.word = append(m.word, c); len(m.word) > maxWord {
				return true, m.out.fault(m.line, "is this the format that its name says?", "a word longer than 1 MiB")
			}
			continue
		case len(m.word) > 0:
			err := visit(m.word)
			m.word = m.word[:0]
			if err != nil {
				return true, err
			}
		}
		switch {
		case isEnd || c == '\n' && !isComment:
			return !isComment, nil
		case c == '\n':
			isLine = false
		}
	}
}

func (m *metis) head() error {
	const fix = "is this a METIS graph?"
	var fields []string
	for isLine := true; isLine && len(fields) == 0; {
		var err error
		isLine, err = m.words(func(word []byte) error {
			fields = append(fields, string(word))
			if len(fields) > 4 {
				return m.out.fault(m.line, fix,
					"more than 4 fields, want nodes, edges and perhaps fmt and ncon")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	m.headLine = m.line
	switch len(fields) {
	case 0:
		return m.out.fault(0, fetchAgain, "empty file")
	case 1:
		return m.out.fault(m.headLine, fix,
			"1 field, want nodes, edges and perhaps fmt and ncon")
	}
	for i, count := range []*uint64{&m.nodes, &m.edges} {
		var ok bool
		*count, ok = parseUint([]byte(fields[i]))
		if !ok {
			return m.out.fault(m.headLine, fix, "%s is not a number of %s",
				words.Quoted(fields[i]), []string{"nodes", "edges"}[i])
		}
	}
	if m.nodes > MaxNodes {
		return m.out.fault(m.headLine, "", "%d nodes; limit %d", m.nodes,
			uint64(MaxNodes))
	}
	if len(fields) == 2 {
		return nil
	}
	code := fmt.Sprintf("%03s", fields[2])
	if len(code) > 3 || strings.Trim(code, "01") != "" {
		return m.out.fault(m.headLine, "correct the header",
			"fmt %s, want up to three digits 0 or 1", words.Quoted(fields[2]))
	}
	m.weighted = code[2] == '1'
	weights := int(code[1] - '0')
	if len(fields) > 3 {
		n, err := strconv.Atoi(fields[3])
		if err != nil || n < 0 || n > 1<<10 || n > 0 && weights == 0 {
			return m.out.fault(m.headLine, "correct the header",
				"ncon %s does not go with fmt %s", words.Quoted(fields[3]), fields[2])
		}
		weights = n
	}
	m.ignored = weights + int(code[0]-'0')
	return nil
}

func (m *metis) node(u uint64) error {
	i := -m.ignored      // number of the word
	var neighbour uint64 // neighbour whose weight follows, 0: none
	isLine, err := m.words(func(word []byte) error {
		i++
		if i <= 0 {
			if _, wrong := table.ParseWeight(word, true); wrong != "" {
				return m.out.fault(m.line,
					"correct fmt on line "+strconv.FormatInt(m.headLine, 10),
					"%s of %d of node %d, which comes before its neighbours, is %s",
					words.Counted(i+m.ignored, "weight"), m.ignored, u+1,
					words.Quoted(word))
			}
			return nil
		}
		if neighbour > 0 {
			w, wrong := m.out.word(m.line, word)
			if wrong != "" {
				return m.out.fault(m.line, "correct the line",
					"weight %s of the edge from node %d to %d %s",
					words.Quoted(word), u+1, neighbour, wrong)
			}
			v := neighbour
			neighbour = 0
			return m.entry(u, v-1, w)
		}
		v, ok := parseUint(word)
		switch {
		case !ok:
			return m.out.fault(m.line, "is this a METIS graph?",
				"neighbour %s of node %d is not a number", words.Quoted(word), u+1)
		case v < 1 || v > m.nodes:
			return m.out.fault(m.line, "correct the line",
				"neighbour %d of node %d; nodes run from 1 to %d", v, u+1, m.nodes)
		case m.weighted:
			neighbour = v
			return nil
		}
		return m.entry(u, v-1, 1)
	})
	switch {
	case err != nil:
		return err
	case !isLine:
		return m.out.fault(0, fetchAgain, "lines for %d of the %s that line %d declares", u,
			words.Counted(m.nodes, "node"), m.headLine)
	case i < 0:
		return m.out.fault(m.line, "correct the line", "%s of node %d, want %d",
			words.Counted(i+m.ignored, "weight"), u+1, m.ignored)
	case neighbour > 0:
		return m.out.fault(m.line, "correct the line",
			"neighbour %d of node %d has no weight", neighbour, u+1)
	}
	return nil
}

func parseUint(word []byte) (n uint64, ok bool) {
	for _, c := range word {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, len(word) > 0 && len(word) <= 19
}

// entry counts an entry: neighbour v in the line of node u. It passes on the edge once, if u ≤ v.
func (m *metis) entry(u, v uint64, w float64) error {
	type edge struct {
		lo, hi uint64
		w      float64
	}
	m.entries++
	switch {
	case u > v:
		m.sum -= maphash.Comparable(m.seed, edge{v, u, w})
		return nil
	case u < v:
		m.sum += maphash.Comparable(m.seed, edge{u, v, w})
	default:
		m.loops++
	}
	return m.out.numbers(u, v, w)
}

func (m *metis) end() error {
	for isLine := true; isLine; {
		var err error
		isLine, err = m.words(func([]byte) error {
			return m.out.fault(m.line,
				"correct line "+strconv.FormatInt(m.headLine, 10),
				"a line beyond the %s that line %d declares",
				words.Counted(m.nodes, "node"), m.headLine)
		})
		if err != nil {
			return err
		}
	}
	switch listed := m.entries; {
	case m.sum != 0:
		return m.out.fault(0, "list every edge at both ends, with one weight",
			"an edge that its two ends do not list alike")
	case listed != 2*m.edges && listed+m.loops != 2*m.edges:
		return m.out.fault(m.headLine, "correct the line, or "+fetchAgain,
			"%s declared, %s listed at both ends", words.Counted(m.edges, "edge"),
			words.Counted((listed+m.loops)/2, "edge"))
	}
	return nil
}

// writeMETIS writes a METIS graph. The error wraps [ErrFormat] for directed graphs, self loops, and weights other
// than positive whole numbers.
func writeMETIS(ctx context.Context, out *bufio.Writer,
	g *graph) (isolated int, err error) {
	g.begin(1)
	switch {
	case g.directed:
		return 0, &textio.Error{Msg: "a METIS file holds undirected graphs",
			Fix: "write .mtx or .npz, or ingest with {undirected}", Err: ErrFormat}
	case g.selfLoops > 0:
		return 0, &textio.Error{Msg: "a METIS file holds no self loops",
			Fix: "write .mtx or .npz, or ingest without {self-loops=keep}",
			Err: ErrFormat}
	}
	head := fmt.Sprintf("%d %d", g.nodes, g.edges())
	if g.weighted {
		head += " 001"
	}
	_, _ = out.WriteString(head + "\n")
	return 0, g.sweep(ctx, func(e *entries) error {
		for i, c := range e.col {
			text := out.AvailableBuffer()
			if i > 0 {
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
		return out.WriteByte('\n')
	})
}
