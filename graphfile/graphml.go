package graphfile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// GraphML is graphs in XML, which comes in several encodings.
var GraphML = &Format{
	Title: "GraphML", Endings: []string{".graphml"}, Text: true, Attributes: true, Begins: isGraphML, Read: reading(readGraphML),
	Encoded: func(head []byte) bool { return len(head) >= 2 && head[0] == '<' && head[1] != 0 },
}

func isGraphML(head []byte) bool {
	text := trimmed(head)
	return bytes.HasPrefix(text, []byte("<")) && (bytes.Contains(text, []byte("<graphml")) || bytes.Contains(text, []byte(":graphml")))
}

// graphML reads a graph in GraphML, an XML language, token by token.
type graphML struct {
	*sink
	d      *xml.Decoder
	text   *markup
	open   []int // bytes of the tags of the elements that lie in one another
	nodes  *roster
	edges  *heldEdges
	graphs int
	arcs   bool // edges are directed unless they say otherwise
	number int  // nodes so far

	nameKey     string // the key of the attribute that names nodes; "": none
	initialName string // of nodes without one
}

// xmlDepth bounds how deep elements may lie in elements.
const xmlDepth = 256

func readGraphML(s *sink) (*Summary, error) {
	text := &markup{in: bufio.NewReaderSize(s.Text, 64<<10), left: maxWord}
	g := &graphML{sink: s, d: xml.NewDecoder(text), text: text, nodes: newRoster(s, "name", "id")}
	g.edges = &heldEdges{sink: s, nodes: g.nodes}
	g.d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		switch strings.ToLower(label) {
		case "us-ascii", "ascii", "utf8":
			return r, nil
		case "iso-8859-1", "latin1", "latin-1", "windows-1252":
			return &latin1{in: bufio.NewReader(r)}, nil
		}
		return nil, g.fault(1, "convert it with iconv to UTF-8", "encoding %s is not supported", table.Quoted(label))
	}
	if err := g.read(); err != nil {
		return nil, err
	}
	if g.graphs == 0 {
		return nil, g.fault(0, "is this GraphML?", "no graph")
	}
	line, _ := g.d.InputPos()
	summary := &Summary{Lines: int64(line)}
	return summary, g.edges.finish(summary)
}

// markup is the text of a file on its way to the XML decoder, which keeps a token
// as a whole, and the tags of the elements that are open.
type markup struct {
	in   *bufio.Reader
	left int // bytes before the next token has to end
}

// errLongToken is a token, or tags of open elements, of more than maxWord bytes.
var errLongToken = errors.New("graphfile: long XML token")

// ReadByte implements [io.ByteReader].
func (m *markup) ReadByte() (byte, error) {
	if m.left == 0 {
		return 0, errLongToken
	}
	m.left--
	return m.in.ReadByte()
}

// Read implements [io.Reader].
func (m *markup) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, errLongToken
	}
	n, err := m.in.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

// latin1 reads text of one byte a character as UTF-8.
type latin1 struct {
	in   *bufio.Reader
	rest []byte // of a character
}

// Read implements [io.Reader].
func (l *latin1) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		c, err := l.in.ReadByte()
		if err != nil {
			return 0, err
		}
		l.rest = utf8.AppendRune(l.rest, rune(c))
	}
	n := copy(p, l.rest)
	l.rest = l.rest[:copy(l.rest, l.rest[n:])]
	return n, nil
}

func (g *graphML) line() int64 {
	line, _ := g.d.InputPos()
	return int64(line)
}

// next returns the next token, nil at the end of the file.
func (g *graphML) next() (xml.Token, error) {
	line := g.line()
	left := maxWord
	for _, n := range g.open {
		left -= n
	}
	g.text.left = left
	t, err := g.d.Token()
	switch t.(type) {
	case xml.StartElement:
		if g.open = append(g.open, left-g.text.left); len(g.open) > xmlDepth {
			return nil, g.fault(g.line(), "is this GraphML?", "elements in elements, %d deep", len(g.open))
		}
	case xml.EndElement:
		g.open = g.open[:len(g.open)-1]
	}
	var syntax *xml.SyntaxError
	var ours *textio.Error
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, io.EOF):
		return nil, nil
	case errors.Is(err, errLongToken):
		return nil, g.fault(line, "shorten it; is a quote or a bracket missing?", "a tag, comment or text longer than 1 MiB")
	case errors.As(err, &ours):
		return nil, ours
	case errors.As(err, &syntax):
		fix := "correct it"
		if strings.Contains(syntax.Msg, "EOF") {
			fix = fetchAgain
		}
		return nil, g.fault(int64(syntax.Line), fix, "no well-formed XML: %s", brief(syntax.Msg))
	}
	return nil, err
}

