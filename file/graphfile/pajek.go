package graphfile

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/clock"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Pajek is a network of the program Pajek.
var Pajek = &Format{Title: "Pajek", Endings: []string{".net", ".paj"}, Text: true,
	Kinds: true, Begins: isPajek, Read: readBatches(readPajek)}

// isPajek reports whether the first line that is no comment begins a section.
func isPajek(head []byte) bool {
	t := newScanner("", bytes.NewReader(trimStart(head)))
	for {
		word, err := t.word()
		if _, isMore := t.peek(); err != nil || len(word) == 0 && !isMore {
			return false
		}
		if len(word) > 0 && word[0] != '%' && word[0] != '#' {
			return bytes.EqualFold(word, []byte("*network")) ||
				bytes.EqualFold(word, []byte("*vertices"))
		}
		t.skipLine()
	}
}

// pajek reads a Pajek network: *Vertices with a number and perhaps labels, then
// *Arcs, *Edges, *Arcslist and *Edgeslist.
type pajek struct {
	out     *batchWriter
	t       *scanner
	nodes   *nodeNames
	section string
	count   uint64 // of vertices; 0 before they are declared
	listed  uint64 // vertices with a line of their own
	declare int64  // the line of *Vertices

	relation uint32 // code of the kind of the section
	missing  int64  // edges without a weight

	directed bool // the file has arcs, or the caller wants directions
	loose    bool // an edge without a direction has been handed over once
}

func readPajek(s *batchWriter) (*Summary, error) {
	p := &pajek{out: s, t: newScanner(s.Name, s.Text),
		nodes: newNodeNames(s, "label", "number"), directed: s.Directed}
	for {
		if _, ok := p.t.peek(); !ok {
			break
		}
		if err := p.line(); err != nil {
			return nil, err
		}
		if _, ok := p.t.peek(); ok {
			p.t.next()
		} else {
			p.t.line++ // the last line has no end
		}
	}
	if err := p.t.fail(); err != nil {
		return nil, err
	}
	if p.count == 0 {
		return nil, p.out.fault(0, "is this a Pajek network?", "no *Vertices")
	}
	if err := p.complete(0); err != nil {
		return nil, err
	}
	g := &Summary{Direction: Undirected, Lines: p.t.line - 1}
	if p.directed {
		g.Direction = Directed
	}
	if p.out.weighted && p.missing > 0 {
		g.Notes = append(g.Notes, MissingWeights(p.out.Name, 0, p.missing))
	}
	if p.listed == 0 {
		g.Numbered = true
		g.Nodes = p.count
		g.First = 1
		return g, nil
	}
	if err := p.nodes.settle(); err != nil {
		return nil, err
	}
	g.Notes = append(g.Notes, p.nodes.notes...)
	return g, nil
}

// line reads the next line up to its end, word by word: that of a vertex with very
// many neighbours is long.
func (p *pajek) line() error {
	number := p.t.line
	if c, ok := p.t.skipBlanks(); ok && (c == '%' || c == '#') {
		p.t.skipRest()
		return nil
	}
	first, ok, err := p.word()
	if !ok {
		return err
	}
	if bytes.HasPrefix(first, []byte{'*'}) {
		err = p.begin(number, string(first))
	} else {
		err = p.data(number, first)
	}
	for ok && err == nil { // how it is drawn
		_, ok, err = p.word()
	}
	return err
}

// word returns the next word of the line, or the text in quotes; ok is false at its
// end. It is valid until the next one.
func (p *pajek) word() (word []byte, ok bool, err error) {
	t := p.t
	switch c, ok := t.skipBlanks(); {
	case !ok:
		return nil, false, t.fail()
	case c == '\n':
		return nil, false, nil
	case c == '"':
		t.next()
		word, err = t.readQuoted(true)
	default:
		word, err = t.word()
	}
	return word, err == nil, err
}

// begin begins a section.
func (p *pajek) begin(number int64, section string) error {
	p.section = strings.ToLower(section)
	switch p.section {
	case "*network":
		return nil
	case "*vertices":
		if p.count > 0 {
			return p.out.fault(number, "write each network into a file of its own",
				"a second *Vertices")
		}
		return p.vertices(number)
	case "*arcs", "*edges", "*arcslist", "*edgeslist":
		if p.count == 0 {
			return p.out.fault(number, "put *Vertices first",
				"%s before *Vertices", section)
		}
		if err := p.complete(number); err != nil || p.out.Kind == "" {
			return err
		}
		return p.readRelation(number)
	}
	return p.out.fault(number, "leave it out, or write *Arcs or *Edges",
		"section %s is not supported", words.Quoted(section))
}

// readRelation reads the relation of a section, :NUMBER and perhaps its name, which is the kind of its edges.
func (p *pajek) readRelation(number int64) error {
	word, ok, err := p.word()
	kind, isRelation := strings.CutPrefix(string(word), ":")
	switch {
	case err != nil:
		return err
	case !ok || !isRelation:
		return p.out.fault(number,
			"give it, as in *Arcs :1 \"pays\", or leave {kind} out",
			"a section without a relation")
	}
	if word, ok, err = p.word(); ok {
		kind = string(word)
	}
	p.relation, _ = p.out.Code(clock.Form{}, kind, "")
	return err
}

