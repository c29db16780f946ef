package graphfile

import (
	"bytes"
	"strconv"
	"strings"
)

// pajek reads a Pajek network: *Vertices with a number and perhaps labels, then
// *Arcs, *Edges, *Arcslist and *Edgeslist.
type pajek struct {
	*sink
	t       *scanner
	nodes   *roster
	heading *heading
	section string
	count   uint64 // of vertices; 0 before they are declared
	listed  uint64 // vertices with a line of their own
	declare int64  // the line of *Vertices
	line    []byte // the line that is read
	words   [][]byte
}

func readPajek(in *Input, s *sink) (*Graph, error) {
	p := &pajek{sink: s, t: newScanner(in.Name, in.Text), nodes: newRoster(s, "label", "number"), heading: newHeading(s)}
	for {
		number := p.t.line
		more, err := p.readLine()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if len(p.line) == 0 || p.line[0] == '%' || p.line[0] == '#' {
			continue
		}
		if p.line[0] == '*' {
			err = p.begin(number)
		} else {
			err = p.data(number)
		}
		if err != nil {
			return nil, err
		}
	}
	if p.count == 0 {
		return nil, p.fault(0, "is this a Pajek network?", "no *Vertices")
	}
	if err := p.complete(0); err != nil {
		return nil, err
	}
	g := &Graph{Direction: p.heading.direction(), Lines: p.t.line - 1}
	if p.listed == 0 {
		g.Numbered, g.Nodes, g.First = true, p.count, 1
		return g, nil
	}
	if err := p.nodes.settle(); err != nil {
		return nil, err
	}
	g.Notes = p.nodes.notes
	return g, nil
}

// maxLine is the longest line of a Pajek file: that of a vertex with very many
// neighbours.
const maxLine = 1 << 28

// readLine reads the next line without blanks around it; false at the end.
func (p *pajek) readLine() (bool, error) {
	p.line = p.line[:0]
	t := p.t
	if _, ok := t.peek(); !ok {
		return false, t.fail()
	}
	for {
		if t.at == len(t.buf) && !t.fill() {
			if err := t.fail(); err != nil {
				return false, err
			}
			t.line++ // the last line has no end
			break
		}
		rest := t.buf[t.at:]
		end := bytes.IndexByte(rest, '\n')
		if end >= 0 {
			rest = rest[:end]
		}
		p.line = append(p.line, rest...)
		t.at += len(rest)
		if len(p.line) > maxLine {
			return false, p.fault(t.line, "is this a Pajek network?", "a line longer than 256 MiB")
		}
		if err := p.hold(p.nodes.bytes + int64(cap(p.line))); err != nil {
			return false, err
		}
		if end >= 0 {
			t.next()
			break
		}
	}
	if bytes.IndexByte(p.line, 0) >= 0 {
		return false, p.fault(t.line-1, "is this a Pajek network?", "NUL byte, not a text file")
	}
	p.line = bytes.Trim(p.line, blank)
	return true, nil
}

// split cuts the line into words; what is in quotes is one.
func (p *pajek) split() [][]byte {
	p.words = p.words[:0]
	rest := p.line
	for {
		rest = bytes.TrimLeft(rest, blank)
		if len(rest) == 0 {
			return p.words
		}
		if rest[0] == '"' {
			if end := bytes.IndexByte(rest[1:], '"'); end >= 0 {
				p.words = append(p.words, rest[1:end+1])
				rest = rest[end+2:]
				continue
			}
		}
		end := bytes.IndexAny(rest, blank)
		if end < 0 {
			end = len(rest)
		}
		p.words = append(p.words, rest[:end])
		rest = rest[end:]
	}
}