// brief returns a message of the XML decoder, cut where it goes on for a name of
// the file.
func brief(message string) string {
	const most = 160
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}

// read reads the whole file.
func (g *graphML) read() error {
	for {
		t, err := g.next()
		if t == nil || err != nil {
			return err
		}
		if start, is := t.(xml.StartElement); is {
			if err := g.element(start); err != nil {
				return err
			}
		}
	}
}

// element reads an element, one with data to its end.
func (g *graphML) element(t xml.StartElement) error {
	switch t.Name.Local {
	case "key":
		return g.key(t)
	case "graph":
		if g.graphs++; g.graphs > 1 {
			return g.fault(g.line(), "write each into a file of its own", "a second graph, or one within a node")
		}
		g.arcs = attribute(t, "edgedefault") == "directed"
	case "node":
		return g.node(t)
	case "edge":
		return g.edge(t)
	case "hyperedge":
		return g.fault(g.line(), "write edges of two nodes", "hyperedges are not supported")
	}
	return nil
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// content reads to the end of the element t and calls visit with the text of
// those of its children that wanted picks.
func (g *graphML) content(t xml.StartElement, wanted func(child xml.StartElement) bool, visit func(child xml.StartElement, text string)) error {
	line := g.line()
	var text strings.Builder
	picked := false
	var child xml.StartElement
	for depth := 1; depth > 0; {
		token, err := g.next()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case nil:
			return g.fault(g.line(), fetchAgain, "the file ends in an element %s", t.Name.Local)
		case xml.StartElement:
			if depth++; depth == 2 && wanted(token) {
				picked, child = true, token.Copy()
				text.Reset()
			}
			if n := token.Name.Local; n == "node" || n == "edge" || n == "graph" {
				return g.fault(g.line(), "write a graph without others within", "%s within %s", n, t.Name.Local)
			}
		case xml.EndElement:
			if depth--; depth == 1 && picked {
				visit(child, text.String())
				picked = false
			}
		case xml.CharData:
			if !picked {
				continue
			}
			if text.Write(token); text.Len() > maxWord {
				return g.fault(line, "shorten it", "a text longer than 1 MiB in an element %s", t.Name.Local)
			}
		}
	}
	return nil
}

// key reads the declaration of an attribute. As in NetworkX, data refer to it by its id
// whatever it is declared for, and it may follow them. For example, Cytoscape declares for
// nodes the attributes of edges.
func (g *graphML) key(t xml.StartElement) error {
	id, name := attribute(t, "id"), attribute(t, "attr.name")
	domain := cmp.Or(attribute(t, "for"), "all")
	var initial string
	err := g.content(t,
		func(child xml.StartElement) bool { return child.Name.Local == "default" },
		func(_ xml.StartElement, text string) { initial = text })
	if err != nil {
		return err
	}
	if g.nameKey == "" && strings.EqualFold(name, "name") && (domain == "node" || domain == "all") {
		g.nameKey, g.initialName = id, initial
	}
	a := g.edges.attribute(id)
	a.name, a.text = name, attribute(t, "attr.type") == "string"
	if initial != "" && (domain == "edge" || domain == "all") {
		a.seen, a.initial = true, initial
		if _, wrong := table.ParseWeight([]byte(strings.TrimSpace(initial))); wrong != "" {
			a.bad = g.fault(g.line(), "correct it", "weight %s %s", table.Quoted(initial), wrong)
		}
	}
	return nil
}

func (g *graphML) node(t xml.StartElement) error {
	line := g.line()
	id := attribute(t, "id")
	if id == "" {
		return g.fault(line, "give it one", "a node without id")
	}
	if id != "n"+strconv.Itoa(g.number) {
		g.nodes.least = 1 // the ids are more than numbers
	}
	g.number++
	name := g.initialName
	err := g.content(t,
		func(child xml.StartElement) bool {
			return child.Name.Local == "data" && g.nameKey != "" && attribute(child, "key") == g.nameKey
		},
		func(_ xml.StartElement, text string) { name = text })
	if err != nil {
		return err
	}
	return g.nodes.add(line, name, id)
}

func (g *graphML) edge(t xml.StartElement) error {
	line := g.line()
	err := g.content(t,
		func(child xml.StartElement) bool { return child.Name.Local == "data" },
		func(child xml.StartElement, text string) {
			g.edges.set(g.edges.attribute(attribute(child, "key")), line, text)
		})
	if err != nil {
		return err
	}
	hasArrow := g.arcs
	if own := attribute(t, "directed"); own != "" {
		hasArrow = own == "true" || own == "1"
	}
	return g.edges.add(line, attribute(t, "source"), attribute(t, "target"), hasArrow)
}