// vertices reads the number of vertices.
func (p *pajek) vertices(number int64) error {
	word, ok, err := p.word()
	if err != nil {
		return err
	}
	if !ok {
		return p.out.fault(number, "give it", "*Vertices without their number")
	}
	n, isNumber := parseUint(word)
	wrong := words.Quoted(word)
	if _, isMore, err := p.word(); err != nil {
		return err
	} else if isMore {
		return p.out.fault(number, "write all vertices as one kind",
			"networks of two modes are not supported")
	}
	if !isNumber || n == 0 {
		return p.out.fault(number, "correct it",
			"%s is not a number of vertices", wrong)
	}
	if n > MaxNodes {
		return p.out.fault(number, "", "%d vertices; limit %d", n, uint64(MaxNodes))
	}
	p.count = n
	p.declare = number
	return nil
}

// complete checks that all vertices are listed, or none.
func (p *pajek) complete(number int64) error {
	if p.listed > 0 && p.listed != p.count {
		return p.out.fault(number, "list all of them, or none",
			"%d of the %s that line %d declares are listed", p.listed,
			words.Counted(p.count, "vertex"), p.declare)
	}
	return nil
}

// data reads a line of a section, as far as it is kept, from behind its first word.
func (p *pajek) data(number int64, first []byte) error {
	switch p.section {
	case "*vertices":
		return p.vertex(number, first)
	case "*arcs", "*edges":
		return p.edge(number, first)
	case "*arcslist", "*edgeslist":
		return p.list(number, first)
	}
	return p.out.fault(number, "is this a Pajek network?",
		"%s outside of a section", words.Quoted(first))
}

// vertex reads a number and perhaps a label.
func (p *pajek) vertex(number int64, first []byte) error {
	n, err := p.number(number, first)
	if err != nil {
		return err
	}
	label, _, err := p.word()
	if err != nil {
		return err
	}
	p.listed++
	return p.nodes.add(number, string(label), strconv.FormatUint(n, 10))
}

// list reads a vertex and its neighbours.
func (p *pajek) list(number int64, first []byte) error {
	u, err := p.number(number, first)
	if err != nil {
		return err
	}
	for {
		word, ok, err := p.word()
		if !ok || err != nil {
			return err
		}
		v, err := p.number(number, word)
		if err != nil {
			return err
		}
		p.missing++
		if err := p.join(number, u, v, 1); err != nil {
			return err
		}
	}
}

// number reads the number of a vertex.
func (p *pajek) number(line int64, word []byte) (uint64, error) {
	n, ok := parseUint(bytes.TrimPrefix(word, []byte("-"))) // a sign is a line's style
	if !ok {
		return 0, p.out.fault(line, "correct the line",
			"%s is not the number of a vertex", words.Quoted(word))
	}
	if n < 1 || n > p.count {
		return 0, p.out.fault(line, "correct the line",
			"vertex %s; vertices run from 1 to %d", word, p.count)
	}
	return n, nil
}

// edge reads two numbers and perhaps a weight.
func (p *pajek) edge(number int64, first []byte) error {
	u, wrong := p.number(number, first)
	word, ok, err := p.word()
	switch {
	case err != nil:
		return err
	case !ok:
		return p.out.fault(number, "correct the line",
			"1 field, want 2 or more (source, target, weight)")
	case wrong != nil:
		return wrong
	}
	v, err := p.number(number, word)
	if err != nil {
		return err
	}
	w := 1.0
	if word, ok, err = p.word(); err != nil {
		return err
	}
	p.missing++
	if ok {
		var wrong string
		w, wrong = p.out.word(number, word)
		if wrong == "is not a number" && (len(word) == 0 || word[0] > '9') &&
			!strings.EqualFold(string(word), "nan") {
			w = 1 // a property of the line, as in: 1 2 c Blue
		} else if wrong != "" {
			return p.out.fault(number, "correct the line", "weight %s %s",
				words.Quoted(word), wrong)
		} else {
			p.out.weighted = true
			p.missing--
		}
	}
	return p.join(number, u, v, w)
}

// join adds an edge between vertices, in both directions if it has none in a directed graph.
func (p *pajek) join(number int64, u, v uint64, w float64) error {
	both, err := p.goesBothWays(number, strings.HasPrefix(p.section, "*arcs"))
	if err == nil && p.listed > 0 {
		err = p.nodes.settle()
	}
	if err == nil {
		err = p.arc(u, v, w)
	}
	if err == nil && both && u != v {
		err = p.arc(v, u, w)
	}
	return err
}

// arc adds an edge in one direction.
func (p *pajek) arc(source, target uint64, w float64) error {
	if p.listed == 0 {
		p.out.numbered = true
		return p.out.addCode(p.relation, p.out.numbers(source-1, target-1, w))
	}
	name := func(n uint64) []byte { return p.nodes.names[p.nodes.byID[strconv.FormatUint(n, 10)]] }
	return p.out.addCode(p.relation, p.out.texts(name(source), name(target), w))
}

// goesBothWays notes the direction of the next edge and reports whether the edge goes both
// ways. Edges are handed over as they come, so no edge without a direction may come before the
// first arc.
func (p *pajek) goesBothWays(number int64, isArc bool) (bool, error) {
	switch {
	case p.out.Undirected:
		return false, nil
	case isArc && p.loose:
		return false, p.out.fault(number,
			"pass {directed} to keep directions, or {undirected} to forget them",
			"an edge with a direction behind edges without")
	case isArc:
		p.directed = true
		return false, nil
	}
	p.loose = p.loose || !p.directed
	return p.directed, nil
}