// begin begins a section.
func (p *pajek) begin(number int64) error {
	words := p.split()
	p.section = strings.ToLower(string(words[0]))
	switch p.section {
	case "*network":
		return nil
	case "*vertices":
		if p.count > 0 {
			return p.fault(number, "write each network into a file of its own", "a second *Vertices")
		}
		if len(words) > 2 {
			return p.fault(number, "write all vertices as one kind", "networks of two modes are not supported")
		}
		if len(words) < 2 {
			return p.fault(number, "give it", "*Vertices without their number")
		}
		n, ok := parseUint(words[1])
		if !ok || n == 0 {
			return p.fault(number, "correct it", "%s is not a number of vertices", quote(words[1]))
		}
		if n > MaxNodes {
			return p.fault(number, "", "%d vertices; limit %d", n, uint64(MaxNodes))
		}
		p.count, p.declare = n, number
		return nil
	case "*arcs", "*edges", "*arcslist", "*edgeslist":
		if p.count == 0 {
			return p.fault(number, "put *Vertices first", "%s before *Vertices", words[0])
		}
		return p.complete(number)
	}
	return p.fault(number, "leave it out, or write *Arcs or *Edges", "section %s is not supported", quote(words[0]))
}

// complete checks that all vertices are listed, or none.
func (p *pajek) complete(number int64) error {
	if p.listed > 0 && p.listed != p.count {
		return p.fault(number, "list all of them, or none", "%d of the %s that line %d declares are listed", p.listed, counted(p.count, "vertex"), p.declare)
	}
	return nil
}

// data reads a line of a section.
func (p *pajek) data(number int64) error {
	words := p.split()
	switch p.section {
	case "*vertices":
		return p.vertex(number, words)
	case "*arcs", "*edges":
		return p.edge(number, words)
	case "*arcslist", "*edgeslist":
		for _, target := range words[1:] {
			if err := p.join(number, words[0], target, 1); err != nil {
				return err
			}
		}
		return nil
	}
	return p.fault(number, "is this a Pajek network?", "%s outside of a section", quote(p.line))
}

// vertex reads a number and perhaps a label; what follows is how it is drawn.
func (p *pajek) vertex(number int64, words [][]byte) error {
	n, err := p.number(number, words[0])
	if err != nil {
		return err
	}
	label := ""
	if len(words) > 1 {
		label = string(words[1])
	}
	p.listed++
	return p.nodes.add(number, label, strconv.FormatUint(n, 10))
}

// number reads the number of a vertex.
func (p *pajek) number(line int64, word []byte) (uint64, error) {
	n, ok := parseUint(bytes.TrimPrefix(word, []byte("-"))) // a sign is a line's style
	if !ok {
		return 0, p.fault(line, "correct the line", "%s is not the number of a vertex", quote(word))
	}
	if n < 1 || n > p.count {
		return 0, p.fault(line, "correct the line", "vertex %s; vertices run from 1 to %d", word, p.count)
	}
	return n, nil
}

// edge reads two numbers and perhaps a weight; what follows is how it is drawn.
func (p *pajek) edge(number int64, words [][]byte) error {
	if len(words) < 2 {
		return p.fault(number, "correct the line", "1 field, want 2 or more (source, target, weight)")
	}
	w := 1.0
	if len(words) > 2 {
		var wrong string
		if w, wrong = p.word(number, words[2]); wrong == "is not a number" && words[2][0] > '9' {
			w = 1 // a property of the line, as in: 1 2 c Blue
		} else if wrong != "" {
			return p.fault(number, "correct the line", "weight %s %s", quote(words[2]), wrong)
		} else {
			p.weighted = true
		}
	}
	return p.join(number, words[0], words[1], w)
}

// join adds an edge.
func (p *pajek) join(number int64, source, target []byte, w float64) error {
	u, err := p.number(number, source)
	if err != nil {
		return err
	}
	v, err := p.number(number, target)
	if err != nil {
		return err
	}
	both, err := p.heading.edge(number, strings.HasPrefix(p.section, "*arcs"))
	if err != nil {
		return err
	}
	if p.listed > 0 {
		return p.nodes.edge(number, strconv.FormatUint(u, 10), strconv.FormatUint(v, 10), w, both)
	}
	p.numbered = true
	if err := p.numbers(u-1, v-1, w); err != nil || !both || u == v {
		return err
	}
	return p.numbers(v-1, u-1, w)
}
